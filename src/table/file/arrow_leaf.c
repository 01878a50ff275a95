/* The layouts of the Arrow columnar format that can hold categories. */
#include "arrow_leaf.h"

#include "../../core/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { VIEW_BYTES = 16, VIEW_INLINE = 12 };

cofi_leaf_type cofi_leaf_type_of(const char *format)
{
    static const struct {
        const char *format;
        cofi_leaf_type type;
    } known[] = {
        {"n", {COFI_LEAF_NULLS, 0, 0}},
        {"b", {COFI_LEAF_BOOLEAN, 0, 0}},
        {"c", {COFI_LEAF_SIGNED, 1, 0}},
        {"C", {COFI_LEAF_UNSIGNED, 1, 0}},
        {"s", {COFI_LEAF_SIGNED, 2, 0}},
        {"S", {COFI_LEAF_UNSIGNED, 2, 0}},
        {"i", {COFI_LEAF_SIGNED, 4, 0}},
        {"I", {COFI_LEAF_UNSIGNED, 4, 0}},
        {"l", {COFI_LEAF_SIGNED, 8, 0}},
        {"L", {COFI_LEAF_UNSIGNED, 8, 0}},
        {"u", {COFI_LEAF_TEXT, 4, 0}},
        {"U", {COFI_LEAF_TEXT, 8, 0}},
        {"z", {COFI_LEAF_TEXT, 4, 0}},
        {"Z", {COFI_LEAF_TEXT, 8, 0}},
        {"vu", {COFI_LEAF_VIEW, 0, 0}},
        {"vz", {COFI_LEAF_VIEW, 0, 0}},
        {"e", {COFI_LEAF_FLOAT, 2, 0}},
        {"f", {COFI_LEAF_FLOAT, 4, 0}},
        {"g", {COFI_LEAF_FLOAT, 8, 0}},
        {"tdD", {COFI_LEAF_DATE, 4, 0}},
        {"tdm", {COFI_LEAF_DATE, 8, 1000}},
        {"tts", {COFI_LEAF_TIME, 4, 1}},
        {"ttm", {COFI_LEAF_TIME, 4, 1000}},
        {"ttu", {COFI_LEAF_TIME, 8, 1000000}},
        {"ttn", {COFI_LEAF_TIME, 8, 1000000000}},
    };
    static const struct {
        /* a time zone may follow; it does not matter, because points in time are stored in UTC */
        const char *format;
        int64_t parts;
    } stamps[] = {{"tss:", 1}, {"tsm:", 1000}, {"tsu:", 1000000}, {"tsn:", 1000000000}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(format, known[i].format) == 0) return known[i].type;
    for (size_t i = 0; i < sizeof stamps / sizeof *stamps; i++)
        if (strncmp(format, stamps[i].format, strlen(stamps[i].format)) == 0)
            return (cofi_leaf_type){COFI_LEAF_DATE, 8, stamps[i].parts};
    return (cofi_leaf_type){COFI_LEAF_OTHER, 0, 0};
}

const char *cofi_leaf_describe(const char *format)
{
    switch (format[0]) {
    case 'd':
        return "decimal numbers";
    case 't':
        return "durations or intervals";
    case 'w':
        return "fixed-size binary values";
    case '+':
        return "nested values";
    default:
        return "values of an unknown type";
    }
}

const char *cofi_arrow_array_problem(const struct ArrowArray *array)
{
    /* The largest element is a view; a longer buffer cannot be in memory, so the length is wrong. */
    const int64_t most = PTRDIFF_MAX / VIEW_BYTES - 1;
    if (array == NULL) return "is NULL";
    if (array->release == NULL) return "was already released";
    if (array->length < 0) return "has a negative length";
    if (array->offset < 0) return "has a negative offset";
    if (array->length > most || array->offset > most - array->length)
        return "has an offset and a length that no memory can hold";
    if (array->null_count < -1 || array->null_count > array->length)
        return "has a null count that does not fit its length";
    if (array->n_buffers < 0 || array->n_children < 0) return "has a negative number of buffers or children";
    if (array->n_buffers > 0 && array->buffers == NULL) return "has no list of buffers";
    if (array->n_children > 0 && array->children == NULL) return "has no list of children";
    return NULL;
}

static bool has_right_buffers(cofi_leaf_kind kind, int64_t n_buffers)
{
    switch (kind) {
    case COFI_LEAF_NULLS:
        return n_buffers <= 1; /* none in the format; early producers have one */
    case COFI_LEAF_BOOLEAN:
    case COFI_LEAF_SIGNED:
    case COFI_LEAF_UNSIGNED:
    case COFI_LEAF_FLOAT:
    case COFI_LEAF_DATE:
    case COFI_LEAF_TIME:
        return n_buffers == 2;
    case COFI_LEAF_TEXT:
        return n_buffers == 3;
    case COFI_LEAF_VIEW:
        return n_buffers >= 3; /* validity, views, any number of data buffers, their sizes */
    default:
        return false;
    }
}

