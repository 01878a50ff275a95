/* Loads models made from hostile bytes: as they are, and with magic, length and checksum put right, so that the
 * parser behind them is reached. Whatever loads is used like any other model. */
#include "model_use.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int refuse_after = size > 0 ? data[size - 1] % 8 : 0;
    use_bytes(data, size, refuse_after);
    if (size < BODY_AT + END_BYTES) return 0;
    uint8_t *sealed = malloc(size); /* its own block: one byte too far is seen */
    memcpy(sealed, data, size);
    memcpy(sealed, "COFOREST", 8);
    put_number(sealed + 8, 1 + data[8] % 2, 4); /* the formats there are */
    seal(sealed, size);
    use_bytes(sealed, size, refuse_after);
    free(sealed);
    return 0;
}
