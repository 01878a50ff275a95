#include "entropy.h"

#include "../../core/real.h"

enum { MOST_LOGS = 1 << 20 };

cof_status cofi_logs_open(cofi_fit *fit, cofi_logs *logs, cof_error *err)
{
    uint64_t rows = fit->problem->total_weight;
    *logs = (cofi_logs){NULL, 0};
    if (fit->problem->unit != 1.0) return COF_OK; /* with fractional weights counts are not whole numbers */
    size_t n = rows < MOST_LOGS ? (size_t)rows + 1 : MOST_LOGS;
    logs->of = cofi_blocks_add(&fit->scratch, n, sizeof *logs->of);
    if (logs->of == NULL) return cofi_no_memory(err);
    for (size_t x = 0; x < n; x++) logs->of[x] = cofi_x_log_x(logs, (double)x);
    logs->n = n;
    return COF_OK;
}

/* H = log2 n - (sum of x log2 x) / n */
cofi_shared cofi_entropies(const cofi_logs *logs, const double *count, uint32_t o_t, uint32_t o_r)
{
    double n = 0, own = 0, other = 0, joint = 0;
    for (uint32_t a = 0; a < o_t; a++) {
        double total = cofi_pair_total(count, o_r, a);
        own += cofi_x_log_x(logs, total);
        n += total;
    }
    for (uint32_t b = 0; b < o_r; b++) {
        double total = 0;
        for (uint32_t a = 0; a < o_t; a++) {
            double c = count[(size_t)a * o_r + b];
            joint += cofi_x_log_x(logs, c);
            total += c;
        }
        other += cofi_x_log_x(logs, total);
    }
    if (n == 0) return (cofi_shared){0, 0, 0};
    return (cofi_shared){cofi_log2(n) - own / n, cofi_log2(n) - other / n, cofi_log2(n) - joint / n};
}
