/* incorrect_join_predicate: a join by equality of two columns that do not refer to each other (SQLens A.1).
 *
 * Columns of small integers often contain each other's values by chance. Of the column pairs that no schema declares,
 * three in ten have full inclusion. Therefore an undeclared pair is valid only in one of these cases:
 *   - lib/schema inferred it. The names match, one side is a key that includes the other, and no foreign key is
 *     declared on either side.
 *   - Both columns have the same name, as in actor.musical_id = musical.musical_id. One is the primary key, is named
 *     after its table, and contains the values of the other.
 *   - The values do not match by chance (texts, large numbers), and a key contains all of them.
 *   - Two text columns of one table share values and link its rows (destination = origin).
 *
 * Two columns that refer to the same key form a valid join. The exception is a column that also refers to the table of
 * the other, as in department.manager_id = employee.manager_id. The pair then bypasses that reference.
 *
 * Many schemas declare no keys. In such a schema, a pair without evidence is only a note. An error requires declared
 * keys of one of the tables, another join between them, or values that do not match.
 *
 * A reference may point to rows of several tables, such as remark.about_id with remark.about_kind. A join with one of
 * these tables needs a condition on the kind. Two facts of the data prove the fault: one number occurs with several
 * kinds, and the query joins rows of several kinds.
 *
 * If valid pairs already connect two FROM items, a further equality is a filter ("in the same year"), so it is only a
 * note. */
#include "lib/question/phrase.h"
#include "signals/support/names.h"
#include "signals/support/probe.h"

#include <stdio.h>
#include <string.h>

enum { OPT_MIN_INCLUSION };

static const struct vsig_option OPTIONS[] = {
    {"min_inclusion", 0.95, 0, 1,
     "minimum share of one column's values that the other column must contain for an undeclared join to be valid"},
    {NULL},
};

static bool same_name(const struct schema_column *a, const struct schema_column *b)
{
    return sql_name_is(a->name, strlen(a->name), b->name, strlen(b->name));
}

/* True if the column is the primary key of its table and its name begins with the table's name. */
static bool is_named_key(const struct schema_index *schema, const struct schema_column *column)
{
    const struct schema_table *table = &schema->tables[column->table];
    if (column->pk != 1 || table->n_pk != 1 || table->words.n == 0 || table->words.n >= column->words.n) return false;
    for (uint32_t i = 0; i < table->words.n; i++)
        if (strcmp(table->words.items[i].stem, column->words.items[i].stem) != 0) return false;
    return true;
}

/* Returns 1 if the column contains the integer or text, 0 if it does not, and -1 if this is unknown. */
static int has_value(const struct schema_index *schema, const struct schema_column *column,
                     const struct db_value *value)
{
    char text[32];
    if (value->type == DB_TEXT) return schema_column_has(schema, column, value->text, value->len, true);
    if (value->type != DB_INT) return -1;
    int len = snprintf(text, sizeof text, "%lld", (long long)value->i);
    return schema_column_has(schema, column, text, (size_t)len, true);
}

/* True if `to` contains all of the most common values of `from`. */
static bool values_found(const struct schema_index *schema, const struct schema_column *from,
                         const struct schema_column *to)
{
    if (schema->no_data) return true; /* without data, only the names decide */
    uint32_t found = 0;
    for (uint32_t i = 0; i < from->stats.n_top; i++) found += has_value(schema, to, &from->stats.top[i].value) == 1;
    return from->stats.n_top > 0 && found == from->stats.n_top;
}

/* True for a column of a composite key. In sla.priority = ticket.priority, the key is (tier, priority). */
static bool is_key_part(const struct schema_index *schema, const struct schema_column *column)
{
    return column->pk && schema->tables[column->table].n_pk > 1;
}

static bool is_spelled_out(const struct schema_index *schema, const struct schema_column *a,
                           const struct schema_column *b)
{
    if (!same_name(a, b)) return false;
    if ((is_key_part(schema, b) && values_found(schema, a, b)) ||
        (is_key_part(schema, a) && values_found(schema, b, a)))
        return true;
    return (is_named_key(schema, b) && values_found(schema, a, b)) ||
           (is_named_key(schema, a) && values_found(schema, b, a));
}

