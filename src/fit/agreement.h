/* Agreement between restarts, measured on the labels of a sample of rows that is noted after every
 * restart. */
#pragma once

#include "fit.h"

typedef struct cofi_agreement {
    size_t n_rows;  /* size of the sample; 0: nothing to compare */
    int32_t *label; /* [place][row] */
    uint32_t *at;   /* per restart: the place of its labels */
} cofi_agreement;

/* The agreement lives as long as `own`. */
cof_status cofi_agreement_open(cofi_blocks *own, uint32_t restarts, uint64_t n_table_rows,
                               cofi_agreement *agreement, cof_error *err);
cof_status cofi_agreement_note(const cofi_partition *partition, cofi_agreement *agreement, uint32_t record,
                               cof_error *err);
/* The labels are those of an earlier restart. */
void cofi_agreement_repeat(cofi_agreement *agreement, uint32_t record, uint32_t earlier);
/* Allocates *ari: the adjusted Rand index between every restart and the kept one. NULL if there is nothing
 * to compare. The caller releases it. */
cof_status cofi_agreement_measure(const cofi_host *host, const cofi_agreement *agreement, uint32_t n_records,
                                  uint32_t kept, double **ari, cof_error *err);
/* The adjusted Rand index of two restarts. */
cof_status cofi_agreement_of_pair(const cofi_host *host, const cofi_agreement *agreement, uint32_t one,
                                  uint32_t other, double *ari, cof_error *err);
/* Allocates *mean: the mean adjusted Rand index of every restart with the others. NULL if there is nothing to compare. The
 * caller releases it. */
cof_status cofi_agreement_typical(const cofi_host *host, const cofi_agreement *agreement, uint32_t n_records,
                                  double **mean, cof_error *err);
/* Allocates *mean: how well the good restarts agree on each cluster of the kept one. NULL if there is
 * nothing to compare. The caller releases it, even if the call failed. A restart is good if its gain in
 * log-likelihood over a single cluster is at least 0.9 times that of the kept one. */
cof_status cofi_agreement_clusters(const cofi_host *host, const cofi_partition *partition,
                                   const cofi_agreement *agreement, const cof_restart_record *record,
                                   uint32_t n_records, uint32_t kept, double **mean, uint32_t *n_good,
                                   cof_error *err);
