/* Transfers the edit script of an example to a query (transfer.h).
 *
 * transfer_flat.c flattens trees. This file matches the wrong query with the target, and moves each edit of the script
 * to its place in the target. transfer_rebind.c chooses names and values. Every result must parse and bind before it
 * becomes a proposal. */
#include "repair/transfer_int.h"

#include <glib.h>
#include <string.h>

/* MAX_NODES limits the sum of the nodes of the three queries; an example above it is skipped. MAX_RUNS limits the
 * combinations of choices that are tried for each matching. */
enum { MAX_NODES = 6000, MAX_RUNS = 8, MAX_QUESTION_TOKENS = 200, MAX_REASON_STEPS = 3, MAX_REASON_TEXT = 60 };

/* --- the example's columns as a catalogue --- */

struct known_table {
    const char *name;
    const struct repair_column **columns;
    uint32_t n;
};

struct known {
    struct sql_catalog catalog;
    struct known_table *tables;
    uint32_t n;
};

static int find_table(const void *self, const char *name, size_t len)
{
    const struct known *known = self;
    for (uint32_t i = 0; i < known->n; i++)
        if (sql_name_is(known->tables[i].name, strlen(known->tables[i].name), name, len)) return (int)i;
    return -1;
}

static int find_column(const void *self, int table, const char *name, size_t len)
{
    const struct known_table *t = &((const struct known *)self)->tables[table];
    for (uint32_t i = 0; i < t->n; i++)
        if (sql_name_is(t->columns[i]->column, strlen(t->columns[i]->column), name, len)) return (int)i;
    return -1;
}

static int n_tables(const void *self)
{
    return (int)((const struct known *)self)->n;
}

static int n_columns(const void *self, int table)
{
    return (int)((const struct known *)self)->tables[table].n;
}

static const char *table_name(const void *self, int table)
{
    return ((const struct known *)self)->tables[table].name;
}

static const char *column_name(const void *self, int table, int column)
{
    return ((const struct known *)self)->tables[table].columns[column]->column;
}

static bool know(struct arena *arena, struct known *known, const struct repair_column *column, uint32_t room)
{
    int at = find_table(known, column->table, strlen(column->table));
    struct known_table *table = &known->tables[at < 0 ? (int)known->n : at];
    if (at < 0) {
        *table = (struct known_table){column->table, arena_new_array(arena, room, const struct repair_column *), 0};
        if (!table->columns) return false;
        known->n++;
    }
    if (column->column) table->columns[table->n++] = column;
    return true;
}

const struct sql_catalog *transfer_catalog(struct arena *arena, const struct repair_example *example)
{
    struct known *known = arena_new(arena, struct known);
    uint32_t n = example->n_columns;
    if (!known || !(known->tables = arena_new_array(arena, n + 1, struct known_table))) return NULL;
    for (uint32_t i = 0; i < n; i++)
        if (!know(arena, known, &example->columns[i], n)) return NULL;
    known->catalog = (struct sql_catalog){.self = known,
                                          .find_table = find_table,
                                          .find_column = find_column,
                                          .n_tables = n_tables,
                                          .n_columns = n_columns,
                                          .table_name = table_name,
                                          .column_name = column_name};
    return &known->catalog;
}

const struct repair_column *transfer_column_of(const struct sql_catalog *catalog, const struct sql_ref *ref)
{
    const struct known *known = catalog->self;
    return ref && ref->table >= 0 && ref->column >= 0 ? known->tables[ref->table].columns[ref->column] : NULL;
}

/* --- columns of an example, from its schema --- */

static const char *referenced(const struct schema_index *schema, const struct schema_column *column)
{
    for (uint32_t j = 0; j < schema->n_joins; j++)
        for (uint32_t k = 0; schema->joins[j].declared && k < schema->joins[j].n_pairs; k++)
            if (schema->joins[j].from[k] == column->id) return schema->tables[schema->joins[j].to_table].name;
    return NULL;
}

