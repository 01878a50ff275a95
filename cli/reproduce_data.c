/* The twelve tables of the paper and the four mixed ones: where they are and how to read them. */
#include "reproduce.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "column_choice.h"
#include "complain.h"

/* Orders are those of the values' meaning; columns left out are in the order the reader gives them anyway. */
static const char *const ce_orders[] = {"buying=low<med<high<vhigh",
                                        "maint=low<med<high<vhigh",
                                        "doors=2<3<4<5more",
                                        "persons=2<4<more",
                                        "lug_boot=small<med<big",
                                        "safety=low<med<high",
                                        NULL};
static const char *const cs_orders[] = {"delivery_time=1<0<2", NULL}; /* premature, timely, latecomer */
static const char *const sb_orders[] = {"germination=2<1<0", NULL};
static const char *const ns_orders[] = {"parents=usual<pretentious<great_pret",
                                        "has_nurs=proper<less_proper<improper<critical<very_crit",
                                        "form=complete<completed<incomplete<foster",
                                        "children=1<2<3<more",
                                        "housing=convenient<less_conv<critical",
                                        "finance=convenient<inconv",
                                        "social=nonprob<slightly_prob<problematic",
                                        "health=recommended<priority<not_recom",
                                        NULL};
static const char *const ls_orders[] = {"age=young<pre-presbyopic<presbyopic",
                                        "spectacle_prescription=myope<hypermetrope",
                                        "tear_production_rate=reduced<normal", NULL};
static const char *const no_orders[] = {NULL};

const rep_dataset rep_datasets[N_DATASETS] = {
    {"HR", "Hayes-Roth", 3, "hr.csv", NULL, no_orders, NULL},
    {"CE", "Car Evaluation", 4, "ce.csv", NULL, ce_orders, NULL},
    {"AC", "Statlog (Australian Credit Approval)", 2, "ac.csv", NULL, no_orders, NULL},
    {"VT", "Congressional Voting Records", 2, "vt.csv", "voting.csv", no_orders, NULL},
    {"CS", "Caesarian Section", 2, "cs.csv", NULL, cs_orders, NULL},
    {"SB", "Soybean (Small)", 4, "sb.csv", NULL, sb_orders, NULL},
    {"NS", "Nursery", 5, "ns.csv", NULL, ns_orders, NULL},
    {"ZO", "Zoo", 7, "zo.csv", "zoo.csv", no_orders, NULL},
    {"TS", "Thoracic Surgery Data", 2, "ts.csv", NULL, no_orders, NULL},
    {"HF", "Heart Failure Clinical Records", 2, "hf.csv", NULL, no_orders, NULL},
    {"DS", "Acute Inflammations", 2, "ds.csv", NULL, no_orders, NULL},
    {"LS", "Lenses", 3, "ls.csv", "lenses.csv", ls_orders, NULL}};

static const char *const ac_numeric[] = {"A2", "A3", "A7", "A10", "A13", "A14", NULL};
static const char *const ts_numeric[] = {"forced_vital_capacity", "fev1", "age", NULL};
static const char *const hf_numeric[] = {"age",
                                         "creatinine_phosphokinase",
                                         "ejection_fraction",
                                         "platelets",
                                         "serum_creatinine",
                                         "serum_sodium",
                                         "time",
                                         NULL};
static const char *const ds_numeric[] = {"temperature", NULL};

const rep_dataset rep_mixed_datasets[N_MIXED] = {
    {"AC", "Statlog (Australian Credit Approval)", 2, "ac_mixed.csv", NULL, no_orders, ac_numeric},
    {"TS", "Thoracic Surgery Data", 2, "ts_mixed.csv", NULL, no_orders, ts_numeric},
    {"HF", "Heart Failure Clinical Records", 2, "hf_mixed.csv", NULL, no_orders, hf_numeric},
    {"DS", "Acute Inflammations", 2, "ds_mixed.csv", NULL, no_orders, ds_numeric}};

static int find_column(const rep_table *t, const char *name, size_t *column)
{
    *column = cof_table_find(t->table, name);
    if (*column != SIZE_MAX) return CODE_DONE;
    return complain(CODE_DATA, "%s has no column \"%s\"; docs/reproduce.md says in which form it is read",
                    t->about->file, name);
}

static int set_role(const rep_table *t, const char *name, int32_t role)
{
    size_t column;
    cof_error err;
    int code = find_column(t, name, &column);
    if (code != CODE_DONE) return code;
    cof_status status = cof_table_set_role(t->table, column, role, &err);
    return status == COF_OK ? CODE_DONE : complain_status(status, TASK_TABLE, &err);
}

/* "column=a<b<c" */
static int set_order(const rep_table *t, const char *order)
{
    char text[256];
    const char *value[16];
    size_t n = 0, column;
    cof_error err;
    snprintf(text, sizeof text, "%s", order);
    char *rest = strchr(text, '=');
    *rest++ = '\0';
    for (char *v = strtok_r(rest, "<", &rest); v != NULL && n < 16; v = strtok_r(NULL, "<", &rest))
        value[n++] = v;
    int code = find_column(t, text, &column);
    if (code != CODE_DONE) return code;
    cof_status status = cof_table_set_order(t->table, column, value, n, &err);
    return status == COF_OK ? CODE_DONE : complain(CODE_DATA, "%s: %s", t->about->file, err.text);
}

