/* Fits over shards: whatever the cut, whichever shards forget what they knew, the result is that of the whole table. */
#include "alloc_helper.h"
#include "cases_helper.h"
#include "unit_helper.h"

#include "../../src/table/schema.h"
#include "coforest_shard.h"

#ifdef __SANITIZE_THREAD__
enum { CUTS = 150 }; /* it takes thirty times as long */
#else
enum { CUTS = 1000 };
#endif
enum { MOST_SHARDS = 20 };

/* ---- Tables ---------------------------------------------------------------------------------------- */

enum { L = 5, QUANTITY = L, WEIGHT, CLASS, N_COLUMNS };

typedef struct texts {
    size_t n;
    const char **cell; /* column after column; NULL: missing */
} texts;

/* Rows around a few modes, many of them equal; a quantity; weights, some of them 0; classes. */
static texts random_texts(cofi_rng *rng, size_t n, bool repeated, bool fractions)
{
    static const char *const value[] = {"a", "b", "c", "d", "7", "10"};
    static const char *const weight[2][4] = {{"0", "1", "2", "3"}, {"0", "0.1", "1.75", "3"}};
    static char number[64][8];
    texts t = {n, get_zero(n * N_COLUMNS, sizeof *t.cell)};
    size_t n_different = repeated ? 1 + n / 4 : n;
    for (size_t v = 0; v < 64; v++) snprintf(number[v], sizeof number[v], "%zu", v * v % 997);
    for (size_t i = 0; i < n; i++) {
        size_t same = i < n_different ? i : below(rng, n_different), mode = below(rng, 3);
        for (size_t r = 0; r < L; r++) {
            size_t v = below(rng, 4) == 0 ? below(rng, 3 + r % 4) : (mode + r) % 3;
            t.cell[r * n + i] =
                i < n_different ? below(rng, 25) == 0 ? NULL : value[v] : t.cell[r * n + same];
        }
        t.cell[QUANTITY * n + i] =
            i < n_different ? number[20 * mode + below(rng, 24)] : t.cell[QUANTITY * n + same];
        t.cell[WEIGHT * n + i] = weight[fractions][below(rng, 4)];
        t.cell[CLASS * n + i] = value[mode];
    }
    t.cell[WEIGHT * n] = "2"; /* some row counts */
    return t;
}

static cof_table *slice(const texts *t, size_t begin, size_t end)
{
    static const char *const names[N_COLUMNS] = {"r0", "r1", "r2", "r3", "r4", "size", "weight", "class"};
    size_t n = end - begin;
    cof_table *table = NULL;
    cof_error err;
    if (n == 0) return NULL;
    const char **cell = get_zero(n * N_COLUMNS, sizeof *cell);
    for (size_t c = 0; c < N_COLUMNS; c++) memcpy(cell + c * n, t->cell + c * t->n + begin, n * sizeof *cell);
    assert_status(cof_table_from_strings(NULL, cell, n, N_COLUMNS, names, &table, &err), COF_OK, &err);
    free(cell);
    return table;
}

/* ---- Shards ----------------------------------------------------------------------------------------- */

typedef struct cluster {
    size_t n;
    size_t begin[MOST_SHARDS + 1];
    cof_table *table[MOST_SHARDS];
    cof_shard *shard[MOST_SHARDS];
    cof_schema *schema;
    cofi_rng rng;
    bool forgets;
    uint32_t together; /* restarts that ask in one request; 0: the usual number */
    size_t n_asked, n_fitted;
    /* what happens to answers */
    enum { AS_THEY_ARE, ONE_IS_LOST, ONE_COUNTS_TWICE, ONE_BIT_CHANGES, NOT_REACHED } trouble;
} cluster;

static void open_one(cluster *c, size_t s)
{
    cof_error err;
    cof_shard_free(c->shard[s]);
    c->shard[s] = NULL;
    assert_status(cof_shard_open(NULL, c->table[s], c->schema, c->begin[s], 1, &c->shard[s], &err), COF_OK,
                  &err);
}

