/* The whole API in any order, with extreme arguments: a table, a model of it, and calls that the input chooses, while
 * memory runs out, sinks refuse and the host asks to stop whenever the input says so.
 *
 * Whatever is called, a failure has a sentence, memory is short only where a block was refused, and nothing outside
 * the caller's buffers is touched: those are as long as stated, on the heap, so that one byte more is seen. */
#include "make_input.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_CALLS = 12, MOST_BLOCK = 1 << 24, MOST_LIST = 64 };

/* What the host lends. */
typedef struct host {
    int blocks_left, asks_left; /* until memory is refused, until the call is to stop; -1: never */
    bool refused;
} host;

typedef struct world {
    bytes b;
    host host;
    cof_table *table;
    cof_model *model;
    page *page;
} world;

static void *lend(void *ctx, size_t n_bytes)
{
    host *h = ctx;
    bool refuse = h->blocks_left == 0 || n_bytes > MOST_BLOCK;
    if (h->blocks_left > 0) h->blocks_left--;
    h->refused |= refuse;
    return refuse ? NULL : malloc(n_bytes);
}

static void take_back(void *ctx, void *block)
{
    (void)ctx;
    free(block);
}

static int ask(void *ctx)
{
    host *h = ctx;
    if (h->asks_left > 0) h->asks_left--;
    return h->asks_left == 0;
}

/* ---- Arguments ----------------------------------------------------------------------------------------- */

static size_t any_size(bytes *b)
{
    static const size_t odd[] = {SIZE_MAX,
                                 SIZE_MAX / 2,
                                 SIZE_MAX / 2 + 1,
                                 SIZE_MAX / 8,
                                 SIZE_MAX / 8 + 1,
                                 INT32_MAX,
                                 UINT32_MAX,
                                 UINT32_MAX - 1,
                                 UINT32_MAX / 4,
                                 65535,
                                 65536,
                                 1 << 20,
                                 4096,
                                 4097};
    uint8_t first = take(b);
    return first < 0xE0 ? first % 16 : odd[first % (sizeof odd / sizeof *odd)];
}

static double any_real(bytes *b)
{
    static const double odd[] = {
        0,      -0.0,     1,         -1,  0.5, 1e-300,           1e300, 1.7e308, -1e308,
        5e-324, INFINITY, -INFINITY, NAN, 30,  4503599627370497, 1e-12};
    return odd[take(b) % (sizeof odd / sizeof *odd)];
}

/* Thread counts stay small only because starting a thousand threads takes long. */
static uint32_t any_threads(bytes *b)
{
    return take(b) % 4;
}

/* A copy of a struct as another version of the caller would have it: shorter or longer, of just so many bytes. */
static void *any_version(bytes *b, const void *whole, size_t n)
{
    /* no struct ends inside a pointer */
    size_t half = n / 2 - n / 2 % sizeof(void *), sizes[] = {n, n, n, n, 0, 1, 8, half, n - 1, n + 16};
    size_t size = sizes[take(b) % (sizeof sizes / sizeof *sizes)],
           room = size < sizeof size ? sizeof size : size;
    unsigned char *block = calloc(room, 1);
    memcpy(block, whole, room < n ? room : n);
    memcpy(block, &size, sizeof size);
    return block;
}

static int32_t *any_labels(bytes *b, size_t n)
{
    static const int32_t odd[] = {INT32_MAX, INT32_MIN, -1, 65536, 1000000};
    int32_t *labels = malloc(n * sizeof *labels + 1);
    for (size_t i = 0; i < n; i++) {
        uint8_t first = take(b);
        labels[i] = first < 0xF0 ? first % 4 : odd[first % 5];
    }
    return labels;
}

/* A length that is right, or one that is not; the buffer need not be longer than MOST_LIST then. */
static size_t any_length(bytes *b, size_t right)
{
    return take(b) % 4 != 0 ? right : any_size(b);
}

static void check(world *w, cof_status status, const cof_error *err)
{
    require(status == COF_OK || err->text[0] != '\0', "a failure without a sentence");
    require(memchr(err->text, '\0', sizeof err->text) != NULL, "a sentence without end");
    require(status != COF_ERR_MEMORY || w->host.refused, "memory was short, but none was refused");
    require(status != COF_ERR_STOPPED || w->host.asks_left == 0, "stopped, but nobody asked");
    require(strcmp(cof_status_text(status), cof_status_text((cof_status)12345)) != 0, "an unknown status");
}

/* ---- Tables -------------------------------------------------------------------------------------------- */

