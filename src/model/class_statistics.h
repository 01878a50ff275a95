/* How well latent classes fit the rows. */
#pragma once

#include "model.h"

typedef struct cofi_class_fit {
    double df, g_squared, x_squared, p_g, p_x;
} cofi_class_fit;

cofi_class_fit cofi_class_study_fit(const cof_class_study *study);
