/* The byte source: files, memory, standard input; gzip and zstd whole, joined, cut and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "alloc_helper.h"
#include "../../src/table/file/input.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* printf 'a,b\n1,2\n3,4\n' | gzip -9 -n; 4096 lines of 32 bytes; the same by zstd -19 --check */
static const unsigned char gzip_small[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x4b,
                                           0xd4, 0x49, 0xe2, 0x32, 0xd4, 0x31, 0xe2, 0x32, 0xd6, 0x31, 0xe1,
                                           0x02, 0x00, 0xe5, 0xe9, 0xd6, 0xce, 0x0c, 0x00, 0x00, 0x00};
static const unsigned char gzip_big[] = {
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xed, 0xc9, 0xc1, 0x09, 0x80, 0x30, 0x10,
    0x00, 0xb0, 0xbf, 0x53, 0xdc, 0x00, 0x3a, 0x54, 0xc5, 0x8a, 0x05, 0xb1, 0xa0, 0x07, 0xd2, 0xed, 0x1d,
    0xc4, 0xe4, 0x9b, 0x12, 0x67, 0xbb, 0x6a, 0xf4, 0x3d, 0xf2, 0x68, 0x77, 0x8e, 0x25, 0xdf, 0x1e, 0xeb,
    0xc8, 0xfa, 0xcc, 0xb1, 0xf5, 0x6b, 0x2a, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7,
    0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b,
    0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd,
    0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde,
    0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef,
    0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7,
    0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b,
    0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd,
    0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde,
    0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef,
    0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7,
    0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b,
    0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd,
    0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde,
    0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef,
    0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7,
    0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b,
    0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd,
    0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde,
    0xfb, 0xdf, 0xfc, 0x07, 0xe7, 0xa2, 0x8b, 0x33, 0x00, 0x00, 0x02, 0x00};
static const unsigned char zstd_small[] = {0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x68, 0x61, 0x00, 0x00,
                                           0x61, 0x2c, 0x62, 0x0a, 0x31, 0x2c, 0x32, 0x0a, 0x33,
                                           0x2c, 0x34, 0x0a, 0xe1, 0xb3, 0xcb, 0x2e};
static const unsigned char zstd_big[] = {0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x68, 0x55, 0x01, 0x00, 0x04, 0x02,
                                         0x61, 0x20, 0x6c, 0x69, 0x6e, 0x65, 0x20, 0x6f, 0x66, 0x20, 0x74,
                                         0x68, 0x69, 0x72, 0x74, 0x79, 0x2d, 0x74, 0x77, 0x6f, 0x20, 0x62,
                                         0x79, 0x74, 0x65, 0x73, 0x2c, 0x20, 0x64, 0x6f, 0x6e, 0x0a, 0x01,
                                         0x00, 0xe8, 0xfe, 0x1f, 0xb9, 0x7a, 0x02, 0x77, 0x4f, 0x21, 0x81};

static const char small[] = "a,b\n1,2\n3,4\n";
static const char big_line[] = "a line of thirty-two bytes, don\n";
enum { BIG_BYTES = 4096 * 32 };

static bool have(const char *format)
{
    return strstr(cof_build_info(), format) != NULL;
}

/* ---- Reading all of it --------------------------------------------------------------------------- */

typedef struct outcome {
    cof_status status;
    size_t n_bytes;
    unsigned char *bytes; /* freed by forget */
    cof_error err;
} outcome;

static void forget(outcome *o)
{
    free(o->bytes);
}

static outcome take(const cof_env *env, const cofi_source *source, size_t step)
{
    outcome o = {.bytes = malloc((size_t)1 << 22), .err = {""}};
    cofi_input *in = NULL;
    cof_env own = cofi_env_resolve(env);
    o.status = cofi_input_open(&own, source, &in, &o.err);
    for (size_t got = 1; o.status == COF_OK && got > 0; o.n_bytes += got) {
        got = 0;
        o.status = cofi_input_read(in, o.bytes + o.n_bytes, step, &got, &o.err);
        assert_true(got <= step && o.n_bytes + got + step <= (size_t)1 << 22);
    }
    cofi_input_close(in);
    return o;
}

