/* Shards of one table in this process: views of its rows, asked one after another. */
#include "../rows/shards.h"

struct cof_shard_set {
    cof_env env;
    cof_schema *schema;
    uint32_t n_shards, n_open;
    size_t each; /* rows of a shard; the last ones may have fewer */
    cof_table *view;
    cof_shard **shard;
    cof_error why; /* of the last failure */
};

/* The schema of the table as it stands, with stated orders and cuts. */
static cof_status state_column(const cof_table *table, size_t c, cof_schema *schema, cof_error *err)
{
    const cofi_column *column = &table->column[c];
    const cofi_column *read = cofi_column_as_read(column);
    if (column->cut != NULL) {
        cof_table whole = cofi_schema_whole(schema);
        return cofi_table_cut_at(&whole, c, column->cut->edge, column->cut->n_edges, err);
    }
    if (!column->ordinal) return COF_OK;
    const char **value = cofi_alloc(&table->env, read->n_values, sizeof *value);
    if (value == NULL) return cofi_no_memory(err);
    for (uint32_t v = 0; v < read->n_values; v++) value[v] = cofi_column_text(read, v);
    cof_status status = cof_schema_set_order(schema, c, value, read->n_values, err);
    cofi_release(&table->env, value);
    return status;
}

static cof_status open_set(cof_shard_set *s, const cof_table *table, uint64_t memory, uint32_t threads,
                           cof_error *err)
{
    COFI_TRY(cof_schema_of(table, 0, &s->schema, err));
    s->schema->table.tidying = table->tidying;
    for (size_t c = 0; c < table->n_columns; c++) COFI_TRY(state_column(table, c, s->schema, err));
    s->view = cofi_alloc_zero(&s->env, s->n_shards, sizeof *s->view);
    s->shard = cofi_alloc_zero(&s->env, s->n_shards, sizeof *s->shard);
    if (s->view == NULL || s->shard == NULL) return cofi_no_memory(err);
    for (; s->n_open < s->n_shards; s->n_open++) {
        size_t first = s->n_open * s->each < table->n_rows ? s->n_open * s->each : table->n_rows;
        size_t left = table->n_rows - first, n = left < s->each ? left : s->each;
        cof_table *view = &s->view[s->n_open];
        COFI_TRY(cofi_table_view(table, first, n, view, err));
        cof_status status =
            cof_shard_open(&s->env, view, s->schema, first, threads, &s->shard[s->n_open], err);
        if (status != COF_OK) {
            cofi_table_view_close(view);
            return status;
        }
        if (memory > 0) cofi_shard_set_memory(s->shard[s->n_open], n, memory / s->n_shards);
    }
    return COF_OK;
}

cof_status cof_shard_set_open(const cof_env *lent, const cof_table *table, uint32_t n_shards, uint64_t memory,
                              uint32_t threads, cof_shard_set **out, cof_error *err)
{
    cof_env env = cofi_env_resolve(lent);
    if (n_shards == 0) return cofi_fail(err, COF_ERR_ARGUMENT, "a table is cut into at least one shard");
    cof_shard_set *s = cofi_alloc_zero(&env, 1, sizeof *s);
    if (s == NULL) return cofi_no_memory(err);
    s->env = env;
    s->n_shards = n_shards;
    s->each = (table->n_rows + n_shards - 1) / n_shards;
    cof_status status = open_set(s, table, memory, threads, err);
    if (status == COF_OK)
        *out = s;
    else
        cof_shard_set_free(s);
    return status;
}

void cof_shard_set_free(cof_shard_set *s)
{
    if (s == NULL) return;
    cof_env env = s->env;
    for (uint32_t i = 0; i < s->n_open; i++) {
        cof_shard_free(s->shard[i]);
        cofi_table_view_close(&s->view[i]);
    }
    COFI_RELEASE_ALL(&env, s->shard, s->view);
    cof_schema_free(s->schema);
    cofi_release(&env, s);
}

const cof_schema *cof_shard_set_schema(const cof_shard_set *s)
{
    return s->schema;
}

static int ask(void *ctx, const void *request, size_t n_bytes, uint64_t *sum, size_t n_words)
{
    cof_shard_set *s = ctx;
    for (uint32_t i = 0; i < s->n_shards; i++)
        if (cof_shard_answer(s->shard[i], request, n_bytes, sum, n_words, &s->why) != COF_OK) return 1;
    return 0;
}

static const char *why(void *ctx)
{
    return ((const cof_shard_set *)ctx)->why.text;
}

cof_shards cof_shard_set_shards(cof_shard_set *s)
{
    /* Asking costs nothing here, and one restart at a time takes the least memory. */
    return (cof_shards){.struct_size = sizeof(cof_shards), .ask = ask, .ctx = s, .why = why, .together = 1};
}