static void merge(cof_schema *into, const cof_schema *more)
{
    cof_error err;
    assert_status(cof_schema_merge(into, more, &err), COF_OK, &err);
}

/* Merges the parts in a random tree; some travel as bytes first. */
static cof_schema *merge_all(cluster *c)
{
    cof_schema *part[MOST_SHARDS];
    size_t n = 0;
    cof_error err;
    for (size_t s = 0; s < c->n; s++)
        if (c->table[s] != NULL)
            assert_status(cof_schema_of(c->table[s], c->begin[s], &part[n++], &err), COF_OK, &err);
    while (n > 1) {
        size_t a = below(&c->rng, n), b = below(&c->rng, n - 1);
        b += b >= a;
        merge(part[a], part[b]);
        cof_schema_free(part[b]);
        part[b] = part[--n];
    }
    return part[0];
}

static void open_cluster(cluster *c, const texts *t, size_t n)
{
    c->n = n;
    for (size_t s = 1; s < n; s++) { /* random cuts in ascending order; equal ones make empty shards */
        size_t at = below(&c->rng, t->n + 1), place = s;
        if (s > 1 && below(&c->rng, 4) == 0) at = c->begin[s - 1] + (c->begin[s - 1] < t->n); /* one row */
        for (; place > 1 && c->begin[place - 1] > at; place--) c->begin[place] = c->begin[place - 1];
        c->begin[place] = at;
    }
    c->begin[n] = t->n;
    for (size_t s = 0; s < n; s++) c->table[s] = slice(t, c->begin[s], c->begin[s + 1]);
    c->schema = merge_all(c);
}

static void close_cluster(cluster *c)
{
    for (size_t s = 0; s < c->n; s++) {
        cof_shard_free(c->shard[s]);
        cof_table_free(c->table[s]);
    }
    cof_schema_free(c->schema);
}

static int ask(void *ctx, const void *request, size_t n_bytes, uint64_t *sum, size_t n_words)
{
    cluster *c = ctx;
    cof_error err;
    c->n_asked++;
    assert_int_equal(cof_request_words(request, n_bytes), n_words);
    for (size_t at = 0, from = below(&c->rng, c->n); at < c->n; at++) {
        size_t s = (from + at) % c->n;
        if (c->forgets && below(&c->rng, 3) == 0) open_one(c, s);
        int times = s > 0 || c->trouble == AS_THEY_ARE ? 1 : c->trouble == ONE_IS_LOST ? 0 : 2;
        for (; times > 0; times--)
            assert_status(cof_shard_answer(c->shard[s], request, n_bytes, sum, n_words, &err), COF_OK, &err);
    }
    if (c->trouble == ONE_BIT_CHANGES) sum[below(&c->rng, n_words)] ^= UINT64_C(1) << below(&c->rng, 64);
    return c->trouble == NOT_REACHED;
}

static int ask_or_fail(void *ctx, const void *request, size_t n_bytes, uint64_t *sum, size_t n_words)
{
    cluster *c = ctx;
    return cof_shard_answer(c->shard[0], request, n_bytes, sum, n_words, NULL) != COF_OK;
}

static int32_t *all_labels(cluster *c, const cof_model *model)
{
    size_t n_bytes;
    const void *request = cof_model_label_request(model, &n_bytes);
    int32_t *label = get_zero(c->begin[c->n], sizeof *label);
    cof_error err;
    for (size_t s = 0; s < c->n; s++)
        assert_status(cof_shard_labels(c->shard[s], request, n_bytes, label + c->begin[s],
                                       c->begin[s + 1] - c->begin[s], &err),
                      COF_OK, &err);
    return label;
}

/* ---- One cut ---------------------------------------------------------------------------------------- */

typedef struct plan {
    cof_fit_options o;
    bool weighted, cut;
    uint32_t k_max; /* the number of clusters is chosen from o.k to k_max; 0: it is o.k */
} plan;

