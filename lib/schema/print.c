/* Prints an index as text or JSON (`assay index build|show`), and writes the schema document for authors of SQL.
 */
#include "lib/schema/schema_int.h"

#include "lib/base/clock.h"

#include <jansson.h>
#include <string.h>

static const char *const affinity_names[] = {"text", "integer", "real", "numeric", "blob"};

/* --- values as text ----------------------------------------------------------------------------------------------- */

/* Returns a value as text in valid UTF-8. Free with g_free. */
static char *value_text(const struct db_value *value)
{
    char number[DB_REAL_TEXT];
    switch (value->type) {
    case DB_INT: return g_strdup_printf("%lld", (long long)value->i);
    case DB_FLOAT: db_real_text(value->f, number); return g_strdup(number);
    case DB_TEXT: return g_utf8_make_valid(value->text, (gssize)value->len);
    case DB_BLOB: return g_strdup_printf("blob of %zu bytes", value->len);
    case DB_NULL: break;
    }
    return g_strdup("NULL");
}

/* Prints a value. Cuts long values, and escapes control characters, which would move a terminal's cursor. */
static void print_value(FILE *out, const struct db_value *value)
{
    enum { SHOWN = 40 };
    char *text = value_text(value);
    const char *p = text;
    for (int n = 0; *p && n < SHOWN; n++, p = g_utf8_next_char(p))
        if (g_unichar_iscntrl(g_utf8_get_char(p)))
            fputc('.', out);
        else
            fwrite(p, 1, (size_t)(g_utf8_next_char(p) - p), out);
    if (*p) fputs("...", out);
    g_free(text);
}

/* --- text for people ---------------------------------------------------------------------------------------------- */

static void print_stats(FILE *out, const struct schema_stats *stats, bool values)
{
    fprintf(out, "%llu distinct%s, %llu null", (unsigned long long)stats->distinct, stats->sampled ? " (sampled)" : "",
            (unsigned long long)stats->nulls);
    if (!values || stats->rows == stats->nulls) return;
    fputs(", ", out);
    print_value(out, &stats->min);
    fputs(" .. ", out);
    print_value(out, &stats->max);
    if (stats->n_top && stats->top[0].count > 1) {
        fputs(", most often ", out);
        print_value(out, &stats->top[0].value);
        fprintf(out, " (%llu)", (unsigned long long)stats->top[0].count);
    }
}

static void print_column(FILE *out, const struct schema_table *table, const struct schema_column *column, bool values)
{
    fprintf(out, "  %-28s %-14s", column->name, *column->type ? column->type : "-");
    if (column->pk) fputs(" key", out);
    if (column->unique && !(column->pk && table->n_pk == 1))
        fputs(column->unique_measured ? " unique(measured)" : " unique", out);
    if (column->not_null) fputs(" not-null", out);
    fputs("  ", out);
    if (table->scannable)
        print_stats(out, &column->stats, values);
    else
        fputs("not read", out);
    fputc('\n', out);
    if (column->description) fprintf(out, "      %s\n", column->description);
}

static void print_side(FILE *out, const struct schema_index *index, uint32_t table, const uint32_t *columns, uint32_t n)
{
    fprintf(out, "%s(", index->tables[table].name);
    for (uint32_t i = 0; i < n; i++) fprintf(out, "%s%s", i ? ", " : "", index->columns[columns[i]]->name);
    fputc(')', out);
}

static void print_join(FILE *out, const struct schema_index *index, const struct schema_join *join)
{
    fputs("  ", out);
    print_side(out, index, join->from_table, join->from, join->n_pairs);
    fputs(" -> ", out);
    print_side(out, index, join->to_table, join->to, join->n_pairs);
    fprintf(out, "  %s, %.0f%% of the values found%s\n", join->declared ? "declared" : "inferred",
            100 * join->inclusion, join->to_unique ? "" : ", to no key");
}

