#include "table.h"

/* data/zoo.csv, embedded at build time. */
extern const unsigned char cofi_demo_csv[];
extern const size_t cofi_demo_csv_size;

cof_status cof_table_demo(const cof_env *env, cof_table **out, cof_error *err)
{
    return cof_table_read_memory(env, "zoo.csv (built in)", cofi_demo_csv, cofi_demo_csv_size, NULL, out,
                                 err);
}
