/* Reads and writes SQL: one tolerant grammar for the union of SQLite's and PostgreSQL's SELECT.
 *
 * The parser accepts the syntax of either engine, so that a caller can report "this is PostgreSQL in a SQLite target"
 * instead of "syntax error". The engines remain the authority on validity. The parser never executes SQL or connects to
 * anything. Thread: every function here may run on any thread; an arena belongs to one thread at a time. */
#ifndef ASSAY_LIB_SQL_SQL_H
#define ASSAY_LIB_SQL_SQL_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/sql/ast.h"

/* Maximum depth of a tree. The limits of a caller cannot raise it, so a recursive walk with one frame per level is safe
 * on any thread. A chain such as a AND b AND c ... leans to the left; its depth equals its length. */
enum { SQL_MAX_DEPTH = 4000 };

/* Limits on hostile input. A field of 0 means the default, which is the number in its comment. */
struct sql_limits {
    uint32_t max_bytes;  /* 65,536 */
    uint32_t max_tokens; /* 20,000 */
    uint32_t max_depth;  /* 1,000, which is SQLite's limit for an expression; the maximum is SQL_MAX_DEPTH */
    uint32_t max_diags;  /* 16 */
};

/* One error in the text. Strings live in the arena. */
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
    const char *text; /* a copy in the arena; the caller's own text if it exceeds max_bytes */
    size_t len;
    struct sql_node *root;      /* a SQL_QUERY; NULL if no part of the text could be parsed */
    struct sql_diag *diags;     /* NULL if the text has no errors */
    const char *statement_kind; /* "SELECT", or the verb of a refused statement ("DELETE", "PRAGMA", "ATTACH", ...) */
    uint32_t n_nodes;
    uint32_t n_params;
};

/* Parses one statement. A final semicolon is accepted; a second statement is ERR_REFUSED. `text` has `len` bytes and
 * needs no terminator. On ERR_OK *out is complete and has no diagnostics. On ERR_SYNTAX, ERR_REFUSED, ERR_LIMIT_* and
 * ERR_ENCODING *out is set too, and diags[0] has the reason. After a syntax error the root holds the recovered part of
 * the tree (with ERROR nodes). ERR_LIMIT_MEMORY leaves *out NULL. */
enum err_code sql_parse(struct arena *arena, const char *text, size_t len, const struct sql_limits *limits,
                        struct sql_stmt **out);

/* Sets the line and the column of a diagnostic from its `start`. Call it for each diagnostic that you create. `text` is
 * the statement's text. Thread: any. */
void sql_diag_locate(const char *text, struct sql_diag *diag);

/* Formats the diagnostic for a person: "line 1, column 8: message", the line, and a caret under the token. */
char *sql_diag_render(struct arena *arena, const struct sql_stmt *stmt, const struct sql_diag *diag);

/* Returns the tree as NUL-terminated SQL, which parses to an equal tree. Returns NULL if the arena is full. */
char *sql_print(struct arena *arena, const struct sql_node *node);

/* Returns a name as SQL, quoted if needed. NUL-terminated; NULL if the arena is full. */
char *sql_print_name(struct arena *arena, const char *name);

/* Returns the mark to put around SQL quoted in a sentence: "`", or another mark if the SQL contains one (names in
 * MySQL's quotes). The result is a constant, never NULL. Thread: any. */
const char *sql_quote_mark(const char *text, size_t len);

/* Returns the normal form of a statement; NULL if the arena is full. Two statements with equal normal forms have equal
 * results. In the normal form:
 * - names are lower-cased, and unquoted if possible; an alias such as T1 is replaced by its table;
 * - keywords are in upper case, with single spaces; == becomes =, != becomes <>, and ASC is dropped;
 * - redundant parentheses are dropped, a > b and b < a are written alike, and AND / OR chains are sorted.
 * Bind the statement first: binding finds the double-quoted words that are strings. Without it they stay as written. */
char *sql_normal_form(struct arena *arena, const struct sql_node *node);

/* True if the trees have equal kinds, operators, semantic flags, texts and children. Names are compared without case.
 * Spans are ignored. */
bool sql_equal(const struct sql_node *a, const struct sql_node *b);
uint64_t sql_hash(const struct sql_node *node);

/* Makes a deep copy with the same spans. Parents and ids are set, refs are dropped. NULL if the arena is full. */
struct sql_node *sql_copy(struct arena *arena, const struct sql_node *node);

/* Build and rewrite trees. A function that returns a node returns NULL if the arena is full; sql_append then returns
 * false. */
struct sql_node *sql_make(struct arena *arena, enum sql_kind kind);
struct sql_node *sql_make_text(struct arena *arena, enum sql_kind kind, const char *text);
bool sql_append(struct arena *arena, struct sql_node *list, struct sql_node *kid);
void sql_set_kid(struct sql_node *node, unsigned slot, struct sql_node *kid);
/* Replaces `old` by `with` in its parent. A NULL `with` empties the slot or removes the list entry. */
void sql_replace(struct sql_node *old, struct sql_node *with);
/* Parses a fragment as an expression (for rewriting rules and tests). Returns NULL if it is not one. */
struct sql_node *sql_parse_expression(struct arena *arena, const char *text);
/* Makes left AND right. If one of them is NULL, returns the other. */
struct sql_node *sql_and(struct arena *arena, struct sql_node *left, struct sql_node *right);
/* Sets parent, slot, id and clause of all nodes again after edits. Returns the number of nodes. */
uint32_t sql_renumber(struct sql_node *root);

/* Checks, for tests, that every node has its parent, the slots of its kind, and a span inside its parent's. Returns
 * NULL, or a description of the violation. */
const char *sql_check_tree(const struct sql_stmt *stmt);
/* Returns the S-expression of a tree, for tests and `assay parse`. */
char *sql_dump(struct arena *arena, const struct sql_node *node);

#endif