/* Sets roles and cuts of both: the whole table, and the schema of the parts. */
static void set_roles(const plan *p, cof_table *whole, cof_schema *schema)
{
    int32_t role[] = {p->cut ? COF_ROLE_ATTRIBUTE : COF_ROLE_IGNORED,
                      p->weighted ? COF_ROLE_WEIGHT : COF_ROLE_IGNORED, COF_ROLE_LABEL};
    cof_cut_options bins = {.struct_size = sizeof bins, .bins = 4};
    cof_error err;
    for (size_t c = QUANTITY; c < N_COLUMNS; c++) {
        cof_table_set_role(whole, c, role[c - QUANTITY], NULL);
        cof_schema_set_role(schema, c, role[c - QUANTITY], NULL);
    }
    if (!p->cut) return;
    cof_status status = cof_table_cut(whole, QUANTITY, &bins, &err);
    assert_int_equal(cof_schema_cut(schema, QUANTITY, &bins, &err), status);
    assert_status(status, COF_OK, &err);
}

static void check_schema(const cof_table *whole, const cof_schema *schema)
{
    const cof_table *made = cof_schema_table(schema);
    assert_int_equal(cof_schema_n_rows(schema), cof_table_n_rows(whole));
    for (size_t c = 0; c < N_COLUMNS; c++) {
        cof_column a = {.struct_size = sizeof a}, b = a;
        assert_int_equal(cof_table_column(whole, c, &a), COF_OK);
        assert_int_equal(cof_table_column(made, c, &b), COF_OK);
        assert_int_equal(a.n_values, b.n_values);
        assert_int_equal(a.n_missing, b.n_missing);
        assert_int_equal(a.role, b.role);
        assert_string_equal(a.name, b.name);
        for (uint32_t v = 0; v < a.n_values; v++)
            assert_string_equal(cof_table_value(whole, c, v), cof_table_value(made, c, v));
    }
}

static cof_status fit_whole(const plan *p, const cof_table *table, cof_model **model, cof_fit_info *info,
                            cof_error *err)
{
    return p->k_max > 0 ? cof_fit_auto(table, &p->o, p->o.k, p->k_max, model, info, err)
                        : cof_fit(table, &p->o, model, info, err);
}

static cof_status fit_shards(const plan *p, cluster *c, cof_model **model, cof_fit_info *info, cof_error *err)
{
    cof_shards shards = {.struct_size = sizeof shards, .ask = ask, .ctx = c, .together = c->together};
    return p->k_max > 0
               ? cof_fit_shards_auto(NULL, c->schema, &p->o, p->o.k, p->k_max, &shards, model, info, err)
               : cof_fit_shards(NULL, c->schema, &p->o, &shards, model, info, err);
}

/* Bins have minimum, quartiles and maximum per cluster. */
static void assert_same_quartiles(const cof_model *a, const cof_model *b)
{
    for (size_t r = 0; r < cof_model_n_attributes(a); r++)
        for (uint32_t j = 0; j < cof_model_k(a); j++) {
            const double *x = cof_model_five(a, r, j), *y = cof_model_five(b, r, j);
            assert_int_equal(x == NULL, y == NULL);
            if (x != NULL) assert_memory_equal(x, y, COF_N_FIVE * sizeof *x);
        }
}

static void assert_same_scores(cluster *c, const cof_table *whole, const cof_model *model,
                               const cof_model *of_shards)
{
    size_t n = cof_table_n_rows(whole);
    int32_t *class = get_zero(n, sizeof *class);
    cof_indices a = {.struct_size = sizeof a}, b = a;
    cof_shards shards = {.struct_size = sizeof shards, .ask = ask, .ctx = c};
    cof_error err;
    double *weight = get_zero(n, sizeof *weight);
    for (size_t i = 0; i < n; i++) class[i] = (int32_t)cof_table_code(whole, i, CLASS);
    assert_status(cof_table_weights(whole, weight, n, &err), COF_OK, &err);
    assert_status(cof_evaluate_weighted(NULL, cof_model_labels(model, NULL), class, weight, n, &a, &err),
                  COF_OK, &err);
    assert_status(cof_evaluate_shards(of_shards, c->schema, CLASS, &shards, &b, &err), COF_OK, &err);
    assert_memory_equal(&a, &b, sizeof a);
    free(weight);
    free(class);
}