static uint32_t add_column(const struct schema_index *schema, struct repair_column *out, uint32_t n, int table,
                           const struct schema_column *column)
{
    const char *table_name = schema->tables[table].name;
    for (uint32_t i = 0; i < n; i++)
        if (out[i].table == table_name && out[i].column == (column ? column->name : NULL)) return n;
    out[n] = (struct repair_column){.table = table_name};
    if (column) {
        out[n].column = column->name;
        out[n].type = column->type;
        out[n].primary_key = column->pk > 0;
        out[n].references = referenced(schema, column);
    }
    return n + 1;
}

int repair_example_columns(struct arena *arena, const struct schema_index *schema, const char *wrong, const char *right,
                           const struct repair_column **out)
{
    const char *const sqls[] = {wrong, right};
    struct sql_bound *bounds[2] = {NULL, NULL};
    uint32_t room = 0, n = 0;
    for (unsigned i = 0; i < 2; i++) {
        struct sql_stmt *stmt = NULL;
        if (sql_parse(arena, sqls[i], strlen(sqls[i]), NULL, &stmt) != ERR_OK) continue;
        sql_bind(arena, stmt, &schema->catalog, &bounds[i]);
        room += bounds[i] ? bounds[i]->n_refs : 0;
    }
    struct repair_column *columns = arena_new_array(arena, room + 1, struct repair_column);
    if (!columns) return -1;
    for (unsigned i = 0; i < 2; i++)
        for (uint32_t r = 0; bounds[i] && r < bounds[i]->n_refs; r++) {
            const struct sql_ref *ref = bounds[i]->refs[r];
            const struct schema_column *column = schema_column_of(schema, ref);
            bool table = ref->kind == SQL_REF_TABLE && ref->source && ref->source->table >= 0;
            if (column || table)
                n = add_column(schema, columns, n, column ? (int)column->table : ref->source->table, column);
        }
    *out = columns;
    return (int)n;
}

/* --- matching by structure --- */

/* Returns a word for the role of a column: its kind of type, and whether it is a key. */
static const char *role_of(const char *type, bool key)
{
    static const char *const numbers[] = {"int", "real", "floa", "doub", "num", "dec", "bool", "serial", "money"};
    static const char *const times[] = {"date", "time", "year"};
    char low[32];
    g_strlcpy(low, type ? type : "", sizeof low);
    for (char *c = low; *c; c++) *c = g_ascii_tolower(*c);
    const char *role = "text";
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
        if (strstr(low, numbers[i])) role = "number";
    for (size_t i = 0; i < G_N_ELEMENTS(times); i++)
        if (strstr(low, times[i])) role = "time";
    return key ? "key" : role;
}

bool transfer_is_alike(const char *type, const char *other)
{
    return role_of(type, false) == role_of(other, false);
}

static const char *role_in_example(const struct transfer *t, const struct sql_node *column)
{
    const struct repair_column *c = transfer_column_of(t->catalog, column->ref);
    return c ? role_of(c->type, c->primary_key || c->references) : "unknown";
}

static const char *role_in_schema(const struct transfer *t, const struct sql_node *column)
{
    const struct schema_column *c = column->ref ? schema_column_of(t->schema, column->ref) : NULL;
    return c ? role_of(c->type, c->pk || schema_is_foreign_key(t->schema, c->id)) : "unknown";
}

/* Copies only the structure, without names and values. `role` returns a word for a column's type and keys, to
 * distinguish columns; NULL treats all columns alike. */
static struct sql_node *structure_of(const struct transfer *t, const struct flat_tree *tree,
                                     const char *(*role)(const struct transfer *, const struct sql_node *))
{
    struct sql_node *root = sql_copy(t->arena, tree->stmt->root);
    for (struct sql_node *n = root; n; n = sql_walk(root, n)) {
        bool named = n->kind != SQL_CALL && n->kind != SQL_CAST && n->kind != SQL_FRAME;
        n->alias = n->text2 = n->text3 = NULL;
        n->alias_len = n->text2_len = n->text3_len = 0;
        n->quote = 0;
        if (!named || !n->text) continue;
        n->text = n->kind == SQL_COLUMN && role ? role(t, tree->nodes[n->id]) : "";
        n->text_len = (uint32_t)strlen(n->text);
    }
    return root;
}

