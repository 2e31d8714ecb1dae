/* Diagnostics of binding: the place of a name, its error, and the names that the author may have meant. */
#include "lib/sql/scope.h"
#include "lib/sql/sql.h"

#include <ctype.h>
#include <string.h>

enum { NEAR_MAX_LEN = 64, NEAR_MAX_NAMES = 4000, NEAR_MAX_OUT = 5, SHOWN_MAX = 60, NOT_NEAR = 1000 };

static unsigned lower(char c)
{
    return (unsigned)tolower((unsigned char)c);
}

static int min3(int a, int b, int c)
{
    int least = a < b ? a : b;
    return least < c ? least : c;
}

/* Damerau-Levenshtein distance (optimal string alignment) of lower-cased names; lengths at most NEAR_MAX_LEN. */
static int distance(const char *a, int a_len, const char *b, int b_len)
{
    int rows[3][NEAR_MAX_LEN + 1];
    int *before = rows[0], *above = rows[1], *row = rows[2];
    for (int j = 0; j <= b_len; j++) above[j] = j;
    for (int i = 1; i <= a_len; i++) {
        row[0] = i;
        for (int j = 1; j <= b_len; j++) {
            int differs = lower(a[i - 1]) != lower(b[j - 1]);
            row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + differs);
            bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
            if (swapped && before[j - 2] + 1 < row[j]) row[j] = before[j - 2] + 1;
        }
        int *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[b_len];
}

static bool holds(const char *whole, size_t whole_len, const char *part, size_t part_len)
{
    for (size_t i = 0; i + part_len <= whole_len; i++)
        if (strncasecmp(whole + i, part, part_len) == 0) return true;
    return false;
}

/* Returns the distance of two names, or NOT_NEAR above the limit. If one contains the other, they are near, too, but
 * rank after the names within the limit. */
static int nearness(const char *a, size_t a_len, const char *b, size_t b_len)
{
    if (a_len == 0 || b_len == 0 || a_len > NEAR_MAX_LEN || b_len > NEAR_MAX_LEN) return NOT_NEAR;
    int cut = (int)(a_len > b_len ? a_len : b_len) / 3;
    if (cut < 1) cut = 1;
    int gap = (int)a_len - (int)b_len;
    int far = gap > cut || -gap > cut ? NOT_NEAR : distance(a, (int)a_len, b, (int)b_len);
    if (far <= cut) return far;
    size_t shorter = a_len < b_len ? a_len : b_len;
    if (shorter < 3) return NOT_NEAR;
    bool within = a_len < b_len ? holds(b, b_len, a, a_len) : holds(a, a_len, b, b_len);
    return within ? cut + 1 + (gap < 0 ? -gap : gap) : NOT_NEAR;
}

uint32_t sql_near_names(const char *name, size_t len, const char *const *names, uint32_t n_names, const char **out,
                        uint32_t cap)
{
    int far[16];
    uint32_t n = 0;
    if (cap > 16) cap = 16;
    for (uint32_t i = 0; cap && i < n_names && i < NEAR_MAX_NAMES; i++) {
        int d = nearness(name, len, names[i], strlen(names[i]));
        if (d == NOT_NEAR || (n == cap && d >= far[n - 1])) continue;
        bool seen = false;
        for (uint32_t j = 0; j < n; j++) seen |= strcasecmp(out[j], names[i]) == 0;
        if (seen) continue;
        uint32_t at = n < cap ? n++ : n - 1;
        for (; at > 0 && far[at - 1] > d; at--) {
            far[at] = far[at - 1];
            out[at] = out[at - 1];
        }
        far[at] = d;
        out[at] = names[i];
    }
    return n;
}

/* True if a sentence may contain the name without quotes. */
static bool reads_as_name(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || name[0] == ' ' || name[len - 1] == ' ' || strstr(name, "  ")) return false;
    return strpbrk(name, ",;:!?()'\"`|") == NULL;
}

/* Returns a name from the statement for a message: without control characters, at most SHOWN_MAX bytes, in quotes if
 * needed. */
