/* Files that appear only when complete: names, permissions, links, devices, full disks, failing memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "alloc_helper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Helpers ------------------------------------------------------------------------------------- */

static void put_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void assert_text(const char *path, const char *expected)
{
    char text[256] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, expected);
}

static int n_files(const char *folder)
{
    int n = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    while (readdir(dir) != NULL) n++;
    closedir(dir);
    return n - 2; /* itself and its parent */
}

static cof_output *open_output(const char *path)
{
    cof_output *output;
    cof_error err;
    if (cof_output_open(NULL, path, &output, &err) != COF_OK) fail_msg("%s", err.text);
    return output;
}

static void write_all(const char *path, const char *text)
{
    cof_output *output = open_output(path);
    assert_int_equal(cof_output_write(output, text, strlen(text), NULL), COF_OK);
    assert_int_equal(cof_output_commit(output, NULL), COF_OK);
}

static mode_t mode_of(const char *path)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_mode & 07777;
}

/* ---- Ordinary files ------------------------------------------------------------------------------ */

static void appears_when_complete(void **state)
{
    (void)state;
    cof_output *output = open_output("t");
    assert_int_equal(cof_output_write(output, "one\n", 4, NULL), COF_OK);
    assert_int_equal(access("t", F_OK), -1);
    assert_int_equal(cof_output_write(output, "", 0, NULL), COF_OK);
    assert_int_equal(cof_output_write(output, "two\n", 4, NULL), COF_OK);
    assert_int_equal(access("t", F_OK), -1);
    assert_int_equal(cof_output_commit(output, NULL), COF_OK);
    assert_text("t", "one\ntwo\n");
    assert_int_equal(n_files("."), 1);
    unlink("t");
}

static void discarded_leaves_nothing(void **state)
{
    (void)state;
    put_text("t", "old");
    cof_output *output = open_output("t");
    assert_int_equal(cof_output_write(output, "new", 3, NULL), COF_OK);
    assert_int_equal(n_files("."), 2);
    cof_output_discard(output);
    assert_text("t", "old");
    assert_int_equal(n_files("."), 1);
    cof_output_discard(NULL);
    unlink("t");
}

static void large_and_small_pieces(void **state)
{
    (void)state;
    enum { N = 300000 };
    char *bytes = malloc(N), *again = malloc(N);
    for (int i = 0; i < N; i++) bytes[i] = (char)(i * 31 % 251);
    static const size_t pieces[] = {1, 7, 65535, 65536, 65537, N};
    for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
        cof_output *output = open_output("t");
        for (size_t at = 0; at < N; at += pieces[p]) {
            size_t n = at + pieces[p] < N ? pieces[p] : N - at;
            assert_int_equal(cof_output_write(output, bytes + at, n, NULL), COF_OK);
        }
        assert_int_equal(cof_output_commit(output, NULL), COF_OK);
        FILE *file = fopen("t", "rb");
        assert_int_equal(fread(again, 1, N, file), N);
        assert_int_equal(fgetc(file), EOF);
        fclose(file);
        assert_memory_equal(again, bytes, N);
    }
    unlink("t");
    free(bytes);
    free(again);
}

static void permissions(void **state)
{
    (void)state;
    mode_t old = umask(027);
    write_all("t", "x");
    assert_int_equal(mode_of("t"), 0640);
    chmod("t", 0604);
    write_all("t", "y");
    assert_int_equal(mode_of("t"), 0604);
    umask(old);
    unlink("t");
}

static void links_stay_links(void **state)
{
    (void)state;
    char to[PATH_MAX] = "";
    assert_int_equal(mkdir("d", 0777), 0);
    put_text("d/real", "old");
    assert_int_equal(symlink("d/real", "link"), 0);
    write_all("link", "new");
    assert_int_equal(readlink("link", to, sizeof to), 6);
    assert_text("d/real", "new");
    assert_int_equal(n_files("d"), 1);
    unlink("link");
    unlink("d/real");
    rmdir("d");
}

