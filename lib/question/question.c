/* Reading a question, from end to end. Each step is a file of its own, see read.h. */
#include "lib/question/question.h"

#include "lib/question/link.h"
#include "lib/question/read.h"

#include <string.h>

enum { MAX_TEXT = 64 * 1024 };

static bool tokenize(struct arena *arena, const char *text, struct text_tokens *out)
{
    *out = text_tokenize(arena, text, strnlen(text, MAX_TEXT));
    if (out->n > READ_MAX_TOKENS) out->n = READ_MAX_TOKENS;
    return out->items != NULL;
}

const struct question *question_read(struct arena *arena, const struct schema_index *schema, const char *question,
                                     const char *evidence)
{
    struct question *out = arena_new(arena, struct question);
    if (!out || !tokenize(arena, question, &out->tokens)) return NULL;
    out->text = question;
    struct reader reader = {arena, schema, out};
    if (!read_terms(&reader, evidence)) return NULL;
    evidence = out->evidence_text;
    if (evidence && *evidence && !tokenize(arena, evidence, &out->evidence)) return NULL;
    if (!read_mentions(&reader) || !read_values(&reader) || !read_cues(&reader) || !read_outputs(&reader)) return NULL;
    const struct text_embedder *embedder = text_builtin_embedder();
    if (!embedder->embed(embedder, question, out->tokens.len, out->embedding)) return NULL;
    out->links = link_read(arena, schema, out);
    return out->links ? out : NULL;
}

int question_cue_next(const struct question *question, enum question_cue_kind kind, uint32_t from)
{
    for (uint32_t i = from; i < question->n_cues; i++)
        if (question->cues[i].kind == kind && !question->cues[i].named) return (int)i;
    return -1;
}

bool question_cue_any(const struct question *question, unsigned kinds)
{
    for (unsigned kind = 0; kind < QUESTION_CUE_KINDS; kind++)
        if (kinds >> kind & 1U && question->cue_counts[kind]) return true;
    return false;
}

static bool holds(const struct text_tokens *tokens, const char *word)
{
    for (uint32_t i = 0; i < tokens->n; i++)
        if (strcmp(tokens->items[i].norm, word) == 0 || strcmp(tokens->items[i].stem, word) == 0) return true;
    return false;
}

bool question_has(const struct question *question, const char *word)
{
    return holds(&question->tokens, word) || holds(&question->evidence, word);
}
