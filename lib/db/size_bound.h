/* Bounds the work of a statement where the server cannot be interrupted.
 *
 * A server checks its clock between rows, but not inside most functions. So the sizes that reach a function decide how
 * long an abandoned statement goes on. This module computes an upper bound of these sizes, by constant folding over the
 * syntax tree, and of the time of the functions. It separates three kinds of bytes:
 * - fixed: bytes from literals of the statement; repeat('x', 1000000) has a million
 * - data: bytes of columns, whose contents the author of a statement does not choose; a column counts as SIZE_COLUMN
 * - grown: bytes joined from rows (string_agg) or in a recursion, which only time bounds
 *
 * Names are not resolved. A column counts as the largest expression of that name in the statement, which is never too
 * small. A pass visits the nodes from the last to the first, so children precede their parents. Passes are repeated
 * until no name grows; a name that keeps growing belongs to a recursion.
 *
 * A count that is known only at run time (repeat('x', n)) is capped in the text: see size_counts_apply.
 *
 * Rejected:
 * - a wrapper around each column that limits its values: indexes would not be used, and types are unknown here
 * - the server's statistics: they hold averages
 */
#ifndef ASSAY_LIB_DB_SIZE_BOUND_H
#define ASSAY_LIB_DB_SIZE_BOUND_H

#include "lib/base/error.h"
#include "lib/sql/sql.h"

#include <glib.h>

enum {
    SIZE_COLUMN = 512,          /* bytes that a column counts as */
    SIZE_NUMBER = 40,           /* bytes of a number or a date as text */
    SIZE_VALUE = 4 << 20,       /* result of a capped count */
    SIZE_GROWN = 4 << 20,       /* approximate size to which time lets a text grow */
    SIZE_ROWS_DATA = 1024,      /* rows, for bytes of kind data */
    SIZE_ROUNDS = 64,           /* of a recursion */
    SIZE_ROUND_FIXED = 1024,    /* fixed bytes that a round may add */
    SIZE_ROUND_DATA = 16 * 512, /* data bytes that a round may add */
    SIZE_WORK_MS = 400,         /* uninterrupted time of all calls of a statement together */
    SIZE_PATTERN = 2048,        /* bytes of a regular expression */
    SIZE_FORMAT = 1024,         /* bytes of a format or a JSON path */
};

/* Bound of a function's result. Arguments count from 0. */
enum size_result {
    SIZE_OF_ALL,     /* all arguments together, times `scale` */
    SIZE_OF_NUMBER,  /* SIZE_NUMBER */
    SIZE_OF_DIGEST,  /* 128 bytes */
    SIZE_OF_LARGEST, /* the largest argument */
    SIZE_OF_PART,    /* the first argument, limited to the number of characters in the last */
    SIZE_REPEATED,   /* the first argument, repeated as often as the second says */
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

/* Bound of the server's time in a call. */
enum size_work {
    WORK_BY_BYTE,   /* `ns` for each byte of the arguments and the result */
    WORK_BY_PAIR,   /* `ns` for each pair of a byte of argument a and a byte of b, and 30 ns for each byte */
    WORK_BY_SQUARE, /* `ns` for each pair of bytes of argument a */
    WORK_BY_SHIFT,  /* WORK_BY_PAIR, and each replacement moves the rest of the text */
    WORK_BY_STEPS,  /* a backtracking regular expression, b, on a text, a */
    WORK_BY_EDIT,   /* WORK_BY_STEPS with a square of the text */
};

struct size_rule {
    const char *name;
    enum size_result result;
    enum size_work work;
    uint8_t a, b;  /* the arguments that matter for the work */
    float scale;   /* of the result; 0 means 1 */
    float ns;      /* 0 means the engine's default */
    uint32_t most; /* maximum bytes of argument b; 0 sets no cap */
};

/* An operator, by its number (ast.h), with operands a = 0 and b = 1; or a cast, by the name of its type. */
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
    double ns;              /* time of a byte in a function that is not listed */
    const char *count_open; /* texts around a capped count, see size_counts_apply */
    const char *count_again;
    const char *count_close;
    uint32_t rows;  /* rows whose fixed bytes an aggregate may join before it is stopped */
    bool by_digits; /* the cap is a number of digits instead of a value */
};

/* An expression in the statement's text that gives the number of repetitions. */
struct size_count {
    uint32_t start, end;
    uint64_t most;
};

/* Checks the whole statement. ERR_REFUSED names the function, the bytes that would reach it, and an alternative.
 * Appends to `counts` (struct size_count) the counts that must be capped; NULL means that the statement will not run.
 * Takes time linear in the statement's nodes. Other error: ERR_LIMIT_MEMORY. Thread: any. */
enum err_code size_check(const struct size_engine *engine, const struct sql_stmt *stmt, GArray *counts,
                         struct err *err);

/* Returns the statement with its counts capped. Above the cap MariaDB uses the cap, and PostgreSQL reports an overflow.
 * Free with g_string_free. */
GString *size_counts_apply(const struct size_engine *engine, const char *sql, size_t len, GArray *counts);

/* Returns the position in that text of a byte of the statement. Valid only where the count is not written twice. */
uint32_t size_counts_shift(const struct size_engine *engine, const GArray *counts, uint32_t at);

extern const struct size_engine size_engine_postgres, size_engine_mariadb;

#endif