static int64_t load_signed(const uint8_t *values, uint8_t width, int64_t i)
{
    const uint8_t *from = values + i * width;
    int8_t one;
    int16_t two;
    int32_t four;
    int64_t eight;
    switch (width) {
    case 1:
        return memcpy(&one, from, 1), one;
    case 2:
        return memcpy(&two, from, 2), two;
    case 4:
        return memcpy(&four, from, 4), four;
    default:
        return memcpy(&eight, from, 8), eight;
    }
}

/* Checks all offsets, not only those of the values that are read: if the offsets ascend, every text lies
 * within the data that the producer described. */
static const char *offsets_problem(const cofi_leaf *leaf)
{
    int64_t before = load_signed(leaf->values, leaf->type.width, leaf->first), start = before;
    if (before < 0) return "has a negative text offset";
    for (int64_t i = 1; i <= leaf->length; i++) {
        int64_t offset = load_signed(leaf->values, leaf->type.width, leaf->first + i);
        if (offset < before) return "has text offsets that go backwards";
        before = offset;
    }
    if (before > start && leaf->text == NULL) return "has texts but no text buffer";
    return NULL;
}

static const char *views_problem(const cofi_leaf *leaf)
{
    if (leaf->n_view_text > 0 && leaf->view_sizes == NULL)
        return "does not say how long its text buffers are";
    return NULL;
}

static void take_buffers(cofi_leaf *leaf, const struct ArrowArray *array)
{
    leaf->validity = array->null_count != 0 ? array->buffers[0] : NULL;
    leaf->values = array->buffers[1];
    if (leaf->type.kind == COFI_LEAF_TEXT) leaf->text = array->buffers[2];
    if (leaf->type.kind == COFI_LEAF_VIEW) {
        leaf->view_text = array->buffers + 2;
        leaf->n_view_text = array->n_buffers - 3;
        leaf->view_sizes = array->buffers[array->n_buffers - 1];
    }
}

const char *cofi_leaf_open(cofi_leaf *leaf, cofi_leaf_type type, const struct ArrowArray *array, int64_t skip,
                           int64_t length)
{
    *leaf = (cofi_leaf){.type = type, .length = length};
    if (!has_right_buffers(type.kind, array->n_buffers))
        return "has the wrong number of buffers for its type";
    if (array->n_children != 0) return "has children, which its type does not";
    if (skip > array->length || length > array->length - skip) return "is shorter than the table";
    leaf->first = array->offset + skip;
    if (length == 0 || type.kind == COFI_LEAF_NULLS) return NULL;
    take_buffers(leaf, array);
    if (array->null_count > 0 && leaf->validity == NULL) return "has nulls but does not say where";
    if (leaf->values == NULL) return "has no buffer of values";
    if (type.kind == COFI_LEAF_TEXT) return offsets_problem(leaf);
    if (type.kind == COFI_LEAF_VIEW) return views_problem(leaf);
    return NULL;
}

/* IEEE 754 binary16: 5 bits of exponent, 10 of fraction. */
static double half_to_double(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double x = exponent == 0   ? ldexp(fraction, -24)
               : exponent < 31 ? ldexp(1024 + fraction, exponent - 25)
               : fraction == 0 ? (double)INFINITY
                               : (double)NAN;
    return bits >> 15 ? -x : x;
}

static double load_float(const uint8_t *values, uint8_t width, int64_t i)
{
    const uint8_t *from = values + i * width;
    uint16_t half;
    float single;
    double whole;
    switch (width) {
    case 2:
        return memcpy(&half, from, 2), half_to_double(half);
    case 4:
        return memcpy(&single, from, 4), (double)single;
    default:
        return memcpy(&whole, from, 8), whole;
    }
}

bool cofi_leaf_is_missing(const cofi_leaf *leaf, int64_t i)
{
    if (leaf->type.kind == COFI_LEAF_NULLS) return true;
    if (leaf->validity != NULL && !cofi_arrow_bit(leaf->validity, leaf->first + i)) return true;
    return leaf->type.kind == COFI_LEAF_FLOAT &&
           isnan(load_float(leaf->values, leaf->type.width, leaf->first + i));
}

