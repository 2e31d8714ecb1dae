/* Proposes parts that the question names and the query lacks (lib/question/link.h). Such a part is a value without a
 * condition, or a requested column that is not returned. It may also be a column whose name fits the question's words
 * better than the used one. Each proposal is a guess with a reason; the judgement decides. */
#include "lib/question/forms.h"
#include "repair/propose_int.h"

#include <glib.h>
#include <string.h>

/* Maximum numbers of proposals from this file, of columns for one value, and of texts that are searched in the
 * question. */
enum { MAX_ASKED = 16, MAX_COLUMNS = 3, MAX_TEXTS = 200 };

/* --- edits of the text of the query --- */

static bool binds(struct proposals *p, const char *sql)
{
    struct sql_stmt *stmt = NULL;
    struct sql_bound *bound = NULL;
    if (!sql || !repair_may_look(p)) return false;
    bool sound = sql_parse(&p->scratch, sql, strlen(sql), NULL, &stmt) == ERR_OK &&
                 sql_bind(&p->scratch, stmt, &p->schema->catalog, &bound) == ERR_OK;
    arena_reset(&p->scratch);
    return sound;
}

static void add_if_it_binds(struct proposals *p, const char *sql, const char *reason)
{
    if (p->n < MAX_ASKED && binds(p, sql)) repair_add(p, sql, reason);
}

/* Returns the block that gives the result. Returns NULL if there are several blocks, or the block reads no table. */
static const struct sql_block *main_block(const struct proposals *p)
{
    const struct sql_block *block = p->bound->n_blocks ? p->bound->blocks[0] : NULL;
    bool plain = block && block->role == SQL_BLOCK_TOP && !block->arm && sql_is(block->node, SQL_SELECT);
    return plain && sql_kid(block->node, SELECT_FROM) && block->n_sources ? block : NULL;
}

/* Returns the query with an added join after the block's FROM, and an added condition, joined by AND. `join` is "" for
 * no join. */
static const char *with_condition(const struct proposals *p, const struct sql_block *block, const char *join,
                                  const char *condition)
{
    const struct sql_node *where = sql_kid(block->node, SELECT_WHERE), *old = where ? sql_kid(where, 0) : NULL;
    uint32_t from = repair_end_of_from(block);
    if (!old)
        return repair_replaced(p->arena, p->sql, from, from, arena_printf(p->arena, "%s WHERE %s", join, condition));
    bool open = sql_is(old, SQL_BINARY) && old->op == SQL_OP_OR && !(old->flags & SQL_F_PAREN);
    const char *both = arena_printf(p->arena, "%s%.*s%s AND %s", open ? "(" : "", (int)(old->end - old->start),
                                    p->sql + old->start, open ? ")" : "", condition);
    const char *sql = both ? repair_replaced(p->arena, p->sql, old->start, old->end, both) : NULL;
    return sql && *join ? repair_replaced(p->arena, sql, from, from, join) : sql;
}

/* Returns "t.name", where `table` is the name or alias of the table in the block. */
static const char *column_text(const struct proposals *p, const char *table, size_t len,
                               const struct schema_column *column)
{
    const char *name = sql_print_name(p->arena, column->name);
    return name ? arena_printf(p->arena, "%.*s.%s", (int)len, table, name) : NULL;
}

static const struct sql_source *source_of(const struct sql_block *block, const struct schema_column *column)
{
    for (uint32_t s = 0; s < block->n_sources; s++)
        if (block->sources[s].name && block->sources[s].table == (int)column->table) return &block->sources[s];
    return NULL;
}

/* --- values --- */

/* True if a part of the query expresses words of the value. A mere condition on a column is not enough. */
static bool is_answered(const struct link_query *links, int value)
{
    for (uint32_t w = 0; w < links->question->n_words; w++) {
        int part = links->places[w].part;
        if (links->question->words[w].value == value && part >= 0 && links->parts[part].role != LINK_CONDITION)
            return true;
    }
    return false;
}

static enum question_form said_as(struct proposals *p, const struct sql_node *literal)
{
    const struct question *question = p->query->links->question->question;
    enum question_form form = question_says_text(&p->scratch, question, literal->text, literal->text_len, NULL);
    arena_reset(&p->scratch);
    return form;
}

/* Replaces each value that is compared with the column and that the question does not contain. */
static void replace_value(struct proposals *p, const struct schema_column *column, const char *value,
                          const char *reason)
{
    for (const struct sql_node *n = p->stmt->root; n; n = sql_walk(p->stmt->root, n)) {
        const struct sql_node *other =
            sql_is(n, SQL_LITERAL) && sql_is(n->parent, SQL_BINARY) && sql_is_comparison(n->parent->op)
                ? sql_kid(n->parent, sql_kid(n->parent, 0) == n)
                : NULL;
        bool same = sql_is(other, SQL_COLUMN) && other->ref && schema_column_of(p->schema, other->ref) == column;
        if (same && said_as(p, n) == QUESTION_FORM_NONE)
            add_if_it_binds(p, repair_replaced(p->arena, p->sql, n->start, n->end, value), reason);
    }
}

