/* SHA-256 against the examples of FIPS 180-4 and known lengths around the block size. */
#include "unit_helper.h"

#include "../../src/report/sha256.h"

static void assert_digest(const char *text, size_t n, const char *hex)
{
    unsigned char digest[COFI_SHA256_BYTES];
    char got[2 * COFI_SHA256_BYTES + 1];
    cofi_sha256(text, n, digest);
    for (size_t i = 0; i < COFI_SHA256_BYTES; i++) snprintf(got + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(got, hex);
}

static void known_digests(void **state)
{
    char many[200];
    (void)state;
    memset(many, 'a', sizeof many);
    assert_digest("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_digest("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_digest(many, 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    assert_digest(many, 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
    assert_digest(many, 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
    assert_digest(many, 200, "c2a908d98f5df987ade41b5fce213067efbcc21ef2240212a41e54b5e7c28ae5");
}

static void in_base64(void **state)
{
    char text[COFI_SHA256_BASE64];
    (void)state;
    assert_string_equal(cofi_sha256_base64("", 0, text), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    assert_string_equal(cofi_sha256_base64("abc", 3, text), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_digests), cmocka_unit_test(in_base64)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
