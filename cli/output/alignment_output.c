#include "cli/output/alignment_output.h"

#include "cli/output/format.h"
#include "cli/output/terminal.h"
#include "lib/question/frame.h"

#include <glib.h>
#include <string.h>

/* Returns the text of n_tokens words of the question from `first` on, or NULL if n_tokens is 0. Free with g_free. */
static char *words_of(const struct question *question, uint32_t first, uint32_t n_tokens)
{
    if (!n_tokens) return NULL;
    const struct text_token *from = &question->tokens.items[first], *to = from + n_tokens - 1;
    return g_strndup(question->text + from->start, to->end - from->start);
}

/* Returns the part of the SQL, or NULL if there is none. Free with g_free. */
static char *part_of(const struct align_item *item, const char *sql)
{
    return item->end ? g_strndup(sql + item->start, item->end - item->start) : NULL;
}

static json_t *element_json(const struct question *question, const struct frame_element *element)
{
    const struct text_token *from = &question->tokens.items[element->first], *to = from + element->n_tokens - 1;
    char *text = words_of(question, element->first, element->n_tokens);
    json_t *out = json_pack("{s:s,s:o,s:i,s:i}", "kind", frame_kind_name(element->kind), "text", format_text(text),
                            "start", (int)from->start, "end", (int)to->end);
    g_free(text);
    return out;
}

static json_t *item_json(const struct question *question, const struct align_item *item, const char *sql)
{
    char *text = words_of(question, item->first, item->n_tokens), *part = part_of(item, sql);
    json_t *out =
        json_pack("{s:s,s:b,s:b,s:o,s:o,s:i,s:i,s:o}", "aspect", align_aspect_name(item->aspect), "agrees",
                  item->agrees, "certain", item->certain, "text", format_text(text), "part", format_text(part), "start",
                  (int)item->start, "end", (int)item->end, "says", format_text(item->says));
    g_free(text);
    g_free(part);
    return out;
}

json_t *alignment_json(const struct question *question, const struct alignment *alignment, const char *sql)
{
    json_t *asked = json_array(), *items = json_array();
    for (uint32_t i = 0; question->frame && i < question->frame->n; i++)
        json_array_append_new(asked, element_json(question, &question->frame->elements[i]));
    for (uint32_t i = 0; i < alignment->n; i++)
        json_array_append_new(items, item_json(question, &alignment->items[i], sql));
    return json_pack("{s:o,s:o}", "asked", asked, "items", items);
}

static void print_item(const struct question *question, const struct align_item *item, const char *sql, FILE *stream)
{
    char *text = words_of(question, item->first, item->n_tokens), *part = part_of(item, sql);
    GString *line = g_string_new(NULL);
    g_string_append_printf(line, "%s (%s)", item->agrees ? "agrees" : "differs", align_aspect_name(item->aspect));
    if (text) g_string_append_printf(line, ": '%s'", text);
    if (part) g_string_append_printf(line, "%s %s", text ? " -" : ":", part);
    if (item->says) g_string_append_printf(line, "\n  %s", item->says);
    g_string_append_c(line, '\n');
    print_safe(stream, line->str, line->len, true);
    g_string_free(line, TRUE);
    g_free(text);
    g_free(part);
}

void alignment_print(const struct question *question, const struct alignment *alignment, const char *sql, FILE *stream)
{
    for (uint32_t i = 0; i < alignment->n; i++) print_item(question, &alignment->items[i], sql, stream);
    for (uint32_t i = 0; question->frame && i < question->frame->n; i++) {
        const struct frame_element *element = &question->frame->elements[i];
        if (align_has_item(alignment, element)) continue;
        char *text = words_of(question, element->first, element->n_tokens);
        GString *line = g_string_new(NULL);
        g_string_append_printf(line, "no part compared (%s): '%s'\n", frame_kind_name(element->kind), text);
        print_safe(stream, line->str, line->len, true);
        g_string_free(line, TRUE);
        g_free(text);
    }
}
