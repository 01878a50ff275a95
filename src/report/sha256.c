/* SHA-256 in one go over bytes in memory. */
#include "sha256.h"

#include <stdint.h>
#include <string.h>

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

static void spread(const unsigned char *block, uint32_t w[64])
{
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t b = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
}

static void take_block(uint32_t state[8], const unsigned char *block)
{
    uint32_t w[64], h[8];
    spread(block, w);
    memcpy(h, state, sizeof h);
    for (int i = 0; i < 64; i++) {
        uint32_t s1 = turn(h[4], 6) ^ turn(h[4], 11) ^ turn(h[4], 25);
        uint32_t s0 = turn(h[0], 2) ^ turn(h[0], 13) ^ turn(h[0], 22);
        uint32_t t1 = h[7] + s1 + ((h[4] & h[5]) ^ (~h[4] & h[6])) + K[i] + w[i];
        uint32_t t2 = s0 + ((h[0] & h[1]) ^ (h[0] & h[2]) ^ (h[1] & h[2]));
        memmove(h + 1, h, 7 * sizeof *h);
        h[4] += t1;
        h[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) state[i] += h[i];
}

void cofi_sha256(const void *bytes, size_t n, unsigned char digest[COFI_SHA256_BYTES])
{
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const unsigned char *at = bytes;
    unsigned char last[128] = {0};
    size_t left = n;
    for (; left >= 64; left -= 64, at += 64) take_block(state, at);
    memcpy(last, at, left);
    last[left] = 0x80; /* then zeros, and the length in bits in the last eight bytes */
    size_t n_last = left < 56 ? 64 : 128;
    for (int i = 0; i < 8; i++) last[n_last - 1 - (size_t)i] = (unsigned char)((uint64_t)n * 8 >> (8 * i));
    for (size_t block = 0; block < n_last; block += 64) take_block(state, last + block);
    for (int i = 0; i < COFI_SHA256_BYTES; i++)
        digest[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
}

const char *cofi_sha256_base64(const void *bytes, size_t n, char to[COFI_SHA256_BASE64])
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char d[COFI_SHA256_BYTES + 1] = {0}; /* one more byte fills the last group of three */
    cofi_sha256(bytes, n, d);
    for (int i = 0; i < 44; i++) {
        int bit = 6 * i;
        unsigned pair = (unsigned)d[bit / 8] << 8 | (bit / 8 < COFI_SHA256_BYTES ? d[bit / 8 + 1] : 0u);
        to[i] = i == 43 ? '=' : letters[pair >> (10 - bit % 8) & 63];
    }
    to[44] = '\0';
    return to;
}
