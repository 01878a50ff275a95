/* Rows of a mapped file that is large for the memory: the results are those of any other table. */
#include "unit_helper.h"

#include "alloc_helper.h"
#include "cases_helper.h"
#include "../../src/rows/kernels/kernel.h"
#include "../../src/rows/stream.h"
#include "coforest_shard.h"

#include <unistd.h>

enum { N_ROWS = 70001 };

static const char *path(void)
{
    static char text[64];
    snprintf(text, sizeof text, "/tmp/coforest-stream-%ld.cofe", (long)getpid());
    return text;
}

/* A mapped table; its codes are streamed as if memory were short. */
static cof_table *read_table(bool streamed, uint64_t n_rows)
{
    cof_table *table;
    cof_error err;
    cof_read_options some = {.struct_size = sizeof some, .n_rows = n_rows};
    assert_status(cof_table_read(NULL, path(), &some, &table, &err), COF_OK, &err);
    assert_status(cof_table_set_role(table, 0, COF_ROLE_LABEL, &err), COF_OK, &err);
    assert_true(table->n_mapped > 0);
    table->streamed = streamed;
    return table;
}

static int make_file(void **state)
{
    (void)state;
    cof_error err;
    cof_encoding *e;
    cof_generate_options g = {
        .struct_size = sizeof g, .kind = COF_GENERATE_UNIFORM, .n_rows = N_ROWS, .n_columns = 5, .seed = 3};
    assert_status(cof_encoding_open(NULL, path(), &e, &err), COF_OK, &err);
    assert_status(cof_table_generate_pieces(NULL, &g, cof_encoding_piece, e, &err), COF_OK, &err);
    assert_status(cof_encoding_finish(e, &err), COF_OK, &err);
    cof_encoding_free(e);
    return 0;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path());
}

static void columns_that_were_renumbered_are_not_streamed(void **state)
{
    (void)state;
    cof_table *table = read_table(true, N_ROWS);
    assert_true(cofi_stream_ids(table, &table->column[1]).streamed);
    cofi_column own = table->column[1];
    char codes[8] = {0};
    own.codes = codes;
    assert_false(cofi_stream_ids(table, &own).streamed);
    table->streamed = false;
    assert_false(cofi_stream_ids(table, &table->column[1]).streamed);
    cof_table_free(table);
}

/* Whoever takes blocks from the front finds that they were asked for at least as many blocks before as there are workers. */
static void every_block_is_asked_for_once(void **state)
{
    (void)state;
    for (uint32_t n_workers = 1; n_workers < 9; n_workers++) {
        uint8_t asked[600] = {0};
        for (size_t block = 0; block < 400; block++) {
            size_t from, end;
            if (cofi_stream_ahead(block, n_workers, &from, &end))
                for (size_t b = from; b < end; b++) asked[b]++;
            for (size_t b = 0; b <= block + n_workers; b++) assert_int_equal(asked[b], 1);
        }
    }
}

static cof_model *fit(const cof_table *table, const cof_fit_options *o, bool shards, cof_fit_info *info,
                      int32_t *labels)
{
    cof_error err;
    cof_shard_set *set;
    cof_model *model;
    info->struct_size = sizeof *info;
    if (!shards) {
        assert_status(cof_fit(table, o, &model, info, &err), COF_OK, &err);
        memcpy(labels, cof_model_labels(model, NULL), N_ROWS * sizeof *labels);
        return model;
    }
    assert_status(cof_shard_set_open(NULL, table, 3, 1, 1, &set, &err), COF_OK, &err);
    cof_shards ask = cof_shard_set_shards(set);
    const cof_schema *schema = cof_shard_set_schema(set);
    assert_status(cof_fit_shards(NULL, schema, o, &ask, &model, info, &err), COF_OK, &err);
    assert_status(cof_label_shards(model, schema, &ask, 0, labels, N_ROWS, &err), COF_OK, &err);
    cof_shard_set_free(set);
    return model;
}

static void results_are_those_of_any_other_table(void **state)
{
    (void)state;
    static const struct {
        int32_t init;
        const char *method;
    } cases[] = {{COF_INIT_PORTFOLIO, "coforest"}, {COF_INIT_KMEANS, "coforest"}, {COF_INIT_RANDOM, "lca"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c += one_in())
        for (int shards = 0; shards < 2; shards++) {
            cof_fit_options o = {.struct_size = sizeof o,
                                 .k = 4,
                                 .threads = 1,
                                 .restarts = 1,
                                 .max_rebuilds = 2,
                                 .max_passes = 3,
                                 .init = cases[c].init,
                                 .method = cases[c].method};
            cof_fit_info info[2];
            int32_t *label[2];
            for (int streamed = 0; streamed < 2; streamed++) {
                cof_table *table = read_table(streamed, N_ROWS);
                label[streamed] = get_zero(N_ROWS, sizeof **label);
                cof_model_free(fit(table, &o, shards, &info[streamed], label[streamed]));
                cof_table_free(table);
            }
            assert_memory_equal(label[0], label[1], N_ROWS * sizeof **label);
            assert_memory_equal(&info[0].objective, &info[1].objective, sizeof(double));
            assert_memory_equal(&info[0].log_likelihood, &info[1].log_likelihood, sizeof(double));
            free(label[0]);
            free(label[1]);
        }
}

static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    cof_table *table = read_table(true, 100);
    cof_fit_options o = {.struct_size = sizeof o, .k = 2, .threads = 1, .restarts = 1, .max_rebuilds = 1};
    cof_env own = table->env;
    cof_error err;
    for (size_t n = 0;; n++) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        cof_model *model = NULL;
        table->env = cofi_env_resolve(&env);
        cof_status status = cof_fit(table, &o, &model, NULL, &err);
        cof_model_free(model);
        table->env = own;
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) break;
        assert_status(status, COF_ERR_MEMORY, &err);
    }
    cof_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_that_were_renumbered_are_not_streamed),
        cmocka_unit_test(every_block_is_asked_for_once),
        cmocka_unit_test(results_are_those_of_any_other_table),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
