/* The reference kernel in plain C. It is always built, and the other kernels are compared with it.
 *
 * It processes up to 128 rows at a time: gathers their flat ids attribute by attribute, then adds up each
 * row's scores in registers, eight clusters at a time. */
#include "coarse_rows.h"

enum { ROWS = 128, ATTRS = 32, LANES = 8, MOST_SUMS = 16384 };

/* Number of rows processed together: their sums must fit the first-level cache. */
static size_t rows_at_once(uint32_t stride)
{
    size_t n = MOST_SUMS / stride;
    return n > ROWS ? ROWS : n < 8 ? 8 : n;
}

static size_t scratch_bytes(const cofi_plan *plan)
{
    uint32_t stride = cofi_stride(plan->k);
    return rows_at_once(stride) * stride * sizeof(int64_t) + (size_t)ROWS * ATTRS * sizeof(uint32_t);
}

/* flat[i * ATTRS + a]: flat id of attribute a0 + a in row begin + i. */
static void gather(const cofi_cells *rows, size_t begin, size_t n, size_t a0, size_t n_attrs, uint32_t *flat)
{
    for (size_t a = 0; a < n_attrs; a++) {
        cofi_ids ids = rows->ids[a0 + a];
        uint32_t first = rows->first[a0 + a];
        uint32_t *to = flat + a;
        if (ids.width == 1) {
            const uint8_t *code = (const uint8_t *)ids.codes + begin;
            for (size_t i = 0; i < n; i++) to[i * ATTRS] = first + code[i];
        } else if (ids.width == 2) {
            const uint16_t *code = (const uint16_t *)ids.codes + begin;
            for (size_t i = 0; i < n; i++) to[i * ATTRS] = first + code[i];
        } else {
            const uint32_t *code = (const uint32_t *)ids.codes + begin;
            for (size_t i = 0; i < n; i++) to[i * ATTRS] = first + code[i];
        }
    }
}

/* Inlined with a constant number of lanes, and with a constant stride if one tile has all clusters. */
static inline __attribute__((always_inline)) void add_tile(const int64_t *value, uint32_t stride,
                                                           size_t lanes, const uint32_t *flat, size_t n,
                                                           size_t n_attrs, int64_t *sum)
{
    for (size_t i = 0; i < n; i++) {
        int64_t acc[LANES];
        for (size_t j = 0; j < lanes; j++) acc[j] = sum[i * stride + j];
        for (size_t a = 0; a < n_attrs; a++) {
            const int64_t *score = value + (size_t)flat[i * ATTRS + a] * stride;
            for (size_t j = 0; j < lanes; j++) acc[j] += score[j];
        }
        for (size_t j = 0; j < lanes; j++) sum[i * stride + j] = acc[j];
    }
}

static void add_scores(const cofi_scores *s, const uint32_t *flat, size_t n, size_t n_attrs, int64_t *sum)
{
    switch (s->stride) {
    case 2:
        add_tile(s->value, 2, 2, flat, n, n_attrs, sum);
        return;
    case 4:
        add_tile(s->value, 4, 4, flat, n, n_attrs, sum);
        return;
    case 6:
        add_tile(s->value, 6, 6, flat, n, n_attrs, sum);
        return;
    case 8:
        add_tile(s->value, 8, 8, flat, n, n_attrs, sum);
        return;
    default:
        break;
    }
    for (uint32_t j = 0; j < s->stride; j += LANES)
        add_tile(s->value + j, s->stride, LANES, flat, n, n_attrs, sum + j);
}

static void nearest(const cofi_plan *plan, size_t begin, size_t n_rows, cofi_label *label, void *scratch)
{
    const cofi_cells *rows = plan->rows;
    const cofi_scores *s = plan->scores;
    size_t at_once = rows_at_once(s->stride);
    int64_t *sum = scratch;
    uint32_t *flat = (uint32_t *)(sum + at_once * s->stride);
    for (size_t done = 0; done < n_rows; done += at_once) {
        size_t n = n_rows - done < at_once ? n_rows - done : at_once;
        for (size_t i = 0; i < n; i++) memcpy(sum + i * s->stride, s->base, s->stride * sizeof *sum);
        for (size_t a = 0; a < rows->n_attrs; a += ATTRS) {
            size_t n_attrs = rows->n_attrs - a < ATTRS ? rows->n_attrs - a : ATTRS;
            gather(rows, begin + done, n, a, n_attrs, flat);
            for (size_t i = 0; s->same_as != NULL && i < n; i++)
                for (size_t x = 0; x < n_attrs; x++) flat[i * ATTRS + x] = s->same_as[flat[i * ATTRS + x]];
            add_scores(s, flat, n, n_attrs, sum);
        }
        for (size_t i = 0; i < n; i++)
            label[done + i] = cofi_settle(rows, s, begin + done + i, sum + i * s->stride);
    }
}

static void expect(const cofi_expect_job *job, size_t begin, size_t end, cofi_expect_part *part)
{
    cofi_expect_rows(job, begin, end, part);
}

static void coarse(const cofi_coarse_job *job, size_t begin, size_t end, cofi_coarse_part *part)
{
    cofi_coarse_rows(job, begin, end, part);
}

static bool available(void)
{
    return true;
}

const cofi_kernel cofi_kernel_plain = {"plain", 0,    0,    false, available, scratch_bytes,
                                       nearest, NULL, NULL, NULL,  expect,    coarse};