static void ask_column(world *w)
{
    cof_error err = {""};
    cof_column whole = {.struct_size = sizeof whole}, *view = any_version(&w->b, &whole, sizeof whole);
    size_t column = any_size(&w->b), n_edges;
    char name[TEXT_BYTES];
    (void)cof_table_column(w->table, column, view);
    (void)cof_table_find(w->table, take_text(&w->b, name));
    (void)cof_table_value(w->table, column, (uint32_t)any_size(&w->b));
    (void)cof_table_edges(w->table, column, &n_edges);
    cof_advice none = {.struct_size = sizeof none}, *advice = any_version(&w->b, &none, sizeof none);
    check(w, cof_column_advise(w->table, column, (int32_t)any_size(&w->b), advice, &err), &err);
    free(advice);
    free(view);
}

static void count_values(world *w)
{
    cof_error err = {""};
    cof_column view = {.struct_size = sizeof view};
    size_t column = any_size(&w->b), n;
    if (cof_table_column(w->table, column, &view) != COF_OK) view.n_values = 0;
    size_t room = any_length(&w->b, (size_t)view.n_values + 1), most = take(&w->b) % 4;
    uint64_t n_distinct, *rows = malloc((room < MOST_LIST ? room : MOST_LIST) * sizeof *rows + 1);
    cof_suspect *list = malloc(most * sizeof *list + 1);
    check(w, cof_column_count(w->table, column, rows, room, &err), &err);
    check(w, cof_column_suspects(w->table, column, list, most, &n, &err), &err);
    check(w, cof_table_count_distinct(w->table, &n_distinct, &err), &err);
    free(list);
    free(rows);
}

static void change_column(world *w)
{
    cof_error err = {""};
    char text[4][TEXT_BYTES];
    const char *list[4];
    for (size_t i = 0; i < 4; i++) list[i] = take_text(&w->b, text[i]);
    size_t column = any_size(&w->b);
    cof_cut_options cut = {.bins = (uint32_t)any_size(&w->b), .edges = list, .n_edges = take(&w->b) % 5};
    cof_cut_options *o = any_version(&w->b, &cut, sizeof cut);
    check(w, cof_table_set_role(w->table, column, (int32_t)any_size(&w->b), &err), &err);
    check(w, cof_table_set_order(w->table, column, list, take(&w->b) % 5, &err), &err);
    check(w, cof_table_cut(w->table, column, take(&w->b) % 4 == 0 ? NULL : o, &err), &err);
    free(o);
}

static void write_table(world *w)
{
    static const char *const places[] = {"/dev/null", "/dev/full", "/", "", "/no such folder/x"};
    cof_error err = {""};
    const char *path = places[take(&w->b) % 5];
    check(w, cof_table_write_cuts(w->table, swallow, w->page, &err), &err);
    check(w, cof_table_write(w->table, path, &err), &err);
    if (w->model != NULL) check(w, cof_model_save(w->model, path, &err), &err);
    if (w->model != NULL) check(w, cof_model_load(NULL, path, &(cof_model *){NULL}, &err), &err);
}

/* Sizes that overflow come with no cells at all: they must be refused before one is read. */
static void make_codes(world *w, const cof_env *env)
{
    static const int32_t codes[] = {0, 1, -1, INT32_MAX, INT32_MIN, 7, 7, 1, 0, 2, 1, 1};
    cof_error err = {""};
    cof_table *t = NULL;
    size_t huge = SIZE_MAX / (1 + take(&w->b) % 9), n_rows = take(&w->b) % 5, n_columns = take(&w->b) % 4;
    require(cof_table_from_codes(env, codes, huge, SIZE_MAX / 2, NULL, &t, &err) != COF_OK,
            "a size that overflows");
    require(cof_table_from_strings(env, NULL, huge, SIZE_MAX / 2, NULL, &t, &err) != COF_OK,
            "a size that overflows");
    check(w, cof_table_from_codes(env, codes, n_rows, n_columns, NULL, &t, &err), &err);
    cof_table_free(t);
}

static void generate(world *w, const cof_env *env)
{
    cof_error err = {""};
    cof_table *t = NULL;
    cof_generate_options whole = {.kind = (int32_t)any_size(&w->b),
                                  .n_rows = any_size(&w->b),
                                  .n_columns = (uint32_t)any_size(&w->b),
                                  .n_values = (uint32_t)any_size(&w->b),
                                  .k = (uint32_t)any_size(&w->b),
                                  .noise = any_real(&w->b),
                                  .family = (int32_t)any_size(&w->b)};
    /* what is allowed but would take long */
    if (whole.n_rows > 5000 && whole.n_rows < UINT32_MAX - 2) whole.n_rows %= 5000;
    if (whole.n_columns > 64 && whole.n_columns <= 1 << 20) whole.n_columns %= 64;
    cof_generate_options *o = any_version(&w->b, &whole, sizeof whole);
    check(w, cof_table_generate(env, o, &t, &err), &err);
    cof_table_free(t);
    free(o);
}

