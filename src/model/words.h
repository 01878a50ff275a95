/* Names and meanings of the numbers of enumerations, for the options and the fields of a result. */
#pragma once

#include "coforest_extra.h"

/* The places are the numbers; each list ends with a NULL name. */
extern const cof_word cofi_variant_words[], cofi_select_words[], cofi_missing_words[], cofi_scale_words[];

cof_word cofi_words_at(const cof_word *words, size_t place); /* a NULL name past the last */