/* Names of rows, as in zoo.csv. Quantities have as many values and are told apart by the list. */
static int leave_out_identifiers(const rep_table *t)
{
    cof_column view;
    int code = CODE_DONE;
    for (size_t c = 0; code == CODE_DONE && c < cof_table_n_columns(t->table); c++)
        if (column_kind(t->table, c, COF_MISSING_VALUE) == COF_KIND_IDENTIFIER &&
            cof_table_column(t->table, c, &view) == COF_OK && view.role == COF_ROLE_ATTRIBUTE)
            code = set_role(t, view.name, COF_ROLE_IDENTIFIER);
    return code;
}

static int set_roles(const rep_table *t)
{
    int code = set_role(t, "class", COF_ROLE_LABEL);
    for (size_t i = 0; code == CODE_DONE && t->about->numeric != NULL && t->about->numeric[i] != NULL; i++)
        code = set_role(t, t->about->numeric[i], COF_ROLE_NUMERIC);
    if (code == CODE_DONE) code = leave_out_identifiers(t);
    for (size_t i = 0; code == CODE_DONE && t->about->orders[i] != NULL; i++)
        code = set_order(t, t->about->orders[i]);
    return code;
}

/* Classes out of the label column, and a hash (FNV-1a) of all cells. */
static int summarise(rep_table *t)
{
    size_t n_columns = cof_table_n_columns(t->table), label = cof_table_find(t->table, "class");
    uint64_t hash = 14695981039346656037u;
    t->n_rows = cof_table_n_rows(t->table);
    t->classes = malloc(t->n_rows * sizeof *t->classes);
    if (t->classes == NULL) return complain_memory();
    for (size_t i = 0; i < t->n_rows; i++) {
        t->classes[i] = (int32_t)cof_table_code(t->table, i, label);
        for (size_t c = 0; c < n_columns; c++)
            hash = (hash ^ cof_table_code(t->table, i, c)) * 1099511628211u;
    }
    snprintf(t->key, sizeof t->key, "%zu rows, %zu columns, %016" PRIx64, t->n_rows, n_columns, hash);
    return CODE_DONE;
}

static bool find_file(const rep_job *job, const rep_dataset *d, char *path, size_t n)
{
    snprintf(path, n, "%s/%s", job->data, d->file);
    if (access(path, R_OK) == 0) return true;
    if (d->also == NULL) return false;
    snprintf(path, n, "%s/%s", job->data, d->also);
    return access(path, R_OK) == 0;
}

/* Counts one more in *n if the file is there. */
static int read_one(const rep_job *job, const rep_dataset *d, rep_table *tables, size_t *n, char *absent,
                    size_t n_absent)
{
    char path[1024];
    cof_error err;
    rep_table *t = &tables[*n];
    if (!find_file(job, d, path, sizeof path)) {
        snprintf(absent + strlen(absent), n_absent - strlen(absent), "%s%s", *absent == '\0' ? "" : ", ",
                 d->file);
        return CODE_DONE;
    }
    t->about = d;
    cof_status status = cof_table_read(&job->env, path, NULL, &t->table, &err);
    if (status != COF_OK) return complain_status(status, TASK_TABLE, &err);
    (*n)++; /* from here on freed with the others */
    int code = set_roles(t);
    return code == CODE_DONE ? summarise(t) : code;
}

int rep_read_data(rep_job *job)
{
    char absent[1024] = "";
    int code = CODE_DONE;
    for (size_t i = 0; code == CODE_DONE && i < N_DATASETS; i++)
        code = read_one(job, &rep_datasets[i], job->table, &job->n_tables, absent, sizeof absent);
    for (size_t i = 0; code == CODE_DONE && i < N_MIXED; i++)
        code = read_one(job, &rep_mixed_datasets[i], job->mixed, &job->n_mixed, absent, sizeof absent);
    if (code == CODE_DONE && *absent != '\0' && !job->quiet)
        fprintf(
            stderr,
            "Left out, not in %s: %s. They come from the UCI Machine Learning Repository; docs/reproduce.md "
            "says in which form, --data says where they are.\n",
            job->data, absent);
    return code;
}

void rep_free_data(rep_job *job)
{
    for (size_t i = 0; i < job->n_tables; i++) {
        cof_table_free(job->table[i].table);
        free(job->table[i].classes);
    }
    for (size_t i = 0; i < job->n_mixed; i++) {
        cof_table_free(job->mixed[i].table);
        free(job->mixed[i].classes);
    }
}

const rep_table *rep_find_table(const rep_job *job, const char *abbrev)
{
    for (size_t i = 0; i < job->n_tables; i++)
        if (strcmp(job->table[i].about->abbrev, abbrev) == 0) return &job->table[i];
    return NULL;
}

size_t rep_list_tables(const rep_table *tables, size_t n, rep_unit *units)
{
    for (size_t i = 0; i < n; i++) {
        units[i] = (rep_unit){.seconds = 0};
        snprintf(units[i].name, sizeof units[i].name, "%s", tables[i].about->abbrev);
        snprintf(units[i].key, sizeof units[i].key, "%s", tables[i].key);
    }
    return n;
}
