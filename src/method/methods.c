/* The table of methods, in the order people see them. */
#include "methods.h"

const cofi_method *const cofi_methods[] = {
    &cofi_method_coforest, &cofi_method_kmodes,        &cofi_method_lsm,
    &cofi_method_jdm,      &cofi_method_jdm_full,      &cofi_method_cbdm,
    &cofi_method_ocil,     &cofi_method_ocil_original, &cofi_method_udm,
    &cofi_method_dlc,      &cofi_method_dlc_fixed,     &cofi_method_h2h,
    &cofi_method_hdc,      &cofi_method_hdc_ndw,       &cofi_method_adc,
    &cofi_method_lca,      &cofi_method_k_prototypes,  &cofi_method_ek_prototypes,
    &cofi_method_cof1,     &cofi_method_cof2,          &cofi_method_cof3,
    &cofi_method_cof4,     &cofi_method_fcg,           &cofi_method_slg,
    &cofi_method_rglg,     &cofi_method_rgg,           NULL,
};

const cofi_method *cofi_method_find(const char *name)
{
    if (name == NULL) return &cofi_method_coforest;
    for (size_t i = 0; cofi_methods[i] != NULL; i++)
        if (strcmp(cofi_methods[i]->name, name) == 0) return cofi_methods[i];
    return NULL;
}

size_t cof_method_count(void)
{
    return sizeof cofi_methods / sizeof *cofi_methods - 1;
}

const char *cof_method_name(size_t method)
{
    return method < cof_method_count() ? cofi_methods[method]->name : NULL;
}

const char *cof_method_title(size_t method)
{
    return method < cof_method_count() ? cofi_methods[method]->title : NULL;
}
