/* Computes how long function calls of a statement may run in a server without a check for interrupts (size_bound.h). */
#ifndef ASSAY_LIB_DB_SIZE_WORK_H
#define ASSAY_LIB_DB_SIZE_WORK_H

#include "lib/db/size_bound.h"

/* Upper bounds of the value of an expression. */
struct size {
    double fixed, data; /* bytes of the kinds fixed and data (size_bound.h) */
    double number;      /* maximum value if it is a number; INFINITY if it is known only at run time */
    bool grown;
    bool computed; /* the value may be a text that a function call has built */
};

static inline double size_total(struct size size)
{
    return size.fixed + size.data;
}

/* Returns the larger value of each member. */
struct size size_larger(struct size a, struct size b);

/* Returns the rule of a function, or the engine's default rule. */
const struct size_rule *size_rule_of(const struct size_engine *engine, const char *name, size_t len);
/* Returns the rule of a cast, by default a rule whose time is linear in the bytes. */
const struct size_rule *size_rule_of_cast(const struct size_engine *engine, const struct sql_node *cast);
/* True if the result consists only of text from the arguments, as that of concat, substr or lower. */
bool size_is_plain(const struct sql_node *call);

/* The work of all calls of a statement. */
struct work_sum {
    double ns;
    double most_ns; /* time of the most expensive call; `bytes` and `name` describe that call */
    double bytes;
    const char *name;
    size_t name_len;
};

/* Adds the work of a node. `sizes` are the bounds of the nodes, indexed by id. Returns ERR_REFUSED if an argument is
 * larger than the function's rule allows. */
enum err_code work_add(const struct size_engine *engine, const struct sql_node *n, const struct size *sizes,
                       uint32_t n_sizes, struct work_sum *sum, struct err *err);
/* Returns ERR_REFUSED if the sum exceeds SIZE_WORK_MS. */
enum err_code work_check(const struct size_engine *engine, const struct work_sum *sum, struct err *err);

#endif
