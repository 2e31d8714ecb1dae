#include "signals/support/names.h"

#include "lib/question/phrase.h"
#include "lib/question/question.h"

#include <glib.h>
#include <string.h>

static const char *or_unknown(const char *name)
{
    return name ? name : "?";
}

const struct schema_column *vsig_column_at(const struct vsig_subject *subject, const struct sql_source *source,
                                           int output)
{
    if (output < 0) return NULL;
    int table = source->table, column = output;
    if (source->kind != SQL_SOURCE_TABLE) {
        if ((uint32_t)output >= source->n_outputs) return NULL;
        table = source->outputs[output].table;
        column = source->outputs[output].column;
    }
    if (table < 0 || column < 0 || (uint32_t)table >= subject->schema->n_tables) return NULL;
    const struct schema_table *home = &subject->schema->tables[table];
    return (uint32_t)column < home->n_columns ? &home->columns[column] : NULL;
}

static const char *full_name(const struct vsig_subject *subject, const struct schema_column *column)
{
    return or_unknown(arena_printf(subject->arena, "%s.%s", subject->schema->tables[column->table].name, column->name));
}

const char *vsig_output_name(const struct vsig_subject *subject, const struct sql_source *source, int output)
{
    const struct schema_column *column = vsig_column_at(subject, source, output);
    if (column) return full_name(subject, column);
    bool has_rowid = source->kind == SQL_SOURCE_TABLE || source->kind == SQL_SOURCE_DERIVED;
    if (output < 0 && has_rowid && source->name)
        return or_unknown(arena_printf(subject->arena, "%.*s.rowid", (int)source->name_len, source->name));
    if (source->kind == SQL_SOURCE_TABLE || output < 0 || (uint32_t)output >= source->n_outputs) return "?";
    const struct sql_output *out = &source->outputs[output];
    return out->name ? or_unknown(arena_strndup(subject->arena, out->name, out->name_len)) : "?";
}

const char *vsig_column_name(const struct vsig_subject *subject, const struct sql_ref *ref)
{
    const struct schema_column *column = schema_column_of(subject->schema, ref);
    if (column) return full_name(subject, column);
    if (ref->node && ref->node->text)
        return or_unknown(arena_strndup(subject->arena, ref->node->text, ref->node->text_len));
    return "?";
}

static bool is_repeated(const struct sql_source *source)
{
    const struct sql_block *block = source->block;
    for (uint32_t i = 0; i < block->n_sources; i++)
        if (&block->sources[i] != source && block->sources[i].table == source->table) return true;
    return false;
}

const char *vsig_source_name(const struct vsig_subject *subject, const struct sql_source *source)
{
    if (source->kind != SQL_SOURCE_TABLE || source->table < 0)
        return source->name ? or_unknown(arena_strndup(subject->arena, source->name, source->name_len)) : "a subquery";
    const char *table = subject->schema->tables[source->table].name;
    if (!is_repeated(source) || !source->name) return table;
    return or_unknown(arena_printf(subject->arena, "%s (%.*s)", table, (int)source->name_len, source->name));
}

const char *vsig_counted(const struct vsig_subject *subject, unsigned n, const char *one, const char *many)
{
    return or_unknown(arena_printf(subject->arena, "%u %s", n, n == 1 ? one : many));
}

bool vsig_question_says(const struct vsig_subject *subject, const char *const *phrases)
{
    struct question_phrase at;
    return subject->analysis && question_phrase_find(subject->analysis, phrases, 0, &at);
}

bool vsig_question_says_null(const struct vsig_subject *subject)
{
    static const char *const phrases[] = {"null",  "missing",     "unknown",   "empty",
                                          "blank", "unspecified", "undefined", NULL};
    return vsig_question_says(subject, phrases);
}

bool vsig_question_names_table(const struct vsig_subject *subject, int table)
{
    if (!subject->analysis) return false;
    for (uint32_t i = 0; i < subject->analysis->n_mentions; i++) {
        const struct question_mention *mention = &subject->analysis->mentions[i];
        if (mention->table == table && mention->column < 0) return true;
    }
    return false;
}

bool vsig_abbreviates(const char *name, const char *word)
{
    enum { SHORTEST = 2, LONGEST = 5 };
    size_t len = strlen(name);
    if (len < SHORTEST || len > LONGEST || strlen(word) <= len || *word != g_ascii_tolower(*name)) return false;
    if (len == SHORTEST) return word[1] == g_ascii_tolower(name[1]);
    for (; *word && *name; word++)
        if (*word == g_ascii_tolower(*name)) name++;
    return !*name;
}
