/* A table whose column "class" has the classes, for programs that cluster the rest of it. */
#ifndef COF_BENCH_CLASS_TABLE_H
#define COF_BENCH_CLASS_TABLE_H

#include "coforest_extra.h"

static inline cof_status read_class_table(const char *path, cof_table **table, cof_error *err)
{
    const cof_read_options read = {.struct_size = sizeof read};
    cof_status status = cof_table_read(NULL, path, &read, table, err);
    if (status != COF_OK) return status;
    size_t label = cof_table_find(*table, "class");
    return label != SIZE_MAX ? cof_table_set_role(*table, label, COF_ROLE_LABEL, err) : COF_OK;
}

#endif
