/* Finds the team's terms (words.yaml, lib/schema/terms.c) in a question. Appends the meaning of each term to the
 * evidence, so that all readers of the evidence see it. A term that stands for a column also becomes a mention of that
 * column (read_mentions). */
#include "lib/question/read.h"

#include <string.h>

static bool is_at(const struct text_tokens *tokens, uint32_t at, const struct text_tokens *words)
{
    if (words->n > tokens->n - at) return false;
    for (uint32_t i = 0; i < words->n; i++)
        if (strcmp(tokens->items[at + i].stem, words->items[i].stem) != 0) return false;
    return true;
}

/* Returns the first token of the term's first occurrence; UINT32_MAX if the term does not occur. */
static uint32_t find_term(const struct text_tokens *tokens, const struct schema_term *term)
{
    for (uint32_t at = 0; at < tokens->n; at++)
        if (is_at(tokens, at, &term->words)) return at;
    return UINT32_MAX;
}

bool read_terms(struct reader *reader, const char *evidence)
{
    struct question *out = reader->out;
    const struct schema_index *schema = reader->schema;
    out->evidence_text = evidence;
    if (!schema->n_terms) return true;
    out->terms = arena_new_array(reader->arena, READ_MAX_TERMS, struct question_term);
    if (!out->terms) return false;
    for (uint32_t i = 0; i < schema->n_terms && out->n_terms < READ_MAX_TERMS; i++) {
        const struct schema_term *term = &schema->terms[i];
        uint32_t first = find_term(&out->tokens, term);
        if (first == UINT32_MAX) continue;
        out->terms[out->n_terms++] = (struct question_term){term, first, term->words.n};
        const char *before = out->evidence_text && *out->evidence_text ? out->evidence_text : NULL;
        out->evidence_text = arena_printf(reader->arena, "%s%s%s refers to %s", before ? before : "",
                                          before ? "; " : "", term->term, term->meaning);
        if (!out->evidence_text) return false;
    }
    return true;
}