static void write_file(const char *path, const void *bytes, size_t n_bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n_bytes, file), n_bytes);
    assert_int_equal(fclose(file), 0);
}

/* From file and memory, in raw blocks and reads of all sizes. */
static void gives(const void *bytes, size_t n_bytes, const void *expected, size_t n_expected)
{
    static const size_t sizes[] = {1, 2, 3, 7, 1000, 1 << 20};
    write_file("t", bytes, n_bytes);
    for (size_t b = 0; b < COUNT(sizes); b++) {
        for (size_t s = 0; s < COUNT(sizes); s++) {
            for (int file = 0; file < 2; file++) {
                cofi_source source = {"t", file ? NULL : bytes, file ? 0 : n_bytes, sizes[b], b % 2};
                outcome o = take(NULL, &source, sizes[s]);
                assert_string_equal(o.err.text, "");
                assert_int_equal(o.status, COF_OK);
                assert_int_equal(o.n_bytes, n_expected);
                assert_memory_equal(o.bytes, expected, n_expected);
                forget(&o);
            }
        }
    }
    unlink("t");
}

static void refuses(const void *bytes, size_t n_bytes, cof_status status, const char *sentence)
{
    static const size_t sizes[] = {1, 3, 1 << 20};
    for (size_t b = 0; b < COUNT(sizes); b++) {
        cofi_source source = {"t.csv", bytes, n_bytes, sizes[b], false};
        outcome o = take(NULL, &source, 5);
        assert_string_equal(o.err.text, sentence);
        assert_int_equal(o.status, status);
        forget(&o);
    }
}

static unsigned char *big_text(void)
{
    unsigned char *text = malloc(BIG_BYTES);
    for (size_t i = 0; i < BIG_BYTES; i++) text[i] = (unsigned char)big_line[i % 32];
    return text;
}

/* Pieces one after another, in a block of their own so that reading too far is noticed. */
static unsigned char *join(const void *a, size_t n_a, const void *b, size_t n_b)
{
    unsigned char *joined = malloc(n_a + n_b);
    memcpy(joined, a, n_a);
    memcpy(joined + n_a, b, n_b);
    return joined;
}

static void gives_joined(const void *a, size_t n_a, const void *b, size_t n_b, const char *expected)
{
    unsigned char *joined = join(a, n_a, b, n_b);
    gives(joined, n_a + n_b, expected, strlen(expected));
    free(joined);
}

/* ---- Plain --------------------------------------------------------------------------------------- */

static void plain(void **state)
{
    (void)state;
    unsigned char *big = big_text();
    gives("", 0, "", 0);
    gives("x", 1, "x", 1);
    gives(small, strlen(small), small, strlen(small));
    gives("0123456789abcdef", 16, "0123456789abcdef", 16);
    gives("0123456789abcdefg", 17, "0123456789abcdefg", 17);
    gives("\x1F", 1, "\x1F", 1);
    gives("PK", 2, "PK", 2);
    cofi_source source = {.name = "t"};
    write_file("t", big, BIG_BYTES);
    outcome o = take(NULL, &source, 1 << 20);
    assert_int_equal(o.n_bytes, BIG_BYTES);
    assert_memory_equal(o.bytes, big, BIG_BYTES);
    forget(&o);
    unlink("t");
    free(big);
}

/* Puts the reading end of a new pipe in the place of standard input; returns the writing end. */
static int pipe_to_stdin(int *kept)
{
    int ends[2];
    *kept = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    return ends[1];
}

static void restore_stdin(int kept)
{
    dup2(kept, STDIN_FILENO);
    close(kept);
}

static void standard_input(void **state)
{
    (void)state;
    char buffer[64];
    size_t got;
    int kept, to = pipe_to_stdin(&kept);
    assert_int_equal(write(to, small, strlen(small)), strlen(small));
    close(to);
    cofi_source source = {.name = "-"};
    cofi_input *in;
    cof_env env = cofi_env_resolve(NULL);
    assert_int_equal(cofi_input_open(&env, &source, &in, NULL), COF_OK);
    assert_string_equal(cofi_input_name(in), "standard input");
    assert_int_equal(cofi_input_total(in), 0);
    assert_int_equal(cofi_input_read(in, buffer, sizeof buffer, &got, NULL), COF_OK);
    assert_int_equal(got, strlen(small));
    assert_memory_equal(buffer, small, got);
    cofi_input_close(in);
    assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);
    restore_stdin(kept);
}

