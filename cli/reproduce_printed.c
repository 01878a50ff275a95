/* The figures the paper and its supplement print: data/printed_tables.csv, compiled in. */
#include "reproduce.h"

#include <stdlib.h>
#include <string.h>

extern const char printed_tables_csv[]; /* metric,dataset,method,mean,deviation */

const char *const rep_method_names[N_METHODS] = {"KMD", "LSM", "JDM", "CBDM", "OCIL",    "UDMC",
                                                 "DLC", "H2H", "HDC", "ADC",  "COForest"};
const char *const rep_method_ids[N_METHODS] = {"kmodes", "lsm", "jdm", "cbdm", "ocil",    "udm",
                                               "dlc",    "h2h", "hdc", "adc",  "coforest"};
const char *const rep_metric_names[N_METRICS] = {"CA", "ARI", "NMI"};

const double rep_printed_ranks[N_METRICS][N_METHODS] = {
    {7.2500, 7.2083, 6.7917, 6.4583, 7.0833, 6.5833, 5.3750, 6.3750, 6.2083, 5.5833, 1.0833},
    {8.6667, 7.0000, 6.5417, 6.7500, 5.2083, 6.0833, 4.7083, 6.5417, 7.0833, 6.3333, 1.0833},
    {7.6250, 6.5417, 6.9583, 7.3750, 5.5000, 6.0000, 5.0417, 5.4167, 7.3333, 6.2917, 1.9167}};
const double rep_printed_p[N_METRICS] = {0.00020, 0.00002, 0.0025};

double rep_printed(size_t metric, const char *abbrev, size_t method, bool deviation)
{
    char key[64];
    snprintf(key, sizeof key, "\n%s,%s,%s,", rep_metric_names[metric], abbrev, rep_method_names[method]);
    const char *at = strstr(printed_tables_csv, key);
    if (at == NULL) return (double)NAN;
    at += strlen(key);
    if (deviation) at = strchr(at, ',') + 1;
    char *end;
    double x = strtod(at, &end);
    return end == at ? (double)NAN : x;
}