static char *shown(struct binder *b, const char *name, size_t len)
{
    size_t take = len;
    if (take > SHOWN_MAX)
        for (take = SHOWN_MAX; take > 0 && ((unsigned char)name[take] & 0xC0) == 0x80;) take--;
    char *copy = arena_strndup(b->arena, name ? name : "", take);
    for (char *c = copy; c && *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F) *c = '?';
    if (copy && take < len) copy = arena_printf(b->arena, "%s...", copy);
    if (copy && !reads_as_name(copy)) {
        const char *mark = sql_quote_mark(copy, strlen(copy));
        copy = arena_printf(b->arena, "%s%s%s", mark, copy, mark);
    }
    return copy ? copy : "";
}

/* Returns a qualified name for a message: "main.t1.a", or "t1.*" if `name` is NULL. */
static char *full_name(struct binder *b, const char *schema, size_t schema_len, const char *table, size_t table_len,
                       const char *name, size_t len)
{
    return arena_printf(b->arena, "%s%s%s%s%s", schema ? shown(b, schema, schema_len) : "", schema ? "." : "",
                        table ? shown(b, table, table_len) : "", table ? "." : "", name ? shown(b, name, len) : "*");
}

static char *column_text(struct binder *b, const struct sql_node *c)
{
    return full_name(b, c->text3, c->text3_len, c->text2, c->text2_len, c->text, c->text_len);
}

static bool is_space_or(char c, char paren)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || c == paren;
}

/* Sets the span of a name, without parentheses around it. The span of a TABLE excludes its alias. */
static void name_span(const struct sql_stmt *stmt, const struct sql_node *node, uint32_t *start, uint32_t *end)
{
    *start = node->start;
    *end = node->end;
    if (*end > stmt->len) *start = *end = 0;
    const char *text = stmt->text;
    if (node->flags & SQL_F_PAREN) {
        while (*start < *end && is_space_or(text[*start], '(')) ++*start;
        while (*end > *start && is_space_or(text[*end - 1], ')')) --*end;
    }
    if (node->kind != SQL_TABLE && node->kind != SQL_FROM_CALL) return;
    for (uint32_t i = *start; i < *end;) {
        char close = text[i] == '[' ? ']' : text[i];
        if (close == '"' || close == '`' || close == ']' || close == '\'') {
            for (i++; i < *end && text[i] != close;) i++;
            i++;
        } else {
            while (i < *end &&
                   (isalnum((unsigned char)text[i]) || text[i] == '_' || text[i] == '$' || (text[i] & 0x80)))
                i++;
        }
        if (i < *end && text[i] == '.') {
            i++;
            continue;
        }
        if (i > *start && i < *end) *end = i;
        return;
    }
}

static struct sql_diag *report(struct binder *b, enum err_code code, const struct sql_node *node, const char *message)
{
    if (b->muted || b->n_diags >= SCOPE_MAX_DIAGS) return NULL;
    struct scope_diag *d = arena_new(b->arena, struct scope_diag);
    if (!d || !message) {
        scope_fail(b, ERR_LIMIT_MEMORY);
        return NULL;
    }
    d->diag.code = code;
    d->diag.message = message;
    name_span(b->bound->stmt, node, &d->diag.start, &d->diag.end);
    sql_diag_locate(b->bound->stmt->text, &d->diag);
    d->cte = b->in_cte;
    d->next = b->diags;
    b->diags = d;
    b->n_diags++;
    return &d->diag;
}

void scope_report(struct binder *b, enum err_code code, const struct sql_node *node, const char *message)
{
    report(b, code, node, message);
}

/* A growing list of names, from which the near ones are chosen. */
struct near_names {
    const char **list;
    uint32_t n;
};

static bool names_init(struct binder *b, struct near_names *names)
{
    *names = (struct near_names){.list = arena_new_array(b->arena, NEAR_MAX_NAMES, const char *)};
    return names->list || scope_fail(b, ERR_LIMIT_MEMORY);
}

static void add_name(struct near_names *names, const char *name)
{
    if (name && *name && names->n < NEAR_MAX_NAMES) names->list[names->n++] = name;
}

static void add_columns(struct binder *b, struct near_names *names, const struct sql_source *source)
{
    const struct sql_catalog *c = b->catalog;
    if (source->kind == SQL_SOURCE_TABLE) {
        int n = c->n_columns(c->self, source->table);
        for (int i = 0; i < n; i++) add_name(names, c->column_name(c->self, source->table, i));
    }
    for (uint32_t i = 0; i < source->n_outputs && names->n < NEAR_MAX_NAMES; i++)
        if (source->outputs[i].name)
            add_name(names, arena_strndup(b->arena, source->outputs[i].name, source->outputs[i].name_len));
}

