/* Synthetic tables of numbers and categories. */
#pragma once

#include "encode.h"

enum { COFI_MIXED_CATEGORIES = 4, COFI_MIXED_NUMBERS = 4 };

/* Appends rows to the encoders of the categories, the numbers and the class, in this order. Returns
 * COF_ERR_MEMORY or COF_ERR_STOPPED on failure. */
cof_status cofi_generate_mixed(const cof_env *env, const cof_generate_options *options,
                               cofi_encoder *encoder);