static void longest_name(void **state)
{
    (void)state;
    char name[NAME_MAX + 1];
    memset(name, 'n', NAME_MAX);
    name[NAME_MAX] = '\0';
    write_all(name, "x");
    assert_text(name, "x");
    unlink(name);
}

/* ---- Files that wait ---------------------------------------------------------------------------- */

/* The name of the only waiting file here. */
static void find_waiting(char *name)
{
    name[0] = '\0';
    DIR *dir = opendir(".");
    for (const struct dirent *e; (e = readdir(dir)) != NULL;)
        if (strncmp(e->d_name, ".coforest-", 10) == 0) strcpy(name, e->d_name);
    closedir(dir);
    assert_string_not_equal(name, "");
}

/* Others could read a secret table's labels until the file got its name. */
static void waits_with_the_permissions_replaced(void **state)
{
    (void)state;
    char name[NAME_MAX + 1];
    mode_t old = umask(022);
    put_text("t", "secret");
    chmod("t", 0600);
    cof_output *output = open_output("t");
    find_waiting(name);
    assert_int_equal(mode_of(name), 0600);
    assert_int_equal(cof_output_commit(output, NULL), COF_OK);
    assert_int_equal(mode_of("t"), 0600);
    umask(old);
    unlink("t");
}

static void dangling_link_is_refused(void **state)
{
    (void)state;
    cof_output *output = NULL;
    cof_error err;
    assert_int_equal(symlink("nowhere", "link"), 0);
    assert_int_equal(cof_output_open(NULL, "link", &output, &err), COF_ERR_IO);
    assert_string_equal(err.text,
                        "cannot write link: it is a link to a file that does not exist; remove the link, "
                        "or make the file");
    assert_int_equal(n_files("."), 1);
    unlink("link");
}

/* What a dead run left can be locked. Names that are not ours, what somebody holds and what is no file stay. */
static void dead_files_are_removed(void **state)
{
    (void)state;
    static const char dead[] = ".coforest-0123456789abcdef", held[] = ".coforest-fedcba9876543210";
    put_text(dead, "x");
    put_text(held, "x");
    put_text(".coforest-0123456789abcde", "too short");
    put_text(".coforest-0123456789abcdeg", "no number");
    assert_int_equal(symlink("nowhere", ".coforest-1111111111111111"), 0);
    assert_int_equal(mkfifo(".coforest-2222222222222222", 0666), 0);
    int fd = open(held, O_RDONLY);
    assert_int_equal(flock(fd, LOCK_SH), 0);
    write_all("t", "new");
    assert_int_equal(access(dead, F_OK), -1);
    assert_int_equal(n_files("."), 6);
    close(fd);
    write_all("t", "new");
    assert_int_equal(access(held, F_OK), -1);
    unlink(".coforest-0123456789abcde");
    unlink(".coforest-0123456789abcdeg");
    unlink(".coforest-1111111111111111");
    unlink(".coforest-2222222222222222");
    unlink("t");
    assert_int_equal(n_files("."), 0);
}

static void two_waiting_for_one_name(void **state)
{
    (void)state;
    cof_output *a = open_output("t"), *b = open_output("t");
    cof_output_write(a, "one", 3, NULL);
    cof_output_write(b, "two", 3, NULL);
    assert_int_equal(cof_output_commit(b, NULL), COF_OK);
    assert_text("t", "two");
    assert_int_equal(cof_output_commit(a, NULL), COF_OK);
    assert_text("t", "one");
    assert_int_equal(n_files("."), 1);
    unlink("t");
}

/* ---- Several at once ----------------------------------------------------------------------------- */

static void published_together(void **state)
{
    (void)state;
    cof_output *outputs[] = {open_output("a"), NULL, open_output("/dev/null"), open_output("b")};
    put_text("a", "old");
    for (size_t i = 0; i < 4; i++)
        if (outputs[i] != NULL) assert_int_equal(cof_output_write(outputs[i], "new", 3, NULL), COF_OK);
    assert_int_equal(cof_output_finish(outputs[3], NULL), COF_OK);
    assert_int_equal(access("b", F_OK), -1);
    assert_int_equal(cof_output_write(outputs[3], "more", 4, NULL), COF_ERR_IO); /* it is finished */
    cof_output_discard(outputs[3]);
    outputs[3] = open_output("b");
    assert_int_equal(cof_output_publish(outputs, 4, NULL), COF_OK);
    assert_text("a", "new");
    assert_text("b", "");
    assert_int_equal(n_files("."), 2);
    unlink("a");
    unlink("b");
    assert_int_equal(cof_output_publish(NULL, 0, NULL), COF_OK);
}

