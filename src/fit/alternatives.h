/* Other partitions that are nearly as good as the kept one and clearly differ from it. */
#pragma once

#include "agreement.h"
#include "criterion.h"

enum { COFI_MOST_ALTERNATIVES = 2 };

typedef struct cofi_alternatives {
    uint32_t restart[COFI_MOST_ALTERNATIVES];
    uint32_t n;
} cofi_alternatives;

/* Looks at the best restart by each gain alone. It is an alternative if its gains are nearly those of the kept restart, and its
 * partition differs clearly from the kept one and from earlier alternatives. ari: agreement of every restart with the kept one.
 * The nearest in gains comes first. */
cof_status cofi_alternatives_find(const cofi_host *host, const cofi_agreement *agreement,
                                  const cof_restart_record *record, const cofi_gains *gains,
                                  uint32_t n_records, uint32_t kept, const double *ari,
                                  cofi_alternatives *alternatives, cof_error *err);
