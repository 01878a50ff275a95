/* Models that somebody changed, with length and checksum put right: what loads must behave like any other model.
 *
 *   mutate_model N SEED MODEL...    N changed copies of each file, through loading and every use; how many loaded
 *
 * Changes: single bits, bytes and numbers (with those that hurt most), bytes taken out or doubled, sections left out,
 * doubled, swapped or taken from another of the files. */
#include "coforest_extra.h"
#include "../../src/core/bytes.h"
#include "../../src/core/rng.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH_AT = 16, BODY_AT = 24, END = 4, MOST = 1 << 20, ROWS = 5, MOST_COLUMNS = 64 };

typedef struct file {
    unsigned char *bytes;
    size_t n;
} file;

typedef struct stretch {
    size_t at, n;
} stretch;

static void require(int holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "mutate_model: %s\n", what);
    abort();
}

static file read_file(const char *path)
{
    file f = {.bytes = malloc(MOST)};
    FILE *in = fopen(path, "rb");
    require(in != NULL && f.bytes != NULL, path);
    f.n = fread(f.bytes, 1, MOST, in);
    fclose(in);
    require(f.n > BODY_AT + END && f.n < MOST / 4, "not a model, or too large a one");
    return f;
}

/* ---- Changing ---------------------------------------------------------------------------------------- */

static void put_number(unsigned char *to, uint64_t x, size_t n)
{
    for (size_t i = 0; i < n; i++) to[i] = (unsigned char)(x >> (8 * i));
}

static void seal(file *f)
{
    put_number(f->bytes + LENGTH_AT, f->n - BODY_AT - END, 8);
    put_number(f->bytes + f->n - END, cofi_crc32(f->bytes, f->n - END), END);
}

/* A section by chance, header included; the rest of the file if the sections make no sense any more. */
static stretch some_section(const file *f, cofi_rng *rng)
{
    stretch s = {BODY_AT, 0};
    size_t n_sections = 0, end = f->n - END;
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
    size_t n = width[cofi_rng_below(rng, 4)], room = f->n - END - BODY_AT;
    if (room < n) return;
    put_number(f->bytes + BODY_AT + cofi_rng_below(rng, room - n + 1),
               bad[cofi_rng_below(rng, sizeof bad / sizeof *bad)], n);
}

