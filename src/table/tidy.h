/* Spellings: texts that may mean the same. */
#pragma once

#include "table.h"

enum { COFI_SPELLING_BYTES = 1024 }; /* longer texts keep their letter case */

/* What texts of one meaning share: the text without surrounding blanks, without letter case, or both, as `tidying`
 * says (COF_TIDY_...). Returns n bytes in `text` or in buffer, which has room for COFI_SPELLING_BYTES. */
const char *cofi_spelling(const char *text, uint32_t tidying, char *buffer, size_t *n);
