/* The data of a page, and the reader of its template. */
#include "page.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

/* ---- Memory ------------------------------------------------------------------------------------------ */

enum { BLOCK = 1 << 16, HOVER_COLUMNS = 200 };

static void *get_bytes(cofi_page *p, size_t n_bytes)
{
    n_bytes = (n_bytes + 7) & ~(size_t)7;
    if (n_bytes > BLOCK / 4) return cofi_blocks_add(&p->own, n_bytes, 1);
    if (n_bytes > p->n_rest) {
        p->rest = cofi_blocks_add(&p->own, BLOCK, 1);
        p->n_rest = p->rest != NULL ? BLOCK : 0;
    }
    if (p->rest == NULL) return NULL;
    p->n_rest -= n_bytes;
    p->rest += n_bytes;
    return p->rest - n_bytes;
}

/* Appends a field to an object, or an object to a list. */
static cofi_datum *append(cofi_page *p, cofi_datum *to, const char *key)
{
    cofi_datum *d = get_bytes(p, sizeof *d);
    if (d == NULL) {
        p->lost = (cofi_datum){.key = key};
        return &p->lost;
    }
    *d = (cofi_datum){.key = key};
    if (to->last != NULL)
        to->last->next = d;
    else
        to->first = d;
    to->last = d;
    return d;
}

static int keep_text(void *ctx, const char *text, size_t n_bytes)
{
    cofi_put_bytes(ctx, text, n_bytes);
    return 0;
}

void cofi_page_begin(cofi_page *p, const cof_env *env)
{
    *p = (cofi_page){.own = {.env = *env}, .text = {.env = *env}, .depth = 1};
    p->open[0] = &p->root;
    cofi_out_init(&p->out, keep_text, &p->text);
}

void cofi_page_end(cofi_page *p)
{
    cofi_blocks_release(&p->own);
    cofi_release(&p->text.env, p->text.bytes);
}

/* ---- Fields ------------------------------------------------------------------------------------------ */

static const cofi_datum *find_field(const cofi_datum *object, const char *key, size_t n)
{
    for (const cofi_datum *d = object->first; d != NULL; d = d->next)
        if (strncmp(d->key, key, n) == 0 && d->key[n] == '\0') return d;
    return NULL;
}

void cofi_page_open(cofi_page *p, const char *list)
{
    cofi_datum *object = p->open[p->depth - 1];
    cofi_datum *field = (cofi_datum *)find_field(object, list, strlen(list));
    if (field == NULL) field = append(p, object, list);
    assert(p->depth < COFI_PAGE_DEPTH);
    p->open[p->depth++] = append(p, field, NULL);
}

void cofi_page_close(cofi_page *p)
{
    assert(p->depth > 1);
    p->depth--;
}

cofi_out *cofi_page_write(cofi_page *p)
{
    p->text.n = 0;
    return &p->out;
}

void cofi_page_written(cofi_page *p, const char *key)
{
    cofi_datum *d = append(p, p->open[p->depth - 1], key);
    cofi_out_finish(&p->out, NULL);
    char *text = get_bytes(p, p->text.n + 1);
    if (text == NULL || p->text.failed) return;
    if (p->text.n > 0) memcpy(text, p->text.bytes, p->text.n);
    text[p->text.n] = '\0';
    d->text = text;
    d->n_bytes = p->text.n;
}

void cofi_out_count(cofi_out *out, uint64_t n)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    for (int i = 0; i < length; i++) {
        cofi_out_bytes(out, digits + i, 1);
        if ((length - 1 - i) % 3 == 0 && i + 1 < length) cofi_out_text(out, ",");
    }
}

/* Whole percents; the ends only where they are exact. */
static int percent_of(double part, double whole)
{
    if (!(whole > 0) || !(part > 0)) return 0;
    int percent = (int)lround(100 * part / whole);
    if (percent >= 100) return part >= whole ? 100 : 99;
    return percent < 1 ? 1 : percent;
}

static bool is_tiny(double part, double whole)
{
    return part > 0 && whole > 0 && 100 * part / whole < 0.5;
}

