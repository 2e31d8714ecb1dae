/* Serialises and deserialises a schema index (blob.h). Each code_* function both writes and reads a value, so the two
 * directions cannot diverge. While reading, the first error sets `bad`. From then on the position does not advance and
 * lists are empty. The caller checks `bad` once, at the end.
 *
 * Reading allocates memory as it decodes. Rejected: msgpack-c's unpacker. It builds a tree of objects, larger than the
 * bytes, before the first count can be checked.
 */
#include "lib/schema/blob.h"

#include "lib/schema/schema_int.h"

#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static const char MAGIC[9] = "assay.ix", PART_MAGIC[9] = "assay.iv"; /* the first 8 bytes of each are written */
enum { ORDER = 0x01020304, MAX_PAIRS = 1024, MAX_TOP = 16, MAX_TABLES = 65000 };
static const size_t MAX_BYTES = 512000000;
static const size_t PART_BYTES = 128 << 10; /* the values of a larger column form a part */

struct header {
    char magic[8];
    uint32_t version, order;
    uint64_t len, checksum; /* length and XXH3-64 of the body */
};
_Static_assert(sizeof(struct header) == 32, "drawn in blob.h");

struct coder {
    GByteArray *out; /* NULL while reading */
    msgpack_packer packer;
    bool full; /* writing has exceeded MAX_BYTES */

    const unsigned char *p, *end;
    struct arena *arena;
    struct values *values; /* the value table that is written or read */
    bool bad;
};

/* --- msgpack values ----------------------------------------------------------------------------------------------- */

static int append(void *data, const char *bytes, size_t len)
{
    struct coder *c = data;
    c->full |= len > MAX_BYTES - c->out->len;
    if (!c->full) g_byte_array_append(c->out, (const guint8 *)bytes, (guint)len);
    return c->full ? -1 : 0;
}

/* Returns the next n bytes, or NULL with `bad` set if fewer remain. */
static const unsigned char *take(struct coder *c, uint64_t n)
{
    if (c->bad || n > (uint64_t)(c->end - c->p)) {
        c->bad = true;
        return NULL;
    }
    c->p += n;
    return c->p - n;
}

static uint8_t take_byte(struct coder *c)
{
    const unsigned char *p = take(c, 1);
    return p ? *p : 0xc1; /* a byte that msgpack never uses */
}

static uint64_t take_number(struct coder *c, unsigned bytes)
{
    const unsigned char *p = take(c, bytes);
    uint64_t number = 0;
    for (unsigned i = 0; p && i < bytes; i++) number = number << 8 | p[i];
    return number;
}

static void check(struct coder *c, bool sound)
{
    if (!c->out && !sound) c->bad = true;
}

static uint64_t take_uint(struct coder *c)
{
    uint8_t head = take_byte(c);
    if (head < 0x80) return head;
    if (head >= 0xcc && head <= 0xcf) return take_number(c, 1U << (head - 0xcc));
    c->bad = true;
    return 0;
}

static void code_u64(struct coder *c, uint64_t *value)
{
    if (c->out)
        msgpack_pack_uint64(&c->packer, *value);
    else
        *value = take_uint(c);
}

static void code_u32(struct coder *c, uint32_t *value, uint32_t max)
{
    uint64_t wide = *value;
    code_u64(c, &wide);
    if (c->out) return;
    check(c, wide <= max);
    *value = c->bad ? 0 : (uint32_t)wide;
}

static void code_bool(struct coder *c, bool *value)
{
    uint32_t number = *value;
    code_u32(c, &number, 1);
    if (!c->out) *value = number == 1;
}

/* Reads or writes the bits as an unsigned number. msgpack has ten forms of signed integers, and none of them is shorter
 * for these values.
 */
static void code_i64(struct coder *c, int64_t *value)
{
    uint64_t bits = (uint64_t)*value;
    code_u64(c, &bits);
    if (!c->out) *value = (int64_t)bits;
}

