/* A page is a template and a tree of data. C writes the data once, as texts that are formatted but not escaped; all
 * markup and all prose stand in the template (report.html), apart from drawings.
 *
 * The data are objects with named fields. A field is a text or a list of objects. The template has these forms:
 *
 *   {{name}}              the text of a field with the escapes of HTML, which suit content and quoted attributes
 *   {{{name}}}            the text as it is: for styles, scripts and drawings only
 *   {{#name}} ... {{/}}   the part for every object of a list, or once if the field is a text that is not empty
 *   {{^name}} ... {{/}}   the part if there is nothing to repeat
 *   {{#name=word}}        the part if the text is that word; {{^name=word}} if it is another one
 *   {{first}}             as a name: set in the first object of a list
 *   {{=name}} ... {{/}}   defines a part, which is not written here
 *   {{>name}}             writes a part that was defined; {{>name field}} for the objects of a field
 *
 * A field that the object lacks is looked for in the objects around it. A {{/}} may repeat the name of what it ends.
 * A line with nothing but one of the forms with # ^ = / leaves no line, and a definition leaves none where it ends. */
#pragma once

#include "../../core/bytes.h"
#include "../svg/svg_out.h"

/* A field of an object, or, with a NULL key, an object in a list. */
typedef struct cofi_datum {
    const char *key;  /* not owned */
    const char *text; /* NULL: a list, or an object */
    size_t n_bytes;
    struct cofi_datum *first, *last; /* of a list: its objects; of an object: its fields */
    struct cofi_datum *next;
} cofi_datum;

enum { COFI_PAGE_DEPTH = 12 };

/* Data that are being written. Lack of memory is remembered, and cofi_page_fill reports it. */
typedef struct cofi_page {
    cofi_blocks own;
    char *rest; /* what is left of the last block */
    size_t n_rest;
    cofi_datum root, lost;             /* `lost` receives what there is no memory for */
    cofi_datum *open[COFI_PAGE_DEPTH]; /* the objects around the current one, and itself */
    uint32_t depth;
    cofi_writer text; /* of the field that is being written */
    cofi_out out;     /* writes to it */
} cofi_page;

void cofi_page_begin(cofi_page *page, const cof_env *env);
void cofi_page_end(cofi_page *page); /* releases the data */

/* Appends an object to a list of the current object, and makes it the current one until it is closed. */
void cofi_page_open(cofi_page *page, const char *list);
void cofi_page_close(cofi_page *page);
/* A text field from a cofi_out_put template with three more letters: %c a count, such as 1,204 (uint64_t); %a an amount,
 * which is a count if it is whole; %p a share in percent (part and whole), 0 only for nothing and 100 only for all. */
void cofi_page_put(cofi_page *page, const char *key, const char *template, ...);
void cofi_page_flag(cofi_page *page, const char *key, bool set); /* "yes" or empty */
/* A field whose text is written to page->out between the two calls. */
cofi_out *cofi_page_write(cofi_page *page);
void cofi_page_written(cofi_page *page, const char *key);

void cofi_out_count(cofi_out *out, uint64_t n); /* 1,204 */

/* Objects that parts of the template show. */
void cofi_page_number(cofi_page *page, const char *key, double number,
                      int decimals);                                   /* v to sort by, t to read */
void cofi_page_count(cofi_page *page, const char *key, double amount); /* the same */
void cofi_page_bar(cofi_page *page, const char *key, double part,
                   double whole); /* w of 100, empty for 0; t */
/* A name from the data, cut to so many columns: t, `more` (what follows the dots of a range, where a line may be broken),
 * and `full`, the longer name if it was cut. */
void cofi_page_name(cofi_page *page, const char *key, const char *name, unsigned columns);
/* Opens an object about a cluster, with `id` from 1 and `colour`, its classes. */
void cofi_page_open_cluster(cofi_page *page, const char *list, uint32_t cluster);

/* Writes the template with the data. */
cof_status cofi_page_fill(cofi_page *page, const char *template, size_t n_bytes, cofi_out *out,
                          cof_error *err);