static void assert_same_fit(cluster *c, const cof_table *whole, const cof_model *a, const cof_fit_info *x,
                            const cof_model *b, const cof_fit_info *y)
{
    size_t n = cof_table_n_rows(whole);
    int32_t *label = all_labels(c, b);
    assert_null(cof_model_labels(b, NULL));
    assert_memory_equal(cof_model_labels(a, NULL), label, n * sizeof *label);
    assert_int_equal(cof_model_k(a), cof_model_k(b));
    assert_memory_equal(&x->objective, &y->objective, sizeof x->objective);
    assert_memory_equal(&x->log_likelihood, &y->log_likelihood, sizeof x->log_likelihood);
    assert_memory_equal(&x->mixture_log_likelihood, &y->mixture_log_likelihood, sizeof x->objective);
    assert_int_equal(x->best_restart, y->best_restart);
    assert_int_equal(x->n_restarts, y->n_restarts);
    assert_int_equal(x->passes, y->passes);
    assert_int_equal(x->n_dropped, y->n_dropped);
    assert_int_equal(cof_model_k(a), cof_model_k(b));
    assert_same_trees(a, b);
    assert_same_quartiles(a, b);
    assert_same_scores(c, whole, a, b);
    free(label);
}

static void check_cut(const plan *p, const texts *t, cluster *c)
{
    cof_model *model[2] = {NULL, NULL};
    cof_fit_info info[2] = {{.struct_size = sizeof *info}, {.struct_size = sizeof *info}};
    cof_error err[2] = {{""}, {""}};
    cof_table *whole = slice(t, 0, t->n);
    set_roles(p, whole, c->schema);
    check_schema(whole, c->schema);
    for (size_t s = 0; s < c->n; s++) open_one(c, s);
    cof_status status = fit_whole(p, whole, &model[0], &info[0], &err[0]);
    assert_status(fit_shards(p, c, &model[1], &info[1], &err[1]), status, &err[1]);
    c->n_fitted += status == COF_OK;
    if (status == COF_OK)
        assert_same_fit(c, whole, model[0], &info[0], model[1], &info[1]);
    else
        assert_string_equal(err[0].text, err[1].text);
    for (int of = 0; of < 2; of++) cof_model_free(model[of]);
    cof_table_free(whole);
}

static const double column_weights[N_COLUMNS] = {0.5, 1, 0, 2, 1, 0.3, 1, 1};

static plan random_plan(cofi_rng *rng, const uint64_t *init_rows)
{
    static const char *const methods[] = {"kmodes", "lca", "lsm", "cbdm", "ocil",
                                          "udm",    "dlc", "h2h", "adc",  "cof1"};
    plan p = {.o = {.struct_size = sizeof p.o,
                    .k = 1 + (uint32_t)below(rng, 5),
                    .threads = 1 + (uint32_t)below(rng, 2),
                    .seed = below(rng, 99)}};
    p.o.init = (int32_t)below(rng, cof_start_count());
    p.o.restarts = p.o.init == COF_INIT_PORTFOLIO && below(rng, 12) == 0 ? 0 : 1 + (uint32_t)below(rng, 4);
    p.o.variant = (int32_t)below(rng, 2);
    p.o.select = (int32_t)below(rng, COF_SELECT_MIXTURE + 1);
    p.o.missing = (int32_t)below(rng, 3);
    p.weighted = below(rng, 3) == 0;
    p.cut = below(rng, 3) == 0;
    if (below(rng, 3) == 0) p.o.method = methods[below(rng, sizeof methods / sizeof *methods)];
    if (below(rng, 12) == 0) p.o.init_rows = init_rows;
    if (below(rng, 4) == 0) p.o.column_weights = column_weights;
    if (below(rng, 20) == 0 && p.o.init_rows == NULL) p.k_max = p.o.k + (uint32_t)below(rng, 4);
    return p;
}