static void put_letter(cofi_out *out, char letter, int number, va_list *args)
{
    if (letter == 'c') {
        cofi_out_count(out, va_arg(*args, uint64_t));
        return;
    }
    double x = va_arg(*args, double);
    if (letter == 'a' && x == floor(x) && x >= 0 && x < 1e18)
        cofi_out_count(out, (uint64_t)x);
    else if (letter == 'a')
        cofi_out_fixed(out, x, 0, fabs(x) < 1000 ? 2 : 0);
    if (letter != 'p') return;
    double whole = va_arg(*args, double);
    cofi_out_format(out, "%s%d\u00a0%%", is_tiny(x, whole) ? "<" : "", percent_of(x, whole));
}

void cofi_page_put(cofi_page *p, const char *key, const char *template, ...)
{
    va_list args;
    va_start(args, template);
    cofi_out_fill(cofi_page_write(p), template, &args, put_letter);
    va_end(args);
    cofi_page_written(p, key);
}

void cofi_page_flag(cofi_page *p, const char *key, bool set)
{
    cofi_page_put(p, key, set ? "yes" : "");
}

void cofi_page_number(cofi_page *p, const char *key, double number, int decimals)
{
    cofi_page_open(p, key);
    cofi_page_put(p, "v", isfinite(number) ? "%g" : "", number);
    cofi_out *out = cofi_page_write(p);
    if (isfinite(number))
        cofi_out_fixed(out, number, 0, decimals);
    else
        cofi_out_text(out, "\u2013");
    cofi_page_written(p, "t");
    cofi_page_close(p);
}

void cofi_page_count(cofi_page *p, const char *key, double amount)
{
    cofi_page_open(p, key);
    cofi_page_put(p, "v", "%g", amount);
    cofi_page_put(p, "t", "%a", amount);
    cofi_page_close(p);
}

void cofi_page_bar(cofi_page *p, const char *key, double part, double whole)
{
    unsigned percent = (unsigned)percent_of(part, whole);
    cofi_page_open(p, key);
    cofi_page_put(p, "w", percent > 0 ? "%u" : "", percent);
    cofi_page_put(p, "t", "%s%u", is_tiny(part, whole) ? "<" : "", percent);
    cofi_page_close(p);
}

void cofi_page_name(cofi_page *p, const char *key, const char *name, unsigned columns)
{
    char shown[COFI_SHOWN_BYTES], longer[COFI_SHOWN_BYTES];
    cofi_shown(shown, name, columns);
    cofi_shown(longer, name, HOVER_COLUMNS);
    char *dots = strstr(shown, ".."); /* a range such as 2024-03-01..2024-05-31 */
    bool range = dots != NULL && dots != shown && dots[2] != '.' && dots[2] != '\0';
    cofi_page_open(p, key);
    cofi_page_put(p, "full", "%s", strcmp(shown, longer) != 0 ? longer : "");
    cofi_page_put(p, "more", "%s", range ? dots + 2 : "");
    if (range) dots[2] = '\0';
    cofi_page_put(p, "t", "%s", shown);
    cofi_page_close(p);
}

void cofi_page_open_cluster(cofi_page *p, const char *list, uint32_t cluster)
{
    cofi_page_open(p, list);
    cofi_page_put(p, "id", "%u", cluster + 1);
    cofi_svg_cluster(cofi_page_write(p), cluster);
    cofi_page_written(p, "colour");
}

/* ---- The template ------------------------------------------------------------------------------------ */

/* {{kind name}} at `at`; `after` is behind it. */
typedef struct tag {
    const char *at, *after, *name;
    size_t n;
    char kind; /* # ^ = / > or { ; 0: a text that is escaped */
} tag;

typedef struct filler {
    const char *template, *end;
    cofi_out *out;
} filler;

/* An object and what is around it. */
typedef struct scope {
    const cofi_datum *object;
    bool first;
    const struct scope *around;
} scope;

/* The next tag from `at` on; its `at` is `end` if there is none. */
static tag next_tag(const filler *f, const char *at, const char *end)
{
    while (at + 1 < end && !(at[0] == '{' && at[1] == '{')) at++;
    if (at + 1 >= end) return (tag){.at = end, .after = end};
    tag t = {.at = at, .name = at + 2};
    if (strchr("#^=/>{", *t.name) != NULL) t.kind = *t.name++;
    while (t.name[t.n] != '}') t.n++;
    t.after = t.name + t.n + (t.kind == '{' ? 3 : 2);
    bool alone = (at == f->template || at[-1] == '\n') && t.after < f->end && *t.after == '\n';
    if (alone && t.kind != 0 && strchr("#^=/", t.kind) != NULL) t.after++;
    return t;
}