/* A rename that failed used to leave the files before it new and those after it old. */
static void put_back_together(void **state)
{
    (void)state;
    cof_error err = {""};
    put_text("old", "old");
    chmod("old", 0604);
    cof_output *outputs[] = {open_output("old"), open_output("fresh"), open_output("taken")};
    for (size_t i = 0; i < 3; i++) cof_output_write(outputs[i], "new", 3, NULL);
    assert_int_equal(mkdir("taken", 0777), 0);
    assert_int_equal(cof_output_publish(outputs, 3, &err), COF_ERR_IO);
    assert_string_equal(err.text, "cannot write taken: Is a directory");
    assert_text("old", "old");
    assert_int_equal(mode_of("old"), 0604);
    assert_int_equal(access("fresh", F_OK), -1);
    assert_int_equal(n_files("."), 2);
    rmdir("taken");
    unlink("old");
}

/* ---- What is no ordinary file -------------------------------------------------------------------- */

static void standard_output(void **state)
{
    (void)state;
    fflush(stdout);
    int kept = dup(STDOUT_FILENO), file = open("t", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(file, STDOUT_FILENO);
    close(file);
    printf("first ");
    fflush(stdout);
    write_all("-", "second ");
    write_all("/dev/stdout", "third ");
    printf("last");
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    assert_text("t", "first second third last");
    unlink("t");
}

static void devices_and_pipes(void **state)
{
    (void)state;
    write_all("/dev/null", "x");
    assert_int_equal(mkfifo("fifo", 0666), 0);
    int from = open("fifo", O_RDONLY | O_NONBLOCK);
    char text[8] = "";
    write_all("fifo", "through");
    assert_int_equal(read(from, text, sizeof text), 7);
    assert_string_equal(text, "through");
    close(from);
    struct stat about;
    assert_int_equal(stat("fifo", &about), 0);
    assert_true(S_ISFIFO(about.st_mode));
    unlink("fifo");
    assert_int_equal(n_files("."), 0);
}

/* ---- Failures ------------------------------------------------------------------------------------ */

static void refuses_to_open(const char *path, cof_status status, const char *sentence)
{
    cof_output *output = NULL;
    cof_error err = {""};
    assert_int_equal(cof_output_open(NULL, path, &output, &err), status);
    assert_string_equal(err.text, sentence);
    assert_null(output);
}

static void cannot_open(void **state)
{
    (void)state;
    const char usage[] = "cof_output_open needs a path and a place for the handle";
    refuses_to_open(
        "no/such/folder/t", COF_ERR_IO,
        "cannot write no/such/folder/t: no file can be made in its folder: No such file or directory");
    refuses_to_open(".", COF_ERR_IO, "cannot write .: Is a directory");
    refuses_to_open("", COF_ERR_ARGUMENT, usage);
    refuses_to_open(NULL, COF_ERR_ARGUMENT, usage);
    put_text("t", "x");
    refuses_to_open("t/u", COF_ERR_IO, "cannot write t/u: Not a directory");
    if (geteuid() != 0) {
        chmod("t", 0444);
        refuses_to_open("t", COF_ERR_IO, "cannot write t: Permission denied");
    }
    unlink("t");
}

static void full_device(void **state)
{
    (void)state;
    const char sentence[] = "cannot write /dev/full: No space left on device";
    static const char block[1 << 17];
    cof_error err = {""};
    cof_output *output = open_output("/dev/full");
    assert_int_equal(cof_output_write(output, "x", 1, &err), COF_OK);
    assert_int_equal(cof_output_commit(output, &err), COF_ERR_IO);
    assert_string_equal(err.text, sentence);
    output = open_output("/dev/full");
    for (int i = 0; i < 2; i++) { /* once failed, failed for good */
        err.text[0] = '\0';
        assert_int_equal(cof_output_write(output, block, i == 0 ? sizeof block : 1, &err), COF_ERR_IO);
        assert_string_equal(err.text, sentence);
    }
    assert_int_equal(cof_output_commit(output, NULL), COF_ERR_IO);
}

/* A limit on file sizes stands for a full disk under a file with a temporary name. */
static void full_disk(void **state)
{
    (void)state;
    static const char block[1 << 17];
    struct rlimit old, small;
    cof_error err = {""};
    put_text("t", "old");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 1000;
    signal(SIGXFSZ, SIG_IGN);
    cof_output *written = open_output("t"), *held = open_output("t");
    setrlimit(RLIMIT_FSIZE, &small);
    cof_status while_writing = cof_output_write(written, block, sizeof block, &err);
    cof_output_discard(written);
    cof_output_write(held, block, 2000, NULL);
    cof_status at_commit = cof_output_commit(held, &err);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(while_writing, COF_ERR_IO);
    assert_int_equal(at_commit, COF_ERR_IO);
    assert_string_equal(err.text, "cannot write t: File too large");
    assert_text("t", "old");
    assert_int_equal(n_files("."), 1);
    unlink("t");
}

static void closed_pipe(void **state)
{
    (void)state;
    cof_error err = {""};
    int ends[2], kept = dup(STDOUT_FILENO);
    fflush(stdout);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    signal(SIGPIPE, SIG_IGN);
    cof_output *output = open_output("-");
    cof_output_write(output, "x", 1, NULL);
    cof_status status = cof_output_commit(output, &err);
    signal(SIGPIPE, SIG_DFL);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    assert_int_equal(status, COF_ERR_IO);
    assert_string_equal(err.text, "cannot write standard output: Broken pipe");
}

static void name_taken_before_commit(void **state)
{
    (void)state;
    cof_error err = {""};
    mkdir("d", 0777);
    cof_output *output = open_output("d/t");
    assert_int_equal(mkdir("d/t", 0777), 0); /* a folder has taken the name */
    assert_int_equal(cof_output_commit(output, &err), COF_ERR_IO);
    assert_string_equal(err.text, "cannot write d/t: Is a directory");
    assert_int_equal(n_files("d"), 1);
    rmdir("d/t");
    rmdir("d");
}

static void every_failing_allocation(void **state)
{
    (void)state;
    for (size_t at = 0;; at++) {
        alloc_meter meter = {.fail_at = at};
        cof_env env = alloc_env(&meter);
        cof_output *output = NULL;
        cof_status status = cof_output_open(&env, "./t", &output, NULL);
        if (status == COF_OK) status = cof_output_write(output, "x", 1, NULL);
        if (status == COF_OK) status = cof_output_commit(output, NULL);
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) break;
        assert_int_equal(status, COF_ERR_MEMORY);
        assert_int_equal(n_files("."), 0);
    }
    unlink("t");
}

static int enter_folder(void **state)
{
    static char folder[] = "/tmp/coforest-output-XXXXXX";
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
        cmocka_unit_test(appears_when_complete),
        cmocka_unit_test(discarded_leaves_nothing),
        cmocka_unit_test(large_and_small_pieces),
        cmocka_unit_test(permissions),
        cmocka_unit_test(links_stay_links),
        cmocka_unit_test(longest_name),
        cmocka_unit_test(waits_with_the_permissions_replaced),
        cmocka_unit_test(dangling_link_is_refused),
        cmocka_unit_test(dead_files_are_removed),
        cmocka_unit_test(two_waiting_for_one_name),
        cmocka_unit_test(published_together),
        cmocka_unit_test(put_back_together),
        cmocka_unit_test(standard_output),
        cmocka_unit_test(devices_and_pipes),
        cmocka_unit_test(cannot_open),
        cmocka_unit_test(full_device),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(closed_pipe),
        cmocka_unit_test(name_taken_before_commit),
        cmocka_unit_test(every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
