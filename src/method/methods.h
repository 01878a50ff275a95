/* All methods. A new one is a file with a cofi_method in it, a line here and a line in methods.c. */
#ifndef COFI_METHODS_H
#define COFI_METHODS_H

#include "../fit/method.h"

extern const cofi_method cofi_method_coforest;
extern const cofi_method cofi_method_kmodes;
extern const cofi_method cofi_method_lsm;
extern const cofi_method cofi_method_jdm, cofi_method_jdm_full;
extern const cofi_method cofi_method_cbdm;
extern const cofi_method cofi_method_ocil, cofi_method_ocil_original;
extern const cofi_method cofi_method_udm;
extern const cofi_method cofi_method_dlc, cofi_method_dlc_fixed;
extern const cofi_method cofi_method_h2h;
extern const cofi_method cofi_method_hdc, cofi_method_hdc_ndw;
extern const cofi_method cofi_method_adc;
extern const cofi_method cofi_method_lca;
extern const cofi_method cofi_method_k_prototypes, cofi_method_ek_prototypes;
extern const cofi_method cofi_method_cof1, cofi_method_cof2, cofi_method_cof3, cofi_method_cof4;
extern const cofi_method cofi_method_fcg, cofi_method_slg, cofi_method_rglg, cofi_method_rgg;

#endif