static void results_do_not_depend_on_the_cut(void **state)
{
    (void)state;
    static const uint64_t init_rows[] = {3, 1, 4, 10, 15};
    size_t n_asked = 0, n_fitted = 0;
    const size_t n_cuts = CUTS / one_in();
    for (uint64_t round = 0; round < n_cuts; round++) {
        cofi_rng rng = dice(round);
        texts t = random_texts(&rng, 16 + below(&rng, below(&rng, 10) == 0 ? 400 : 100), round % 2 == 1,
                               round % 3 == 1);
        plan p = random_plan(&rng, init_rows);
        cluster c = {.rng = rng, .forgets = true, .together = (uint32_t)below(&rng, 4)};
        open_cluster(&c, &t, 1 + below(&rng, MOST_SHARDS));
        check_cut(&p, &t, &c);
        n_asked += c.n_asked;
        n_fitted += c.n_fitted;
        close_cluster(&c);
        free(t.cell);
    }
    printf("%zu cuts, %zu of them can be fitted, %zu requests\n", n_cuts, n_fitted, n_asked);
    assert_true(n_fitted > n_cuts * 9 / 10);
}

/* Above 16,384 rows, starts are tried on a sample, and distinct rows are counted only if there seem to be few. */
static void large_tables_are_sampled(void **state)
{
    (void)state;
    static const char *const six[] = {"a", "b", "c", "d", "e", "f"};
    cofi_rng rng = dice(5);
    for (int few = 0; few < 2; few++) {
        texts t = random_texts(&rng, 17000, few == 0, false);
        for (size_t i = 0; few == 1 && i < t.n; i++) /* six distinct rows */
            for (size_t r = 0; r < L; r++)
                t.cell[r * t.n + i] = r > 0 ? "same" : six[i % 17 < 5 ? i % 17 : 5];
        for (uint32_t k = 3; k < (few ? 9 : 4); k += 4) {
            plan p = {.o = {.struct_size = sizeof p.o, .k = k, .threads = 1, .restarts = 4},
                      .weighted = few == 1};
            cluster c = {.rng = dice(k), .together = few ? 0 : 3};
            open_cluster(&c, &t, 3);
            check_cut(&p, &t, &c);
            assert_int_equal(c.n_fitted, k <= 6);
            close_cluster(&c);
        }
        free(t.cell);
    }
}

/* ---- What goes wrong ---------------------------------------------------------------------------------- */

static cof_status fit_with_trouble(int trouble, cof_error *err)
{
    cofi_rng rng = dice(8);
    texts t = random_texts(&rng, 60, false, false);
    plan p = {.o = {.struct_size = sizeof p.o, .k = 3, .threads = 1, .restarts = 2}};
    cluster c = {.rng = rng, .trouble = trouble};
    cof_model *model = NULL;
    cof_fit_info info = {.struct_size = sizeof info};
    cof_table *whole = slice(&t, 0, t.n);
    open_cluster(&c, &t, 4);
    set_roles(&p, whole, c.schema);
    for (size_t s = 0; s < c.n; s++) open_one(&c, s);
    cof_status status = fit_shards(&p, &c, &model, &info, err);
    cof_model_free(model);
    cof_table_free(whole);
    close_cluster(&c);
    free(t.cell);
    return status;
}

