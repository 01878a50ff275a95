/* The table of options: what it says of each, and that values outside their bounds are refused. */
#include "unit_helper.h"

#include "../../src/method/methods.h"

#include <math.h>

static size_t place_of(const char *name)
{
    size_t i = 0;
    while (strcmp(cof_fit_option(i)->name, name) != 0) i++;
    return i;
}

static void refuse(cof_fit_options o, const char *sentence)
{
    cof_error err = {""};
    assert_int_equal(cofi_fit_options_check(&o, &err), COF_ERR_ARGUMENT);
    assert_string_equal(err.text, sentence);
}

static void every_option_is_described(void **state)
{
    (void)state;
    const cof_option *o;
    size_t n = 0;
    for (; (o = cof_fit_option(n)) != NULL; n++) {
        assert_true(strlen(o->name) > 0 && strlen(o->arg) > 0 && strlen(o->about) > 0);
        assert_true(o->offset > 0 && o->offset < sizeof(cof_fit_options));
        bool words = o->type == COF_OPTION_WORD || o->type == COF_OPTION_NAME;
        assert_true(!words || cof_fit_option_word(n, 0).name != NULL);
    }
    assert_null(cof_fit_option_word(n, 0).name);
    assert_null(cof_fit_option_word(place_of("seed"), 0).name);
    assert_string_equal(cof_fit_option_word(place_of("missing"), COF_MISSING_DROP).name, "drop");
    assert_string_equal(cof_fit_option_word(place_of("init"), COF_INIT_CAO).name, "cao");
    assert_string_equal(cof_fit_option_word(place_of("method"), 0).name, "coforest");
    assert_null(cof_fit_option_word(place_of("variant"), 2).name);
    assert_null(cof_fit_option_word(place_of("variant"), 99).name);
}

static void bounds(void **state)
{
    (void)state;
    cof_fit_options good[] = {{.k = 1},
                              {.keep = 3, .restarts = 1000000, .threads = UINT32_MAX, .seed = UINT64_MAX},
                              {.gamma = COF_GAMMA_KMODES, .scale = COF_SCALE_Z},
                              {.gamma = COF_GAMMA_CLUSTMIXTYPE},
                              {.gamma = 1e-12, .time_limit_s = INFINITY}};
    for (size_t i = 0; i < COUNT(good); i++) assert_int_equal(cofi_fit_options_check(&good[i], NULL), COF_OK);
    refuse((cof_fit_options){.keep = 4}, "keep must be from 1 to 3, not 4");
    refuse((cof_fit_options){.max_passes = 1000001}, "max-passes must be from 1 to 1000000, not 1000001");
    refuse((cof_fit_options){.gamma = -3}, "gamma must be a number above 0, not -3");
    refuse((cof_fit_options){.gamma = -1.5}, "gamma must be a number above 0, not -1.5");
    refuse((cof_fit_options){.gamma = INFINITY}, "gamma must be a number above 0, not inf");
    refuse((cof_fit_options){.time_limit_s = -1}, "time-limit must be a number of at least 0, not -1");
    refuse((cof_fit_options){.select = 17}, "select cannot be 17, which stands for nothing");
    refuse((cof_fit_options){.init = -1}, "init cannot be -1, which stands for nothing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_option_is_described), cmocka_unit_test(bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
