/* Internal to the parser: the state shared by the scanner, the feeder, the grammar's builders and the diagnostics.
 *
 *   text ──scan.re──▶ tokens ──keywords.c──▶ tokens in context ──grammar.y──▶ build.c ──▶ tree
 *                                               │ syntax error
 *                                               └──▶ parse.c: expected tokens, recovery ──▶ diag.c ◀── lint.c
 *
 * The whole text is scanned first. A contextual word (DATE, FILTER, ANY, ...) can then inspect its neighbours, and the
 * token limit is enforced before anything is built. */
#ifndef ASSAY_LIB_SQL_PARSER_H
#define ASSAY_LIB_SQL_PARSER_H

#include "lib/sql/sql.h"

enum { SQL_END_OF_TEXT = 0 }; /* lemon's code for the end of its input */
enum { SQL_TOKEN_LEN_BITS = 24, SQL_TOKEN_LEN_MAX = (1 << SQL_TOKEN_LEN_BITS) - 1 };

struct sql_token {
    uint32_t start;
    uint32_t len : SQL_TOKEN_LEN_BITS;
    uint32_t code : 8; /* a terminal of grammar.y, or SQL_WORD_* */
};

/* Words that are not terminals. keywords.c turns each into a terminal, by context, or into an identifier. */
enum sql_word {
    SQL_WORD_FIRST = 200,
    SQL_WORD_ILIKE = SQL_WORD_FIRST,
    SQL_WORD_SIMILAR,    /* SIMILAR TO */
    SQL_WORD_AT,         /* AT TIME ZONE */
    SQL_WORD_SOME,       /* a synonym of ANY */
    SQL_WORD_UNKNOWN,    /* IS UNKNOWN */
    SQL_WORD_OVERLAPS,   /* (a, b) OVERLAPS (c, d) */
    SQL_WORD_CALL,       /* TRIM, SUBSTRING ...: calls in which words separate arguments, or are arguments */
    SQL_WORD_INFIX,      /* a DIV b, a MOD b, a XOR b */
    SQL_WORD_TAKEN,      /* merged into the token before it, and then ignored */
    SQL_WORD_CTE_SET,    /* SEARCH ... SET, CYCLE ... SET after a CTE */
    SQL_WORD_TO,         /* CYCLE ... TO x DEFAULT y USING */
    SQL_WORD_VARIADIC,   /* f(VARIADIC x) */
    SQL_WORD_QUESTION,   /* ?: a parameter, or PostgreSQL's operator on jsonb */
    SQL_WORD_OPERATOR,   /* OPERATOR(schema.+) */
    SQL_WORD_JSON_TABLE, /* FROM JSON_TABLE(x, path COLUMNS (...)) */
    SQL_WORD_HINT,       /* USE INDEX, FORCE INDEX, IGNORE INDEX */
    SQL_WORD_BINARY,     /* BINARY x */
};

struct sql_parser {
    struct arena *arena;
    struct sql_limits limits; /* no field is 0 */
    const char *text;         /* a copy of the caller's text, NUL-terminated */
    uint32_t len;
    struct sql_token *tokens; /* ends with an END_OF_TEXT token at len */
    uint32_t n_tokens;        /* the number of tokens, without the last one */
    uint32_t end;             /* end of the last token shifted: every rule being reduced ends here */
    uint32_t n_params;
    uint32_t n_diags;
    bool failed_here;        /* the last token was a syntax error */
    bool too_deep;           /* lemon's own stack is full */
    bool has_qualified_call; /* a call s.f(x) was parsed; lint.c checks the qualifier s */
    bool full;               /* the arena is full; builders return `spare` */
    struct sql_stmt *stmt;
    struct sql_node spare; /* written but never read: replaces nodes that could not be allocated */
    struct sql_node *spare_kids[8];
};

/* Fills p->tokens (scan.re). Returns ERR_OK, ERR_LIMIT_TOKENS (with a diagnostic) or ERR_LIMIT_MEMORY. */
enum err_code sql_scan(struct sql_parser *p);

/* Classifies token `i` by its neighbours, as a keyword or a name (keywords.c); may merge the tokens after it into it.
 * `prev` is the code of the classified token before it (0 at the start). Only tokens for which sql_in_context is true
 * need this call: the code of the others is final. Returns the index after the token. */
uint32_t sql_classify_keyword(struct sql_parser *p, uint32_t i, unsigned prev);
/* by token code: this token, or the token after it, is contextual */
extern const bool SQL_CONTEXTUAL[256], SQL_OPENS_CONTEXT[256];
static inline bool sql_in_context(unsigned code, unsigned prev)
{
    return SQL_CONTEXTUAL[code] || SQL_OPENS_CONTEXT[prev];
}

/* True if this token, once classified, ends an operand. An operator must then follow, and an operand must not. */
bool sql_ends_operand(unsigned code);

/* Adds a diagnostic in order of the text (diag.c). Once limits.max_diags are present, one that is earlier in the text
 * replaces the last one; others are dropped. Returns NULL if it is dropped or repeated, or if the arena is full.
 * `message` and `expected` must live in the arena or be static. */
struct sql_diag *sql_diag_add(struct sql_parser *p, enum err_code code, uint32_t start, uint32_t end,
                              const char *message);

/* Reports an unexpected token (diag.c). `expected` (n of them, best first) is copied. `hint` ends the message; it may
 * be NULL. */
void sql_diag_unexpected(struct sql_parser *p, struct sql_token token, const char *const *expected, uint32_t n,
                         const char *hint);

/* True if the token is this word, which is in upper case. Case is ignored (diag.c). */
bool sql_token_is(const struct sql_parser *p, struct sql_token token, const char *word);

/* Adds diagnostics for forms that the grammar accepts but no author intends (lint.c). Call after the tree is
 * numbered. */
void sql_lint(struct sql_parser *p);

/* Returns the verb in upper case if this word begins a statement that is not a query ("DELETE"), else NULL
 * (verbs.c). */
const char *sql_refused_verb(const struct sql_parser *p, struct sql_token word);

#endif