static void bad_answers_are_noticed(void **state)
{
    (void)state;
    cof_error err;
    assert_int_equal(fit_with_trouble(AS_THEY_ARE, &err), COF_OK);
    assert_int_equal(fit_with_trouble(ONE_IS_LOST, &err), COF_ERR_DATA);
    assert_non_null(strstr(err.text, "every shard must answer once"));
    assert_int_equal(fit_with_trouble(ONE_COUNTS_TWICE, &err), COF_ERR_DATA);
    assert_non_null(strstr(err.text, "every shard must answer once"));
    assert_int_equal(fit_with_trouble(ONE_BIT_CHANGES, &err), COF_ERR_DATA);
    assert_non_null(strstr(err.text, "damaged"));
    assert_int_equal(fit_with_trouble(NOT_REACHED, &err), COF_ERR_BACKEND);
}

static void what_shards_cannot_do_is_refused(void **state)
{
    (void)state;
    static const char *const methods[] = {"k-prototypes", "ek-prototypes", "jdm", "jdm:full",
                                          "ocil:original"};
    cofi_rng rng = dice(8);
    texts t = random_texts(&rng, 60, false, false);
    cluster c = {.rng = rng};
    cof_shards shards = {.struct_size = sizeof shards, .ask = ask, .ctx = &c};
    double weights[60] = {1};
    cof_model *model;
    cof_error err;
    open_cluster(&c, &t, 2);
    for (size_t s = 0; s < c.n; s++) open_one(&c, s);
    cof_fit_options o = {.struct_size = sizeof o, .k = 3, .threads = 1, .restarts = 1};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        o.method = methods[i];
        assert_int_equal(cof_fit_shards(NULL, c.schema, &o, &shards, &model, NULL, &err),
                         COF_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.text, methods[i]));
    }
    o.method = "jdm";
    assert_int_equal(cof_fit_shards_auto(NULL, c.schema, &o, 1, 4, &shards, &model, NULL, &err),
                     COF_ERR_UNSUPPORTED);
    o.method = NULL;
    o.weights = weights;
    assert_int_equal(cof_fit_shards(NULL, c.schema, &o, &shards, &model, NULL, &err), COF_ERR_UNSUPPORTED);
    o.weights = NULL;
    assert_int_equal(cof_schema_set_role(c.schema, QUANTITY, COF_ROLE_NUMERIC, &err), COF_OK);
    assert_int_equal(cof_fit_shards(NULL, c.schema, &o, &shards, &model, NULL, &err), COF_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "'size'"));
    assert_int_equal(cof_fit_shards(NULL, c.schema, &o, NULL, &model, NULL, &err), COF_ERR_ARGUMENT);
    cof_indices scores = {.struct_size = sizeof scores};
    model = fit_model(c.table[0], &o, NULL);
    assert_int_equal(cof_evaluate_shards(model, c.schema, CLASS, &shards, &scores, &err), COF_ERR_ARGUMENT);
    assert_string_equal(err.text, "the model was not fitted over shards");
    assert_int_equal(cof_evaluate_shards(model, c.schema, N_COLUMNS, &shards, &scores, &err),
                     COF_ERR_ARGUMENT);
    assert_string_equal(err.text, "there is no such column of classes");
    cof_model_free(model);
    close_cluster(&c);
    free(t.cell);
}

static int ask_nothing(void *ctx, const void *request, size_t n_bytes, uint64_t *sum, size_t n_words)
{
    fail_msg("the shards were asked");
    return 1;
}

/* The number of values and clusters alone makes a pass impossible, so no row is read before that is said. */
static void too_long_answers_are_refused_before_any_work(void **state)
{
    (void)state;
    enum { N = 70000 };
    int32_t *codes = get_zero(N, sizeof *codes);
    for (int32_t i = 0; i < N; i++) codes[i] = i;
    cof_table *table = table_of(codes, N, 1);
    cof_shards shards = {.struct_size = sizeof shards, .ask = ask_nothing};
    cof_fit_options o = {.struct_size = sizeof o, .k = 300, .threads = 1};
    cof_schema *schema;
    cof_model *model;
    cof_error err;
    assert_status(cof_schema_of(table, 0, &schema, &err), COF_OK, &err);
    assert_int_equal(cof_fit_shards(NULL, schema, &o, &shards, &model, NULL, &err), COF_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "ask for fewer clusters"));
    /* in a search for k, the greatest k tells */
    assert_int_equal(cof_fit_shards_auto(NULL, schema, &o, 2, 300, &shards, &model, NULL, &err),
                     COF_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "ask for fewer clusters"));
    cof_schema_free(schema);
    cof_table_free(table);
    free(codes);
}

