/* The report and the map as files. */
#include "report_out.h"

#include "../complain.h"

/* What the file itself says is told by its finish. */
static int finish(outfile *f, cof_status status)
{
    if (status != COF_OK && f->status == COF_OK) return complain_status(status, TASK_OUTPUT);
    return outfile_finish(f);
}

int write_report(outfile *f, const cof_model *model, const cof_table *table,
                 const cof_report_options *options)
{
    TRY(outfile_open(f));
    return finish(f, cof_report_write(model, table, options, outfile_sink, f, &said));
}

int write_map(outfile *f, const cof_model *model, const cof_table *table, const int32_t *labels,
              const cof_report_options *options)
{
    cof_map *map = NULL;
    cof_embed_options o = {.struct_size = sizeof o,
                           .seed = options->seed,
                           .perplexity = options->perplexity,
                           .most_points = options->most_points,
                           .threads = options->threads};
    TRY(outfile_open(f));
    cof_status status = cof_embed(model, table, &o, &map, &said);
    if (status == COF_OK) status = cof_map_draw(map, model, table, labels, outfile_sink, f, &said);
    cof_map_free(map);
    return finish(f, status);
}

int write_cuts(outfile *f, const cof_table *table)
{
    int code = outfile_open(f);
    return code == CODE_DONE ? finish(f, cof_table_write_cuts(table, outfile_sink, f, &said)) : code;
}
