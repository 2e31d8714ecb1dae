/* Bounds the time that a statement's calls keep a server busy where it cannot be interrupted (size_bound.h). */
#ifndef ASSAY_LIB_DB_SIZE_WORK_H
#define ASSAY_LIB_DB_SIZE_WORK_H

#include "lib/db/size_bound.h"

/* The upper bound of an expression. */
struct size {
    double fixed, data; /* bytes of both kinds (size_bound.h) */
    double number;      /* maximum value as a count; INFINITY if known only at run time */
    bool grown;
    bool computed; /* the value may be a text that a function of the statement builds */
};

static inline double size_total(struct size size)
{
    return size.fixed + size.data;
}

/* Returns the larger of both in each field. */
struct size size_larger(struct size a, struct size b);

/* Returns the rule of a function, or the engine's default. */
const struct size_rule *size_rule_of(const struct size_engine *engine, const char *name, size_t len);
/* Returns the rule of a cast; by default the rule that reads each byte. */
const struct size_rule *size_rule_of_cast(const struct size_engine *engine, const struct sql_node *cast);
/* True if the call only concatenates or passes on its arguments' texts, so its contents follow from the literals. */
bool size_is_plain(const struct sql_node *call);

/* The accumulated work of a statement. */
struct work_sum {
    double ns;
    double most_ns; /* of the most expensive call, with its name and the bytes that reach it */
    double bytes;
    const char *name;
    size_t name_len;
};

/* Adds the work of a node. `sizes` has the bounds by node id. ERR_REFUSED: an argument exceeds the function's cap. */
enum err_code work_add(const struct size_engine *engine, const struct sql_node *n, const struct size *sizes,
                       uint32_t n_sizes, struct work_sum *sum, struct err *err);
/* Returns ERR_REFUSED if the sum exceeds SIZE_WORK_MS. */
enum err_code work_check(const struct size_engine *engine, const struct work_sum *sum, struct err *err);

#endif