/* The {{/}} that ends what was opened before `at`. */
static tag find_close(const filler *f, const char *at)
{
    for (int depth = 1;;) {
        tag t = next_tag(f, at, f->end);
        assert(t.at < f->end); /* every part is closed */
        if (t.kind == '#' || t.kind == '^' || t.kind == '=') depth++;
        if (t.kind == '/' && --depth == 0) return t;
        at = t.after;
    }
}

static const cofi_datum *look_up(const scope *in, const char *name, size_t n)
{
    const cofi_datum *d = NULL;
    for (; in != NULL && d == NULL; in = in->around) d = find_field(in->object, name, n);
    return d;
}

static void fill(const filler *f, const char *at, const char *end, const scope *in);

static void fill_each(const filler *f, const char *at, const char *end, const cofi_datum *list,
                      const scope *in)
{
    for (const cofi_datum *d = list->first; d != NULL; d = d->next)
        fill(f, at, end, &(scope){.object = d, .first = d == list->first, .around = in});
}

static void fill_section(const filler *f, const tag *t, const char *end, const scope *in)
{
    const char *word = memchr(t->name, '=', t->n);
    size_t n = word != NULL ? (size_t)(word - t->name) : t->n, n_word = word != NULL ? t->n - n - 1 : 0;
    const cofi_datum *d = look_up(in, t->name, n);
    bool holds = d != NULL && (d->text != NULL ? d->n_bytes > 0 : d->first != NULL);
    if (word != NULL) holds = holds && d->n_bytes == n_word && memcmp(d->text, word + 1, n_word) == 0;
    if (n == strlen("first") && memcmp(t->name, "first", n) == 0) holds = in->first;
    if (holds != (t->kind == '#')) return;
    if (holds && d != NULL && d->text == NULL)
        fill_each(f, t->after, end, d, in);
    else
        fill(f, t->after, end, in);
}

/* {{>part}} or {{>part field}} */
static void fill_part(const filler *f, const tag *t, const scope *in)
{
    const char *space = memchr(t->name, ' ', t->n);
    size_t n = space != NULL ? (size_t)(space - t->name) : t->n;
    tag part = next_tag(f, f->template, f->end);
    while (part.kind != '=' || part.n != n || memcmp(part.name, t->name, n) != 0) {
        assert(part.at < f->end); /* every part is defined, before or after its use */
        part = next_tag(f, part.after, f->end);
    }
    const char *end = find_close(f, part.after).at;
    const cofi_datum *d = space != NULL ? look_up(in, space + 1, t->n - n - 1) : NULL;
    if (d != NULL) fill_each(f, part.after, end, d, in);
    if (space == NULL) fill(f, part.after, end, in);
}

static void fill(const filler *f, const char *at, const char *end, const scope *in)
{
    while (at < end) {
        tag t = next_tag(f, at, end);
        cofi_out_bytes(f->out, at, (size_t)(t.at - at));
        at = t.after;
        if (t.at == end) return;
        if (t.kind == '>') {
            fill_part(f, &t, in);
        } else if (t.kind == '#' || t.kind == '^' || t.kind == '=') {
            tag close = find_close(f, t.after);
            if (t.kind != '=') fill_section(f, &t, close.at, in);
            at = close.after;
            if (t.kind == '=' && at < end && *at == '\n') at++;
        } else {
            const cofi_datum *d = look_up(in, t.name, t.n);
            if (d == NULL || d->text == NULL) continue;
            if (t.kind == '{')
                cofi_out_bytes(f->out, d->text, d->n_bytes);
            else
                cofi_out_xml(f->out, d->text);
        }
    }
}

cof_status cofi_page_fill(cofi_page *p, const char *template, size_t n_bytes, cofi_out *out, cof_error *err)
{
    assert(p->depth == 1);
    if (p->own.short_of_memory || p->text.failed) return cofi_no_memory(err);
    filler f = {.template = template, .end = template + n_bytes, .out = out};
    fill(&f, template, f.end, &(scope){.object = &p->root});
    return cofi_out_finish(out, err);
}