static void change(file *f, const file *other, cofi_rng *rng)
{
    size_t room = f->n - END - BODY_AT, at = BODY_AT + (room > 0 ? cofi_rng_below(rng, room) : 0);
    size_t n = 1 + cofi_rng_below(rng, 16), most = f->n - END - at;
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

/* ---- Using ------------------------------------------------------------------------------------------- */

typedef struct text_check {
    size_t n;
    int refuse_after; /* pieces; -1: never */
    char text[MOST];  /* its first bytes */
} text_check;

static int swallow(void *ctx, const char *text, size_t n_bytes)
{
    text_check *c = ctx;
    size_t room = c->n < MOST - 1 ? MOST - 1 - c->n : 0;
    require(memchr(text, '\0', n_bytes) == NULL, "a NUL in a text");
    memcpy(c->text + c->n, text, n_bytes < room ? n_bytes : room);
    c->n += n_bytes < room ? n_bytes : room;
    require(c->n < MOST - 1, "a text without end");
    return c->refuse_after >= 0 && c->refuse_after-- == 0;
}

/* Numbers of drawings are numbers. */
static void check_drawings(text_check *c)
{
    static const char *const wrong[] = {"=\"nan", "=\"-nan", "=\"inf", "=\"-inf"};
    c->text[c->n] = '\0';
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        require(strstr(c->text, wrong[i]) == NULL, wrong[i]);
    for (const char *at = c->text; (at = strstr(at, " points=\"")) != NULL;) {
        at += strlen(" points=\"");
        require(at[strspn(at, "0123456789.,-+e ")] == '"', "points that are no numbers");
    }
    c->n = 0;
}

/* A table with the model's columns, values it knows and values it does not. */
static cof_table *table_for(const cof_model *m)
{
    const char *names[MOST_COLUMNS], *cells[MOST_COLUMNS * ROWS];
    size_t n = cof_model_n_attributes(m);
    cof_table *t = NULL;
    if (n == 0 || n > MOST_COLUMNS) return NULL;
    for (size_t a = 0; a < n; a++) {
        cof_attribute view = {.struct_size = sizeof view};
        cof_model_attribute(m, a, &view);
        names[a] = view.name;
        for (uint32_t i = 0; i < ROWS; i++)
            cells[a * ROWS + i] = i == 0   ? NULL
                                  : i == 1 ? "never seen"
                                           : cof_model_value(m, a, (view.n_values - 1) / i);
    }
    return cof_table_from_strings(NULL, cells, ROWS, n, names, &t, NULL) == COF_OK ? t : NULL;
}

static void label(const cof_model *m, const cof_table *t)
{
    int32_t cluster[ROWS];
    cof_margin margin[ROWS];
    size_t k = cof_model_k(m);
    double *distance = malloc(ROWS * k * sizeof *distance);
    cof_status status = cof_model_predict(m, t, 1, cluster, ROWS, NULL, NULL);
    for (size_t i = 0; status == COF_OK && i < ROWS; i++)
        require(cluster[i] >= -1 && cluster[i] < (int64_t)k, "a label out of range");
    if (status == COF_OK) (void)cof_model_margins(m, t, cluster, 1, margin, ROWS, NULL);
    (void)cof_model_transform(m, t, 1, distance, ROWS * k, NULL);
    free(distance);
}

static void look(const cof_model *m, text_check *drawn)
{
    for (size_t a = 0; a < cof_model_n_attributes(m); a++) {
        cof_attribute view = {.struct_size = sizeof view};
        cof_model_attribute(m, a, &view);
        for (uint32_t v = 0; v < view.n_values; v++) {
            require(cof_model_value(m, a, v) != NULL, "a value without a text");
            (void)cof_model_distance(m, a, 0, v);
            (void)cof_model_profile(m, a, v, 0);
        }
        for (int32_t drawing = COF_DRAW_TEXT; drawing <= COF_DRAW_JSON; drawing++) {
            (void)cof_model_draw_tree(m, a, drawing, swallow, drawn, NULL);
            check_drawings(drawn);
        }
    }
    (void)cof_model_n_same(m);
    (void)cof_model_k_runner_up(m);
}

static void use(const cof_model *m, cofi_rng *rng, text_check *page)
{
    cof_error err = {""};
    cof_table *t = table_for(m);
    cof_report_options o = {.struct_size = sizeof o, .threads = 1};
    page->refuse_after = -1;
    look(m, page);
    require(cof_report_write(m, NULL, &o, swallow, page, &err) == COF_OK, err.text);
    check_drawings(page);
    if (t != NULL) {
        label(m, t);
        (void)cof_report_write(m, t, &o, swallow, page, NULL);
        check_drawings(page);
    }
    page->refuse_after = (int)cofi_rng_below(rng, 8);
    (void)cof_report_write(m, NULL, &o, swallow, page, NULL);
    page->n = 0;
    require(cof_model_save(m, "/dev/null", &err) == COF_OK, err.text);
    cof_table_free(t);
}

static bool try_file(const file *f, cofi_rng *rng)
{
    static text_check page;
    cof_model *m = NULL;
    cof_error err;
    unsigned char *own = malloc(f->n); /* its own block: one byte too far is seen */
    memcpy(own, f->bytes, f->n);
    cof_status status = cof_model_load_memory(NULL, "test", own, f->n, &m, &err);
    free(own);
    require(status == COF_OK || status == COF_ERR_MODEL || status == COF_ERR_TOO_NEW, "an odd status");
    if (status != COF_OK) return false;
    use(m, rng, &page);
    cof_model_free(m);
    return true;
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
        seal(&work);
        n_loaded += try_file(&work, &rng);
    }
    printf("%lu changed models, %lu of which loaded\n", n_tried, n_loaded);
    for (size_t i = 0; i < n_models; i++) free(model[i].bytes);
    free(model);
    free(work.bytes);
    return 0;
}
