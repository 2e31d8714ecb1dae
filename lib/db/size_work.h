/* How long the calls of a statement keep a server busy where it cannot be interrupted (size_bound.h). */
#ifndef ASSAY_LIB_DB_SIZE_WORK_H
#define ASSAY_LIB_DB_SIZE_WORK_H

#include "lib/db/size_bound.h"

/* The upper bound of an expression. */
struct size {
    double fixed, data; /* bytes, of two kinds (size_bound.h) */
    double number;      /* its greatest value as a count; INFINITY: not known before the statement runs */
    bool grown;
    bool computed; /* it may be a text that the statement puts together by a function */
};

static inline double size_total(struct size size)
{
    return size.fixed + size.data;
}

/* The larger of both in each respect. */
struct size size_larger(struct size a, struct size b);

/* The rule of a function; the engine's default for one that is not listed. */
const struct size_rule *size_rule_of(const struct size_engine *engine, const char *name, size_t len);
/* The rule of a cast; of one to a type that is not listed, that of reading each byte. */
const struct size_rule *size_rule_of_cast(const struct size_engine *engine, const struct sql_node *cast);
/* True if the call only joins or takes over its arguments' texts, so that what they hold can be read off the literals. */
bool size_is_plain(const struct sql_node *call);

/* The work of a statement so far. */
struct work_sum {
    double ns;
    double most_ns; /* of the worst call, its name, and the bytes that reach it */
    double bytes;
    const char *name;
    size_t name_len;
};

/* Adds the work of a node, of which `sizes` has the bounds by id. ERR_REFUSED: an argument is past the function's cap. */
enum err_code work_add(const struct size_engine *engine, const struct sql_node *n, const struct size *sizes,
                       uint32_t n_sizes, struct work_sum *sum, struct err *err);
/* ERR_REFUSED: the sum is more than SIZE_WORK_MS. */
enum err_code work_check(const struct size_engine *engine, const struct work_sum *sum, struct err *err);

#endif
