/* Labels for the rows of a new table, under the scores of a model. No fit is involved. */
#pragma once

#include "../core/env.h"
#include "../core/shape.h"
#include "../core/team.h"

/* label[i] is the cluster of row i. Value v of column r has the flat id first[r] + v in the scores. */
cof_status cofi_nearest_labels(const cof_env *env, cofi_team *team, size_t n_rows, size_t n_attrs,
                               const cofi_ids *ids, const uint32_t *first, const cofi_scores *scores,
                               int32_t *label, cof_error *err);
