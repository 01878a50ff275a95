/* One pass over a table of random categories, kernel by kernel, beside merely reading the table once.
 *   bench_pass ROWS COLUMNS VALUES K [REPEATS]
 * Prints nanoseconds a row, medians of interleaved repeats: `read` adds up every byte of the codes, `again` is
 * a pass in which no row moves (and none is skipped), `first` one that labels and counts every row. */
#include "../src/core/rng.h"
#include "../src/pass/pass.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_KERNELS = 8 };

/* Of this thread, so that whatever else the machine does counts less. */
static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, by_value);
    return x[n / 2];
}

typedef struct bench {
    cof_env env;
    cofi_rows rows;
    cofi_scores scores;
    cofi_ids *ids;
    uint32_t *first;
} bench;

static void make_rows(bench *b, size_t n, size_t l, uint32_t o)
{
    cofi_rng rng;
    cofi_rng_seed(&rng, 1, 0);
    b->ids = malloc(l * sizeof *b->ids);
    b->first = malloc((l + 1) * sizeof *b->first);
    uint8_t width = o <= 256 ? 1 : o <= 65536 ? 2 : 4;
    for (size_t r = 0; r < l; r++) {
        void *block; /* given back with the process */
        char *codes = cofi_alloc_column(&b->env, r, n, width, &block);
        for (size_t i = 0; i < n; i++) {
            uint32_t v = (uint32_t)cofi_rng_below(&rng, o);
            memcpy(codes + i * width, &v, width);
        }
        b->ids[r] = (cofi_ids){codes, width};
        b->first[r] = (uint32_t)r * o;
    }
    b->first[l] = (uint32_t)l * o;
    b->rows = (cofi_rows){n, l, b->ids, b->first, NULL, NULL};
}

static void make_scores(bench *b, uint32_t k)
{
    cofi_rng rng;
    cofi_rng_seed(&rng, 2, 0);
    uint32_t stride = cofi_stride(k), n_flat = b->first[b->rows.n_attrs];
    b->scores = (cofi_scores){.k = k, .stride = stride, .scale = 1};
    b->scores.value = calloc((size_t)n_flat * stride, sizeof *b->scores.value);
    b->scores.base = calloc(stride, sizeof *b->scores.base);
    for (uint32_t j = k; j < stride; j++) b->scores.base[j] = COFI_NEVER;
    for (uint32_t g = 0; g < n_flat; g++)
        for (uint32_t j = 0; j < k; j++)
            b->scores.value[(size_t)g * stride + j] =
                (int64_t)cofi_rng_below(&rng, (UINT64_C(1) << COFI_SUM_BITS) / b->rows.n_attrs);
}

/* Eight bytes at a time into eight sums, which the compiler turns into vectors. */
static uint64_t read_all(const bench *b)
{
    uint64_t sum[8] = {0};
    for (size_t r = 0; r < b->rows.n_attrs; r++) {
        const char *codes = b->ids[r].codes;
        size_t n = b->rows.n_rows * b->ids[r].width / 64 * 64;
        for (size_t i = 0; i < n; i += 64) {
            uint64_t word[8];
            memcpy(word, codes + i, 64);
            for (int w = 0; w < 8; w++) sum[w] += word[w];
        }
    }
    return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

int main(int argc, char **argv)
{
    if (argc < 5) return fprintf(stderr, "usage: bench_pass ROWS COLUMNS VALUES K [REPEATS]\n"), 2;
    size_t n = strtoull(argv[1], NULL, 10), l = strtoull(argv[2], NULL, 10),
           repeats = argc > 5 ? strtoull(argv[5], NULL, 10) : 9;
    uint32_t o = (uint32_t)atoi(argv[3]), k = (uint32_t)atoi(argv[4]);
    bench b = {.env = cofi_env_resolve(NULL)};
    cofi_team *team;
    cofi_pass pass[MOST_KERNELS];
    cof_error err;
    make_rows(&b, n, l, o);
    make_scores(&b, k);
    if (cofi_team_open(&b.env, 1, &team, &err) != COF_OK) return 1;
    size_t n_kernels = 0;
    for (; cofi_kernel_at(n_kernels) != NULL; n_kernels++)
        if (cofi_pass_open(&b.env, &b.rows, k, team, cofi_kernel_at(n_kernels), &pass[n_kernels], &err) !=
            COF_OK)
            return 1;
    double *took = malloc((1 + 2 * n_kernels) * repeats * sizeof *took);
    uint64_t sink = 0;
    for (size_t t = 0; t < repeats; t++) {
        double at = cpu_s();
        sink += read_all(&b);
        took[t] = cpu_s() - at;
        for (size_t x = 0; x < n_kernels; x++) {
            cofi_pass_reset(&pass[x]);
            at = cpu_s();
            cofi_pass_run(&pass[x], &b.scores);
            took[(1 + 2 * x) * repeats + t] = cpu_s() - at;
            at = cpu_s();
            cofi_skip_forget(&pass[x].skip); /* nothing is skipped */
            sink += cofi_pass_run(&pass[x], &b.scores);
            took[(2 + 2 * x) * repeats + t] = cpu_s() - at;
        }
    }
    double read = median(took, repeats), unit = 1e9 / (double)n;
    printf("%zu x %zu, o = %u, k = %u: read %.2f ns a row (%.1f GB/s)\n", n, l, o, k, read * unit,
           (double)n * (double)l * b.ids[0].width / read / 1e9);
    for (size_t x = 0; x < n_kernels; x++) {
        double first = median(took + (1 + 2 * x) * repeats, repeats),
               again = median(took + (2 + 2 * x) * repeats, repeats);
        printf("  %-8s again %6.2f ns a row, %5.2f times reading; first %6.2f, %5.2f%s\n",
               pass[x].kernel->name, again * unit, again / read, first * unit, first / read,
               memcmp(pass[x].label, pass[n_kernels - 1].label, n * sizeof *pass[x].label) == 0
                   ? ""
                   : "  LABELS DIFFER");
    }
    return sink == 42; /* so that no reading is left out */
}