static void code_real(struct coder *c, double *value)
{
    uint64_t bits;
    memcpy(&bits, value, sizeof bits);
    code_u64(c, &bits);
    if (!c->out) memcpy(value, &bits, sizeof bits);
}

static uint64_t take_bin_length(struct coder *c)
{
    uint8_t head = take_byte(c);
    if (head >= 0xc4 && head <= 0xc6) return take_number(c, 1U << (head - 0xc4));
    c->bad = true;
    return 0;
}

/* Reads or writes bytes. Reading makes *bytes point into the blob. */
static void code_bytes(struct coder *c, const void **bytes, size_t *len)
{
    if (c->out) {
        msgpack_pack_bin(&c->packer, *len);
        msgpack_pack_bin_body(&c->packer, *len ? *bytes : "", *len);
        return;
    }
    *len = take_bin_length(c);
    *bytes = take(c, *len);
    if (!*bytes) *len = 0;
}

/* Reads or writes a text. Reading makes a NUL-terminated copy in the arena. */
static void code_span(struct coder *c, const char **text, size_t *len)
{
    const void *bytes = *text;
    size_t n = *len;
    code_bytes(c, &bytes, &n);
    if (c->out) return;
    *len = n;
    *text = bytes ? arena_strndup(c->arena, bytes, *len) : NULL;
    if (!*text) c->bad = true, *text = "", *len = 0;
}

/* Reads or writes a string that contains no NUL. */
static void code_text(struct coder *c, const char **text)
{
    size_t len = c->out ? strlen(*text) : 0;
    code_span(c, text, &len);
    check(c, strlen(*text) == len);
}

static void code_optional(struct coder *c, const char **text)
{
    bool there = *text != NULL;
    code_bool(c, &there);
    if (there)
        code_text(c, text);
    else if (!c->out)
        *text = NULL;
}

/* Reads or writes the number of the items that follow. Reading refuses a count above the number of remaining bytes,
 * because each item takes at least one byte. Reading sets *items to a new array for them. */
static void code_list(struct coder *c, uint32_t *n, void **items, size_t size)
{
    code_u32(c, n, UINT32_MAX);
    if (c->out) return;
    check(c, *n <= (uint64_t)(c->end - c->p));
    *items = c->bad ? NULL : arena_array(c->arena, *n, size);
    if (!*items) c->bad = true;
    if (c->bad) *n = 0;
}

/* --- catalogue and statistics ------------------------------------------------------------------------------------- */

static void code_value(struct coder *c, struct db_value *value)
{
    uint32_t type = value->type;
    code_u32(c, &type, DB_BLOB);
    if (!c->out) value->type = (enum db_type)type;
    if (type == DB_INT) code_i64(c, &value->i);
    if (type == DB_FLOAT) code_real(c, &value->f);
    if (type == DB_TEXT || type == DB_BLOB) code_span(c, &value->text, &value->len);
}

static void code_stats(struct coder *c, struct schema_stats *stats)
{
    uint64_t *const counts[] = {&stats->rows,          &stats->nulls,     &stats->distinct, &stats->ints,
                                &stats->reals,         &stats->texts,     &stats->blobs,    &stats->zeros,
                                &stats->numeric_texts, &stats->date_texts};
    for (size_t i = 0; i < G_N_ELEMENTS(counts); i++) code_u64(c, counts[i]);
    code_value(c, &stats->min);
    code_value(c, &stats->max);
    code_real(c, &stats->sum);
    code_bool(c, &stats->sampled);
    void *top = (void *)stats->top;
    code_list(c, &stats->n_top, &top, sizeof *stats->top);
    check(c, stats->n_top <= MAX_TOP);
    if (!c->out) stats->top = top;
    struct schema_top_value *values = top;
    for (uint32_t i = 0; i < stats->n_top && !c->bad; i++) {
        code_value(c, &values[i].value);
        code_u64(c, &values[i].count);
    }
}

