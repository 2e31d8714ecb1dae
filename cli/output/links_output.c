/* Prints the links between words and parts of a query as JSON or as a table (links_output.h). */
#include "cli/output/links_output.h"

#include "cli/output/format.h"
#include "cli/output/table.h"

#include <glib.h>

static const double FAINT = 0.15, RIVAL_GAP = 0.3;

/* Returns the name of a part, such as "singer.age", "singer", "'France'" or "descending". Free with g_free. */
static char *name_of(const struct link_query *links, const struct link_part *part)
{
    const struct schema_index *schema = links->question->schema;
    if (part->role == LINK_LITERAL) return g_strdup_printf("'%s'", part->text);
    if (part->role == LINK_OPERATION) return g_strdup(part->text);
    if (part->role == LINK_TABLE) return g_strdup(schema->tables[part->table].name);
    return g_strdup_printf("%s.%s", schema->tables[part->table].name, part->column->name);
}

static char *word_text(const struct link_query *links, uint32_t word)
{
    const struct question *question = links->question->question;
    const struct text_token *token = &question->tokens.items[links->question->words[word].token];
    return g_strndup(question->text + token->start, token->end - token->start);
}

/* True if the word is shown. A word without weight is shown only if it is linked to a part. */
static bool is_shown(const struct link_query *links, uint32_t word)
{
    return links->question->words[word].weight > 0 || links->places[word].taken;
}

static bool is_unasked(const struct link_part *part)
{
    return !part->implied && (double)(part->said + part->shared) < FAINT * (double)part->weight;
}

static bool has_rival(const struct link_part *part)
{
    return part->role < LINK_COLUMN_ROLES && part->same.column && (double)(part->same.score - part->score) > RIVAL_GAP;
}

/* --- JSON --- */

static json_t *word_json(const struct link_query *links, uint32_t word)
{
    const struct link_place *place = &links->places[word];
    const struct link_part *part = place->part >= 0 ? &links->parts[place->part] : NULL;
    const struct text_token *token = &links->question->question->tokens.items[links->question->words[word].token];
    char *text = word_text(links, word), *name = part ? name_of(links, part) : NULL;
    json_t *out = json_pack("{s:o,s:i,s:i,s:s,s:f,s:o,s:o,s:b}", "text", format_text(text), "start", (int)token->start,
                            "end", (int)token->end, "kind", link_kind_name(place->kind), "strength",
                            (double)place->strength, "role", format_text(part ? link_role_name(part->role) : NULL),
                            "part", format_text(name), "own", place->taken);
    g_free(text);
    g_free(name);
    return out;
}

static json_t *part_json(const struct link_query *links, const struct link_part *part)
{
    char *name = name_of(links, part);
    json_t *out = json_pack("{s:s,s:o,s:i,s:i}", "role", link_role_name(part->role), "part", format_text(name), "start",
                            part->node ? (int)part->node->start : 0, "end", part->node ? (int)part->node->end : 0);
    g_free(name);
    return out;
}

json_t *links_json(const struct link_query *links)
{
    json_t *words = json_array(), *unasked = json_array(), *rivals = json_array();
    for (uint32_t w = 0; w < links->question->n_words; w++)
        if (is_shown(links, w)) json_array_append_new(words, word_json(links, w));
    for (uint32_t i = 0; i < links->n_parts; i++) {
        const struct link_part *part = &links->parts[i];
        if (is_unasked(part)) json_array_append_new(unasked, part_json(links, part));
        if (!has_rival(part)) continue;
        json_t *rival = part_json(links, part);
        json_object_set_new(rival, "rival", format_text(part->same.column->name));
        json_array_append_new(rivals, rival);
    }
    return json_pack("{s:o,s:o,s:o}", "words", words, "unasked", unasked, "rivals", rivals);
}

/* --- text --- */

static void print_word(struct table *table, const struct link_query *links, uint32_t word)
{
    const struct link_place *place = &links->places[word];
    const struct link_part *part = place->part >= 0 ? &links->parts[place->part] : NULL;
    char *text = word_text(links, word), *name = part ? name_of(links, part) : NULL;
    table_row(table);
    table_cell(table, 0, "%s", text);
    table_cell(table, 1, "%s", name ? name : "");
    table_cell(table, 2, "%s", part ? link_role_name(part->role) : "");
    table_cell(table, 3, "%s%s", link_kind_name(place->kind), part && !place->taken ? ", shared" : "");
    g_free(text);
    g_free(name);
}

void links_print(const struct link_query *links, FILE *stream)
{
    static const struct table_column columns[] = {{"word"}, {"linked to"}, {"role"}, {"match"}, {NULL}};
    struct table *table = table_new(columns);
    for (uint32_t w = 0; w < links->question->n_words; w++)
        if (is_shown(links, w)) print_word(table, links, w);
    table_print(table, stream);
    table_free(table);
    for (uint32_t i = 0; i < links->n_parts; i++) {
        const struct link_part *part = &links->parts[i];
        char *name = name_of(links, part);
        if (is_unasked(part))
            fprintf(stream, "no word of the question asks for: %s (%s)\n", name, link_role_name(part->role));
        if (has_rival(part))
            fprintf(stream, "the question matches %s better than %s (%s)\n", part->same.column->name, name,
                    link_role_name(part->role));
        g_free(name);
    }
}
