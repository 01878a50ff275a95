/* Tables of numbers and categories with known classes, one family for each way in which such tables
 * differ. Only additions and multiplications are used, so that a seed gives the same table on every
 * machine. */
#include "generate_mixed.h"

#include "../core/rng.h"

#include <math.h>
#include <stdio.h>

enum { MOST_VALUES = 6, MOST_DIGITS = 32 };
#define APART        2.5  /* distance of the means of neighbouring classes, in standard deviations */
#define KEPT         0.6  /* probability that a category is the mode of its class; otherwise any value */
#define OUTLIERS     0.02 /* probability of an outlier */
#define FAR          60.0 /* distance of an outlier */
#define LARGEST_PART 0.7  /* share of the remaining rows that the next class of an imbalanced table takes */

typedef struct mixed_plan {
    cofi_rng rng;
    int32_t family;
    uint32_t k;
    uint32_t n_values[COFI_MIXED_CATEGORIES];
    uint32_t *mode;  /* k x COFI_MIXED_CATEGORIES */
    uint32_t *level; /* k x COFI_MIXED_NUMBERS: rank of the class's mean */
} mixed_plan;

/* Approximately normal: the sum of twelve uniform numbers (Irwin and Hall). */
static double draw_normal(cofi_rng *rng)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += cofi_rng_unit(rng);
    return sum;
}

static void draw_classes(mixed_plan *p)
{
    for (uint32_t c = 0; c < COFI_MIXED_CATEGORIES; c++) {
        p->n_values[c] = 2 + (uint32_t)cofi_rng_below(&p->rng, MOST_VALUES - 1);
        for (uint32_t j = 0; j < p->k; j++)
            p->mode[j * COFI_MIXED_CATEGORIES + c] = (uint32_t)cofi_rng_below(&p->rng, p->n_values[c]);
    }
    for (uint32_t c = 0; c < COFI_MIXED_NUMBERS; c++) {
        for (uint32_t j = 0; j < p->k; j++) p->level[j * COFI_MIXED_NUMBERS + c] = j;
        for (uint32_t j = p->k; j > 1; j--) { /* the order of the classes differs between columns */
            uint32_t i = (uint32_t)cofi_rng_below(&p->rng, j),
                     *a = &p->level[(j - 1) * COFI_MIXED_NUMBERS + c],
                     *b = &p->level[i * COFI_MIXED_NUMBERS + c], was = *a;
            *a = *b;
            *b = was;
        }
    }
}

static uint32_t draw_class(mixed_plan *p)
{
    if (p->family != COF_MIXED_IMBALANCE) return (uint32_t)cofi_rng_below(&p->rng, p->k);
    uint32_t j = 0;
    while (j + 1 < p->k && cofi_rng_unit(&p->rng) > LARGEST_PART) j++;
    return j;
}

static uint32_t draw_category(mixed_plan *p, uint32_t class, uint32_t c)
{
    bool structured = p->family != COF_MIXED_NUMBERS && cofi_rng_unit(&p->rng) < KEPT;
    return structured ? p->mode[class * COFI_MIXED_CATEGORIES + c]
                      : (uint32_t)cofi_rng_below(&p->rng, p->n_values[c]);
}

static double draw_number(mixed_plan *p, uint32_t class, uint32_t c)
{
    bool noise = p->family == COF_MIXED_CATEGORIES || (p->family == COF_MIXED_NOISE && c % 2 == 1);
    double x = draw_normal(&p->rng), mean = noise ? 0 : APART * p->level[class * COFI_MIXED_NUMBERS + c];
    if (p->family == COF_MIXED_NONLINEAR) {
        x += mean;
        return cofi_rng_below(&p->rng, 2) ? x
                                          /* the absolute value determines the class, not the sign */
                                          : -x;
    }
    x += mean;
    if (p->family == COF_MIXED_SKEWED) {
        x = 1 + x / 8; /* (1 + x/8)^8 approximates exp(x) */
        x = x * x * x * x * x * x * x * x;
    }
    if (p->family == COF_MIXED_OUTLIERS && cofi_rng_unit(&p->rng) < OUTLIERS)
        x += cofi_rng_below(&p->rng, 2) ? FAR : -FAR;
    return x;
}

static cof_status put_id(cofi_encoder *e, uint32_t id)
{
    char text[16];
    return cofi_encoder_put(e, text, (size_t)snprintf(text, sizeof text, "%u", id + 1));
}

/* Written in ten-thousandths, without the locale's decimal point. */
static cof_status put_number(cofi_encoder *e, double x)
{
    char text[MOST_DIGITS];
    long long units = (long long)floor(x * 10000 + 0.5);
    unsigned long long size = (unsigned long long)(units < 0 ? -units : units);
    int n = snprintf(text, sizeof text, "%s%llu.%04llu", units < 0 ? "-" : "", size / 10000, size % 10000);
    return cofi_encoder_put(e, text, (size_t)n);
}

static cof_status draw_row(mixed_plan *p, cofi_encoder *encoder)
{
    cof_status status = COF_OK;
    uint32_t class = draw_class(p), at = 0;
    for (uint32_t c = 0; c < COFI_MIXED_CATEGORIES && status == COF_OK; c++)
        status = put_id(&encoder[at++], draw_category(p, class, c));
    for (uint32_t c = 0; c < COFI_MIXED_NUMBERS && status == COF_OK; c++)
        status = put_number(&encoder[at++], draw_number(p, class, c));
    return status == COF_OK ? put_id(&encoder[at], class) : status;
}

cof_status cofi_generate_mixed(const cof_env *env, const cof_generate_options *o, cofi_encoder *encoder)
{
    mixed_plan p = {.family = o->family, .k = o->k};
    cof_status status = COF_OK;
    p.mode = cofi_alloc(env, (size_t)p.k * COFI_MIXED_CATEGORIES, sizeof *p.mode);
    p.level = cofi_alloc(env, (size_t)p.k * COFI_MIXED_NUMBERS, sizeof *p.level);
    if (p.mode == NULL || p.level == NULL) {
        status = COF_ERR_MEMORY;
    } else {
        cofi_rng_seed(&p.rng, o->seed, 1);
        draw_classes(&p);
    }
    for (uint64_t i = 0; i < o->n_rows && status == COF_OK; i++) {
        if (i % 65536 == 0 && cofi_should_stop(env)) status = COF_ERR_STOPPED;
        if (status == COF_OK) status = draw_row(&p, encoder);
    }
    COFI_RELEASE_ALL(env, p.mode, p.level);
    return status;
}