static void code_origins(struct coder *c, const struct schema_origin **origins, uint32_t *n)
{
    void *items = (void *)*origins;
    code_list(c, n, &items, sizeof **origins);
    if (!c->out) *origins = items;
    struct schema_origin *list = items;
    for (uint32_t i = 0; i < *n && !c->bad; i++) {
        code_optional(c, &list[i].schema);
        code_optional(c, &list[i].table);
        code_optional(c, &list[i].column);
    }
}

static void code_column(struct coder *c, struct schema_column *column)
{
    uint32_t affinity = column->affinity, pk = column->pk;
    code_text(c, &column->name);
    code_text(c, &column->type);
    code_u32(c, &affinity, SCHEMA_BLOB);
    code_optional(c, &column->description);
    code_optional(c, &column->value_description);
    code_optional(c, &column->full_name);
    code_u32(c, &column->id, UINT32_MAX);
    code_bool(c, &column->not_null);
    code_u32(c, &pk, UINT8_MAX);
    code_bool(c, &column->unique);
    code_bool(c, &column->unique_measured);
    code_bool(c, &column->folds);
    code_optional(c, &column->generated);
    code_origins(c, &column->origins, &column->n_origins);
    code_stats(c, &column->stats);
    if (c->out) return;
    column->affinity = (enum schema_affinity)affinity;
    column->pk = (uint8_t)pk;
}

static void code_hidden(struct coder *c, struct schema_table *table)
{
    void *items = (void *)table->hidden;
    code_list(c, &table->n_hidden, &items, sizeof *table->hidden);
    if (!c->out) table->hidden = items;
    const char **names = items;
    for (uint32_t i = 0; i < table->n_hidden && !c->bad; i++) code_text(c, &names[i]);
}

/* Reads or writes the name of a table. The bare name is the part after the schema and a dot, or the whole name. */
static void code_table_name(struct coder *c, struct schema_table *table)
{
    bool takes_schema = table->bare != table->name;
    code_text(c, &table->name);
    code_optional(c, &table->schema);
    code_bool(c, &takes_schema);
    if (c->out) return;
    table->bare = table->name;
    if (!takes_schema || c->bad) return;
    size_t schema = table->schema ? strlen(table->schema) : 0;
    check(c, table->schema && strlen(table->name) > schema && table->name[schema] == '.' &&
                 memcmp(table->name, table->schema, schema) == 0);
    if (!c->bad) table->bare = table->name + schema + 1;
}

static void code_table(struct coder *c, struct schema_table *table)
{
    code_table_name(c, table);
    code_optional(c, &table->description);
    code_bool(c, &table->is_view);
    code_bool(c, &table->is_virtual);
    code_hidden(c, table);
    code_origins(c, &table->origins, &table->n_origins);
    code_bool(c, &table->scannable);
    code_u64(c, &table->rows);
    void *columns = table->columns;
    code_list(c, &table->n_columns, &columns, sizeof *table->columns);
    if (!c->out) table->columns = columns;
    code_u32(c, &table->n_pk, table->n_columns);
    for (uint32_t i = 0; i < table->n_columns && !c->bad; i++) code_column(c, &table->columns[i]);
}

static void code_pairs(struct coder *c, const struct schema_index *index, struct schema_join *join)
{
    void *from = (void *)join->from, *to = (void *)join->to;
    code_list(c, &join->n_pairs, &from, sizeof *join->from);
    if (!c->out) to = arena_array(c->arena, join->n_pairs, sizeof *join->to);
    check(c, join->n_pairs && join->n_pairs <= MAX_PAIRS && to);
    uint32_t *a = from, *b = to, last = index->n_columns - 1;
    for (uint32_t i = 0; i < join->n_pairs && !c->bad; i++) {
        code_u32(c, &a[i], last);
        code_u32(c, &b[i], last);
        check(c, index->columns[a[i]]->table == join->from_table && index->columns[b[i]]->table == join->to_table);
    }
    if (c->out) return;
    join->from = a;
    join->to = b;
}

