/* UDM (Zhang and Cheung 2022): D_r[a][b] = (1/l) sum_s R(r,s) psi_rs[a][b], where psi is the entropy in s
 * of the rows that hold a or b, and R the strength of the dependence between r and s. All attributes are
 * treated as nominal. */
#include "variation.h"
#include "../../core/real.h"

/* (equal pairs + sum of |concordance| over all 2 x 2 sub-tables) / number of pairs of rows. */
static double relation(const double *c, uint32_t o_r, uint32_t o_s, double n)
{
    double equal = 0, apart = 0;
    for (size_t at = 0; at < (size_t)o_r * o_s; at++) equal += c[at] * (c[at] - 1) / 2;
    for (uint32_t a = 1; a < o_r; a++)
        for (uint32_t h = 0; h < a; h++)
            for (uint32_t g = 1; g < o_s; g++)
                for (uint32_t u = 0; u < g; u++)
                    apart += fabs(c[(size_t)a * o_s + g] * c[(size_t)h * o_s + u] -
                                  c[(size_t)a * o_s + u] * c[(size_t)h * o_s + g]);
    return (equal + apart) / (n * (n - 1) / 2);
}

static double rows_of(const cofi_pair_sum *s) /* summed weight of all rows */
{
    return (double)s->fit->problem->total_weight / s->fit->problem->unit;
}

static double strength(const cofi_pair_sum *s, size_t t, size_t r, double *count)
{
    const cofi_problem *p = s->fit->problem;
    double related = t == r ? 1 : relation(count, p->n_values[t], p->n_values[r], rows_of(s));
    return related / cofi_log2(p->n_present[r]) / (double)p->n_attrs;
}

/* The strength times the entropy: -sum of q log2 q, with q = x / n, from a table of x log2 x. The q need not sum
 * to 1. A value that does not occur adds nothing. */
static double term(const cofi_pair_sum *s, double strong, const double *c, uint32_t o_s, uint32_t a,
                   uint32_t b)
{
    double sum = 0, rows = 0, n = rows_of(s);
    if (cofi_pair_total(c, o_s, a) == 0 || cofi_pair_total(c, o_s, b) == 0) return 0;
    for (uint32_t g = 0; g < o_s; g++) {
        double x = c[(size_t)a * o_s + g] + c[(size_t)b * o_s + g];
        sum += cofi_x_log_x(&s->logs, x);
        rows += x;
    }
    return strong * ((rows * cofi_log2(n) - sum) / n);
}

static cof_status open(cofi_fit *fit, void **state, cof_error *err)
{
    return cofi_pair_sum_open(fit, (cofi_pair_sum){.factor = strength, .term = term}, state, err);
}

const cofi_method cofi_method_udm = {.name = "udm",
                                     .title = "unified distance metric (Zhang and Cheung 2022)",
                                     .flags = COFI_METHOD_PAIRS,
                                     .open = open,
                                     .run = cofi_km_run_l1};
