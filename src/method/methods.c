/* The table of methods, in the order in which help lists them. */
#include "methods.h"

/* clang-format off */
#define METHODS(X) \
    X(coforest) \
    X(kmodes) X(lsm) X(jdm) X(jdm_full) X(cbdm) X(ocil) X(ocil_original) X(udm) X(dlc) X(dlc_fixed) X(h2h) \
    X(hdc) X(hdc_ndw) X(adc) X(lca) X(k_prototypes) X(ek_prototypes) \
    X(cof1) X(cof2) X(cof3) X(cof4) X(fcg) X(slg) X(rglg) X(rgg)
/* clang-format on */

#define DECLARE(name) extern const cofi_method cofi_method_##name;
METHODS(DECLARE)

#define LIST(name) &cofi_method_##name,
static const cofi_method *const methods[] = {METHODS(LIST)};

const cofi_method *cofi_method_find(const char *name)
{
    if (name == NULL) return methods[0];
    for (size_t i = 0; i < cof_method_count(); i++)
        if (strcmp(methods[i]->name, name) == 0) return methods[i];
    return NULL;
}

int32_t cof_method_uses_order(const char *name)
{
    const cofi_method *method = cofi_method_find(name);
    return method != NULL && (method->flags & COFI_METHOD_ORDER) != 0;
}

int32_t cof_method_predicts(const char *name)
{
    const cofi_method *method = cofi_method_find(name);
    return method != NULL && (method->flags & COFI_METHOD_NO_SCORES) == 0;
}

size_t cof_method_count(void)
{
    return sizeof methods / sizeof *methods;
}

const char *cof_method_name(size_t method)
{
    return method < cof_method_count() ? methods[method]->name : NULL;
}

const char *cof_method_title(size_t method)
{
    return method < cof_method_count() ? methods[method]->title : NULL;
}