uint64_t cofi_leaf_number(const cofi_leaf *leaf, int64_t i)
{
    int64_t at = leaf->first + i;
    if (leaf->type.kind == COFI_LEAF_BOOLEAN) return cofi_arrow_bit(leaf->values, at);
    if (leaf->type.kind == COFI_LEAF_FLOAT) {
        double x = load_float(leaf->values, leaf->type.width, at);
        uint64_t bits;
        return memcpy(&bits, &x, sizeof bits), bits;
    }
    uint64_t number = (uint64_t)load_signed(leaf->values, leaf->type.width, at);
    if (leaf->type.kind != COFI_LEAF_UNSIGNED || leaf->type.width == 8) return number;
    return number & ((UINT64_C(1) << 8 * leaf->type.width) - 1);
}

static size_t write_float(uint64_t bits, uint8_t width, char scratch[COFI_LEAF_SCRATCH])
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return width == 8 ? cofi_number_write(x, scratch) : cofi_float_write((float)x, scratch);
}

static size_t write_date(cofi_leaf_type type, int64_t number, char scratch[COFI_LEAF_SCRATCH])
{
    const int64_t far = INT64_C(100000000000000); /* seconds: three million years */
    if (type.parts == 0) return cofi_date_write(number * 86400, 0, 1, scratch);
    int64_t seconds = number / type.parts, part = number % type.parts;
    if (part < 0) part += type.parts, seconds--;
    if (type.kind == COFI_LEAF_TIME) return cofi_time_write(seconds, scratch);
    return cofi_date_write(seconds > far ? far : seconds < -far ? -far : seconds, part, type.parts, scratch);
}

size_t cofi_leaf_write_number(cofi_leaf_type type, uint64_t number, char scratch[COFI_LEAF_SCRATCH])
{
    if (type.kind == COFI_LEAF_FLOAT) return write_float(number, type.width, scratch);
    if (type.kind == COFI_LEAF_DATE || type.kind == COFI_LEAF_TIME)
        return write_date(type, (int64_t)number, scratch);
    if (type.kind == COFI_LEAF_BOOLEAN)
        return (size_t)snprintf(scratch, COFI_LEAF_SCRATCH, "%s", number != 0 ? "true" : "false");
    if (type.kind == COFI_LEAF_SIGNED)
        return (size_t)snprintf(scratch, COFI_LEAF_SCRATCH, "%" PRId64, (int64_t)number);
    return (size_t)snprintf(scratch, COFI_LEAF_SCRATCH, "%" PRIu64, number);
}

static const char *text_problem(const char *text, size_t n_bytes)
{
    if (memchr(text, '\0', n_bytes) != NULL) return "contains a NUL byte; remove it";
    if (!cofi_utf8_valid(text, n_bytes)) return "is not valid UTF-8; convert it first";
    return NULL;
}

/* A view: length, then either the text itself or, past 12 bytes, a prefix, a buffer number and an offset. */
static const char *view_text(const cofi_leaf *leaf, int64_t i, const char **text, size_t *n_bytes)
{
    const uint8_t *view = leaf->values + (leaf->first + i) * VIEW_BYTES;
    int64_t length = load_signed(view, 4, 0), buffer = load_signed(view, 4, 2),
            offset = load_signed(view, 4, 3);
    if (length < 0) return "has a view of negative length";
    *n_bytes = (size_t)length;
    *text = (const char *)view + 4;
    if (length <= VIEW_INLINE) return NULL;
    if (buffer < 0 || buffer >= leaf->n_view_text) return "has a view into a buffer that is not there";
    if (offset < 0 || offset + length > load_signed(leaf->view_sizes, 8, buffer) ||
        leaf->view_text[buffer] == NULL)
        return "has a view past the end of its buffer";
    *text = (const char *)leaf->view_text[buffer] + offset;
    return NULL;
}

const char *cofi_leaf_text(const cofi_leaf *leaf, int64_t i, char scratch[COFI_LEAF_SCRATCH],
                           const char **text, size_t *n_bytes)
{
    if (leaf->type.kind == COFI_LEAF_TEXT) {
        int64_t start = load_signed(leaf->values, leaf->type.width, leaf->first + i);
        int64_t end = load_signed(leaf->values, leaf->type.width, leaf->first + i + 1);
        *n_bytes = (size_t)(end - start);
        *text = end > start ? leaf->text + start : "";
    } else if (leaf->type.kind == COFI_LEAF_VIEW) {
        const char *problem = view_text(leaf, i, text, n_bytes);
        if (problem != NULL) return problem;
    } else {
        *n_bytes = cofi_leaf_write_number(leaf->type, cofi_leaf_number(leaf, i), scratch);
        *text = scratch;
        return NULL;
    }
    return text_problem(*text, *n_bytes);
}
