/* How far the restarts agree: labels of the same rows, noted after each. */
#ifndef COFI_AGREEMENT_H
#define COFI_AGREEMENT_H

#include "fit.h"

typedef struct cofi_agreement {
    size_t n_rows;  /* noted of each restart; 0: nothing to compare */
    uint64_t *row;  /* which ones */
    int32_t *label; /* [restart][row] */
} cofi_agreement;

cof_status cofi_agreement_open(const cofi_host *host, uint64_t n_table_rows, cofi_agreement *agreement,
                               cof_error *err);
cof_status cofi_agreement_note(const cofi_partition *partition, cofi_agreement *agreement, uint32_t record,
                               cof_error *err);
void cofi_agreement_repeat(cofi_agreement *agreement, uint32_t record,
                           uint32_t earlier); /* the same labels */
/* The adjusted Rand index of every restart with the kept one, into a block of the env's; NULL there if there is
 * nothing to compare. */
cof_status cofi_agreement_measure(const cofi_host *host, const cofi_agreement *agreement, uint32_t n_records,
                                  uint32_t kept, double **ari, cof_error *err);
/* How far the good restarts agree about each of the kept clusters, into a block of the env's, to be released even on
 * failure; NULL there if there is nothing to compare. Good is one whose likelihood gained nearly as much over a single
 * cluster. */
cof_status cofi_agreement_clusters(const cofi_host *host, const cofi_partition *partition,
                                   const cofi_agreement *agreement, const cof_restart_record *record,
                                   uint32_t n_records, uint32_t kept, double **mean, uint32_t *n_good,
                                   cof_error *err);
void cofi_agreement_close(const cofi_host *host, cofi_agreement *agreement);

#endif