static void ignore_signal(int number)
{
    (void)number;
}

static int stop_at_second(void *ctx)
{
    return ++*(int *)ctx == 2;
}

/* Nobody writes to the pipe; a timer interrupts the wait, twice, because the first time we may go on. */
static void stopped_while_waiting(void **state)
{
    (void)state;
    int n_asked = 0, kept, to = pipe_to_stdin(&kept);
    struct sigaction action = {.sa_handler = ignore_signal}, old;
    struct itimerval soon = {{0, 10000}, {0, 10000}}, never = {{0, 0}, {0, 0}};
    cof_env env = {.struct_size = sizeof env, .should_stop = stop_at_second, .ctx = &n_asked};
    sigaction(SIGALRM, &action, &old);
    setitimer(ITIMER_REAL, &soon, NULL);
    outcome o = take(&env, &(cofi_source){.name = "-"}, 1);
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &old, NULL);
    assert_int_equal(o.status, COF_ERR_STOPPED);
    assert_string_equal(o.err.text, "stopped reading standard input");
    assert_int_equal(n_asked, 2);
    forget(&o);
    close(to);
    restore_stdin(kept);
}

static void progress(void **state)
{
    (void)state;
    char buffer[64];
    size_t got;
    cofi_input *in;
    cof_env env = cofi_env_resolve(NULL);
    write_file("t", small, strlen(small));
    assert_int_equal(cofi_input_open(&env, &(cofi_source){.name = "t"}, &in, NULL), COF_OK);
    assert_int_equal(cofi_input_total(in), strlen(small));
    assert_int_equal(cofi_input_read(in, buffer, sizeof buffer, &got, NULL), COF_OK);
    assert_int_equal(cofi_input_done(in), strlen(small));
    assert_string_equal(cofi_input_name(in), "t");
    cofi_input_close(in);
    cofi_input_close(NULL);
    unlink("t");
}

static void system_errors(void **state)
{
    (void)state;
    outcome o = take(NULL, &(cofi_source){.name = "nothing.csv"}, 1);
    assert_int_equal(o.status, COF_ERR_IO);
    assert_string_equal(o.err.text, "cannot open nothing.csv: No such file or directory");
    forget(&o);
    o = take(NULL, &(cofi_source){.name = "."}, 1);
    assert_int_equal(o.status, COF_ERR_IO);
    assert_string_equal(o.err.text, "cannot read .: Is a directory; name a file in it");
    forget(&o);
    if (geteuid() == 0) return; /* root may read everything */
    write_file("t", "x", 1);
    chmod("t", 0);
    o = take(NULL, &(cofi_source){.name = "t"}, 1);
    assert_int_equal(o.status, COF_ERR_IO);
    assert_string_equal(o.err.text, "cannot open t: Permission denied");
    forget(&o);
    unlink("t");
}

static void long_and_odd_names(void **state)
{
    (void)state;
    char name[1000], expected[256];
    memset(name, 'x', sizeof name);
    memcpy(name + sizeof name - 10, "tail\n.csv", 10);
    outcome o = take(NULL, &(cofi_source){.name = name}, 1);
    snprintf(expected, sizeof expected, "cannot open ...%.147stail .csv: File name too long", name);
    assert_string_equal(o.err.text, expected);
    forget(&o);
}

static void foreign_formats(void **state)
{
    (void)state;
    refuses("PK\3\4xxxx", 8, COF_ERR_UNSUPPORTED,
            "t.csv is a zip archive or an Excel workbook; unpack it, or save the sheet as CSV, in Python: "
            "import pandas; "
            "pandas.read_excel(\"t.csv\").to_csv(\"table.csv\", index=False)");
    refuses("\xD0\xCF\x11\xE0xxxx", 8, COF_ERR_UNSUPPORTED,
            "t.csv is an old Excel workbook; save the sheet as CSV, in Python: import pandas; "
            "pandas.read_excel(\"t.csv\").to_csv(\"table.csv\", index=False)");
    refuses("\xFD"
            "7zXZ\0xx",
            8, COF_ERR_UNSUPPORTED, "t.csv is compressed with xz; decompress it with unxz");
    refuses("BZh91AY&SYx", 11, COF_ERR_UNSUPPORTED,
            "t.csv is compressed with bzip2; decompress it with bunzip2");
    refuses("PAR1\x15x", 6, COF_ERR_UNSUPPORTED,
            "t.csv is a Parquet file; save it as CSV, in Python: import pandas; "
            "pandas.read_parquet(\"t.csv\").to_csv(\"table.csv\", index=False)");
}

