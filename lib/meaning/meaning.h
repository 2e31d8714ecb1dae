/* The meaning of a query: a structure that describes its result and does not depend on how the query is written.
 *
 * DESIGN. A query is a relation: sources and joins, conditions, a grain, outputs, an order and a limit. The grain is
 * the thing that one row of the result represents. All parts are terms over base columns. A derived table or CTE that
 * only selects and computes columns is merged into the query that reads it. A derived table or CTE that groups, ranks
 * or limits stays a relation, and its columns are terms. Each construct has one normal form, so that equal meanings are
 * equal structures:
 *
 *  - Conditions: NOT is pushed to the comparisons. BETWEEN, and IN of one value, are comparisons. The literal is on the
 *    right. Chains of AND and OR are sorted. A year, quarter, month or day of a date is one period.
 *  - Measures: SUM and COUNT of a CASE, and FILTER, are one measure with a condition on its rows.
 *  - Ratios: a quotient of measures is a numerator, a denominator and a scale of 1 or 100. The average of a CASE of 1
 *    (or 100) and 0 is a ratio, too.
 *  - Joins: a LEFT JOIN is an inner join if a condition drops the rows without a match. It is NOT EXISTS if a condition
 *    drops the rows with a match. IN with a query is EXISTS.
 *  - Grouping: a position, an alias and the expression itself are the same key. DISTINCT is a grouping by all outputs.
 *
 * A part without a normal form keeps its operator and operands. A part that cannot be read is a term of kind UNKNOWN
 * with the reason, and it is equal to no other term.
 *
 * Equal meanings have equal hashes. Queries with equal meanings give equal rows on any data, in the same order if they
 * have ORDER BY. These are the exceptions and assumptions:
 *
 *  - the rounding of floating point
 *  - dates: a column that the query truncates to a period is assumed to have ISO texts without an offset, or dates
 *  - collations: two compared columns are assumed to have the same one
 *  - an output of a grouped query that is neither a key nor in an aggregate: the engine takes any row of the group
 *  - LIMIT without ORDER BY, or a subquery of several rows as a value: the engine takes any rows
 *  - the order in which an aggregate such as GROUP_CONCAT reads its rows
 *
 * Ownership: everything lives in the arena given to meaning_read. Thread: any; there is no state.
 */
#ifndef ASSAY_LIB_MEANING_MEANING_H
#define ASSAY_LIB_MEANING_MEANING_H

#include "lib/sql/bind.h"

/* kind of a term, its name in dumps */
#define MEANING_KINDS(X)                                                                                               \
    X(COLUMN, "column")       /* name: "orders.channel", or "orders#2.channel" for the second instance */              \
    X(VALUE, "value")         /* name: the literal as SQL writes it */                                                 \
    X(OPERATION, "operation") /* name: "+", "and", "=", "in", "is null", "like" ...; parts: the operands */            \
    X(CALL, "call")           /* name: the function; parts: the arguments */                                           \
    X(PERIOD, "period")       /* name: "month", or "month of year"; parts: the date */                                 \
    X(CASE, "case")           /* parts: condition, result, ...; then the default, if there is one */                   \
    X(MEASURE, "measure")     /* name: "count", "sum" ...; parts: operands, none for COUNT(*); `rows` */               \
    X(RATIO, "ratio")         /* parts: numerator, denominator; name: the scale, "1" or "100" */                       \
    X(WINDOW, "window")       /* name: the function; parts: its arguments; `window` */                                 \
    X(QUERY, "query")         /* a scalar subquery `relation`; with a name, its column `output` */                     \
    X(UNKNOWN, "unknown")     /* name: the reason */

enum meaning_kind {
#define X(kind, name) MEANING_##kind,
    MEANING_KINDS(X)
#undef X
        MEANING_KIND_COUNT
};

struct meaning;
struct meaning_window;

struct meaning_term {
    enum meaning_kind kind;
    bool distinct; /* MEASURE: each value counts once */
    bool or_zero;  /* MEASURE: without rows its value is 0, not NULL */
    bool integer;  /* RATIO: integer operands, so the engine may cut the result to an integer */
    uint32_t n_parts;
    uint32_t size, depth; /* number of terms and levels; a term used twice counts twice */
    uint32_t output;      /* QUERY: number of the output, from 0 */
    uint32_t start, end;  /* bytes of the statement's text */
    uint64_t hash;        /* equal for equal terms, wherever they are written */
    const char *name;
    const char *form; /* PERIOD: an example of the value, "2024-01", or "date" or "number". MEASURE: "else 0" if other
                       * rows count as 0. NULL for other terms */
    struct meaning_term **parts;
    struct meaning_term *rows; /* MEASURE: the condition on the rows; NULL for all rows */
    struct meaning_window *window;
    struct meaning *relation;
};