/* True if `to` is a key that contains all frequent values of `from`, and the values do not match by chance. Numbers
 * below SMALL may match by chance, because most keys contain them. Zeros and empty texts stand for missing values and
 * are ignored. */
enum { SMALL = 50, MIN_TELLING = 3 };

static bool is_telling(const struct schema_index *schema, const struct schema_column *from,
                       const struct schema_column *to)
{
    uint32_t n = 0;
    if (!to->unique || to->stats.sampled) return false;
    for (uint32_t i = 0; i < from->stats.n_top; i++) {
        const struct db_value *value = &from->stats.top[i].value;
        if ((value->type == DB_INT && value->i == 0) || (value->type == DB_TEXT && value->len == 0)) continue;
        bool number = value->type == DB_INT && value->i >= SMALL;
        if (!number && value->type != DB_TEXT) return false;
        if (has_value(schema, to, value) != 1) return false;
        n++;
    }
    return n >= MIN_TELLING;
}

/* True for two text columns of one table that share at least half of the frequent values. One row may begin where
 * another one ends. */
static bool is_chain(const struct schema_index *schema, const struct schema_column *a, const struct schema_column *b)
{
    uint32_t found = 0;
    if (a->table != b->table || a->stats.texts == 0 || b->stats.texts == 0) return false;
    for (uint32_t i = 0; i < a->stats.n_top; i++) {
        const struct db_value *value = &a->stats.top[i].value;
        found += value->type == DB_TEXT && schema_column_has(schema, b, value->text, value->len, true) == 1;
    }
    return found > 0 && found * 2 >= a->stats.n_top;
}

/* Returns the reference that the pair bypasses. Both columns refer to the same key, and one of them also refers to the
 * table of the other. Returns NULL if there is none. */
static const struct schema_join *passed_by(const struct schema_index *schema, const struct schema_column *a,
                                           const struct schema_column *b)
{
    bool derived = false;
    if (a != b) (void)schema_join_between(schema, a->id, b->id, &derived);
    if (!derived) return NULL;
    for (uint32_t i = 0; i < schema->n_joins; i++) {
        const struct schema_join *join = &schema->joins[i];
        bool direct = (join->from[0] == a->id && join->to_table == b->table) ||
                      (join->from[0] == b->id && join->to_table == a->table);
        if (join->n_pairs == 1 && join->declared && direct && a->table != b->table) return join;
    }
    return NULL;
}

/* Returns a declared join between the two tables, for the suggested fix. Returns NULL if there is none. */
static const struct schema_join *declared_edge(const struct schema_index *schema, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < schema->n_joins; i++) {
        const struct schema_join *join = &schema->joins[i];
        if (join->declared &&
            ((join->from_table == a && join->to_table == b) || (join->from_table == b && join->to_table == a)))
            return join;
    }
    return NULL;
}

/* True if there are no data and no declaration contradicts an undeclared pair. A declaration contradicts it if one of
 * the columns refers to another table, or if the tables have another declared join. Many schemas declare few keys. */
static bool is_open(const struct schema_index *schema, const struct schema_column *a, const struct schema_column *b)
{
    return schema->no_data && !schema_is_foreign_key(schema, a->id) && !schema_is_foreign_key(schema, b->id) &&
           !declared_edge(schema, a->table, b->table);
}

/* True for a column named like a reference ("buyer_id", "invited_by") without another reference, if the key contains
 * all its values. Small numbers match by chance, so this does not prove a reference. But it is not evidence of an error
 * either. */
static bool may_refer(const struct schema_index *schema, const struct schema_column *from,
                      const struct schema_column *to)
{
    static const char *const ends[] = {"id", "identifier", "by", "no", "number", "code", "key", "ref", "reference"};
    const char *last = from->words.n > 1 ? from->words.items[from->words.n - 1].norm : "";
    bool named = false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) named |= strcmp(last, ends[i]) == 0;
    bool key = to->pk == 1 && schema->tables[to->table].n_pk == 1;
    if (!named || !key || from->pk || from->unique || same_name(from, to)) return false;
    if (schema_is_reference(schema, from->id)) return false;
    return from->stats.distinct <= to->stats.distinct && values_found(schema, from, to);
}

