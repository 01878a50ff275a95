/* Some rows of a problem as a problem of its own: starts are tried on them when the table is large. */
#ifndef COFI_SAMPLE_H
#define COFI_SAMPLE_H

#include "problem.h"

typedef struct cofi_sample {
    cofi_problem problem; /* shares what describes the attributes with the whole one */
    bool varied;          /* it has at least k rows that differ and weigh something */
} cofi_sample;

/* One row by chance from each of n_rows stretches of the whole, always the same ones. */
cof_status cofi_sample_open(const cofi_problem *whole, size_t n_rows, uint32_t k, cofi_sample *sample,
                            cof_error *err);
void cofi_sample_close(cofi_sample *sample); /* fine after a failed open */

#endif
