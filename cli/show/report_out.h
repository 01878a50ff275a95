/* The report and the map as files. */
#pragma once

#include "coforest_extra.h"
#include "../outfiles.h"

/* Open, write and finish in one; table may be NULL for the report. Exit codes. */
int write_report(outfile *f, const cof_model *model, const cof_table *table,
                 const cof_report_options *options);
int write_map(outfile *f, const cof_model *model, const cof_table *table, const int32_t *labels,
              const cof_report_options *options);
int write_cuts(outfile *f, const cof_table *table); /* where its columns were cut */