/* Sets the suggestions of a diagnostic: `diag->expected` gets `exact` first, then the near names. */
static void suggest(struct binder *b, struct sql_diag *diag, const char *name, size_t len,
                    const struct near_names *names, const struct near_names *exact)
{
    const char *near[NEAR_MAX_OUT];
    uint32_t n_near = sql_near_names(name, len, names->list, names->n, near, NEAR_MAX_OUT);
    uint32_t n_exact = exact && exact->n < NEAR_MAX_OUT ? exact->n : exact ? NEAR_MAX_OUT : 0;
    const char **expected = arena_new_array(b->arena, n_near + n_exact, const char *);
    if (!expected) {
        scope_fail(b, ERR_LIMIT_MEMORY);
        return;
    }
    for (uint32_t i = 0; i < n_exact; i++) expected[i] = exact->list[i];
    for (uint32_t i = 0; i < n_near; i++) expected[n_exact + i] = near[i];
    diag->expected = expected;
    diag->n_expected = n_exact + n_near;
}

static const char *source_label(struct binder *b, const struct sql_source *source)
{
    return source->name ? arena_strndup(b->arena, source->name, source->name_len) : NULL;
}

/* The names that the author of an unknown column may have meant. */
struct surroundings {
    struct near_names names;            /* columns visible at that place */
    struct near_names exact;            /* the same column under another table: "stadium.name" */
    const struct sql_source *qualified; /* the source that the qualifier names */
    const struct sql_source *renamed;   /* a table that the qualifier names but that has an alias */
};

static void look_at_source(struct binder *b, struct surroundings *s, const struct sql_source *source,
                           const struct sql_node *c)
{
    bool admitted = scope_admits(b, source, c);
    if (admitted) {
        add_columns(b, &s->names, source);
        if (c->text2) s->qualified = source;
        return;
    }
    const struct sql_node *t = source->node;
    if (t->kind == SQL_TABLE && t->alias && sql_name_is(t->text, t->text_len, c->text2, c->text2_len))
        s->renamed = source;
    const char *label = source_label(b, source);
    if (label && scope_source_column(b, source, c->text, c->text_len) >= 0)
        add_name(&s->exact, arena_printf(b->arena, "%s.%s", label, shown(b, c->text, c->text_len)));
}

static bool look_around(struct binder *b, const struct scope *scope, const struct sql_node *c, struct surroundings *s)
{
    *s = (struct surroundings){0};
    if (!names_init(b, &s->names) || !names_init(b, &s->exact)) return false;
    for (; scope; scope = scope->outer) {
        for (uint32_t i = 0; scope->block && i < scope->block->n_sources; i++)
            look_at_source(b, s, &scope->block->sources[i], c);
        bool aliases = scope->aliases && scope->block;
        const struct sql_node *items = aliases ? sql_kid(scope->block->node, SELECT_ITEMS) : NULL;
        for (uint32_t i = 0; items && !c->text2 && i < items->n_kids; i++)
            if (items->kids[i]->kind == SQL_ITEM && items->kids[i]->text)
                add_name(&s->names, arena_strndup(b->arena, items->kids[i]->text, items->kids[i]->text_len));
    }
    return true;
}

static bool in_some_scope(const struct scope *scope, int table)
{
    for (; scope; scope = scope->outer)
        for (uint32_t i = 0; scope->block && i < scope->block->n_sources; i++)
            if (scope->block->sources[i].table == table) return true;
    return false;
}

/* Returns the first table of the catalog that has the column but is not in FROM, or NULL. Adds the column of each such
 * table to `exact`, up to NEAR_MAX_OUT. */
static const char *tables_outside(struct binder *b, const struct scope *scope, const struct sql_node *c,
                                  struct near_names *exact)
{
    const struct sql_catalog *cat = b->catalog;
    const char *first = NULL;
    int n = cat->n_tables(cat->self);
    for (int t = 0; t < n && t < NEAR_MAX_NAMES && exact->n < NEAR_MAX_OUT; t++) {
        int column = in_some_scope(scope, t) ? -1 : cat->find_column(cat->self, t, c->text, c->text_len);
        if (column < 0) continue;
        const char *name = cat->table_name(cat->self, t);
        if (!first) first = name;
        add_name(exact, arena_printf(b->arena, "%s.%s", name, cat->column_name(cat->self, t, column)));
    }
    return first;
}

