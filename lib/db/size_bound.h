/* Limits the work of a statement in functions in which the server cannot be interrupted.
 *
 * A server checks for timeouts between rows, but not inside most functions. So the sizes of the arguments determine how
 * long an abandoned statement runs. This module computes upper bounds of these sizes, by constant folding over the
 * syntax tree, and from them upper bounds of the time. It distinguishes three kinds of bytes:
 * - fixed: bytes that come from literals of the statement; repeat('x', 1000000) has a million
 * - data: bytes of columns, whose contents the author of a statement cannot choose; a column counts SIZE_COLUMN bytes
 * - grown: bytes joined from many rows (string_agg) or in a recursion, which are limited only by time
 *
 * Names are not resolved. A column has the size of the largest expression of that name in the statement, so the bound
 * is never too small. A pass visits the nodes from the last to the first, so children come before their parents. Passes
 * are repeated until no name grows. A name that keeps growing is part of a recursion.
 *
 * A count that is known only at run time, as in repeat('x', n), is capped by rewriting the statement
 * (size_counts_apply).
 *
 * Rejected:
 * - an expression around each column that limits its length: indexes would not be used, and types are unknown
 * - the server's statistics on sizes: they are averages
 */
#ifndef ASSAY_LIB_DB_SIZE_BOUND_H
#define ASSAY_LIB_DB_SIZE_BOUND_H

#include "lib/base/error.h"
#include "lib/sql/sql.h"

#include <glib.h>

enum {
    SIZE_COLUMN = 512,          /* assumed bytes of a column's value */
    SIZE_NUMBER = 40,           /* bytes of a number or a date as text */
    SIZE_VALUE = 4 << 20,       /* maximum bytes of a repetition whose count is capped */
    SIZE_GROWN = 4 << 20,       /* approximate size that a grown text can reach in the time limit */
    SIZE_ROWS_DATA = 1024,      /* assumed rows of an aggregate, for bytes of kind data */
    SIZE_ROUNDS = 64,           /* assumed rounds of a recursion */
    SIZE_ROUND_FIXED = 1024,    /* maximum fixed bytes that a round may add */
    SIZE_ROUND_DATA = 16 * 512, /* maximum data bytes that a round may add */
    SIZE_WORK_MS = 400,         /* maximum uninterrupted time of all calls of a statement together */
    SIZE_PATTERN = 2048,        /* maximum bytes of a regular expression */
    SIZE_FORMAT = 1024,         /* maximum bytes of a format or a JSON path */
};

/* Size of a function's result. Arguments are numbered from 0. */
enum size_result {
    SIZE_OF_ALL,     /* the sum of all arguments, times `scale` */
    SIZE_OF_NUMBER,  /* always SIZE_NUMBER bytes */
    SIZE_OF_DIGEST,  /* always 128 bytes */
    SIZE_OF_LARGEST, /* the largest argument */
    SIZE_OF_PART,    /* the first argument; the last argument limits its characters */
    SIZE_REPEATED,   /* the first argument, repeated; the second is the count */
    SIZE_PADDED,     /* the second argument is the number of characters */
    SIZE_SPACES,     /* the first argument is the number of spaces */
    SIZE_REPLACED,   /* the first argument, with each occurrence of the second replaced by the third */
    SIZE_MATCHED,    /* the first argument, with the third inserted between all characters */
    SIZE_FORMATTED,  /* the first argument is a format as of printf */
    SIZE_SEPARATED,  /* all arguments, joined with the first or the second as separator */
    SIZE_INDENTED,   /* the square of the first argument */
    SIZE_SET,        /* 64 times all arguments */
    SIZE_JOINED,     /* all arguments, joined over many rows */
    SIZE_POWER,      /* the digits of a power */
};

/* Time of the server in a call. */
enum size_work {
    WORK_BY_BYTE,   /* `ns` for each byte of the arguments and the result */
    WORK_BY_PAIR,   /* `ns` for each pair of a byte of argument a and a byte of argument b, plus 30 ns for each byte */
    WORK_BY_SQUARE, /* `ns` for each pair of bytes of argument a */
    WORK_BY_SHIFT,  /* WORK_BY_PAIR, plus moving the rest of the text at each replacement */
    WORK_BY_STEPS,  /* steps of a backtracking regular expression (argument b) on a text (argument a) */
    WORK_BY_EDIT,   /* WORK_BY_STEPS, plus WORK_BY_SQUARE */
};

struct size_rule {
    const char *name;
    enum size_result result;
    enum size_work work;
    uint8_t a, b;  /* numbers of the arguments that determine the work */
    float scale;   /* factor of the result's size; 0 means 1 */
    float ns;      /* nanoseconds; 0 means the engine's default */
    uint32_t most; /* maximum bytes of argument b; 0 sets no limit */
};

/* The rule of an operator. `op` is its number (ast.h); the operands are a = 0 and b = 1. */
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
    const struct size_rule *casts; /* rules of casts, by the name of the type, in lower case */
    size_t n_casts;
    double ns;              /* default time of a byte, in nanoseconds */
    const char *count_open; /* texts that cap a count (size_counts_apply) */
    const char *count_again;
    const char *count_close;
    uint32_t rows;  /* assumed rows of an aggregate, for bytes of kind fixed */
    bool by_digits; /* the cap is a number of digits, not a value */
};

/* A count to be capped: the byte range of its expression in the statement's text, and its cap. */
struct size_count {
    uint32_t start, end;
    uint64_t most;
};

/* Checks a whole statement. Returns ERR_REFUSED if it could run too long; the message names the function, the bytes
 * that it would process, and an alternative. Appends the counts that must be capped to `counts` (struct size_count).
 * `counts` is NULL if the statement will not run. The time is linear in the nodes of the statement. Other error:
 * ERR_LIMIT_MEMORY. Thread: any. */
enum err_code size_check(const struct size_engine *engine, const struct sql_stmt *stmt, GArray *counts,
                         struct err *err);

/* Returns the text of the statement with its counts capped. If a count exceeds its cap at run time, MariaDB uses the
 * cap and PostgreSQL reports an overflow. Sorts `counts`. Free with g_string_free. */
GString *size_counts_apply(const struct size_engine *engine, const char *sql, size_t len, GArray *counts);

/* Returns the position of byte `at` of the statement in the text that size_counts_apply returns. Only for engines that
 * write a count once (count_again is NULL). */
uint32_t size_counts_shift(const struct size_engine *engine, const GArray *counts, uint32_t at);

extern const struct size_engine size_engine_postgres, size_engine_mariadb;

#endif
