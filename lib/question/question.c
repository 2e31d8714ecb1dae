/* Reads a question by calling all steps in order. Each step has its own file (read.h). */
#include "lib/question/question.h"

#include "lib/question/frame.h"
#include "lib/question/link.h"
#include "lib/question/memo.h"
#include "lib/question/read.h"
#include "lib/question/wording.h"

#include <string.h>

enum { MAX_TEXT = 64 * 1024 };

static bool tokenize(struct arena *arena, const char *text, struct text_tokens *out)
{
    *out = text_tokenize(arena, text, strnlen(text, MAX_TEXT));
    if (out->n > READ_MAX_TOKENS) out->n = READ_MAX_TOKENS;
    return out->items != NULL;
}

/* Function words of other languages. None of them is an English word. */
static const char *const FOREIGN[] = {
    "der",     "die",     "das",   "und",    "wie",   "viele", "welche",  "welcher", "welches", "ist",     "sind",
    "mit",     "von",     "den",   "dem",    "nicht", "haben", "hat",     "alle",    "eine",    "einen",   "le",
    "la",      "les",     "des",   "du",     "et",    "quel",  "quels",   "quelle",  "quelles", "combien", "est",
    "sont",    "avec",    "dans",  "pour",   "qui",   "que",   "une",     "el",      "los",     "las",     "del",
    "cuantos", "cuantas", "cual",  "cuales", "quien", "con",   "por",     "para",    "tienen",  "son",     "una",
    "quanti",  "quante",  "quali", "sono",   "di",    "che",   "gli",     "della",   "dei",     "quantos", "quantas",
    "quais",   "com",     "dos",   "das",    "os",    "nos",   "hoeveel", "welke",   "zijn",    "het",     "een",
    "van",     "med",     "och",   "som",    "ile",   "jest",  "kaç"};

/* True if the question is not in English: most of its words are in another script, or it has more foreign function
 * words than English ones. */
static bool is_foreign(const struct question *out)
{
    uint32_t words = 0, english = 0, foreign = 0, scripts = 0;
    for (uint32_t i = 0; i < out->tokens.n; i++) {
        const struct text_token *t = &out->tokens.items[i];
        if (t->kind != TEXT_WORD) continue;
        bool found = false;
        for (size_t k = 0; k < sizeof FOREIGN / sizeof FOREIGN[0] && !found; k++)
            found = text_same(FOREIGN[k], t->norm);
        words++;
        foreign += found && !t->is_capital;
        english += !found && t->is_stop;
        scripts += (unsigned char)t->norm[0] >= 0xC8;
    }
    return scripts * 2 > words || (foreign >= 2 && foreign > english);
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
    if (!read_mentions(&reader) || !read_values(&reader) || !read_definitions(&reader)) return NULL;
    out->foreign = is_foreign(out);
    if (!out->foreign && (!read_cues(&reader) || !read_outputs(&reader))) return NULL;
    if (!out->foreign && !(out->frame = frame_read(arena, out))) return NULL;
    const struct text_embedder *embedder = text_builtin_embedder();
    if (!embedder->embed(embedder, question, out->tokens.len, out->embedding)) return NULL;
    out->links = link_read(arena, schema, out);
    out->wording = wording_read(arena, question, evidence);
    out->memo = arena_new(arena, struct question_memo);
    if (!out->links || !out->wording || !out->memo) return NULL;
    out->memo->arena = arena;
    return out;
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
        if (text_same(tokens->items[i].norm, word) || text_same(tokens->items[i].stem, word)) return true;
    return false;
}

bool question_has(const struct question *question, const char *word)
{
    return holds(&question->tokens, word) || holds(&question->evidence, word);
}