static void code_join(struct coder *c, const struct schema_index *index, struct schema_join *join)
{
    check(c, index->n_columns > 0);
    if (c->bad) return;
    code_u32(c, &join->from_table, index->n_tables - 1);
    code_u32(c, &join->to_table, index->n_tables - 1);
    code_bool(c, &join->declared);
    code_bool(c, &join->to_unique);
    code_bool(c, &join->from_not_null);
    code_real(c, &join->inclusion);
    check(c, join->inclusion >= 0 && join->inclusion <= 1);
    if (!c->bad) code_pairs(c, index, join);
}

/* --- data derived from the decoded index -------------------------------------------------------------------------- */

static bool split_names(struct arena *arena, struct schema_table *table)
{
    table->words = text_split_identifier(arena, table->bare, strlen(table->bare));
    for (uint32_t i = 0; i < table->n_columns; i++) {
        struct schema_column *column = &table->columns[i];
        column->words = text_split_identifier(arena, column->name, strlen(column->name));
        schema_widen_words(arena, column);
    }
    return !arena->failed;
}

/* Numbers the columns by id. The ids must be dense and unique. */
static void number_columns(struct coder *c, struct schema_index *index)
{
    uint64_t n = 0;
    for (uint32_t t = 0; t < index->n_tables; t++) n += index->tables[t].n_columns;
    index->n_columns = (uint32_t)MIN(n, UINT32_MAX);
    index->columns = arena_new_array(c->arena, index->n_columns, struct schema_column *);
    check(c, index->columns && n < INT32_MAX);
    for (uint32_t t = 0; t < index->n_tables && !c->bad; t++)
        for (uint32_t i = 0; i < index->tables[t].n_columns && !c->bad; i++) {
            struct schema_column *column = &index->tables[t].columns[i];
            column->table = t;
            column->index = i;
            check(c, column->id < n && !index->columns[column->id]);
            if (!c->bad) index->columns[column->id] = column;
        }
}

static void mark_foreign(struct coder *c, struct schema_index *index)
{
    bool *is_foreign = index->priv->is_foreign = arena_new_array(c->arena, index->n_columns, bool);
    check(c, is_foreign);
    for (uint32_t i = 0; i < index->n_joins && !c->bad; i++)
        for (uint32_t j = 0; index->joins[i].declared && j < index->joins[i].n_pairs; j++)
            is_foreign[index->joins[i].from[j]] = true;
}

/* Sorts names, splits words and links the graph. */
static void link_index(struct coder *c, struct schema_index *index, const struct schema_options *options)
{
    struct err err;
    struct builder builder = {.options = options, .index = index, .arena = c->arena, .err = &err};
    mark_foreign(c, index);
    for (uint32_t t = 0; t < index->n_tables && !c->bad; t++) check(c, split_names(c->arena, &index->tables[t]));
    if (!c->bad) check(c, schema_sort_names(&builder) == ERR_OK && schema_link_graph(&builder) == ERR_OK);
    if (!c->bad) schema_fill_catalog(index);
}

/* --- the value table ---------------------------------------------------------------------------------------------- */

/* Reads or writes an array of n elements. Reading makes a malloc'd copy. */
static void code_array(struct coder *c, void **items, uint32_t *n, size_t size)
{
    const void *bytes = *items;
    size_t len = *n * size;
    code_bytes(c, &bytes, &len);
    if (c->out) return;
    check(c, len % size == 0 && len / size < UINT32_MAX);
    *n = c->bad ? 0 : (uint32_t)(len / size);
    *items = *n ? malloc(len) : NULL;
    check(c, !*n || *items);
    if (*items) memcpy(*items, bytes, len);
}

/* True if the form's text lies within the strings, is terminated, and has a known type. */
static bool is_form(const char *strings, uint32_t n_strings, uint32_t offset)
{
    if (offset < FORM_PREFIX || offset >= n_strings) return false;
    struct form form = form_at(strings, offset);
    if (form.len >= n_strings - offset || form.text[form.len]) return false;
    return form.type == DB_INT || form.type == DB_FLOAT || form.type == DB_TEXT;
}

/* Reads or writes the filter of a column that has a part. The size of the part counts towards the memory limit of the
 * whole index, as if its values were included. */
