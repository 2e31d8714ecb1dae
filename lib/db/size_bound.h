/* Bounds what one statement may make a server do where the server cannot be interrupted.
 *
 * A server looks at its clock between rows, but not inside most functions. So the sizes that reach a function decide
 * how long a statement goes on after it was given up. This is an upper bound of these sizes, by constant folding over
 * the syntax tree, and of the time that the functions need for them. Three kinds of bytes are told apart:
 *   fixed    that the statement itself makes, from literals: repeat('x', 1000000) has a million
 *   data     of columns, whose contents the author of a statement does not choose; a column counts as SIZE_COLUMN
 *   grown    joined from rows (string_agg) or in a recursion, so that time alone bounds them
 * What a name means is not resolved: a column counts as the largest expression of that name in the statement, which
 * is never less than the truth. One pass goes over the nodes from the last to the first, so that children come before
 * their parents; passes are repeated until no name grows, and a name that still does is one of a recursion.
 *
 * A count that is known only when the statement runs (repeat('x', n)) is capped where it stands: see size_counts_apply.
 *
 * Rejected: a limit on the values of columns by a wrapper around each of them (indexes would not be used, types are not
 * known here); the server's statistics (they hold averages).
 */
#ifndef ASSAY_LIB_DB_SIZE_BOUND_H
#define ASSAY_LIB_DB_SIZE_BOUND_H

#include "lib/base/error.h"
#include "lib/sql/sql.h"

#include <glib.h>

enum {
    SIZE_COLUMN = 512,          /* bytes that a column counts as */
    SIZE_NUMBER = 40,           /* bytes of a number or a date as text */
    SIZE_VALUE = 4 << 20,       /* what a capped count may make */
    SIZE_GROWN = 4 << 20,       /* what time lets a text grow to, roughly */
    SIZE_ROWS_DATA = 1024,      /* as far as they are data */
    SIZE_ROUNDS = 64,           /* of a recursion */
    SIZE_ROUND_FIXED = 1024,    /* bytes that a round may add: of the statement */
    SIZE_ROUND_DATA = 16 * 512, /* of data */
    SIZE_WORK_MS = 400,         /* that all calls of a statement may take together, uninterrupted */
    SIZE_PATTERN = 2048,        /* bytes of a regular expression */
    SIZE_FORMAT = 1024,         /* of a format or a path into JSON */
};

/* How long a function's result may be. Arguments count from 0. */
enum size_result {
    SIZE_OF_ALL,     /* all arguments together, times `scale` */
    SIZE_OF_NUMBER,  /* SIZE_NUMBER */
    SIZE_OF_DIGEST,  /* 128 bytes */
    SIZE_OF_LARGEST, /* the largest argument */
    SIZE_OF_PART,    /* the first argument, or as many characters as the last one says */
    SIZE_REPEATED,   /* the first argument, as often as the second says */
    SIZE_PADDED,     /* as many characters as the second argument says */
    SIZE_SPACES,     /* as many as the first argument says */
    SIZE_REPLACED,   /* the first argument, with the third for each second */
    SIZE_MATCHED,    /* the first argument, with the third between all its characters */
    SIZE_FORMATTED,  /* by a format like that of printf */
    SIZE_SEPARATED,  /* all arguments, with the first or the second between them */
    SIZE_INDENTED,   /* the square of the first argument */
    SIZE_SET,        /* 64 times all arguments */
    SIZE_JOINED,     /* all arguments of many rows */
    SIZE_POWER,      /* digits of a power */
};

/* How long the server is busy with a call. */
enum size_work {
    WORK_BY_BYTE,   /* `ns` for each byte of the arguments and the result */
    WORK_BY_PAIR,   /* `ns` for each byte of argument a with each of b, beside 30 ns for each byte */
    WORK_BY_SQUARE, /* `ns` for each byte of argument a with each of its bytes */
    WORK_BY_SHIFT,  /* WORK_BY_PAIR, and each replacement moves the rest of the text */
    WORK_BY_STEPS,  /* a regular expression that goes back, b, on a text, a */
    WORK_BY_EDIT,   /* WORK_BY_STEPS with a square of the text */
};

struct size_rule {
    const char *name;
    enum size_result result;
    enum size_work work;
    uint8_t a, b;  /* the arguments that matter for the work */
    float scale;   /* of the result; 0: 1 */
    float ns;      /* 0: the engine's default */
    uint32_t most; /* bytes of argument b; 0: no cap */
};

/* An operator, by its number (ast.h), with operands a = 0 and b = 1; or a cast to a type, by its name. */
struct size_operator {
    uint8_t op;
    struct size_rule rule;
};

struct size_engine {
    const char *name;
    const struct size_rule *rules; /* sorted by name, without case */
    size_t n_rules;
    const struct size_operator *operators;
    size_t n_operators;
    const struct size_rule *casts; /* to types that are costly to read; names in lower case */
    size_t n_casts;
    double ns;              /* of a byte in a function that is not listed */
    const char *count_open; /* what caps a count: texts around it, see size_counts_apply */
    const char *count_again;
    const char *count_close;
    uint32_t rows;  /* rows of the statement's own bytes that an aggregate may join before it is stopped */
    bool by_digits; /* the cap is a number of digits, not a number */
};

/* An expression of the statement's text that says how often something is repeated. */
struct size_count {
    uint32_t start, end;
    uint64_t most;
};

/* Checks the whole statement. ERR_REFUSED names the function, the bytes that would reach it, and the way out. Appends to
 * `counts` (struct size_count) the counts that must be capped; NULL: the statement is not to be run. Takes time in
 * proportion to the statement's nodes. ERR_LIMIT_MEMORY. Thread: any. */
enum err_code size_check(const struct size_engine *engine, const struct sql_stmt *stmt, GArray *counts,
                         struct err *err);

/* Writes the statement with its counts capped: above the cap MariaDB takes the cap, and PostgreSQL says that the number
 * overflows. g_string_free. */
GString *size_counts_apply(const struct size_engine *engine, const char *sql, size_t len, GArray *counts);

/* Where a byte of the statement lies in that text. Only where the count is not written twice. */
uint32_t size_counts_shift(const struct size_engine *engine, const GArray *counts, uint32_t at);

extern const struct size_engine size_engine_postgres, size_engine_mariadb;

#endif
