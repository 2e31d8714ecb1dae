/* Reads the keys that a team states in words.yaml, for a database that does not declare them:
 *
 *     keys:
 *       - orders.customer_id -> customer.id
 *       - item.order_id, item.line -> line.order_id, line.number
 *       - customer.code                                            (its values are unique)
 *
 * A stated reference counts as declared, so no other reference is inferred for its columns. A column that is stated as
 * unique is refused if the data contain a value twice. An unusable entry is noted with its line and is never an error.
 */
#include "lib/schema/words_file.h"

#include <string.h>

enum { MAX_KEYS = 10000, MAX_PAIRS = 32 };

/* The ids of columns of one table. */
struct side {
    uint32_t ids[MAX_PAIRS];
    uint32_t n;
};

/* Reads "table.column, table.column". Returns NULL, or an error text for the note. */
static const char *read_side(const struct schema_index *index, const char *text, size_t len, struct side *side)
{
    const char *end = text + len;
    for (const char *p = text; p <= end;) {
        const char *comma = memchr(p, ',', (size_t)(end - p)), *stop = comma ? comma : end;
        const char *next = stop + 1;
        while (p < stop && g_ascii_isspace(*p)) p++;
        while (stop > p && g_ascii_isspace(stop[-1])) stop--;
        const struct schema_column *column = words_column(index, p, (size_t)(stop - p));
        if (!column) return "there is no such column: expected table.column";
        if (side->n == MAX_PAIRS) return "a key has at most 32 columns";
        if (side->n && index->columns[side->ids[0]]->table != column->table)
            return "the columns of a key belong to one table";
        side->ids[side->n++] = column->id;
        p = next;
    }
    return NULL;
}

static bool is_known_join(const struct builder *builder, const struct side *from, const struct side *to)
{
    for (guint i = 0; i < builder->joins->len; i++) {
        const struct schema_join *join = &g_array_index(builder->joins, struct schema_join, i);
        if (join->n_pairs == from->n && memcmp(join->from, from->ids, from->n * sizeof *from->ids) == 0 &&
            memcmp(join->to, to->ids, to->n * sizeof *to->ids) == 0)
            return true;
    }
    return false;
}

static const char *add_reference(struct builder *builder, const struct side *from, const struct side *to)
{
    if (from->n != to->n) return "both sides of a key have the same number of columns";
    if (from->n == 1 && from->ids[0] == to->ids[0]) return "a column does not refer to itself";
    if (!is_known_join(builder, from, to)) (void)builder_add_join(builder, from->ids, to->ids, from->n, true, 1);
    return NULL;
}

static const char *add_unique(struct builder *builder, const struct side *key)
{
    struct schema_column *column = builder->index->columns[key->ids[0]];
    const struct schema_stats *stats = &column->stats;
    bool counted = !stats->sampled && stats->rows > 0;
    if (key->n == 1 && counted && stats->distinct + stats->nulls < stats->rows)
        return "the column holds a value twice, so it is no key";
    if (key->n == 1) column->unique = true, column->unique_measured = false;
    (void)builder_add_key(builder, column->table, key->ids, key->n);
    return NULL;
}

/* Reads one entry. Returns NULL, or an error text for the note. */
static const char *read_key(struct builder *builder, const char *text)
{
    static const char ARROW[] = "->";
    struct side from = {.n = 0}, to = {.n = 0};
    const char *arrow = strstr(text, ARROW);
    const char *error = read_side(builder->index, text, arrow ? (size_t)(arrow - text) : strlen(text), &from);
    if (error) return error;
    if (!arrow) return add_unique(builder, &from);
    const char *rest = arrow + strlen(ARROW);
    error = read_side(builder->index, rest, strlen(rest), &to);
    return error ? error : add_reference(builder, &from, &to);
}

void words_read_keys(struct words_file *file, const yaml_node_t *section)
{
    if (section->type != YAML_SEQUENCE_NODE) {
        words_note(file, section, "expected a list of keys: - orders.customer_id -> customer.id");
        return;
    }
    size_t n = (size_t)(section->data.sequence.items.top - section->data.sequence.items.start);
    if (n > MAX_KEYS) words_note(file, section, "too many keys: the first 10,000 are read");
    for (size_t i = 0; i < n && i < MAX_KEYS; i++) {
        const yaml_node_t *node = words_node(file, section->data.sequence.items.start[i]);
        const char *text = words_text(file, node);
        const char *error = text ? read_key(file->builder, text) : "expected a text of at most 500 bytes";
        if (error && node) words_note(file, node, error);
    }
}