static void code_filter(struct coder *c, struct values *values, struct value_column *column)
{
    uint64_t bytes = column->apart_bytes;
    void *filter = column->filter;
    code_array(c, &filter, &column->n_filter, 1);
    code_u64(c, &bytes);
    if (c->out) return; // NOLINT(clang-analyzer-unix.Malloc): only reading allocates
    column->filter = filter;
    column->apart_bytes = bytes;
    check(c, column->n_filter > 0 && column->indexed && bytes < UINT32_MAX);
    if (!c->bad) values->bytes += column->n_filter + bytes;
}

static void code_value_column(struct coder *c, struct values *values, struct value_column *column)
{
    void *entries = column->entries, *strings = column->strings;
    code_bool(c, &column->indexed);
    code_bool(c, &column->complete);
    code_bool(c, &column->apart);
    if (column->apart) {
        code_filter(c, values, column);
        return;
    }
    code_array(c, &entries, &column->n, sizeof *column->entries);
    code_array(c, &strings, &column->n_strings, 1);
    if (c->out) return;        // NOLINT(clang-analyzer-unix.Malloc): only reading allocates
    column->entries = entries; /* values_free frees it, whether valid or not */
    column->strings = strings;
    values->bytes += column->n * sizeof *column->entries + column->n_strings;
    for (uint32_t i = 0; !c->bad && i < column->n; i++)
        check(c, is_form(column->strings, column->n_strings, column->entries[i].form));
}

/* True if every link leads to a later entry, so each chain ends. */
static bool are_chains(const struct values *values)
{
    uint32_t n = values->base[values->n_columns];
    for (uint32_t i = 0; i <= values->mask; i++)
        if (values->heads[i] > n) return false;
    for (uint32_t i = 0; i < values->n_columns; i++)
        for (uint32_t j = 0; j < values->columns[i].n; j++) {
            uint32_t next = values->columns[i].entries[j].next;
            if (next > n || (next && next - 1 <= values->base[i] + j)) return false;
        }
    return true;
}

static void code_chains(struct coder *c, struct values *values)
{
    void *heads = values->heads;
    uint32_t n = values->mask + 1;
    code_array(c, &heads, &n, sizeof *values->heads);
    if (c->out) return;
    values->heads = heads;
    check(c, n && (n & (n - 1)) == 0);
    uint64_t total = 0;
    for (uint32_t i = 0; i < values->n_columns; i++) {
        values->base[i] = (uint32_t)total;
        total += values->columns[i].n;
        check(c, total < UINT32_MAX);
    }
    values->base[values->n_columns] = (uint32_t)total;
    values->mask = n - 1;
    values->bytes += n * sizeof *values->heads;
    if (!c->bad) check(c, are_chains(values));
}

static void code_values(struct coder *c, const struct schema_index *index)
{
    struct values *values = c->values;
    struct schema_options room = {.max_value_bytes = values->max_value_bytes};
    code_u32(c, &room.max_value_bytes, UINT32_MAX);
    if (!c->out) check(c, values_init(values, index->n_columns, &room));
    for (uint32_t i = 0; i < index->n_columns && !c->bad; i++) code_value_column(c, values, &values->columns[i]);
    if (!c->bad) code_chains(c, values);
    if (!c->out && !c->bad) check(c, values_note_apart(values));
}

/* --- the whole index ---------------------------------------------------------------------------------------------- */

static void code_fingerprint(struct coder *c, struct schema_index *index)
{
    const char *text = index->fingerprint;
    code_text(c, &text);
    check(c, strlen(text) == sizeof index->fingerprint - 1);
    if (!c->out && !c->bad) memcpy(index->fingerprint, text, sizeof index->fingerprint);
}

static void code_notes(struct coder *c, struct schema_index *index)
{
    void *notes = (void *)index->notes;
    code_list(c, &index->n_notes, &notes, sizeof *index->notes);
    const char **texts = notes;
    for (uint32_t i = 0; i < index->n_notes && !c->bad; i++) code_text(c, &texts[i]);
    if (!c->out) index->notes = (const char *const *)texts;
}