static void print_text(const struct schema_index *index, FILE *out, bool values)
{
    fprintf(out, "%s: %u tables, %u columns, %u joins; %.1f MiB, built in %.1f ms\n", index->db_name, index->n_tables,
            index->n_columns, index->n_joins, (double)index->bytes / (1 << 20), clock_ms(index->build_ns));
    fprintf(out, "fingerprint %s\n", index->fingerprint);
    for (uint32_t t = 0; t < index->n_tables; t++) {
        const struct schema_table *table = &index->tables[t];
        fprintf(out, "\n%s %s, %llu rows\n", table->is_view ? "view" : "table", table->name,
                (unsigned long long)table->rows);
        for (uint32_t i = 0; i < table->n_columns; i++) print_column(out, table, &table->columns[i], values);
    }
    if (index->n_joins) fputs("\njoins\n", out);
    for (uint32_t i = 0; i < index->n_joins; i++) print_join(out, index, &index->joins[i]);
    if (index->n_notes) fputs("\nnotes\n", out);
    for (uint32_t i = 0; i < index->n_notes; i++) fprintf(out, "  %s\n", index->notes[i]);
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static json_t *json_text(const char *text)
{
    if (!text) return json_null();
    char *valid = g_utf8_make_valid(text, -1);
    json_t *string = json_string(valid);
    g_free(valid);
    return string;
}

static json_t *json_value(const struct db_value *value)
{
    if (value->type == DB_NULL) return json_null();
    if (value->type == DB_INT) return json_integer(value->i);
    if (value->type == DB_FLOAT && value->f - value->f == 0) return json_real(value->f);
    char *text = value_text(value);
    json_t *string = json_string(text);
    g_free(text);
    return string;
}

static json_t *json_count(uint64_t n)
{
    return json_integer((json_int_t)n);
}

static json_t *json_top(const struct schema_stats *stats)
{
    json_t *top = json_array();
    for (uint32_t i = 0; i < stats->n_top; i++)
        json_array_append_new(top, json_pack("{s:o, s:o}", "value", json_value(&stats->top[i].value), "count",
                                             json_count(stats->top[i].count)));
    return top;
}

static json_t *json_stats(const struct schema_stats *stats, bool values)
{
    json_t *object = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "rows", json_count(stats->rows), "nulls",
                               json_count(stats->nulls), "distinct", json_count(stats->distinct), "ints",
                               json_count(stats->ints), "reals", json_count(stats->reals), "texts",
                               json_count(stats->texts), "blobs", json_count(stats->blobs), "sampled", stats->sampled);
    if (!values) return object;
    json_object_set_new(object, "min", json_value(&stats->min));
    json_object_set_new(object, "max", json_value(&stats->max));
    json_object_set_new(object, "top", json_top(stats));
    return object;
}

static json_t *json_column(const struct schema_table *table, const struct schema_column *column, bool values)
{
    json_t *object =
        json_pack("{s:o, s:o, s:s, s:i, s:b, s:b, s:b}", "name", json_text(column->name), "type",
                  json_text(column->type), "affinity", affinity_names[column->affinity], "pk", column->pk, "not_null",
                  column->not_null, "unique", column->unique, "unique_measured", column->unique_measured);
    json_object_set_new(object, "full_name", json_text(column->full_name));
    json_object_set_new(object, "description", json_text(column->description));
    json_object_set_new(object, "value_description", json_text(column->value_description));
    json_object_set_new(object, "stats", table->scannable ? json_stats(&column->stats, values) : json_null());
    return object;
}

static json_t *json_table(const struct schema_table *table, bool values)
{
    json_t *columns = json_array();
    for (uint32_t i = 0; i < table->n_columns; i++)
        json_array_append_new(columns, json_column(table, &table->columns[i], values));
    return json_pack("{s:o, s:b, s:b, s:o, s:o}", "name", json_text(table->name), "view", table->is_view, "scannable",
                     table->scannable, "rows", json_count(table->rows), "columns", columns);
}

static json_t *json_side(const struct schema_index *index, uint32_t table, const uint32_t *columns, uint32_t n)
{
    json_t *names = json_array();
    for (uint32_t i = 0; i < n; i++) json_array_append_new(names, json_text(index->columns[columns[i]]->name));
    return json_pack("{s:o, s:o}", "table", json_text(index->tables[table].name), "columns", names);
}

static json_t *json_join(const struct schema_index *index, const struct schema_join *join)
{
    return json_pack("{s:o, s:o, s:b, s:b, s:b, s:f}", "from",
                     json_side(index, join->from_table, join->from, join->n_pairs), "to",
                     json_side(index, join->to_table, join->to, join->n_pairs), "declared", join->declared, "to_unique",
                     join->to_unique, "from_not_null", join->from_not_null, "inclusion", join->inclusion);
}

static void print_json(const struct schema_index *index, FILE *out, bool values)
{
    json_t *tables = json_array(), *joins = json_array(), *notes = json_array();
    for (uint32_t i = 0; i < index->n_tables; i++) json_array_append_new(tables, json_table(&index->tables[i], values));
    for (uint32_t i = 0; i < index->n_joins; i++) json_array_append_new(joins, json_join(index, &index->joins[i]));
    for (uint32_t i = 0; i < index->n_notes; i++) json_array_append_new(notes, json_text(index->notes[i]));
    json_t *all =
        json_pack("{s:i, s:o, s:s, s:o, s:f, s:o, s:o, s:o}", "schema_version", 1, "db", json_text(index->db_name),
                  "fingerprint", index->fingerprint, "bytes", json_count(index->bytes), "build_ms",
                  clock_ms(index->build_ns), "tables", tables, "joins", joins, "notes", notes);
    json_dumpf(all, out, JSON_INDENT(1));
    fputc('\n', out);
    json_decref(all);
}

void schema_print(const struct schema_index *index, FILE *out, bool json, bool values)
{
    if (json)
        print_json(index, out, values);
    else
        print_text(index, out, values);
}

/* --- the schema document ------------------------------------------------------------------------------------------ */

enum { SAMPLES = 5, DOCUMENT_BYTES = 256 << 10, SAMPLE_CHARACTERS = 60, TEXT_CHARACTERS = 400 };