static bool is_valid(const struct vsig_run *run, const struct schema_column *a, const struct schema_column *b)
{
    if (a == b) return true; /* a self-join of rows with the same value */
    bool derived = false;
    const struct schema_join *join = schema_join_between(run->subject->schema, a->id, b->id, &derived);
    if (derived || (join && join->declared)) return true;
    if (join && join->inclusion >= vsig_opt(run, OPT_MIN_INCLUSION)) return true;
    const struct schema_index *schema = run->subject->schema;
    return is_spelled_out(schema, a, b) || is_telling(schema, a, b) || is_telling(schema, b, a) ||
           is_chain(schema, a, b) || is_open(schema, a, b) || may_refer(schema, a, b) || may_refer(schema, b, a);
}

static bool pair_is_valid(const struct vsig_run *run, const struct sql_join_pair *pair)
{
    const struct schema_column *a = schema_column_of(run->subject->schema, pair->left);
    const struct schema_column *b = schema_column_of(run->subject->schema, pair->right);
    return !a || !b || is_valid(run, a, b);
}

/* True if other valid pairs of the block connect the two FROM items. */
static bool is_filter(const struct vsig_run *run, const struct vsig_block_shape *home, const struct sql_join_pair *pair)
{
    vsig_sources reached = vsig_source_bit(home->block, pair->left->source);
    vsig_sources goal = vsig_source_bit(home->block, pair->right->source);
    bool more = reached && goal && !pair->is_in && !home->too_large;
    while (more && !(reached & goal)) {
        more = false;
        for (uint32_t i = 0; i < home->n_pairs; i++) {
            const struct sql_join_pair *other = home->pairs[i];
            vsig_sources left = vsig_source_bit(home->block, other->left->source);
            vsig_sources right = vsig_source_bit(home->block, other->right->source);
            bool leads_on = ((left & reached) != 0) != ((right & reached) != 0);
            if (other == pair || !leads_on || !other->conjunct || !pair_is_valid(run, other)) continue;
            reached |= left | right;
            more = true;
        }
    }
    return (reached & goal) != 0;
}

/* True if the schema declares a foreign key from or to the table. */
static bool has_declared_keys(const struct schema_index *schema, uint32_t table)
{
    for (uint32_t i = 0; i < schema->n_joins; i++)
        if (schema->joins[i].declared && (schema->joins[i].from_table == table || schema->joins[i].to_table == table))
            return true;
    return false;
}

/* True if the schema has any join between the two tables, declared or inferred. */
static bool has_other_edge(const struct schema_index *schema, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < schema->n_joins; i++) {
        const struct schema_join *join = &schema->joins[i];
        if ((join->from_table == a && join->to_table == b) || (join->from_table == b && join->to_table == a))
            return true;
    }
    return false;
}

/* True if most of the common values of `from` are missing from `to`. Then `from` does not refer to `to`. */
static bool is_disproved(const struct schema_index *schema, const struct schema_column *from,
                         const struct schema_column *to)
{
    uint32_t n = 0, absent = 0;
    if (schema->no_data || to->stats.sampled) return false;
    for (uint32_t i = 0; i < from->stats.n_top; i++) {
        const struct db_value *value = &from->stats.top[i].value;
        n += value->type == DB_INT || value->type == DB_TEXT;
        absent += has_value(schema, to, value) == 0;
    }
    return absent * 2 > n;
}

/* True for a column whose name or type says that it measures or counts something. */
static bool is_measure(const struct schema_column *column)
{
    static const char *const WORDS[] = {
        "amount", "price", "cost",  "qty",    "quantity", "count", "total",  "sum",      "year",    "month",
        "day",    "age",   "score", "points", "rank",     "level", "minute", "second",   "hour",    "week",
        "weight", "size",  "width", "length", "height",   "rate",  "pct",    "percent",  "cents",   "euro",
        "eur",    "usd",   "km",    "seat",   "position", "seq",   "line",   "version",  "floor",   "star",
        "rating", "capac", "stock", "place",  "number",   "num",   "order",  "duration", "distance"};
    for (uint32_t w = 0; w < column->words.n; w++)
        for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
            if (strcmp(column->words.items[w].norm, WORDS[i]) == 0 ||
                strcmp(column->words.items[w].stem, WORDS[i]) == 0)
                return true;
    return column->affinity != SCHEMA_INTEGER && column->affinity != SCHEMA_TEXT;
}

