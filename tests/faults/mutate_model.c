/* Models that somebody changed, with length and checksum put right: what loads must behave like any other model.
 *
 *   mutate_model N SEED MODEL...    N changed copies of each file, through loading and every use; how many loaded
 *
 * Changes: single bits, bytes and numbers (with those that hurt most), bytes taken out or doubled, sections left out,
 * doubled, swapped or taken from another of the files. */
#include "../fuzz/model_use.h"
#include "../../src/core/rng.h"

enum { MOST = 1 << 20 }; /* bytes of a file */

typedef struct file {
    unsigned char *bytes;
    size_t n;
} file;

typedef struct stretch {
    size_t at, n;
} stretch;

static file read_file(const char *path)
{
    file f = {.bytes = malloc(MOST)};
    FILE *in = fopen(path, "rb");
    require(in != NULL && f.bytes != NULL, path);
    f.n = fread(f.bytes, 1, MOST, in);
    fclose(in);
    require(f.n > BODY_AT + END_BYTES && f.n < MOST / 4, "not a model, or too large a one");
    return f;
}

/* ---- Changing ---------------------------------------------------------------------------------------- */

/* A section by chance, header included; the rest of the file if the sections make no sense any more. */
static stretch some_section(const file *f, cofi_rng *rng)
{
    stretch s = {BODY_AT, 0};
    size_t n_sections = 0, end = f->n - END_BYTES;
    for (int round = 0; round < 2; round++) {
        size_t wanted = round == 1 ? cofi_rng_below(rng, n_sections) : SIZE_MAX, at = BODY_AT;
        for (n_sections = 0; at < end; n_sections++) {
            cofi_reader r = {.bytes = f->bytes + at + 4, .n = end - at > 4 ? end - at - 4 : 0};
            uint64_t length = cofi_get_u64(&r),
                     n = r.failed || length > end - at - 12 ? end - at : length + 12;
            s = (stretch){at, (size_t)n};
            if (n_sections == wanted) return s;
            at += (size_t)n;
        }
        if (n_sections == 0) return (stretch){BODY_AT, 0};
    }
    return s;
}

static void replace(file *f, stretch out, const unsigned char *in, size_t n)
{
    unsigned char *copy = malloc(n + 1);
    require(copy != NULL, "no memory");
    if (n > 0) memcpy(copy, in, n);
    if (f->n - out.n + n < MOST) {
        memmove(f->bytes + out.at + n, f->bytes + out.at + out.n, f->n - out.at - out.n);
        if (n > 0) memcpy(f->bytes + out.at, copy, n);
        f->n += n - out.n;
    }
    free(copy);
}

static void change_number(file *f, cofi_rng *rng)
{
    static const uint64_t bad[] = {0,
                                   1,
                                   2,
                                   7,
                                   255,
                                   65535,
                                   65536,
                                   INT32_MAX,
                                   UINT32_MAX,
                                   UINT32_MAX - 8,
                                   INT64_MAX,
                                   UINT64_MAX,
                                   UINT64_C(1) << 60,
                                   UINT64_C(0x7FF0000000000000),  /* infinity */
                                   UINT64_C(0xFFF0000000000000),  /* minus infinity */
                                   UINT64_C(0x7FF8000000000001),  /* not a number */
                                   UINT64_C(0x7FEFFFFFFFFFFFFF),  /* the largest double */
                                   UINT64_C(0xFFEFFFFFFFFFFFFF),  /* and the smallest */
                                   UINT64_C(0x7E37E43C8800759C),  /* 1e300 */
                                   UINT64_C(0x3FF0000000000000)}; /* 1 */
    static const size_t width[] = {1, 2, 4, 8};
    size_t n = width[cofi_rng_below(rng, 4)], room = f->n - END_BYTES - BODY_AT;
    if (room < n) return;
    put_number(f->bytes + BODY_AT + cofi_rng_below(rng, room - n + 1),
               bad[cofi_rng_below(rng, sizeof bad / sizeof *bad)], n);
}

static void change(file *f, const file *other, cofi_rng *rng)
{
    size_t room = f->n - END_BYTES - BODY_AT, at = BODY_AT + (room > 0 ? cofi_rng_below(rng, room) : 0);
    size_t n = 1 + cofi_rng_below(rng, 16), most = f->n - END_BYTES - at;
    stretch s = some_section(f, rng), t = some_section(f, rng), u = some_section(other, rng);
    switch (cofi_rng_below(rng, 10)) {
    case 0:
        if (room > 0) f->bytes[at] ^= (unsigned char)(1 << cofi_rng_below(rng, 8));
        break;
    case 1:
        if (room > 0) f->bytes[at] = (unsigned char)cofi_rng_below(rng, 256);
        break;
    case 2:
        replace(f, (stretch){at, n < most ? n : most}, NULL, 0);
        break;
    case 3:
        replace(f, (stretch){at, 0}, f->bytes + at, n < most ? n : most);
        break;
    case 4:
        replace(f, s, NULL, 0);
        break;
    case 5:
        replace(f, (stretch){s.at, 0}, f->bytes + t.at, t.n);
        break;
    case 6:
        replace(f, s, other->bytes + u.at, u.n);
        break;
    default:
        change_number(f, rng);
    }
}

/* ---- All of it --------------------------------------------------------------------------------------- */

static bool try_file(const file *f, cofi_rng *rng)
{
    unsigned char *own = malloc(f->n); /* its own block: one byte too far is seen */
    memcpy(own, f->bytes, f->n);
    bool loads = use_bytes(own, f->n, (int)cofi_rng_below(rng, 8));
    free(own);
    return loads;
}

int main(int argc, char **argv)
{
    require(argc > 3, "usage: mutate_model N SEED MODEL...");
    unsigned long n = strtoul(argv[1], NULL, 10), n_loaded = 0, n_tried = 0;
    file *model = malloc((size_t)argc * sizeof *model), work = {.bytes = malloc(MOST)};
    size_t n_models = (size_t)argc - 3;
    cofi_rng rng;
    cofi_rng_seed(&rng, strtoull(argv[2], NULL, 10), 0);
    for (size_t i = 0; i < n_models; i++) {
        model[i] = read_file(argv[i + 3]);
        require(try_file(&model[i], &rng), "a whole model does not load");
    }
    for (; n_tried < n * n_models; n_tried++) {
        const file *from = &model[n_tried % n_models], *other = &model[cofi_rng_below(&rng, n_models)];
        memcpy(work.bytes, from->bytes, from->n);
        work.n = from->n;
        for (uint64_t changes = 1 + cofi_rng_below(&rng, 3); changes > 0; changes--)
            change(&work, other, &rng);
        seal(work.bytes, work.n);
        n_loaded += try_file(&work, &rng);
    }
    printf("%lu changed models, %lu of which loaded\n", n_tried, n_loaded);
    for (size_t i = 0; i < n_models; i++) free(model[i].bytes);
    free(model);
    free(work.bytes);
    return 0;
}
