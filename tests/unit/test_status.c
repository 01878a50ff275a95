/* Status texts, pinned numbers, versions. */
#include "unit_helper.h"

#include <limits.h>

static const struct {
    cof_status status;
    int number;
} released[] = {
    {COF_OK, 0},
    {COF_ERR_MEMORY, -1},
    {COF_ERR_ARGUMENT, -2},
    {COF_ERR_IO, -10},
    {COF_ERR_DATA, -11},
    {COF_ERR_MODEL, -12},
    {COF_ERR_TOO_NEW, -13},
    {COF_ERR_UNSUPPORTED, -14},
    {COF_ERR_NO_PREDICTION, -15},
    {COF_ERR_FEW_ROWS, -20},
    {COF_ERR_NO_COLUMNS, -21},
    {COF_ERR_MISSING, -22},
    {COF_ERR_BACKEND, -30},
    {COF_ERR_NO_BACKEND, -31},
    {COF_ERR_STOPPED, -40},
};

/* Programs compare numbers across versions of the library. */
static void released_numbers_stay(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(released); i++)
        assert_int_equal((int)released[i].status, released[i].number);
}

static void every_status_has_its_own_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(released); i++) {
        const char *text = cof_status_text(released[i].status);
        assert_non_null(text);
        assert_true(strlen(text) > 0);
        assert_string_not_equal(text, cof_status_text((cof_status)12345));
        for (size_t earlier = 0; earlier < i; earlier++)
            assert_string_not_equal(text, cof_status_text(released[earlier].status));
    }
}

static void any_number_has_a_text(void **state)
{
    (void)state;
    for (int s = -5000; s <= 5000; s++) assert_non_null(cof_status_text((cof_status)s));
    assert_non_null(cof_status_text((cof_status)INT_MIN));
    assert_non_null(cof_status_text((cof_status)INT_MAX));
}

static void header_and_library_agree_on_the_version(void **state)
{
    (void)state;
    char text[64];
    snprintf(text, sizeof text, "%d.%d.%d", COF_VERSION_MAJOR, COF_VERSION_MINOR, COF_VERSION_PATCH);
    assert_string_equal(cof_version(), text);
    assert_true(strlen(cof_build_info()) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(released_numbers_stay),
        cmocka_unit_test(every_status_has_its_own_text),
        cmocka_unit_test(any_number_has_a_text),
        cmocka_unit_test(header_and_library_agree_on_the_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