/* True if the column may be an undeclared reference to the key, such as message.author to usr.id. It has no other
 * reference, its name is not that of a measure, and the key contains all its values. Many schemas declare only some
 * keys. */
static bool may_be_undeclared(const struct schema_index *schema, const struct schema_column *from,
                              const struct schema_column *to)
{
    enum { FEW = 3 };
    bool key = to->pk == 1 && schema->tables[to->table].n_pk == 1;
    if (schema->no_data || !key || from->pk || from->unique || from->stats.distinct < FEW) return false;
    if (is_measure(from) || schema_is_reference(schema, from->id)) return false;
    return from->stats.distinct <= to->stats.distinct && values_found(schema, from, to);
}

/* True if declared keys, another join or the data contradict the pair. Another join does not count if the key contains
 * all values of the column. The column may then have another role, such as referee and fourth official. */
static bool is_known_wrong(const struct schema_index *schema, const struct schema_column *a,
                           const struct schema_column *b)
{
    bool role = !schema->no_data && ((b->pk && !a->unique && values_found(schema, a, b)) ||
                                     (a->pk && !b->unique && values_found(schema, b, a)));
    if (may_be_undeclared(schema, a, b) || may_be_undeclared(schema, b, a)) return false;
    return has_declared_keys(schema, a->table) || has_declared_keys(schema, b->table) ||
           (has_other_edge(schema, a->table, b->table) && !role) ||
           (is_disproved(schema, a, b) && is_disproved(schema, b, a));
}

static void report(struct vsig_run *run, const struct sql_join_pair *pair, bool filter)
{
    const struct schema_column *a = schema_column_of(run->subject->schema, pair->left);
    const struct schema_column *b = schema_column_of(run->subject->schema, pair->right);
    const struct schema_index *schema = run->subject->schema;
    const char *a_table = schema->tables[a->table].name, *b_table = schema->tables[b->table].name;
    struct vsig_finding *finding =
        vsig_fire(run, filter || !is_known_wrong(schema, a, b) ? VSIG_NOTE : VSIG_ERROR, pair->node,
                  "the join compares columns that do not refer to each other: %s.%s and %s.%s", a_table, a->name,
                  b_table, b->name);
    vsig_add_fact(run, finding, "columns", false, "%s.%s, %s.%s", a_table, a->name, b_table, b->name);
    const struct schema_join *edge = declared_edge(schema, a->table, b->table);
    if (!edge) return;
    const struct schema_column *from = schema->columns[edge->from[0]], *to = schema->columns[edge->to[0]];
    vsig_add_fact(run, finding, "declared join", false, "%s.%s = %s.%s", schema->tables[from->table].name, from->name,
                  schema->tables[to->table].name, to->name);
}

static void report_passed(struct vsig_run *run, const struct sql_join_pair *pair)
{
    const struct schema_index *schema = run->subject->schema;
    const struct schema_column *a = schema_column_of(schema, pair->left), *b = schema_column_of(schema, pair->right);
    const struct schema_join *join = a && b ? passed_by(schema, a, b) : NULL;
    if (!join) return;
    const struct schema_column *from = schema->columns[join->from[0]], *to = schema->columns[join->to[0]];
    struct vsig_finding *finding =
        vsig_fire(run, VSIG_WARNING, pair->node, "%s.%s refers to %s.%s, but the join does not use this reference",
                  schema->tables[from->table].name, from->name, schema->tables[to->table].name, to->name);
    vsig_add_fact(run, finding, "declared join", false, "%s.%s = %s.%s", schema->tables[from->table].name, from->name,
                  schema->tables[to->table].name, to->name);
}

/* --- references to rows of several tables --- */

enum { MAX_KINDS = 40 };

/* Returns the column that says which table the reference points to: about_kind or about for about_id. Returns NULL if
 * there is none. */
