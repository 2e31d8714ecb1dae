/* Inside of the parser: what the scanner, the feeder, the grammar's builders and the diagnostics share.
 *
 *   text ──scan.re──▶ tokens ──keywords.c──▶ tokens in context ──grammar.y──▶ build.c ──▶ tree
 *                                                │ syntax error
 *                                                └──▶ parse.c: expected tokens, recovery ──▶ diag.c ◀── lint.c
 *
 * The whole text is scanned first, so that a contextual word (DATE, FILTER, ANY, ...) can look at its neighbours, and
 * so that the token cap is enforced before anything is built.
 */
#ifndef ASSAY_LIB_SQL_PARSER_H
#define ASSAY_LIB_SQL_PARSER_H

#include "lib/sql/sql.h"

enum { SQL_END_OF_TEXT = 0 }; /* what lemon takes as the end of its input */
enum { SQL_TOKEN_LEN_BITS = 24, SQL_TOKEN_LEN_MAX = (1 << SQL_TOKEN_LEN_BITS) - 1 };

struct sql_token {
    uint32_t start;
    uint32_t len : SQL_TOKEN_LEN_BITS;
    uint32_t code : 8; /* a terminal of grammar.y, or SQL_WORD_* */
};

/* Words that are no terminals of their own: keywords.c turns each into a terminal, in context, or into an identifier. */
enum sql_word {
    SQL_WORD_FIRST = 200,
    SQL_WORD_ILIKE = SQL_WORD_FIRST,
    SQL_WORD_SIMILAR,  /* SIMILAR TO */
    SQL_WORD_AT,       /* AT TIME ZONE */
    SQL_WORD_SOME,     /* a synonym of ANY */
    SQL_WORD_UNKNOWN,  /* IS UNKNOWN */
    SQL_WORD_OVERLAPS, /* (a, b) OVERLAPS (c, d) */
    SQL_WORD_CALL,     /* TRIM, SUBSTRING, GROUP_CONCAT ...: arguments may be separated by words, or be one */
    SQL_WORD_INFIX,    /* a DIV b, a MOD b, a XOR b */
    SQL_WORD_TAKEN,    /* taken into the token before it: does not count any more */
    SQL_WORD_CTE_SET,  /* SEARCH ... SET, CYCLE ... SET after a CTE */
    SQL_WORD_TO,       /* CYCLE ... TO x DEFAULT y USING */
    SQL_WORD_VARIADIC, /* f(VARIADIC x) */
    SQL_WORD_QUESTION, /* ?: a parameter, or PostgreSQL's operator on jsonb */
};

struct sql_parser {
    struct arena *arena;
    struct sql_limits limits; /* no field is 0 */
    const char *text;         /* a copy of the caller's text, NUL-terminated */
    uint32_t len;
    struct sql_token *tokens; /* ends with an END_OF_TEXT token at len */
    uint32_t n_tokens;        /* without that one */
    uint32_t end;             /* end of the last token shifted: every rule being reduced ends here */
    uint32_t n_params;
    uint32_t n_diags;
    bool failed_here;        /* the last token fed was a syntax error */
    bool too_deep;           /* lemon's own stack is at its end */
    bool has_qualified_call; /* f of s.f(x) was met: lint.c looks at it */
    bool full;               /* the arena refused; what builders return is `spare` */
    struct sql_stmt *stmt;
    struct sql_node spare; /* written but never read: stands in for nodes that could not be allocated */
    struct sql_node *spare_kids[8];
};

/* scan.re: fill p->tokens. ERR_OK, ERR_LIMIT_TOKENS (with a diagnostic) or ERR_LIMIT_MEMORY. */
enum err_code sql_scan(struct sql_parser *p);

/* keywords.c: classify token `i` by its neighbours, as a keyword or a name; may take following tokens into it.
 * Returns the index after it.
 * `prev` is the code of the token before, already classified (0 at the start). Only tokens of which sql_in_context is
 * true need it: most are what they are. */
uint32_t sql_classify_keyword(struct sql_parser *p, uint32_t i, unsigned prev);
extern const bool SQL_CONTEXTUAL[256], SQL_OPENS_CONTEXT[256]; /* by code: itself; what comes after it */
static inline bool sql_in_context(unsigned code, unsigned prev)
{
    return SQL_CONTEXTUAL[code] || SQL_OPENS_CONTEXT[prev];
}

/* Does this token, once classified, end an operand (so that an operator, and no operand, must follow)? */
bool sql_ends_operand(unsigned code);

/* diag.c: add a diagnostic in order of the text; past limits.max_diags only earlier ones are kept.
 * `message` and `expected` must live in the arena or for ever. */
struct sql_diag *sql_diag_add(struct sql_parser *p, enum err_code code, uint32_t start, uint32_t end,
                              const char *message);

/* diag.c: a token that does not fit. `expected` (n of them, best first) is copied; `hint` (NULL: none) ends the
 * message. */
void sql_diag_unexpected(struct sql_parser *p, struct sql_token token, const char *const *expected, uint32_t n,
                         const char *hint);

/* diag.c: the slice of text under a token; whether it is this word (upper case), without case. */
bool sql_token_is(const struct sql_parser *p, struct sql_token token, const char *word);

/* lint.c: add diagnostics for what the grammar takes and nobody means. After the tree is numbered. */
void sql_lint(struct sql_parser *p);

/* verbs.c: the verb in upper case if this word begins a statement that is no query ("DELETE"), else NULL. */
const char *sql_refused_verb(const struct sql_parser *p, struct sql_token word);

#endif