/* Returns for each node of the wrong query its partner in the target. Returns NULL if the arena is full. */
static const struct sql_node **match_target(const struct transfer *t, bool by_role)
{
    const struct sql_node *from = structure_of(t, &t->wrong, by_role ? role_in_example : NULL);
    const struct sql_node *to = structure_of(t, &t->target, by_role ? role_in_schema : NULL);
    const struct sql_node **partners = from && to ? sql_diff_partners(t->arena, from, to) : NULL;
    for (uint32_t i = 0; partners && i < t->wrong.n; i++)
        if (partners[i]) partners[i] = t->target.nodes[partners[i]->id];
    return partners;
}

/* --- the transferred script --- */

static bool same_form(const struct sql_node *x, const struct sql_node *y)
{
    if (x->kind != y->kind || x->op != y->op || x->flags != y->flags) return false;
    return x->kind != SQL_CALL || sql_name_is(x->text, x->text_len, y->text, y->text_len);
}

/* Returns the edit's index in the target's list, whose length may differ from that of the example's list. An edit at
 * the end of the example's list stays at the end. */
static uint32_t place_of(const struct sql_edit *edit, const struct sql_node *parent)
{
    const struct sql_node *of = edit->parent_from, *with = edit->to->parent;
    if (!of || of->n_kids == parent->n_kids || sql_kind_slots((enum sql_kind)of->kind) >= 0) return edit->index;
    return edit->index + 1 >= with->n_kids ? UINT32_MAX : edit->index;
}

/* Transfers an edit. Returns false if it has no place in the target. A DELETE whose node is missing in the target is
 * skipped. */
static bool carry_edit(const struct transfer *t, struct sql_node *const *rebound, const struct sql_edit *edit,
                       struct sql_diff *out)
{
    struct sql_edit to = *edit;
    if (edit->from && !(to.from = t->in_target[edit->from->id])) return edit->kind == SQL_EDIT_DELETE;
    if (edit->kind == SQL_EDIT_UPDATE && !same_form(edit->from, to.from)) return false;
    if (edit->to) to.to = rebound[edit->to->id];
    if (edit->parent_to) to.parent_to = rebound[edit->parent_to->id];
    if (edit->parent_from) {
        if (!(to.parent_from = t->in_target[edit->parent_from->id])) return false;
        to.index = place_of(edit, to.parent_from);
    }
    out->count[edit->kind]++;
    out->edits[out->n_edits++] = to;
    return true;
}

static const char *carry_script(const struct transfer *t, struct sql_node *right)
{
    struct sql_node **rebound = arena_new_array(t->arena, t->right.n, struct sql_node *);
    struct sql_diff diff = {.a = t->target.stmt->root, .b = right, .nodes_a = t->target.n, .nodes_b = t->right.n};
    diff.edits = arena_new_array(t->arena, t->script->n_edits, struct sql_edit);
    if (!rebound || !diff.edits) return NULL;
    for (struct sql_node *n = right; n; n = sql_walk(right, n)) rebound[n->id] = n;
    for (uint32_t i = 0; i < t->script->n_edits; i++)
        if (!carry_edit(t, rebound, &t->script->edits[i], &diff)) return NULL;
    return diff.n_edits ? transfer_print(t->arena, sql_diff_apply(t->arena, &diff)) : NULL;
}

/* --- the resulting query --- */

/* Writes a name as the schema spells it. PostgreSQL converts an unquoted name to lower case. */
static void spell(const struct transfer *t, const char *name, const char **text, uint32_t *len, char *quote)
{
    bool capital = false;
    for (const char *c = name; *c; c++) capital = capital || g_ascii_isupper(*c);
    *text = name;
    *len = (uint32_t)strlen(name);
    *quote = capital && t->schema->catalog.alias_is_row ? '"' : 0;
}