static void code_terms(struct coder *c, struct schema_index *index)
{
    void *items = (void *)index->terms;
    code_list(c, &index->n_terms, &items, sizeof *index->terms);
    if (!c->out) index->terms = items;
    struct schema_term *terms = items;
    for (uint32_t i = 0; i < index->n_terms && !c->bad; i++) {
        code_text(c, &terms[i].term);
        code_text(c, &terms[i].meaning);
        code_u32(c, &terms[i].column, UINT32_MAX);
        if (!c->out && !c->bad) terms[i].words = text_tokenize(c->arena, terms[i].term, strlen(terms[i].term));
        if (!c->out && !c->bad) check(c, terms[i].words.items != NULL);
    }
}

static void code_index(struct coder *c, struct schema_index *index)
{
    void *tables = index->tables, *joins = index->joins;
    code_fingerprint(c, index);
    code_i64(c, &index->build_ns);
    code_bool(c, &index->has_descriptions);
    code_bool(c, &index->alias_is_row);
    code_bool(c, &index->quotes_names);
    code_bool(c, &index->divides_exactly);
    code_bool(c, &index->no_data);
    code_notes(c, index);
    code_terms(c, index);
    code_list(c, &index->n_tables, &tables, sizeof *index->tables);
    if (!c->out) index->tables = tables;
    check(c, index->n_tables <= MAX_TABLES);
    for (uint32_t i = 0; i < index->n_tables && !c->bad; i++) {
        code_table(c, &index->tables[i]);
        /* either all tables have a schema or none has */
        check(c, !index->tables[i].schema == !index->tables[0].schema);
    }
    if (!c->out && !c->bad) number_columns(c, index);
    if (c->bad) return;
    code_list(c, &index->n_joins, &joins, sizeof *index->joins);
    if (!c->out) index->joins = joins;
    for (uint32_t i = 0; i < index->n_joins && !c->bad; i++) code_join(c, index, &index->joins[i]);
    if (!c->bad) code_values(c, index);
}

/* --- parts of large columns --------------------------------------------------------------------------------------- */

static uint64_t bytes_of(const struct value_column *column)
{
    return column->apart ? column->apart_bytes : column->n * sizeof *column->entries + column->n_strings;
}

static bool is_large(const struct value_column *column)
{
    return column->apart || bytes_of(column) > PART_BYTES;
}

uint32_t schema_parts(const struct schema_index *index, uint32_t *columns)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < index->n_columns; i++)
        if (is_large(&index->priv->values.columns[i])) columns[n++] = i;
    return n;
}

/* Writes the filter that replaces the values of a large column. */
static bool put_filter(const struct value_column *from, struct value_column *to)
{
    to->indexed = from->indexed;
    to->complete = from->complete;
    to->apart = true;
    to->apart_bytes = bytes_of(from);
    to->n_filter = from->n_filter;
    to->filter = from->apart ? malloc(from->n_filter + 1UL) : values_filter(from, &to->n_filter);
    if (from->apart && to->filter) memcpy(to->filter, from->filter, from->n_filter);
    return to->filter != NULL;
}

static void drop(struct values *values)
{
    if (values) values_free(values);
    free(values);
}

/* Returns a copy of the value table without the large columns. If `only` >= 0, the copy has only this column. */
static struct values *pick(const struct values *values, int64_t only)
{
    uint32_t *slots = values_slots(values);
    bool *picked = g_new0(bool, values->n_columns + 1);
    for (uint32_t i = 0; i < values->n_columns; i++) picked[i] = only >= 0 ? i == only : !is_large(&values->columns[i]);
    struct values *out = slots ? values_pick(values, slots, picked) : NULL;
    bool ok = out != NULL;
    for (uint32_t i = 0; ok && only < 0 && i < values->n_columns; i++)
        if (!picked[i]) ok = put_filter(&values->columns[i], &out->columns[i]);
    free(slots);
    g_free(picked);
    if (!ok) drop(out);
    return ok ? out : NULL;
}

