/* The manual page: cli/coforest.1.in, in which what the tables of options.h and the library's fields say is written at marks
 * such as @verbs@. */
#include "help.h"

#include "coforest_extra.h"
#include "../complain.h"

extern const char manual_template[]; /* cli/coforest.1.in */

enum { LINE_WIDTH = 76 };

/* ---- roff ---------------------------------------------------------------------------------------- */

/* A dash is a dash to be copied, a backslash is itself, and a line must not begin as a command does. */
static void put_escaped(FILE *out, const char *text, size_t n)
{
    if (n > 0 && (*text == '.' || *text == '\'')) fputs("\\&", out);
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '-')
            fputs("\\-", out);
        else if (text[i] == '\\')
            fputs("\\e", out);
        else if (text[i] == '\'')
            fputs("\\(aq", out);
        else
            fputc(text[i], out);
    }
}

/* In the font B or I. */
static void put_in_font(FILE *out, char font, const char *before, const char *text)
{
    fprintf(out, "\\f%c", font);
    put_escaped(out, before, strlen(before));
    put_escaped(out, text, strlen(text));
    fputs("\\fR", out);
}

/* Running text; a sentence begins a line, as roff likes it. */
static void put_text(FILE *out, const char *text)
{
    size_t column = 0;
    while (*text != '\0') {
        size_t n = strcspn(text, " ");
        if (column > 0 && column + 1 + n > LINE_WIDTH) column = 0, fputc('\n', out);
        if (column > 0) column++, fputc(' ', out);
        put_escaped(out, text, n);
        column += n;
        if (n > 1 && text[n - 1] == '.' && text[n] == ' ' && text[n - 2] != '.') column = 0, fputc('\n', out);
        text += n + strspn(text + n, " ");
    }
    fputc('\n', out);
}

static void put_entry(FILE *out, const char *tag, const char *term, const char *text)
{
    fprintf(out, "%s\n", tag);
    put_in_font(out, 'B', "", term);
    fputc('\n', out);
    put_text(out, text);
}

/* ---- What stands at the marks -------------------------------------------------------------------- */

static void put_version(FILE *out)
{
    fputs(cof_version(), out);
}

static void put_synopsis(FILE *out)
{
    for (size_t i = 0; verbs[i] != NULL; i++) {
        fputs(i > 0 ? "\n.br\n" : "", out);
        put_in_font(out, 'B', "coforest ", verbs[i]->name);
        fputc(' ', out);
        put_escaped(out, verbs[i]->usage, strlen(verbs[i]->usage));
    }
}

static void put_option(FILE *out, const option *o)
{
    fputs(".TP\n", out);
    if (o->letter != 0) {
        put_in_font(out, 'B', "-", (char[2]){o->letter, '\0'});
        fputs(", ", out);
    }
    put_in_font(out, 'B', "--", o->name);
    if (o->arg != NULL) {
        fputc(' ', out);
        put_in_font(out, 'I', "", o->arg);
    }
    fputc('\n', out);
    put_text(out, o->help);
    if (o->choices == NULL) return;
    fputs(".RS\n", out);
    for (const choice *c = o->choices; c->name != NULL; c++)
        put_entry(out, ".TP 12", c->name, c->about == NULL ? "" : c->about);
    fputs(".RE\n", out);
}

static void put_verbs(FILE *out)
{
    for (size_t i = 0; verbs[i] != NULL; i++) {
        const verb *v = verbs[i];
        fprintf(out, ".SS coforest %s ", v->name);
        put_escaped(out, v->usage, strlen(v->usage));
        fputc('\n', out);
        for (size_t p = 0; v->paragraphs[p] != NULL; p++) {
            fputs(p > 0 ? ".PP\n" : "", out);
            put_text(out, v->paragraphs[p]);
        }
        for (const option *o = verb_options(v); o->name != NULL; o++) {
            if (o->title != NULL) fprintf(out, ".PP\n\\fI%s\\fR\n", o->title);
            put_option(out, o);
        }
    }
}

/* What a field may be, where no option of the same name has said it. */
static void put_words_of(FILE *out, size_t field)
{
    const cof_option *o;
    if (cof_result_field(field)->inside != NULL) return; /* "as above" */
    for (size_t i = 0; (o = cof_fit_option(i)) != NULL; i++)
        if (strcmp(o->name, cof_result_field(field)->key) == 0) return;
    fputs(cof_result_word(field, 0).name != NULL ? ".RS\n" : "", out);
    for (size_t i = 0; cof_result_word(field, i).name != NULL; i++)
        put_entry(out, ".TP 12", cof_result_word(field, i).name, cof_result_word(field, i).about);
    fputs(cof_result_word(field, 0).name != NULL ? ".RE\n" : "", out);
}

/* The members of a list of the library's fields, or the fields of the result itself if `inside` is NULL. */
static void put_fields(FILE *out, const char *inside)
{
    const cof_field *field;
    for (size_t f = 0; (field = cof_result_field(f)) != NULL; f++) {
        bool member = inside == NULL ? field->inside == NULL
                                     : field->inside != NULL && strcmp(field->inside, inside) == 0;
        if (!member || strcmp(field->key, "history") == 0) continue;
        put_entry(out, ".TP", field->key, field->about);
        put_words_of(out, f);
        if (field->type != COF_FIELD_OBJECT && field->type != COF_FIELD_RECORDS) continue;
        fputs(".RS\n", out);
        put_fields(out, field->key);
        fputs(".RE\n", out);
    }
}

static void put_pass_fields(FILE *out)
{
    put_fields(out, "history");
}

static void put_result_fields(FILE *out)
{
    put_fields(out, NULL);
}

static void put_examples(FILE *out)
{
    for (size_t i = 0; verbs[i] != NULL; i++)
        for (const example *e = verbs[i]->examples; e->command != NULL; e++)
            put_entry(out, ".TP", e->command, e->what);
}

static const struct part {
    const char *mark;
    void (*put)(FILE *out);
} parts[] = {
    {"@version@", put_version},
    {"@synopsis@", put_synopsis},
    {"@verbs@\n", put_verbs},
    {"@fields of a pass@\n", put_pass_fields},
    {"@fields of a result@\n", put_result_fields},
    {"@examples@\n", put_examples},
};

void print_manual(FILE *out)
{
    const char *text = manual_template;
    for (const struct part *p = parts; p < parts + sizeof parts / sizeof *parts; p++) {
        const char *mark = strstr(text, p->mark); /* they are in this order */
        fwrite(text, 1, (size_t)(mark - text), out);
        p->put(out);
        text = mark + strlen(p->mark);
    }
    fputs(text, out);
}