/* ---- gzip ---------------------------------------------------------------------------------------- */

#define CUT(format)     "t.csv ends in the middle of its " format " data; copy or download it again"
#define DAMAGED(detail) "t.csv: its gzip data is damaged (" detail "); copy or download it again"

static bool no_gzip(void)
{
    if (have("gzip")) return false;
    refuses(gzip_small, sizeof gzip_small, COF_ERR_UNSUPPORTED,
            "t.csv is compressed with gzip, and this build cannot read that; decompress it with gunzip, or "
            "install zlib's headers (zlib1g-dev, zlib-devel) and build coforest again");
    return true;
}

static void gzip_whole(void **state)
{
    (void)state;
    if (no_gzip()) return;
    unsigned char *big = big_text();
    gives(gzip_small, sizeof gzip_small, small, strlen(small));
    gives(gzip_big, sizeof gzip_big, big, BIG_BYTES);
    free(big);
}

static void gzip_members_and_padding(void **state)
{
    (void)state;
    const unsigned char zeros[1200] = {0};
    if (no_gzip()) return;
    gives_joined(gzip_small, sizeof gzip_small, gzip_small, sizeof gzip_small,
                 "a,b\n1,2\n3,4\na,b\n1,2\n3,4\n");
    gives_joined(gzip_small, sizeof gzip_small, zeros, sizeof zeros, small);
}

static void gzip_cut_anywhere(void **state)
{
    (void)state;
    if (no_gzip()) return;
    for (size_t n = 2; n < sizeof gzip_small; n++) refuses(gzip_small, n, COF_ERR_DATA, CUT("gzip"));
    unsigned char *joined = join(gzip_small, sizeof gzip_small, gzip_small, sizeof gzip_small - 1);
    refuses(joined, 2 * sizeof gzip_small - 1, COF_ERR_DATA, CUT("gzip"));
    free(joined);
}

static void gzip_damaged(void **state)
{
    (void)state;
    if (no_gzip()) return;
    unsigned char bytes[sizeof gzip_small + 8];
    memcpy(bytes, gzip_small, sizeof gzip_small);
    bytes[sizeof gzip_small - 5] ^= 1;
    refuses(bytes, sizeof gzip_small, COF_ERR_DATA, DAMAGED("incorrect data check"));
    memcpy(bytes, gzip_small, sizeof gzip_small);
    bytes[sizeof gzip_small - 1] ^= 1;
    refuses(bytes, sizeof gzip_small, COF_ERR_DATA, DAMAGED("incorrect length check"));
    memcpy(bytes, gzip_small, sizeof gzip_small);
    memcpy(bytes + sizeof gzip_small, "garbage!", 8);
    refuses(bytes, sizeof bytes, COF_ERR_DATA, DAMAGED("incorrect header check"));
    refuses("\x1F\x8B\x07\0\0\0\0\0\0\0\0\0", 12, COF_ERR_DATA, DAMAGED("unknown compression method"));
}

/* ---- zstd ---------------------------------------------------------------------------------------- */

static const unsigned char skippable[] = {0x53, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 'x', 'y', 'z'};

static bool no_zstd(void)
{
    if (have("zstd")) return false;
    refuses(zstd_small, sizeof zstd_small, COF_ERR_UNSUPPORTED,
            "t.csv is compressed with zstd, and this build cannot read that; decompress it with unzstd, or "
            "install zstd's headers (libzstd-dev, libzstd-devel) and build coforest again");
    return true;
}

