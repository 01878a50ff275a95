/* SHA-256 (FIPS 180-4), for the page's content security policy. */
#ifndef COFI_SHA256_H
#define COFI_SHA256_H

#include <stddef.h>

enum { COFI_SHA256_BYTES = 32, COFI_SHA256_BASE64 = 45 };
void cofi_sha256(const void *bytes, size_t n, unsigned char digest[COFI_SHA256_BYTES]);
/* The same in base64, NUL-terminated. Returns `to`. */
const char *cofi_sha256_base64(const void *bytes, size_t n, char to[COFI_SHA256_BASE64]);

#endif