/* ---- Models -------------------------------------------------------------------------------------------- */

static void ask_model(world *w)
{
    cof_attribute whole = {.struct_size = sizeof whole}, *view = any_version(&w->b, &whole, sizeof whole);
    size_t a = any_size(&w->b), n, room = 1 + take(&w->b) % 20;
    uint32_t u = (uint32_t)any_size(&w->b), v = (uint32_t)any_size(&w->b), n_good;
    char *text = malloc(room);
    (void)cof_model_attribute(w->model, a, view);
    (void)cof_model_value(w->model, a, u);
    (void)cof_model_profile(w->model, a, u, v);
    (void)cof_model_count(w->model, a, u, v);
    (void)cof_model_distance(w->model, a, u, v);
    (void)cof_model_edges(w->model, a, take(&w->b) % 2 ? &n : NULL);
    (void)cof_model_cut(w->model, a, &n);
    (void)cof_model_five(w->model, a, v);
    require(strlen(cof_model_show_point(w->model, a, any_real(&w->b), text, room)) < room,
            "too long a point");
    (void)cof_model_history(w->model, &n);
    (void)cof_model_k_curve(w->model, &n);
    (void)cof_model_cluster_agreement(w->model, &n_good);
    (void)cof_model_mean_agreement(w->model);
    free(text);
    free(view);
}

static void ask_fields(world *w)
{
    for (size_t f = 0; cof_result_field(f) != NULL; f++) {
        size_t n = cof_result_length(w->model, NULL, f);
        if (cof_result_field(f)->type >= COF_FIELD_OBJECT) continue;
        for (size_t at = 0; at < n; at++) {
            cof_field_value value = cof_result_value(w->model, NULL, f, at);
            require(!value.known || cof_result_field(f)->type != COF_FIELD_TEXT || value.text != NULL,
                    "no text");
        }
    }
    require(cof_result_field(any_size(&w->b) + MOST_BLOCK) == NULL, "a field past the last");
}

static void ask_traits(world *w)
{
    cof_error err = {""};
    size_t k = cof_model_k(w->model), most = take(&w->b) % 4, room = 1 + take(&w->b) % 20;
    size_t n_attrs = any_length(&w->b, cof_model_n_attributes(w->model));
    cof_trait *traits = malloc(k * most * sizeof *traits + 1);
    size_t *n_traits = malloc(k * sizeof *n_traits + 1);
    double *share = malloc((n_attrs < MOST_LIST ? n_attrs : MOST_LIST) * sizeof *share + 1);
    char *text = malloc(room);
    cof_status status = cof_model_traits(w->model, (int32_t)any_size(&w->b), most, traits, n_traits, &err);
    check(w, status, &err);
    for (size_t j = 0; status == COF_OK && j < k; j++)
        for (size_t i = 0; i < n_traits[j]; i++)
            require(strlen(cof_trait_text(w->model, &traits[j * most + i], text, room)) < room,
                    "too long a trait");
    check(w, cof_model_importance(w->model, share, n_attrs, &err), &err);
    free(text);
    free(share);
    free(n_traits);
    free(traits);
}

/* Takes no bytes of the input, so that older inputs keep their meaning. */
static void rate_rows(world *w)
{
    cof_error err = {""};
    size_t n = cof_table_n_rows(w->table), k = cof_model_k(w->model);
    double *shares = malloc(n * k * sizeof *shares + 1), *scores = malloc(n * sizeof *scores + 1);
    cof_fit_info info = {.struct_size = sizeof info};
    cof_posterior *posterior = NULL;
    cof_status status = cof_posterior_open(w->model, w->table, 1, &posterior, &err);
    check(w, status, &err);
    if (status == COF_OK) check(w, cof_posterior_rows(posterior, 0, n, shares, scores, &err), &err);
    cof_posterior_free(posterior);
    check(w, cof_model_criteria(w->model, w->table, NULL, 1, &info, &err), &err);
    free(scores);
    free(shares);
}