/* One key of an order. */
struct meaning_key {
    struct meaning_term *term;
    bool descending;
    signed char nulls; /* NULLs: -1 first, 1 last, 0 by the default of the engine */
};

struct meaning_window {
    struct meaning_term **partition; /* sorted by hash */
    struct meaning_key *order;
    uint32_t n_partition, n_order;
    const char *frame; /* "all rows", "range to the current row" ...; or the frame as written if no such name fits */
};

enum meaning_join { MEANING_INNER, MEANING_LEFT };

/* One instance of a table, or a relation that is read as a table. */
struct meaning_source {
    const char *name;         /* "orders", "orders#2", "q1" */
    int table;                /* id in the catalog; -1 for a relation */
    struct meaning *relation; /* NULL for a table */
    enum meaning_join join;
    bool undone;             /* written as a LEFT JOIN, but a condition drops the rows without a match; `join` is
                              * MEANING_INNER */
    struct meaning_term *on; /* LEFT: the condition; NULL if there is none */
    uint32_t start, end;
};

enum meaning_grain { MEANING_ROWS, MEANING_KEYS, MEANING_ONE };

struct meaning_output {
    const char *name; /* the column's name, which is not part of the meaning */
    struct meaning_term *term;
};

struct meaning {
    /* The name of a set operation, or NULL for a plain query. A set operation has sides, outputs, an order and a limit,
     * and no other part. */
    const char *set;
    struct meaning **sides;
    uint32_t n_sides;

    struct meaning_source *sources;                       /* sorted by name */
    struct meaning_term **conditions, **group_conditions; /* conjuncts, sorted by hash */
    struct meaning_term **keys;                           /* MEANING_KEYS: sorted by hash */
    struct meaning_output *outputs;
    struct meaning_key *order;
    uint32_t n_sources, n_conditions, n_group_conditions, n_keys, n_outputs, n_order;
    enum meaning_grain grain;
    bool distinct;              /* DISTINCT over a grouping that does not show all its keys */
    const char *limit, *offset; /* as written; NULL if there is none */
    bool ties;                  /* LIMIT keeps rows that tie with the last one */
    uint32_t n_unknown;         /* unknown parts of the whole statement */
    uint64_t hash;              /* 0 for a statement with an unknown part, which is equal to no other */
};

/* Reads the meaning of a bound statement. *out is NULL if the statement has no query. Returns ERR_OK, or
 * ERR_LIMIT_MEMORY if the arena is full. Time and memory are proportional to the size of the statement with its CTEs
 * merged. Parts become unknown beyond MEANING_MAX_TERMS terms in the statement, MEANING_MAX_SIZE terms in one term,
 * MEANING_MAX_DEPTH levels, or MEANING_MAX_SOURCES sources in one relation. */
enum err_code meaning_read(struct arena *arena, const struct sql_bound *bound, struct meaning **out);

enum { MEANING_MAX_TERMS = 20000, MEANING_MAX_SOURCES = 200, MEANING_MAX_DEPTH = 200, MEANING_MAX_SIZE = 4000 };

/* The functions that meaning_visit calls. Each may be NULL. `owner` is the relation that has the term. */
struct meaning_visitor {
    void *self;
    void (*relation)(void *self, const struct meaning *relation);
    void (*term)(void *self, const struct meaning *owner, const struct meaning_term *term);
};

/* Visits a meaning from the outside in: each relation, its terms and their parts, then the relations that it reads. A
 * shared term is visited each time it occurs. Stops after MEANING_MAX_TERMS visits. */
void meaning_visit(const struct meaning *meaning, const struct meaning_visitor *visitor);

/* Returns the term that computes a column of a relation, through any number of relations. Sets *owner to the relation
 * of that term; `owner` may be NULL. Returns other terms as they are. */
const struct meaning_term *meaning_follow(const struct meaning_term *term, const struct meaning **owner);

/* True for a subquery that is a value; false for a column of a relation, which has the same kind. */
bool meaning_is_subquery(const struct meaning_term *term);

/* True for a column of an enclosing query. */
bool meaning_is_outer(const struct meaning_term *term);

/* Prints one line for each part. NUL-terminated; NULL if the arena is full. */
char *meaning_print(struct arena *arena, const struct meaning *meaning);

#endif
