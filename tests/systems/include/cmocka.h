/* As much of cmocka as the unit tests use, for systems where it cannot be had: WebAssembly has no longjmp. A case that fails or
 * is skipped ends the program. COF_FROM_CASE=N in the environment leaves out the first N cases, so that tests/systems/unit.py
 * goes on with the case after it. */
#ifndef CMOCKA_H
#define CMOCKA_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
static inline int setenv(const char *name, const char *value, int replace)
{
    return _putenv_s(name, value);
}

static inline int unsetenv(const char *name)
{
    return _putenv_s(name, "");
}
#endif

typedef struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
} CMUnitTest;

#define cmocka_unit_test(function) ((CMUnitTest){#function, function})
#define cmocka_run_group_tests(tests, setup, teardown)                                                       \
    cmocka_run(tests, sizeof(tests) / sizeof *(tests), setup, teardown)
#define print_message              printf
#define skip()                     cmocka_end("SKIPPED", __FILE__, __LINE__)
#define fail()                     cmocka_end("FAILED", __FILE__, __LINE__)
#define fail_msg(...)              (printf(__VA_ARGS__), puts(""), fail())
#define cmocka_that(holds, what)   ((holds) ? (void)0 : fail_msg("%s", what))
#define assert_true(a)             cmocka_that(a, #a)
#define assert_false(a)            cmocka_that(!(a), #a)
#define assert_null(a)             cmocka_that((a) == NULL, #a)
#define assert_non_null(a)         cmocka_that((a) != NULL, #a)
#define assert_ptr_equal(a, b)     cmocka_that((a) == (b), #a)
#define assert_int_equal(a, b)     cmocka_compare((uint64_t)(a), (uint64_t)(b), 1, #a, __FILE__, __LINE__)
#define assert_int_not_equal(a, b) cmocka_compare((uint64_t)(a), (uint64_t)(b), 0, #a, __FILE__, __LINE__)
#define assert_in_range(a, least, most)                                                                      \
    cmocka_that((uint64_t)(a) - (uint64_t)(least) <= (uint64_t)(most) - (uint64_t)(least), #a)
#define assert_string_equal(a, b)        cmocka_compare_texts(a, b, 1, __FILE__, __LINE__)
#define assert_string_not_equal(a, b)    cmocka_compare_texts(a, b, 0, __FILE__, __LINE__)
#define assert_memory_equal(a, b, n)     cmocka_that(memcmp(a, b, n) == 0, #a)
#define assert_memory_not_equal(a, b, n) cmocka_that(memcmp(a, b, n) != 0, #a)

static int (*cmocka_teardown)(void **state);
static void *cmocka_state;
static const char *cmocka_case;

static inline void cmocka_clean(void)
{
    if (cmocka_teardown != NULL) cmocka_teardown(&cmocka_state);
}

_Noreturn static inline void cmocka_end(const char *how, const char *file, int line)
{
    printf("%s:%d\n[  %s  ] %s\n", file, line, how, cmocka_case);
    exit(1);
}

static inline void cmocka_compare(uint64_t a, uint64_t b, int equal, const char *what, const char *file,
                                  int line)
{
    if ((a == b) == equal) return;
    printf("%s is %lld, compared with %lld\n", what, (long long)a, (long long)b);
    cmocka_end("FAILED", file, line);
}

static inline void cmocka_compare_texts(const char *a, const char *b, int equal, const char *file, int line)
{
    if ((strcmp(a, b) == 0) == equal) return;
    printf("\"%s\", compared with \"%s\"\n", a, b);
    cmocka_end("FAILED", file, line);
}

static inline int cmocka_run(const CMUnitTest *tests, size_t n, int (*setup)(void **),
                             int (*teardown)(void **))
{
    const char *from = getenv("COF_FROM_CASE");
    setvbuf(stdout, NULL, _IONBF, 0); /* a crash loses nothing */
    if (setup != NULL && setup(&cmocka_state) != 0) return puts("setup failed"), 2;
    cmocka_teardown = teardown;
    atexit(cmocka_clean);
    for (size_t i = from != NULL ? strtoul(from, NULL, 10) : 0; i < n; i++) {
        cmocka_case = tests[i].name;
        printf("[ RUN      ] %s\n", cmocka_case);
        tests[i].run(&cmocka_state);
        printf("[       OK ] %s\n", cmocka_case);
    }
    return 0;
}

#endif