static void label_rows(world *w)
{
    cof_error err = {""};
    size_t n_rows = cof_table_n_rows(w->table), n = any_length(&w->b, n_rows), k = cof_model_k(w->model);
    size_t room = n == n_rows ? n : MOST_LIST;
    int32_t *labels = any_labels(&w->b, room);
    cof_margin *margins = malloc(room * sizeof *margins + 1);
    double *distances = malloc(room * k * sizeof *distances + 1);
    cof_predict_info whole = {0}, *info = any_version(&w->b, &whole, sizeof whole);
    check(w, cof_model_margins(w->model, w->table, labels, any_threads(&w->b), margins, n, &err), &err);
    check(w, cof_model_values(w->model, w->table, any_size(&w->b), labels, n, &err), &err);
    check(w, cof_model_predict(w->model, w->table, any_threads(&w->b), labels, n, info, &err), &err);
    check(w,
          cof_model_transform(w->model, w->table, any_threads(&w->b), distances, n > SIZE_MAX / k ? n : n * k,
                              &err),
          &err);
    for (size_t i = 0; n == n_rows && i < n; i++) (void)cof_margin_lead(&margins[i]);
    free(info);
    free(distances);
    free(margins);
    free(labels);
    rate_rows(w);
}

/* ---- Drawings and reports ------------------------------------------------------------------------------ */

static void draw_tree(world *w)
{
    cof_error err = {""};
    int32_t drawing = (int32_t)any_size(&w->b);
    check(w, cof_model_draw_tree(w->model, any_size(&w->b), drawing, swallow, w->page, &err), &err);
    if (drawing == COF_DRAW_SVG) check_drawings(w->page);
}

static void draw_map(world *w)
{
    cof_error err = {""};
    cof_map *map = NULL;
    cof_embed_options whole = {.perplexity = any_real(&w->b),
                               .most_points = (uint32_t)any_size(&w->b),
                               .steps = 1 + take(&w->b) % 40,
                               .threads = any_threads(&w->b),
                               .most_cells = any_size(&w->b)};
    cof_embed_options *o = any_version(&w->b, &whole, sizeof whole);
    int32_t *labels = any_labels(&w->b, cof_table_n_rows(w->table));
    size_t n_points = 0;
    check(w, cof_embed(w->model, w->table, o, &map, &err), &err);
    const cof_map_point *points = map != NULL ? cof_map_points(map, &n_points) : NULL;
    for (size_t i = 0; i < n_points; i++)
        require(isfinite(points[i].x) && isfinite(points[i].y), "a point without a place");
    if (map != NULL) check(w, cof_map_draw(map, w->model, w->table, labels, swallow, w->page, &err), &err);
    check_drawings(w->page);
    cof_map_free(map);
    free(labels);
    free(o);
}

static void write_report(world *w)
{
    cof_error err = {""};
    char text[8][TEXT_BYTES];
    const char *words[8];
    for (size_t i = 0; i < 8; i++) words[i] = take_text(&w->b, text[i]);
    size_t n_rows = cof_table_n_rows(w->table);
    int32_t *labels = any_labels(&w->b, n_rows);
    cof_report_fact facts[] = {{words[0], words[1]}, {words[2], words[3]}};
    uint8_t choice = take(&w->b);
    cof_report_options whole = {.source = choice & 1 ? words[4] : NULL,
                                .labels = choice & 2 ? labels : NULL,
                                .n_labels = any_length(&w->b, n_rows),
                                .left_out = choice & 4 ? words : NULL,
                                .facts = facts,
                                .n_facts = take(&w->b) % 3,
                                .notes = words + 5,
                                .n_notes = take(&w->b) % 4,
                                .perplexity = any_real(&w->b),
                                .most_points = (uint32_t)any_size(&w->b),
                                .threads = any_threads(&w->b),
                                .n_distinct_rows = any_size(&w->b)};
    cof_report_options *o = any_version(&w->b, &whole, sizeof whole);
    const cof_table *table = choice & 8 ? w->table : NULL;
    check(w, cof_report_write(w->model, table, choice & 16 ? o : NULL, swallow, w->page, &err), &err);
    check_drawings(w->page);
    free(o);
    free(labels);
}

/* ---- Fits and figures ---------------------------------------------------------------------------------- */