static void add_condition(struct proposals *p, const struct schema_column *column, const char *value,
                          const char *reason)
{
    const struct sql_block *block = main_block(p);
    const struct sql_source *source = block ? source_of(block, column) : NULL;
    const struct schema_table *table = &p->schema->tables[column->table];
    const char *joins[REPAIR_MAX_JOINS] = {""};
    uint32_t n = source ? 1 : block ? repair_joins_to(p, block, table, joins) : 0;
    const char *name = source ? column_text(p, source->name, source->name_len, column)
                              : column_text(p, table->name, strlen(table->name), column);
    const char *condition = name ? arena_printf(p->arena, "%s = %s", name, value) : NULL;
    for (uint32_t i = 0; i < n && condition; i++)
        add_if_it_binds(p, with_condition(p, block, joins[i], condition), reason);
}

static void add_said_value(struct proposals *p, const struct question_value *value)
{
    for (uint32_t i = 0; i < value->n_hits && i < MAX_COLUMNS; i++) {
        const struct schema_column *column = p->schema->columns[value->hits[i].column];
        const char *form = value->hits[i].form;
        if (!form || schema_column_is_denied(p->schema, column, p->query->deny_columns, p->query->n_deny_columns))
            continue;
        const struct db_value stored = {.type = DB_TEXT, .text = form, .len = strlen(form)};
        const char *quoted = db_quote_value(p->arena, &stored);
        const char *reason = arena_printf(p->arena, "the question says '%s', which is a value of %s.%s", form,
                                          p->schema->tables[column->table].name, column->name);
        if (!quoted || !reason) return;
        replace_value(p, column, quoted, reason);
        add_condition(p, column, quoted, reason);
    }
}

static void add_said_values(struct proposals *p)
{
    const struct link_query *links = p->query->links;
    const struct question *question = links->question->question;
    for (uint32_t v = 0; v < question->n_values; v++) {
        const struct question_value *value = &question->values[v];
        if (value->kind == QUESTION_VALUE_NUMBER || value->is_name || is_answered(links, (int)v)) continue;
        add_said_value(p, value);
    }
}

/* --- columns --- */

/* Replaces references to a column by another column of its table. With `at`, replaces only that reference. */
static const char *with_column(const struct proposals *p, const struct schema_column *old, const char *name,
                               const struct sql_node *at)
{
    const char *sql = p->sql;
    for (uint32_t i = p->bound->n_refs; i-- && sql;) { /* from the last reference, so that earlier offsets stay valid */
        const struct sql_ref *ref = p->bound->refs[i];
        const struct sql_node *node = ref->node;
        if (ref->kind != SQL_REF_COLUMN || !sql_is(node, SQL_COLUMN) || schema_column_of(p->schema, ref) != old)
            continue;
        if (at && (node->start != at->start || node->end != at->end)) continue;
        const char *text = node->text2_len && !strchr(name, '.')
                               ? arena_printf(p->arena, "%.*s.%s", (int)node->text2_len, node->text2, name)
                               : name;
        sql = text ? repair_replaced(p->arena, sql, node->start, node->end, text) : NULL;
    }
    return sql;
}

static const char *reason_of(const struct proposals *p, const struct schema_column *named,
                             const struct schema_column *used)
{
    return arena_printf(p->arena, "the question mentions %s.%s rather than %s.%s", p->schema->tables[named->table].name,
                        named->name, p->schema->tables[used->table].name, used->name);
}

/* Replaces a column by another one of the same table: in one proposal everywhere, in another only at this place. */
static void exchange(struct proposals *p, const struct link_part *part, const struct schema_column *rival)
{
    const char *name = sql_print_name(p->arena, rival->name), *reason = reason_of(p, rival, part->column);
    if (!name || !reason) return;
    add_if_it_binds(p, with_column(p, part->column, name, NULL), reason);
    if (part->node) add_if_it_binds(p, with_column(p, part->column, name, part->node), reason);
}

/* Replaces a column by one of another table. The block already reads this table, or a key joins the table to the
 * block. */
static void exchange_far(struct proposals *p, const struct link_part *part, const struct schema_column *rival)
{
    const struct sql_block *block = main_block(p);
    const struct schema_table *table = &p->schema->tables[rival->table];
    const char *joins[REPAIR_MAX_JOINS], *reason = reason_of(p, rival, part->column);
    const char *name = column_text(p, table->name, strlen(table->name), rival);
    if (!block || !part->node || !name || !reason || source_of(block, rival)) return;
    uint32_t n = repair_joins_to(p, block, table, joins), from = repair_end_of_from(block);
    for (uint32_t i = 0; i < n; i++) {
        const char *sql = with_column(p, part->column, name, part->node);
        /* A replacement before the end of FROM moves this end. */
        size_t moved = sql && part->node->start < from ? strlen(sql) - strlen(p->sql) : 0;
        uint32_t at = from + (uint32_t)moved;
        if (sql) add_if_it_binds(p, repair_replaced(p->arena, sql, at, at, joins[i]), reason);
    }
}