static void code_part(struct coder *c, struct schema_index *index, uint32_t column)
{
    uint32_t id = column;
    char fingerprint[sizeof index->fingerprint];
    memcpy(fingerprint, index->fingerprint, sizeof fingerprint);
    const char *text = fingerprint;
    code_text(c, &text);
    code_u32(c, &id, UINT32_MAX);
    check(c, id == column && strcmp(text, index->fingerprint) == 0);
    if (!c->bad) code_value_column(c, c->values, &c->values->columns[column]);
    check(c, c->values->columns[column].indexed && !c->values->columns[column].apart);
    if (!c->bad) code_chains(c, c->values);
}

/* --- blobs -------------------------------------------------------------------------------------------------------- */

/* Writes the index or, if column >= 0, the part of this column. */
static enum err_code write_bytes(const struct schema_index *index, int64_t column, struct schema_blob *out,
                                 struct err *err)
{
    struct header header = {.version = SCHEMA_BLOB_VERSION, .order = ORDER};
    *out = (struct schema_blob){0};
    struct values *values = pick(&index->priv->values, column);
    if (!values) return err_set(err, ERR_LIMIT_MEMORY, "out of memory to write the index of %s", index->db_name);
    struct coder c = {.out = g_byte_array_new(), .values = values};
    memcpy(header.magic, column < 0 ? MAGIC : PART_MAGIC, sizeof header.magic);
    g_byte_array_append(c.out, (const guint8 *)&header, sizeof header);
    msgpack_packer_init(&c.packer, &c, append);
    if (column < 0)
        code_index(&c, (struct schema_index *)index); /* the cast is safe: writing does not change the index */
    else
        code_part(&c, (struct schema_index *)index, (uint32_t)column);
    drop(values);
    if (c.full) {
        g_byte_array_free(c.out, TRUE);
        return err_set(err, ERR_LIMIT_BYTES, "the index of %s is larger than %zu bytes", index->db_name, MAX_BYTES);
    }
    header.len = c.out->len - sizeof header;
    header.checksum = XXH3_64bits(c.out->data + sizeof header, header.len);
    memcpy(c.out->data, &header, sizeof header);
    out->len = c.out->len;
    out->bytes = g_byte_array_free(c.out, FALSE);
    return ERR_OK;
}

enum err_code schema_part_write(const struct schema_index *index, uint32_t column, struct schema_blob *out,
                                struct err *err)
{
    return write_bytes(index, column, out, err);
}

enum err_code schema_blob_write(const struct schema_index *index, struct schema_blob *out, struct err *err)
{
    return write_bytes(index, -1, out, err);
}

void schema_blob_free(struct schema_blob *blob)
{
    g_free(blob->bytes);
    *blob = (struct schema_blob){0};
}

static enum err_code check_header(const void *bytes, size_t len, const char *magic, struct err *err)
{
    struct header header;
    if (len < sizeof header || memcmp(bytes, magic, sizeof header.magic) != 0)
        return err_set(err, ERR_MALFORMED, "not a schema index");
    memcpy(&header, bytes, sizeof header);
    if (header.order != ORDER || header.version != SCHEMA_BLOB_VERSION)
        return err_set(err, ERR_VERSION,
                       "unsupported version %u of a schema index, or another byte order; this build reads version %d",
                       header.version, SCHEMA_BLOB_VERSION);
    const unsigned char *body = (const unsigned char *)bytes + sizeof header;
    if (header.len != len - sizeof header || XXH3_64bits(body, header.len) != header.checksum)
        return err_set(err, ERR_MALFORMED, "checksum mismatch: the schema index is damaged");
    return ERR_OK;
}

static struct coder reader(const void *bytes, size_t len, struct arena *arena, struct values *values)
{
    const unsigned char *start = bytes;
    return (struct coder){.p = start + sizeof(struct header), .end = start + len, .arena = arena, .values = values};
}