static void spell_node(const struct transfer *t, struct sql_node *n)
{
    const struct sql_ref *ref = n->ref;
    const struct sql_source *source = ref ? ref->source : NULL;
    if (!source || source->table < 0) return;
    const struct schema_table *table = &t->schema->tables[source->table];
    if (n->kind == SQL_TABLE && !n->text3) spell(t, table->bare, &n->text, &n->text_len, &n->quote);
    if (n->kind != SQL_COLUMN || ref->kind != SQL_REF_COLUMN || ref->output < 0) return;
    spell(t, table->columns[ref->output].name, &n->text, &n->text_len, &n->quote);
    if (n->text2 && !source->node->alias) spell(t, table->bare, &n->text2, &n->text2_len, &n->alias_quote);
}

/* Returns the query with names spelled as in the schema. Returns NULL unless it is a statement whose names all bind,
 * and it differs from the target. */
static const char *checked(const struct transfer *t, const char *sql)
{
    struct sql_stmt *stmt = NULL;
    struct sql_bound *bound = NULL;
    if (sql_parse(t->arena, sql, strlen(sql), NULL, &stmt) != ERR_OK) return NULL;
    if (sql_bind(t->arena, stmt, &t->schema->catalog, &bound) != ERR_OK) return NULL;
    const char *form = sql_normal_form(t->arena, stmt->root);
    if (!form || strcmp(form, t->target.text) == 0) return NULL;
    for (struct sql_node *n = stmt->root; n; n = sql_walk(stmt->root, n)) spell_node(t, n);
    return sql_print(t->arena, stmt->root);
}

static void put_step(GString *out, const struct repair_step *step)
{
    const char *was = step->was, *now = step->now;
    g_string_append_printf(out, "%s%s: ", out->len ? "; " : "", step->clause);
    if (was) g_string_append_printf(out, "%.*s", MAX_REASON_TEXT, was);
    g_string_append(out, was && now ? " becomes " : was ? " removed" : "");
    if (now) g_string_append_printf(out, "%.*s", MAX_REASON_TEXT, now);
    if (!was) g_string_append(out, " added");
}

/* Returns the query with each value replaced by a parameter. Returns NULL if the arena is full. */
static const char *without_values(struct arena *arena, const char *sql)
{
    struct sql_stmt *stmt = NULL;
    if (sql_parse(arena, sql, strlen(sql), NULL, &stmt) != ERR_OK) return NULL;
    for (struct sql_node *n = stmt->root; n; n = sql_walk(stmt->root, n))
        if (n->kind == SQL_LITERAL) {
            n->kind = SQL_PARAM;
            n->op = SQL_OP_NONE;
            n->text = "?";
            n->text_len = 1;
        }
    return sql_print(arena, stmt->root);
}

/* Returns the steps of the example as text. Returns NULL if the arena is full. */
static const char *reason_of(const struct transfer *t)
{
    bool values = t->query->values;
    const char *wrong = values ? t->wrong.text : without_values(t->arena, t->wrong.text),
               *right = values ? t->right.text : without_values(t->arena, t->right.text);
    struct repair_step steps[REPAIR_MAX_STEPS];
    int n = wrong && right ? repair_steps(t->arena, wrong, right, steps) : -1;
    if (n < 0) return NULL;
    if (n == 0) return arena_strdup(t->arena, "as in: another value");
    GString *text = g_string_new(NULL);
    for (int i = 0; i < n && i < MAX_REASON_STEPS; i++) put_step(text, &steps[i]);
    if (n > MAX_REASON_STEPS) g_string_append(text, " ...");
    char *whole = g_utf8_make_valid(text->str, -1);
    const char *reason = arena_printf(t->arena, "as in: %s", whole);
    g_free(whole);
    g_string_free(text, TRUE);
    return reason;
}

