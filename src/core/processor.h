/* Instruction sets of x86 beyond the least one. */
#pragma once

#include <stdbool.h>

typedef enum cofi_instructions {
    COFI_POPCNT,
    COFI_AVX2,  /* and POPCNT */
    COFI_AVX512 /* F, BW, VL, DQ, VPOPCNTDQ, GFNI and POPCNT */
} cofi_instructions;

/* Whether the processor has them and the system keeps their registers. */
bool cofi_processor_has(cofi_instructions wanted);