static void exchange_columns(struct proposals *p)
{
    const struct link_query *links = p->query->links;
    for (uint32_t i = 0; i < links->n_parts; i++) {
        const struct link_part *part = &links->parts[i];
        if (!part->column || part->role >= LINK_COLUMN_ROLES) continue;
        if (part->same.column && part->same.score > part->score) {
            if (part->same.column->table == part->column->table) exchange(p, part, part->same.column);
        }
        if (part->far.column && part->far.score > part->score) exchange_far(p, part, part->far.column);
    }
}

/* --- columns that the result lacks --- */

static const double NAMED = 0.6; /* least score of a mention of the column that a phrase names */

static bool overlaps(const struct question_mention *mention, const struct question_output *phrase)
{
    return mention->first < phrase->first + phrase->n_tokens && mention->first + mention->n_tokens > phrase->first;
}

/* True if the phrase names a column of the result, even with a low score. */
static bool is_shown(const struct proposals *p, const struct sql_block *block, const struct question_output *phrase)
{
    const struct question *question = p->query->links->question->question;
    for (uint32_t i = 0; i < block->n_outputs; i++) {
        const struct sql_ref *ref = block->outputs[i].expr ? sql_plain_column(block->outputs[i].expr) : NULL;
        const struct schema_column *column = schema_column_of(p->schema, ref);
        for (uint32_t m = 0; column && m < question->n_mentions; m++)
            if (question->mentions[m].id == column->id && overlaps(&question->mentions[m], phrase)) return true;
    }
    return false;
}

/* Returns the column that the phrase names with the highest score, from the tables that the block reads. Returns NULL
 * if there is none. */
static const struct schema_column *named_by(const struct proposals *p, const struct sql_block *block,
                                            const struct question_output *phrase)
{
    const struct question *question = p->query->links->question->question;
    const struct schema_column *best = NULL;
    double score = NAMED;
    for (uint32_t m = 0; m < question->n_mentions; m++) {
        const struct question_mention *mention = &question->mentions[m];
        if (mention->column < 0 || !overlaps(mention, phrase) || mention->score < score) continue;
        const struct schema_column *column = p->schema->columns[mention->id];
        if (!source_of(block, column) || (best && mention->score == score)) continue;
        best = column;
        score = mention->score;
    }
    return best;
}

static void show_too(struct proposals *p, const struct sql_block *block, const struct schema_column *column)
{
    const struct sql_source *source = source_of(block, column);
    const struct sql_node *items = sql_kid(block->node, SELECT_ITEMS);
    const char *name = column_text(p, source->name, source->name_len, column);
    const char *more = name ? arena_printf(p->arena, ", %s", name) : NULL;
    const char *reason = arena_printf(p->arena, "the question asks for %s.%s, which the query does not return",
                                      p->schema->tables[column->table].name, column->name);
    if (more && reason) add_if_it_binds(p, repair_replaced(p->arena, p->sql, items->end, items->end, more), reason);
}

static void add_missing_columns(struct proposals *p)
{
    const struct question *question = p->query->links->question->question;
    const struct sql_block *block = main_block(p);
    for (uint32_t i = 0; block && i < question->n_outputs; i++) {
        const struct question_output *phrase = &question->outputs[i];
        if (phrase->computed || phrase->vague || is_shown(p, block, phrase)) continue;
        const struct schema_column *column = named_by(p, block, phrase);
        if (column) show_too(p, block, column);
    }
}

void repair_propose_asked(struct proposals *p)
{
    if (p->query->values) add_said_values(p);
    exchange_columns(p);
    add_missing_columns(p);
}

/* --- texts that an edit must keep --- */

/* Removes the wildcards around a text, in place: "%text%" becomes "text". */
static const char *without_wildcards(char *pattern)
{
    size_t len = strlen(pattern);
    while (len && pattern[len - 1] == '%') pattern[--len] = '\0';
    return pattern + strspn(pattern, "%");
}

void repair_find_said(struct proposals *p)
{
    uint32_t looked_at = 0;
    for (const struct sql_node *n = p->stmt->root; n && p->n_said < REPAIR_MAX_SAID && looked_at < MAX_TEXTS;
         n = sql_walk(p->stmt->root, n)) {
        if (!sql_is(n, SQL_LITERAL) || n->op != SQL_LIT_STRING || !n->text_len) continue;
        looked_at++;
        if (said_as(p, n) != QUESTION_FORM_SAME) continue;
        char *text = g_ascii_strdown(n->text, n->text_len);
        const char *kept = arena_strdup(p->arena, without_wildcards(text));
        if (kept) p->said[p->n_said++] = kept;
        g_free(text);
    }
}

bool repair_keeps_said(const struct proposals *p, const char *sql)
{
    char *lower = p->n_said ? g_ascii_strdown(sql, -1) : NULL;
    bool kept = true;
    for (uint32_t i = 0; i < p->n_said && kept; i++) kept = strstr(lower, p->said[i]) != NULL;
    g_free(lower);
    return kept;
}
