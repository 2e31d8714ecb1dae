/* Reading and writing SQL: one tolerant grammar for the union of SQLite's and PostgreSQL's SELECT.
 *
 * The parser accepts what either engine accepts, so that "this is PostgreSQL in a SQLite target" can be said instead
 * of "syntax error"; the engines stay the authority on validity. It never executes or connects to anything.
 * Thread: every function here may run on any thread; an arena belongs to one thread at a time.
 */
#ifndef ASSAY_LIB_SQL_SQL_H
#define ASSAY_LIB_SQL_SQL_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/sql/ast.h"

/* No tree is deeper than this, whatever the limits say: walks of one frame a level are safe on any thread. A chain such
 * as a AND b AND c ... leans to the left and is as deep as it is long. */
enum { SQL_MAX_DEPTH = 4000 };

/* Caps on hostile input; a field of 0 means its default. */
struct sql_limits {
    uint32_t max_bytes;  /* 65,536 */
    uint32_t max_tokens; /* 20,000 */
    uint32_t max_depth;  /* 1,000 (what SQLite allows an expression); nesting of the tree, at most SQL_MAX_DEPTH */
    uint32_t max_diags;  /* 16 */
};

/* One thing wrong with the text. Strings live in the arena. */
struct sql_diag {
    enum err_code code;  /* ERR_SYNTAX, ERR_REFUSED, ERR_LIMIT_*, ERR_ENCODING, ERR_UNKNOWN_NAME, ERR_AMBIGUOUS_NAME */
    uint32_t start, end; /* the offending token's bytes; at the end of the text start == end == length */
    uint32_t line, column;       /* of `start`, from 1; column counts characters (UTF-8 code points) */
    const char *message;         /* one sentence, no newline, never quotes a literal's text */
    const char *const *expected; /* expected tokens (syntax) or near names (names), best first */
    uint32_t n_expected;
    struct sql_diag *next; /* in order of the text */
};

struct sql_stmt {
    const char *text; /* a copy in the arena; the caller's own only when it was over max_bytes */
    size_t len;
    struct sql_node *root;      /* SQL_QUERY; NULL if nothing could be made of the text */
    struct sql_diag *diags;     /* NULL: the text is clean */
    const char *statement_kind; /* "SELECT", or the verb of a refused statement ("DELETE", "PRAGMA", "ATTACH", ...) */
    uint32_t n_nodes;
    uint32_t n_params;
};

/* Parse one statement (a final semicolon is fine; a second statement is ERR_REFUSED).
 * `len` bytes of `text` need no terminator. On ERR_OK *out is complete and has no diagnostics. On ERR_SYNTAX,
 * ERR_REFUSED, ERR_LIMIT_* and ERR_ENCODING *out is set too: diags[0] tells why, and after a syntax error the root
 * holds what recovery could save (with ERROR nodes). ERR_LIMIT_MEMORY may leave *out NULL. */
enum err_code sql_parse(struct arena *arena, const char *text, size_t len, const struct sql_limits *limits,
                        struct sql_stmt **out);

/* Set line and column from `start`; whoever adds a diagnostic calls it. `text`: the statement's. Thread: any. */
void sql_diag_locate(const char *text, struct sql_diag *diag);

/* The diagnostic as text for a person: "line 1, column 8: message", the line, and a caret under the token. */
char *sql_diag_render(struct arena *arena, const struct sql_stmt *stmt, const struct sql_diag *diag);

/* Print the tree as SQL that parses to an equal tree. NUL-terminated; NULL when the arena is full. */
char *sql_print(struct arena *arena, const struct sql_node *node);

/* A name as SQL writes it: in quotes where it needs them. NUL-terminated; NULL when the arena is full. */
char *sql_print_name(struct arena *arena, const char *name);

/* What to put before and after a piece of SQL that stands in a sentence: "`", or another mark where the piece has that
 * one (names in MySQL's quotes). Never NULL; a constant. Thread: any. */
const char *sql_quote_mark(const char *text, size_t len);

/* Normal form: names lower-cased and unquoted where possible, alias T1 replaced by what it stands for, keywords in
 * upper case, one space, == as =, != as <>, redundant parentheses dropped, a > b and b < a alike, AND / OR chains
 * sorted, ASC dropped. Two statements with equal normal forms have equal results. `bound` marks which double-quoted
 * words are strings; without binding they stay as written. NULL when the arena is full. */
char *sql_normal_form(struct arena *arena, const struct sql_node *node);

/* Equal trees: kind, op, semantic flags, texts (names without case), children; spans ignored. */
bool sql_equal(const struct sql_node *a, const struct sql_node *b);
uint64_t sql_hash(const struct sql_node *node);

/* Deep copy with spans kept; parents and ids set; refs dropped. NULL when the arena is full. */
struct sql_node *sql_copy(struct arena *arena, const struct sql_node *node);

/* Building and rewriting. All return NULL when the arena is full. */
struct sql_node *sql_make(struct arena *arena, enum sql_kind kind);
struct sql_node *sql_make_text(struct arena *arena, enum sql_kind kind, const char *text);
bool sql_append(struct arena *arena, struct sql_node *list, struct sql_node *kid);
void sql_set_kid(struct sql_node *node, unsigned slot, struct sql_node *kid);
/* Put `with` where `old` stands in its parent (NULL empties the slot or removes the list entry). */
void sql_replace(struct sql_node *old, struct sql_node *with);
/* Parse a fragment as an expression (for rewriting rules and tests); NULL if it is none. */
struct sql_node *sql_parse_expression(struct arena *arena, const char *text);
/* left AND right; either may be NULL. */
struct sql_node *sql_and(struct arena *arena, struct sql_node *left, struct sql_node *right);
/* Set parent, id, clause and n_nodes from scratch after edits; returns the number of nodes. */
uint32_t sql_renumber(struct sql_node *root);

/* For tests: does every node have the slots its kind declares, its parent, and a span inside its parent's?
 * Returns NULL, or what is wrong. */
const char *sql_check_tree(const struct sql_stmt *stmt);
/* S-expression of a tree, for tests and `assay parse`. */
char *sql_dump(struct arena *arena, const struct sql_node *node);

#endif