static void zstd_whole(void **state)
{
    (void)state;
    if (no_zstd()) return;
    unsigned char *big = big_text();
    gives(zstd_small, sizeof zstd_small, small, strlen(small));
    gives(zstd_big, sizeof zstd_big, big, BIG_BYTES);
    free(big);
}

static void zstd_frames(void **state)
{
    (void)state;
    if (no_zstd()) return;
    gives_joined(zstd_small, sizeof zstd_small, zstd_small, sizeof zstd_small,
                 "a,b\n1,2\n3,4\na,b\n1,2\n3,4\n");
    gives_joined(skippable, sizeof skippable, zstd_small, sizeof zstd_small, small);
    gives_joined(zstd_small, sizeof zstd_small, skippable, sizeof skippable, small);
}

static void zstd_cut_anywhere(void **state)
{
    (void)state;
    if (no_zstd()) return;
    for (size_t n = 4; n < sizeof zstd_small; n++) refuses(zstd_small, n, COF_ERR_DATA, CUT("zstd"));
    unsigned char *joined = join(zstd_small, sizeof zstd_small, zstd_small, sizeof zstd_small - 1);
    refuses(joined, 2 * sizeof zstd_small - 1, COF_ERR_DATA, CUT("zstd"));
    free(joined);
}

static void zstd_damaged(void **state)
{
    (void)state;
    if (no_zstd()) return;
    unsigned char bytes[sizeof zstd_small + 8];
    memcpy(bytes, zstd_small, sizeof zstd_small);
    bytes[sizeof zstd_small - 1] ^= 1;
    refuses(bytes, sizeof zstd_small, COF_ERR_DATA,
            "t.csv: its zstd data is damaged (Restored data doesn't match checksum); copy or download it "
            "again");
    memcpy(bytes, zstd_small, sizeof zstd_small);
    memcpy(bytes + sizeof zstd_small, "garbage!", 8);
    refuses(bytes, sizeof bytes, COF_ERR_DATA,
            "t.csv: its zstd data is damaged (Unknown frame descriptor); copy or download it again");
    /* a frame header that asks for a window of 2 GiB */
    refuses("\x28\xB5\x2F\xFD\0\xA8\1\0\0", 9, COF_ERR_DATA,
            "t.csv was compressed with a window above 128 MiB; decompress it with zstd -d --long=31");
}

/* ---- Memory -------------------------------------------------------------------------------------- */

static void every_failing_allocation(void **state)
{
    (void)state;
    const cofi_source sources[] = {{"t", small, sizeof small, 0, false},
                                   {"t", gzip_big, sizeof gzip_big, 0, false},
                                   {"t", zstd_big, sizeof zstd_big, 0, false}};
    for (size_t i = 0; i < COUNT(sources); i++) {
        if ((i == 1 && no_gzip()) || (i == 2 && no_zstd())) continue;
        for (size_t at = 0;; at++) {
            alloc_meter meter = {.fail_at = at};
            cof_env env = alloc_env(&meter);
            outcome o = take(&env, &sources[i], 1000);
            forget(&o);
            assert_int_equal(meter.live, 0);
            if (o.status == COF_OK) break;
            assert_int_equal(o.status, COF_ERR_MEMORY);
            assert_true(at < 100);
        }
    }
}

static int enter_folder(void **state)
{
    static char folder[] = "/tmp/coforest-input-XXXXXX";
    *state = folder;
    return mkdtemp(folder) != NULL ? chdir(folder) : -1;
}

static int leave_folder(void **state)
{
    return chdir("/") == 0 ? rmdir(*state) : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain),
        cmocka_unit_test(standard_input),
        cmocka_unit_test(stopped_while_waiting),
        cmocka_unit_test(progress),
        cmocka_unit_test(system_errors),
        cmocka_unit_test(long_and_odd_names),
        cmocka_unit_test(foreign_formats),
        cmocka_unit_test(gzip_whole),
        cmocka_unit_test(gzip_members_and_padding),
        cmocka_unit_test(gzip_cut_anywhere),
        cmocka_unit_test(gzip_damaged),
        cmocka_unit_test(zstd_whole),
        cmocka_unit_test(zstd_frames),
        cmocka_unit_test(zstd_cut_anywhere),
        cmocka_unit_test(zstd_damaged),
        cmocka_unit_test(every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
