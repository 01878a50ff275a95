/* What a fit leaves behind. */
#ifndef COFI_MODEL_H
#define COFI_MODEL_H

#include "../core/env.h"
#include "../core/shape.h"
#include "../table/cut.h"

enum { COFI_METHOD_BYTES = 64 };

typedef struct cofi_model_attr {
    char *name;
    uint32_t n_values; /* of the dictionary; the missing value is the last one if has_missing */
    size_t *offset;    /* value v is the NUL-terminated text + offset[v] */
    char *text;
    size_t n_text; /* bytes of text */
    uint8_t used;  /* 0: constant, has no tree and takes no part */
    uint8_t ordinal;
    uint8_t has_missing; /* missing is a value here */
    uint32_t first;      /* flat id of its first value, if used */
    uint32_t n_edges;
    cof_edge *edge;
    uint32_t
        *parent;    /* per value, for path lengths: towards the root, UINT32_MAX at it and outside the tree */
    double *up;     /* length of that edge */
    uint32_t *hops; /* edges between the value and the root; UINT32_MAX outside the tree */
    cofi_cut *cut;  /* the values are bins of a quantity; NULL: categories */
    double *five;   /* k x COF_N_FIVE points; NULL where there is no cut, or no row was looked at */
} cofi_model_attr;

struct cof_model {
    cof_env env;
    uint32_t k;
    int32_t variant, missing;
    char method[COFI_METHOD_BYTES]; /* its name, NUL-terminated */
    bool no_scores;                 /* new rows cannot be labelled */
    size_t n_attrs;
    cofi_model_attr *attr;
    uint32_t n_flat;    /* values of the used attributes */
    uint64_t *count;    /* n_flat x k: weight units of cluster j's rows that hold value g */
    double unit;        /* units of weight 1 */
    double *size;       /* k */
    cofi_scores scores; /* value: n_flat x stride */
    size_t n_labels;
    int32_t *label; /* of the table it was fitted to; NULL if loaded */
    cof_pass_record *history;
    size_t n_history;
    cof_restart_record *restart;
    size_t n_restarts;
    size_t kept;           /* which of them it is */
    int32_t select;        /* and by what it was kept */
    cof_k_record *k_curve; /* every k tried; NULL where it was given */
    size_t n_k_curve;
    double *cluster_agreement; /* k; NULL if there is nothing to compare */
    uint32_t n_good;           /* restarts it is the mean of */
    double *agreement;         /* of each restart with the kept one; NULL if there was one */
};

/* The model owns the curve from now on. */
void cofi_model_set_k_curve(cof_model *model, cof_k_record *curve, size_t n);
/* false: too long, or not of small letters, digits and :_- alone. */
bool cofi_model_set_method(cof_model *model, const char *name, size_t n_bytes);
cof_status cofi_model_new(const cof_env *env, uint32_t k, size_t n_attrs, cof_model **out, cof_error *err);
/* Memory of everything that is n_flat long, and of one attribute's dictionary and tree. */
cof_status cofi_model_alloc_values(cof_model *model, uint32_t n_flat, cof_error *err);
cof_status cofi_model_alloc_attr(cof_model *model, size_t attr, uint32_t n_values, size_t n_text,
                                 uint32_t n_edges, cof_error *err);
/* Fills parent, up and hops from the edges; false if they are not a tree grown from the first edge's u. */
bool cofi_model_root_tree(cofi_model_attr *attr);

#endif
