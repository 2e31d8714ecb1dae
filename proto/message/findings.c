#include "proto/message/findings.h"

#include <glib.h>
#include <string.h>

/* Returns the name of the clause that contains the innermost node at a byte offset. */
static const char *clause_at(const struct sql_stmt *stmt, uint32_t offset)
{
    const struct sql_node *best = NULL;
    for (const struct sql_node *node = stmt->root; node; node = sql_walk(stmt->root, node))
        if (node->start <= offset && offset < node->end) best = node;
    return best ? sql_clause_name(sql_clause_of(best)) : stmt->statement_kind;
}

static struct msg_finding *finding_new(struct arena *arena, const char *message, uint32_t max_facts)
{
    struct msg_finding *finding = arena_new(arena, struct msg_finding);
    if (!finding) return NULL;
    finding->signal = MSG_INVALID_SQL;
    finding->name = FINDINGS_INVALID_SQL;
    finding->severity = MSG_ERROR;
    finding->message = message ? message : "the engine refuses the statement";
    finding->facts = arena_new_array(arena, max_facts, struct msg_fact);
    return finding->facts ? finding : NULL;
}

static void add_fact(struct msg_finding *finding, const char *key, const char *value)
{
    if (value) finding->facts[finding->n_facts++] = (struct msg_fact){key, value};
}

static void set_clause(struct arena *arena, struct msg_finding *finding, const struct sql_stmt *stmt, uint32_t start,
                       uint32_t end)
{
    if (!stmt || start > end || end > stmt->len) return;
    finding->clauses = arena_new(arena, struct msg_clause);
    char *text = arena_strndup(arena, stmt->text + start, end - start);
    if (!finding->clauses || !text || strlen(text) != end - start) return;
    *finding->clauses = (struct msg_clause){clause_at(stmt, start), text, start, end};
    finding->n_clauses = 1;
}

static const char *expected_key(enum err_code code)
{
    return code == ERR_UNKNOWN_NAME || code == ERR_AMBIGUOUS_NAME ? "near" : "expected";
}

static struct msg_finding *from_diag(struct arena *arena, const struct sql_stmt *stmt, const struct sql_diag *diag,
                                     const char *engine)
{
    struct msg_finding *finding = finding_new(arena, diag->message, diag->n_expected + 2);
    if (!finding) return NULL;
    add_fact(finding, "code", err_name(diag->code));
    for (uint32_t i = 0; i < diag->n_expected; i++) add_fact(finding, expected_key(diag->code), diag->expected[i]);
    add_fact(finding, "engine", engine);
    set_clause(arena, finding, stmt, diag->start, diag->end);
    return finding;
}

struct msg_finding *findings_from_parser(struct arena *arena, const struct sql_stmt *stmt, const struct sql_diag *diag)
{
    return from_diag(arena, stmt, diag, NULL);
}

static bool is_word(char c)
{
    return g_ascii_isalnum(c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Returns the end of the token that starts at `start`: a word, a quoted text, or one character. */
static uint32_t token_end(const struct sql_stmt *stmt, uint32_t start)
{
    const char *text = stmt->text;
    uint32_t len = (uint32_t)stmt->len, end = start;
    while (end < len && is_word(text[end])) end++;
    if (end > start || start >= len) return end;
    char closing = text[start] == '[' ? ']' : text[start];
    if (!strchr("\"'`]", closing)) return start + 1;
    const char *found = memchr(text + start + 1, closing, len - start - 1);
    return found ? (uint32_t)(found - text) + 1 : len;
}

/* Returns the diagnostic at the engine's offset, or the first one if the engine gives no offset. */
static const struct sql_diag *matching(const struct sql_diag *diags, int offset)
{
    if (offset < 0) return diags;
    for (const struct sql_diag *diag = diags; diag; diag = diag->next)
        if (diag->start <= (uint32_t)offset && ((uint32_t)offset < diag->end || diag->start == (uint32_t)offset))
            return diag;
    return NULL;
}

struct msg_finding *findings_from_engine(struct arena *arena, const struct sql_stmt *stmt, const struct sql_diag *diags,
                                         const char *message, int offset)
{
    const char *said = arena_strdup(arena, message);
    const struct sql_diag *diag = matching(diags, offset);
    if (diag) return from_diag(arena, stmt, diag, said);
    struct msg_finding *finding = finding_new(arena, said, 2);
    if (!finding) return NULL;
    add_fact(finding, "code", err_name(ERR_ENGINE));
    if (stmt && offset >= 0 && (size_t)offset <= stmt->len)
        set_clause(arena, finding, stmt, (uint32_t)offset, token_end(stmt, (uint32_t)offset));
    return finding;
}