enum err_code schema_blob_read(const void *bytes, size_t len, const char *db_name, const struct schema_options *options,
                               struct schema_index **out, struct err *err)
{
    *out = NULL;
    enum err_code code = check_header(bytes, len, MAGIC, err);
    if (code) return code;
    struct schema_options resolved = schema_options_resolve(options);
    struct schema_index *index = schema_index_new(&resolved);
    struct coder c = reader(bytes, len, &index->priv->arena, &index->priv->values);
    index->db_name = arena_strdup(c.arena, db_name);
    code_index(&c, index);
    if (!c.bad) link_index(&c, index, &resolved);
    index->bytes = c.arena->used + index->priv->values.bytes;
    bool full = c.arena->failed || index->bytes > resolved.max_bytes + resolved.max_bytes / 2;
    if (full || c.bad || c.p != c.end) {
        schema_unref(index);
        if (full)
            return err_set(err, ERR_LIMIT_MEMORY, "the schema index does not fit in %llu bytes",
                           (unsigned long long)resolved.max_bytes);
        return err_set(err, ERR_MALFORMED, "the schema index is malformed");
    }
    *out = index;
    return ERR_OK;
}

enum err_code schema_part_read(const void *bytes, size_t len, const struct schema_index *index, uint32_t column,
                               struct values **out, struct err *err)
{
    *out = NULL;
    enum err_code code = check_header(bytes, len, PART_MAGIC, err);
    if (code) return code;
    struct schema_options options = {.max_value_bytes = index->priv->values.max_value_bytes};
    struct arena scratch;
    arena_init(&scratch, 4096);
    struct values *values = calloc(1, sizeof *values);
    bool good = values && values_init(values, index->n_columns, &options);
    struct coder c = reader(bytes, len, &scratch, values);
    if (good) code_part(&c, (struct schema_index *)index, column);
    arena_free(&scratch);
    if (!good || c.bad || c.p != c.end) {
        drop(values);
        return err_set(err, good ? ERR_MALFORMED : ERR_LIMIT_MEMORY,
                       "the values of the requested column are malformed or exceed the memory limit");
    }
    *out = values;
    return ERR_OK;
}

void schema_part_free(struct values *part)
{
    drop(part);
}

struct values *schema_part_of(const struct schema_index *built, const struct schema_index *index, uint32_t column)
{
    bool same = strcmp(built->fingerprint, index->fingerprint) == 0 && built->n_columns == index->n_columns;
    return same && !built->priv->values.columns[column].apart ? pick(&built->priv->values, column) : NULL;
}

static struct values *load_part(void *ctx, uint32_t column)
{
    const struct schema_index *index = ctx;
    return index->priv->source.load(index->priv->source.ctx, index, column);
}

void schema_parts_from(struct schema_index *index, const struct schema_part_source *source)
{
    index->priv->source = *source;
    index->priv->values.load = load_part;
    index->priv->values.load_ctx = index;
}

void schema_blob_key(const char fingerprint[33], const char *path, const struct schema_options *options, char out[33])
{
    struct schema_options o = schema_options_resolve(options);
    GString *denied = g_string_new(NULL);
    for (uint32_t i = 0; i < o.n_deny_columns; i++) g_string_append_printf(denied, " %s", o.deny_columns[i]);
    if (o.n_deny_columns && o.deny_hides) g_string_append(denied, "\thidden");
    char *text = g_strdup_printf("%s %d %s %llu %llu %u %llu %lld %d %.17g %016llx%s", fingerprint, SCHEMA_BLOB_VERSION,
                                 ASSAY_VERSION, (unsigned long long)o.max_bytes, (unsigned long long)o.max_values,
                                 o.max_value_bytes, (unsigned long long)o.max_rows, (long long)o.time_ms,
                                 o.no_inferred_joins, o.min_inclusion,
                                 (unsigned long long)schema_sidecar_stamp(path, o.descriptions_dir), denied->str);
    g_string_free(denied, TRUE);
    XXH128_hash_t hash = XXH3_128bits(text, strlen(text));
    g_free(text);
    snprintf(out, 33, "%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
}