/* Returns the text as JSON, cut to `most` characters with an ellipsis. Frees `text`. */
static json_t *cut_text(char *text, glong most)
{
    if (g_utf8_strlen(text, -1) > most) {
        char *head = g_utf8_substring(text, 0, most - 1);
        g_free(text);
        text = g_strconcat(head, "\u2026", NULL);
        g_free(head);
    }
    json_t *string = json_string(text);
    g_free(text);
    return string;
}

static void set_text(json_t *object, const char *key, const char *text)
{
    if (text && *text) json_object_set_new(object, key, cut_text(g_utf8_make_valid(text, -1), TEXT_CHARACTERS));
}

static void set_mark(json_t *object, const char *key, bool holds)
{
    if (holds) json_object_set_new(object, key, json_true());
}

static json_t *json_samples(const struct schema_stats *stats, uint32_t most)
{
    json_t *samples = json_array();
    for (uint32_t i = 0; i < stats->n_top && i < most; i++) {
        const struct db_value *value = &stats->top[i].value;
        json_array_append_new(samples, value->type == DB_TEXT ? cut_text(value_text(value), SAMPLE_CHARACTERS)
                                                              : json_value(value));
    }
    return samples;
}

static json_t *outline_column(const struct schema_index *index, const struct schema_column *column,
                              const struct schema_json_options *options)
{
    bool denied = schema_column_is_denied(index, column, options->deny_columns, options->n_deny_columns);
    json_t *object = json_pack("{s:o, s:o}", "name", json_text(column->name), "type", json_text(column->type));
    if (column->pk) json_object_set_new(object, "key", json_integer(column->pk));
    set_mark(object, "not_null", column->not_null);
    set_mark(object, "unique", column->unique && !column->unique_measured);
    set_mark(object, "denied", denied);
    set_text(object, "full_name", column->full_name);
    set_text(object, "description", column->description);
    if (!options->values || denied) return object;
    set_text(object, "value_description", column->value_description);
    if (column->stats.n_top)
        json_object_set_new(object, "samples",
                            json_samples(&column->stats, options->max_samples ? options->max_samples : SAMPLES));
    return object;
}

static json_t *outline_table(const struct schema_index *index, const struct schema_table *table,
                             const struct schema_json_options *options)
{
    json_t *columns = json_array();
    for (uint32_t i = 0; i < table->n_columns && !options->names; i++)
        json_array_append_new(columns, outline_column(index, &table->columns[i], options));
    json_t *object = json_pack("{s:o, s:b, s:o}", "name", json_text(table->name), "view", table->is_view, "rows",
                               table->scannable ? json_count(table->rows) : json_null());
    set_text(object, "description", table->description);
    json_object_set_new(object, "columns", columns);
    return object;
}

static json_t *outline_join(const struct schema_index *index, const struct schema_join *join)
{
    return json_pack("{s:o, s:o, s:b}", "from", json_side(index, join->from_table, join->from, join->n_pairs), "to",
                     json_side(index, join->to_table, join->to, join->n_pairs), "declared", join->declared);
}

/* Appends `item` and takes its reference. Subtracts the size from *left. Returns false if the item does not fit. */
static bool append_within(json_t *list, json_t *item, size_t *left)
{
    size_t bytes = json_dumpb(item, NULL, 0, JSON_COMPACT) + 1;
    if (bytes > *left) {
        json_decref(item);
        return false;
    }
    *left -= bytes;
    json_array_append_new(list, item);
    return true;
}

/* Lists the requested tables until *left is exhausted. Returns the number of tables left out. */
static uint32_t list_tables(const struct schema_index *index, const struct schema_json_options *options, json_t *out,
                            size_t *left)
{
    uint32_t left_out = 0;
    for (uint32_t t = 0; t < index->n_tables; t++) {
        const struct schema_table *table = &index->tables[t];
        if (options->table && options->table != table) continue;
        if (left_out || !append_within(out, outline_table(index, table, options), left)) left_out++;
    }
    return left_out;
}

static uint32_t list_joins(const struct schema_index *index, const struct schema_json_options *options, json_t *out,
                           size_t *left)
{
    uint32_t left_out = 0;
    const struct schema_table *only = options->table;
    for (uint32_t j = 0; j < index->n_joins; j++) {
        const struct schema_join *join = &index->joins[j];
        if (only && only != &index->tables[join->from_table] && only != &index->tables[join->to_table]) continue;
        if (options->names || left_out || !append_within(out, outline_join(index, join), left)) left_out++;
    }
    return left_out;
}

char *schema_json(const struct schema_index *index, const struct schema_json_options *options)
{
    size_t left = options->max_bytes ? options->max_bytes : DOCUMENT_BYTES;
    json_t *tables = json_array(), *joins = json_array();
    uint32_t tables_left = list_tables(index, options, tables, &left);
    uint32_t joins_left = list_joins(index, options, joins, &left);
    json_t *all = json_pack("{s:o, s:o, s:o, s:{s:o, s:o}}", "db", json_text(index->db_name), "tables", tables, "joins",
                            joins, "left_out", "tables", json_count(tables_left), "joins", json_count(joins_left));
    char *text = all ? json_dumps(all, JSON_COMPACT) : NULL;
    json_decref(all);
    return text;
}