static const struct schema_column *kind_beside(const struct schema_index *schema, const struct schema_column *refers)
{
    static const char *const IDS[] = {"id", "no", "nr", "number", "key", "ref", "code", "identifi", "num", "row", NULL};
    static const char *const KINDS[] = {"kind", "type", "tabl", "class",    "entiti", "model", "object", "tab", "typ",
                                        "what", "sort", "of",   "categori", "to",     "area",  "sector", NULL};
    const struct schema_table *table = &schema->tables[refers->table];
    const struct text_tokens *words = &refers->words;
    if (refers->pk || refers->unique || words->n < 2 || !question_token_is(&words->items[words->n - 1], IDS) ||
        schema_is_foreign_key(schema, refers->id))
        return NULL;
    for (uint32_t i = 0; i < table->n_columns; i++) {
        const struct schema_column *column = &table->columns[i];
        bool few = column->stats.distinct > 1 && column->stats.distinct <= MAX_KINDS;
        bool last = column->words.n == words->n && question_token_is(&column->words.items[words->n - 1], KINDS);
        bool beside = few && column != refers && (last || column->words.n + 1 == words->n);
        for (uint32_t w = 0; beside && w + 1 < words->n; w++)
            beside = strcmp(column->words.items[w].norm, words->items[w].norm) == 0;
        if (beside) return column;
    }
    return NULL;
}

/* True if the reference is named after the table. account_id and account_type both describe one account. */
static bool is_named_after(const struct schema_column *refers, const struct schema_table *table)
{
    enum { LEAST = 3 };
    for (uint32_t i = 0; i < table->words.n; i++) {
        const char *a = refers->words.items[0].norm, *b = table->words.items[i].norm;
        size_t len = strlen(a) < strlen(b) ? strlen(a) : strlen(b);
        if (len >= LEAST && strncmp(a, b, len) == 0) return true;
    }
    return false;
}

static bool is_used(const struct vsig_subject *subject, const struct schema_column *column)
{
    for (uint32_t i = 0; i < subject->bound->n_refs; i++)
        if (schema_column_of(subject->schema, subject->bound->refs[i]) == column) return true;
    return false;
}

/* Returns 1 if a number occurs in the reference with several kinds. The reference then points to rows of several
 * tables. */
static int means_several(struct vsig_run *run, const struct schema_column *refers, const struct schema_column *kind,
                         enum err_code *code)
{
    struct arena *arena = run->subject->arena;
    const char *table = schema_quote_table(arena, &run->subject->schema->tables[refers->table]);
    const char *id = db_quote_name(arena, refers->name, strlen(refers->name));
    const char *by = db_quote_name(arena, kind->name, strlen(kind->name));
    const char *sql =
        table && id && by
            ? arena_printf(arena, "SELECT 1 FROM %s GROUP BY %s HAVING COUNT(DISTINCT %s) > 1 LIMIT 1", table, id, by)
            : NULL;
    return vsig_probe_proves(run->subject, sql, code);
}

/* Returns 1 if the joined rows of the block have several kinds. */
static int joins_several(struct vsig_run *run, const struct vsig_block_shape *shape, const struct sql_source *source,
                         const struct schema_column *kind, enum err_code *code)
{
    struct vsig_subject *subject = run->subject;
    const char *by = vsig_probe_column(subject, source, kind), *rows = vsig_probe_rows(subject, shape, 0, NULL);
    const char *key = NULL, *with = vsig_probe_with(subject, NULL, NULL);
    /* count only matched rows, because an outer join may match none */
    for (uint32_t i = 0; i < shape->n_pairs && !key; i++) {
        const struct sql_ref *ends[2] = {shape->pairs[i]->left, shape->pairs[i]->right};
        for (unsigned e = 0; e < 2; e++) {
            const struct schema_column *other = schema_column_of(subject->schema, ends[1 - e]);
            if (ends[e]->source == source && other) key = vsig_probe_column(subject, ends[1 - e]->source, other);
        }
    }
    if (!by || !rows || !with || !key) return 0;
    const char *sql = arena_printf(
        subject->arena,
        "%sSELECT 1 FROM (SELECT COUNT(DISTINCT kind_of) AS kinds FROM (SELECT %s AS kind_of, %s AS of_row "
        "%s) joined_rows WHERE of_row IS NOT NULL) counted_kinds WHERE kinds > 1",
        with, by, key, rows);
    return vsig_probe_proves(subject, sql, code);
}