static const char *why_unknown(struct binder *b, const struct sql_node *c, const struct surroundings *s,
                               const char *outside)
{
    const char *name = column_text(b, c);
    if (!name) return NULL;
    if (s->renamed && !s->qualified)
        return arena_printf(b->arena, "no such column: %s; table %s has the alias %s", name,
                            shown(b, c->text2, c->text2_len), shown(b, s->renamed->name, s->renamed->name_len));
    if (c->text2 && !s->qualified)
        return arena_printf(b->arena, "no such column: %s; %s is not in FROM", name, shown(b, c->text2, c->text2_len));
    if (outside && s->exact.n)
        return arena_printf(b->arena, "no such column: %s; table %s, which is not in FROM, has a column of that name",
                            name, outside);
    if (s->exact.n) return arena_printf(b->arena, "no such column: %s; did you mean %s?", name, s->exact.list[0]);
    return arena_printf(b->arena, "no such column: %s", name);
}

void scope_unknown_column(struct binder *b, const struct scope *scope, const struct sql_node *column)
{
    struct surroundings s;
    if (b->muted || b->n_diags >= SCOPE_MAX_DIAGS || !look_around(b, scope, column, &s)) return;
    const char *outside = s.exact.n ? NULL : tables_outside(b, scope, column, &s.exact);
    struct sql_diag *diag = report(b, ERR_UNKNOWN_NAME, column, why_unknown(b, column, &s, outside));
    if (diag) suggest(b, diag, column->text, column->text_len, &s.names, &s.exact);
}

static void add_tables(struct binder *b, struct near_names *names)
{
    const struct sql_catalog *c = b->catalog;
    int n = c->n_tables(c->self);
    for (int t = 0; t < n; t++) add_name(names, c->table_name(c->self, t));
    for (const struct scope_with *with = b->with; with; with = with->outer)
        for (uint32_t i = 0; i < with->n && names->n < NEAR_MAX_NAMES; i++)
            add_name(names, arena_strndup(b->arena, with->ctes[i].node->text, with->ctes[i].node->text_len));
}

void scope_unknown_table(struct binder *b, const struct sql_node *t)
{
    struct near_names names;
    if (b->muted || b->n_diags >= SCOPE_MAX_DIAGS || !names_init(b, &names)) return;
    add_tables(b, &names);
    char *name = full_name(b, NULL, 0, t->text2, t->text2_len, t->text, t->text_len);
    struct sql_diag *diag =
        report(b, ERR_UNKNOWN_NAME, t, arena_printf(b->arena, "no such table: %s", name ? name : ""));
    if (diag) suggest(b, diag, t->text, t->text_len, &names, NULL);
}

void scope_unknown_star(struct binder *b, const struct scope *scope, const struct sql_node *star)
{
    struct near_names names;
    if (b->muted || b->n_diags >= SCOPE_MAX_DIAGS || !names_init(b, &names)) return;
    for (uint32_t i = 0; i < scope->block->n_sources; i++) add_name(&names, source_label(b, &scope->block->sources[i]));
    char *name = full_name(b, NULL, 0, star->text2, star->text2_len, star->text, star->text_len);
    struct sql_diag *diag =
        report(b, ERR_UNKNOWN_NAME, star, arena_printf(b->arena, "no such table in FROM: %s", name));
    if (diag) suggest(b, diag, star->text, star->text_len, &names, NULL);
}

void scope_ambiguous(struct binder *b, const struct scope *scope, const struct sql_node *column)
{
    struct surroundings s;
    struct sql_node bare = *column; /* without its qualifier, every source that has the name matches */
    bare.text2 = "";
    bare.text2_len = 0;
    if (b->muted || b->n_diags >= SCOPE_MAX_DIAGS || !look_around(b, scope, &bare, &s)) return;
    char *name = column_text(b, column);
    struct sql_diag *diag =
        report(b, ERR_AMBIGUOUS_NAME, column, arena_printf(b->arena, "ambiguous column name: %s", name ? name : ""));
    if (!diag) return;
    s.names.n = 0;
    suggest(b, diag, column->text, column->text_len, &s.names, &s.exact);
}