static void add(const struct transfer *t, struct repair_proposal *list, uint32_t *n, const char *sql)
{
    sql = sql ? checked(t, sql) : NULL;
    for (uint32_t i = 0; sql && i < *n; i++)
        if (strcmp(list[i].sql, sql) == 0) sql = NULL;
    const char *reason = sql ? reason_of(t) : NULL;
    if (reason) list[(*n)++] = (struct repair_proposal){sql, reason};
}

static struct choices try(struct transfer *t, struct choices choices, struct repair_proposal *list, uint32_t *n)
{
    struct sql_node *right = transfer_rebind(t, &choices);
    if (right) add(t, list, n, carry_script(t, right));
    return choices;
}

/* Tries the best option of every choice. Then tries the second and third options, one choice at a time. */
static void carry(struct transfer *t, struct repair_proposal *list, uint32_t *n)
{
    const struct choices best = try(t, (struct choices){0}, list, n);
    uint32_t runs = 1;
    for (uint32_t option = 1; option < TRANSFER_MAX_OPTIONS; option++)
        for (uint32_t i = 0; i < best.n && *n < REPAIR_MAX_TRANSFERS && runs < MAX_RUNS; i++) {
            struct choices other = {0};
            if (best.options[i] <= option) continue;
            other.asked[i] = option;
            try(t, other, list, n);
            runs++;
        }
}

/* Marks the new nodes of the right query: those without a partner, and those whose label an update sets. */
static bool mark_new(struct transfer *t)
{
    const struct sql_node **in_right = sql_diff_partners(t->arena, t->wrong.stmt->root, t->right.stmt->root);
    t->is_new = arena_new_array(t->arena, t->right.n, bool);
    t->from_wrong = arena_new_array(t->arena, t->right.n, const struct sql_node *);
    if (!in_right || !t->is_new || !t->from_wrong) return false;
    for (uint32_t i = 0; i < t->wrong.n; i++)
        if (in_right[i]) t->from_wrong[in_right[i]->id] = t->wrong.nodes[i];
    for (uint32_t i = 0; i < t->right.n; i++) t->is_new[i] = !t->from_wrong[i];
    for (uint32_t i = 0; i < t->script->n_edits; i++)
        if (t->script->edits[i].kind == SQL_EDIT_UPDATE) t->is_new[t->script->edits[i].to->id] = true;
    return true;
}

static bool read_example(struct transfer *t)
{
    t->catalog = transfer_catalog(t->arena, t->example);
    if (!t->catalog || !transfer_read(t->arena, t->example->wrong, t->catalog, &t->wrong) ||
        !transfer_read(t->arena, t->example->right, t->catalog, &t->right))
        return false;
    if (t->wrong.n + t->right.n + t->target.n > MAX_NODES) return false;
    t->script = sql_diff(t->arena, t->wrong.stmt->root, t->right.stmt->root);
    return t->script && mark_new(t);
}

int repair_transfer(struct arena *arena, const struct schema_index *schema, const struct repair_query *query,
                    const struct repair_example *example, struct repair_proposal **out, struct err *err)
{
    struct transfer t = {.arena = arena, .schema = schema, .query = query, .example = example};
    const char *sql = arena_strndup(arena, query->sql, query->len);
    uint32_t n = 0;
    *out = arena_new_array(arena, REPAIR_MAX_TRANSFERS, struct repair_proposal);
    if (!sql || !*out) {
        err_set(err, ERR_LIMIT_MEMORY, "the query is too large to repair");
        return -1;
    }
    if (!transfer_read(arena, sql, &schema->catalog, &t.target)) {
        err_set(err, ERR_SYNTAX, "the query does not parse");
        return -1;
    }
    if (query->question) t.question = text_tokenize(arena, query->question, strlen(query->question));
    t.question.n = MIN(t.question.n, MAX_QUESTION_TOKENS);
    if (!read_example(&t)) return 0;
    for (int by_role = 1; by_role >= 0 && n < REPAIR_MAX_TRANSFERS; by_role--)
        if ((t.in_target = match_target(&t, by_role))) carry(&t, *out, &n);
    return (int)n;
}