/* Reports a join by a reference to rows of several tables, if the query uses the column of its kind nowhere. */
static enum err_code check_kind(struct vsig_run *run, const struct vsig_block_shape *shape,
                                const struct sql_join_pair *pair)
{
    const struct sql_ref *ends[2] = {pair->left, pair->right};
    const struct schema_index *schema = run->subject->schema;
    for (unsigned e = 0; e < 2; e++) {
        const struct schema_column *refers = schema_column_of(schema, ends[e]);
        const struct schema_column *key = schema_column_of(schema, ends[1 - e]);
        const struct schema_column *kind = refers && key && key->unique ? kind_beside(schema, refers) : NULL;
        if (!kind || refers->table == key->table || is_named_after(refers, &schema->tables[key->table]) ||
            is_used(run->subject, kind))
            continue;
        enum err_code code = ERR_OK;
        if (!means_several(run, refers, kind, &code)) return code;
        int proved = shape ? joins_several(run, shape, ends[e]->source, kind, &code) : 0;
        const char *table = schema->tables[refers->table].name;
        struct vsig_finding *finding =
            vsig_fire(run, proved ? VSIG_ERROR : VSIG_WARNING, pair->node,
                      "%s.%s refers to rows of several tables, but no condition on %s selects those of %s", table,
                      refers->name, kind->name, schema->tables[key->table].name);
        vsig_add_fact(run, finding, "missing condition", false, "%s.%s", table, kind->name);
        return code;
    }
    return ERR_OK;
}

static enum err_code check_kinds(struct vsig_run *run, const struct vsig_shape *shape)
{
    enum err_code code = ERR_OK;
    for (uint32_t i = 0; i < shape->n_pairs && !code && !run->verdict->n_findings; i++) {
        const struct sql_block *block = shape->pairs[i].block;
        const struct vsig_block_shape *home = block ? &shape->blocks[block->index] : NULL;
        bool plain = home && !home->too_large && !block->correlated && sql_is(block->node, SQL_SELECT) &&
                     shape->pairs[i].left->source->block == block && shape->pairs[i].right->source->block == block;
        code = check_kind(run, plain ? home : NULL, &shape->pairs[i]);
    }
    return code;
}

static enum err_code eval(struct vsig_run *run)
{
    const struct vsig_shape *shape = vsig_shape(run->subject);
    if (!shape) return ERR_LIMIT_MEMORY;
    enum err_code code = check_kinds(run, shape);
    if (run->verdict->n_findings) return code;
    for (uint32_t i = 0; i < shape->n_pairs; i++) {
        const struct sql_join_pair *pair = &shape->pairs[i];
        if (run->verdict->n_findings == VSIG_MAX_FINDINGS) break; /* the list of findings is full */
        if (pair_is_valid(run, pair)) {
            report_passed(run, pair);
            continue;
        }
        const struct sql_block *block = pair->block;
        report(run, pair, block && is_filter(run, &shape->blocks[block->index], pair));
    }
    return code;
}

const struct vsig_def vsig_incorrect_join_predicate = {
    .id = VSIG_ID_incorrect_join_predicate,
    .name = "incorrect_join_predicate",
    .family = VSIG_JOIN,
    .cause = VSIG_MISALIGNMENT,
    .sentence = "the query joins two columns that are not a declared, derived or safely inferred foreign key pair",
    .description = "The query joins two columns, but neither column refers to the other. Equal values mean different "
                   "things in the two columns, so rows are paired by chance. Or the column refers to rows of several "
                   "tables, and no condition selects one of them.",
    .example = "`client.client_id = account.account_id`. A client and an account with the same number are unrelated. "
               "The table disp links clients to accounts.",
    .instruction = "Join along the foreign keys of the schema, through the linking table if there is one.",
    .options = OPTIONS,
    .eval = eval,
};