/* A worker that dies is another shard with the same rows; one with other rows or another schema is refused. */
static void foreign_shards_are_refused(void **state)
{
    (void)state;
    cofi_rng rng = dice(9);
    texts t = random_texts(&rng, 60, false, false), other = random_texts(&rng, 60, false, false);
    cluster c = {.rng = rng};
    cof_shard *shard;
    cof_error err;
    other.cell[7] = "a value that is not there";
    cof_table *foreign = slice(&other, 0, 60);
    open_cluster(&c, &t, 1);
    assert_int_equal(cof_shard_open(NULL, foreign, c.schema, 0, 1, &shard, &err), COF_ERR_DATA);
    assert_int_equal(cof_shard_open(NULL, c.table[0], c.schema, 1, 1, &shard, &err), COF_ERR_ARGUMENT);
    cof_table_free(foreign);
    close_cluster(&c);
    free(t.cell);
    free(other.cell);
}

/* The driver and a shard share a meter; whichever allocation fails, nothing is lost and nothing leaks. */
static cof_status fit_with_meter(alloc_meter *meter, size_t fail_at)
{
    cof_env env = alloc_env(meter);
    int32_t codes[30 * 3];
    cof_table *table = NULL;
    cof_schema *schema = NULL, *read = NULL;
    cofi_writer w = {.env = cofi_env_resolve(&env)};
    cluster c = {.n = 1, .rng = dice(1)};
    cof_model *model = NULL;
    cof_shards shards = {.struct_size = sizeof shards, .ask = ask_or_fail, .ctx = &c};
    cof_fit_options o = {.struct_size = sizeof o, .k = 2, .threads = 1, .restarts = 1, .init = COF_INIT_CAO};
    for (size_t i = 0; i < 90; i++) codes[i] = (int32_t)(i * i % 7 % (2 + i % 3));
    assert_int_equal(cof_table_from_codes(&env, codes, 30, 3, NULL, &table, NULL), COF_OK);
    meter->fail_at = fail_at == SIZE_MAX ? ALLOC_NEVER_FAILS : meter->count + fail_at;
    cof_status status = cof_schema_of(table, 0, &schema, NULL);
    if (status == COF_OK) {
        cofi_schema_put(&w, schema);
        status = w.failed ? COF_ERR_MEMORY : cof_schema_read(&env, w.bytes, w.n, &read, NULL);
    }
    if (status == COF_OK) status = cof_shard_open(&env, table, read, 0, 1, &c.shard[0], NULL);
    if (status == COF_OK) status = cof_fit_shards(&env, read, &o, &shards, &model, NULL, NULL);
    cof_model_free(model);
    cof_shard_free(c.shard[0]);
    cof_schema_free(schema);
    cof_schema_free(read);
    cofi_release(&w.env, w.bytes);
    cof_table_free(table);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t n = 0;; n++) {
        alloc_meter meter = {.fail_at = ALLOC_NEVER_FAILS};
        cof_status status = fit_with_meter(&meter, n);
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) break;
        assert_true(status == COF_ERR_MEMORY ||
                    status == COF_ERR_BACKEND); /* of the driver, or of the shard */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_do_not_depend_on_the_cut),
        cmocka_unit_test(large_tables_are_sampled),
        cmocka_unit_test(bad_answers_are_noticed),
        cmocka_unit_test(what_shards_cannot_do_is_refused),
        cmocka_unit_test(too_long_answers_are_refused_before_any_work),
        cmocka_unit_test(foreign_shards_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