static void fit_again(world *w)
{
    uint64_t rows[MOST_FITTED];
    double weights[MOST_FITTED];
    cof_error err = {""};
    cof_model *m = NULL;
    cof_fit_options whole = choose(&w->b, rows, weights), *o;
    whole.scale = (int32_t)any_size(&w->b);
    whole.gamma = any_real(&w->b);
    whole.threads = any_threads(&w->b);
    if (cof_table_n_rows(w->table) > MOST_FITTED) whole.weights = NULL;
    cof_fit_info none = {0}, *info = any_version(&w->b, &none, sizeof none);
    o = any_version(&w->b, &whole, sizeof whole);
    bool choose_k = take(&w->b) % 2;
    uint32_t least = (uint32_t)any_size(&w->b), most = (uint32_t)any_size(&w->b);
    check(w,
          choose_k ? cof_fit_auto(w->table, o, least, most, &m, info, &err)
                   : cof_fit(w->table, o, &m, info, &err),
          &err);
    if (m != NULL) {
        cof_model_free(w->model);
        w->model = m;
    }
    free(o);
    free(info);
}

static void measure(world *w)
{
    cof_error err = {""};
    double *distances[MOST_ATTRIBUTES] = {NULL};
    cof_fit_options whole = {.k = 2, .missing = (int32_t)any_size(&w->b)};
    whole.method = cof_method_name(take(&w->b) % (cof_method_count() + 1));
    cof_fit_options *o = any_version(&w->b, &whole, sizeof whole);
    for (size_t c = 0; c < cof_table_n_columns(w->table); c++) {
        cof_column view = {.struct_size = sizeof view};
        (void)cof_table_column(w->table, c, &view);
        size_t n = (size_t)view.n_values + (view.n_missing > 0);
        if (take(&w->b) % 4 != 0) distances[c] = malloc(n * n * sizeof(double) + 1);
    }
    check(w, cof_value_distances(w->table, o, distances, &err), &err);
    for (size_t c = 0; c < MOST_ATTRIBUTES; c++) free(distances[c]);
    free(o);
}

static void match(world *w, const cof_env *env)
{
    cof_error err = {""};
    uint32_t n_clusters = take(&w->b) % 6, n_classes = take(&w->b) % 6;
    uint64_t *counts = malloc((size_t)n_clusters * n_classes * sizeof *counts + 1);
    int32_t *class_of = malloc(n_clusters * sizeof *class_of + 1);
    for (size_t i = 0; i < (size_t)n_clusters * n_classes; i++) counts[i] = any_size(&w->b);
    cof_status status = cof_match(env, counts, n_clusters, n_classes, class_of, &err);
    check(w, status, &err);
    for (uint32_t j = 0; status == COF_OK && j < n_clusters; j++)
        require(class_of[j] >= -1 && class_of[j] < (int32_t)n_classes, "a class out of range");
    free(class_of);
    free(counts);
}

static void call(world *w, const cof_env *env)
{
    static void (*const of_table[])(world *) = {ask_column,  count_values, change_column,
                                                write_table, fit_again,    measure};
    static void (*const of_model[])(world *) = {ask_model, ask_fields, ask_traits,  label_rows,
                                                draw_tree, draw_map,   write_report};
    static void (*const of_host[])(world *, const cof_env *) = {make_codes, generate, match};
    enum { N_TABLE = sizeof of_table / sizeof *of_table, N_MODEL = sizeof of_model / sizeof *of_model };
    uint8_t which = take(&w->b) % (N_TABLE + N_MODEL + sizeof of_host / sizeof *of_host);
    if (which < N_TABLE)
        of_table[which](w);
    else if (which >= N_TABLE + N_MODEL)
        of_host[which - N_TABLE - N_MODEL](w, env);
    else if (w->model != NULL)
        of_model[which - N_TABLE](w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static page p;
    world w = {.b = {data, data + size}, .host = {-1, -1, false}, .page = &p};
    cof_env env = {
        .struct_size = sizeof env, .alloc = lend, .release = take_back, .should_stop = ask, .ctx = &w.host};
    w.table = make_table(&w.b, &env);
    if (w.table == NULL) return 0;
    set_up(&w.b, w.table);
    cof_fit_options usual = {
        .struct_size = sizeof usual, .k = 1 + take(&w.b) % 4, .restarts = 2, .threads = 1};
    if (cof_fit(w.table, &usual, &w.model, NULL, NULL) != COF_OK) w.model = NULL;
    for (int i = 0; i < MOST_CALLS && w.b.at < w.b.end; i++) {
        uint8_t trouble = take(&w.b);
        w.host = (host){trouble % 4 == 1 ? trouble / 4 : -1, trouble % 4 == 2 ? trouble / 4 : -1, false};
        p.n = 0;
        p.refuse_after = trouble % 4 == 3 ? trouble / 4 : -1;
        call(&w, &env);
    }
    cof_model_free(w.model);
    cof_table_free(w.table);
    return 0;
}
