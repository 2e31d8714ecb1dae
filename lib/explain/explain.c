/* Assembles an explanation (CycleSQL paper, Algorithm 1).
 *
 * The steps are fixed: the phrases of all queries, the provenance of one row, the graph of both, and the two texts.
 * This file runs statements only if the options permit them. `missing` reports a part that failed or was skipped; the
 * rest remains valid. Texts have a maximum length; a truncated text ends with an ellipsis. */
#include "lib/explain/explain.h"

#include "lib/base/clock.h"
#include "lib/explain/narrator.h"

#include <string.h>

const struct explain_options explain_defaults = {
    .expose = EXPLAIN_VALUES,
    .max_text = 8192,
    .max_rows = 3,
    .may_probe = true,
};

static const struct {
    const char *name, *meaning;
} KINDS[EXPLAIN_KIND_COUNT] = {
#define X(kind, name, text) {name, text},
    EXPLAIN_KINDS(X)
#undef X
};

const char *explain_kind_name(enum explain_kind kind)
{
    return (unsigned)kind < EXPLAIN_KIND_COUNT ? KINDS[kind].name : "unknown";
}

const char *explain_kind_meaning(enum explain_kind kind)
{
    return (unsigned)kind < EXPLAIN_KIND_COUNT ? KINDS[kind].meaning : "unknown";
}

static bool begin(struct narrator *t, struct arena *arena, const struct explain_source *source,
                  const struct explain_options *options)
{
    *t = (struct narrator){.arena = arena, .source = source, .options = options, .index = source->index};
    t->phrases = arena_alloc(arena, NARRATE_MAX_PHRASES * sizeof *t->phrases);
    if (t->index->has_descriptions) t->described = arena_new_array(arena, t->index->n_columns / 32 + 1, uint64_t);
    t->nouns = arena_new_array(arena, t->index->n_columns + t->index->n_tables + 1, struct noun *);
    struct sql_join_pair *pairs = NULL;
    int n = sql_join_pairs(arena, source->bound, &pairs);
    t->pairs = pairs;
    t->n_pairs = n > 0 ? (uint32_t)n : 0;
    t->queries[t->n_queries++] = (struct narrated_query){.node = source->stmt->root};
    return t->phrases && t->nouns && n >= 0 && say_init(&t->premise, arena, NARRATE_PHRASE_BYTES, false) &&
           say_init(&t->prose, arena, NARRATE_PHRASE_BYTES, true) && (t->described || !t->index->has_descriptions);
}

static const char *sentence_with(struct arena *arena, const char *before, const char *reason)
{
    struct say out;
    if (!say_init(&out, arena, 400, true)) return NULL;
    say(&out, before);
    if (reason && *reason) {
        say(&out, ": ");
        say_bytes(&out, reason, strlen(reason), 300);
    }
    if (out.len && out.text[out.len - 1] != '.') say(&out, ".");
    return out.text;
}

/* Returns the reason for missing provenance. A message of the engine may quote a value. If values must not be shown,
 * returns the general meaning of the error instead. */
static const char *reason_shown(const struct narrator *t, const struct provenance *provenance)
{
    bool may_quote = provenance->code == ERR_ENGINE && (!narrate_shows_values(t) || t->options->n_deny_columns > 0);
    return may_quote ? err_meaning(provenance->code) : provenance->reason;
}

/* Traces the source rows if the options permit it. Returns false if the arena is full. */
static bool trace(struct narrator *t, struct explanation *e)
{
    if (!t->options->may_probe || !t->source->db) {
        narrate_missing(t, t->options->may_probe ? "The database is away: the rows behind the result are not explained."
                                                 : "The rows behind the result were not looked for.");
        return true;
    }
    struct provenance *provenance = arena_new(t->arena, struct provenance);
    struct whynot *whynot = arena_new(t->arena, struct whynot);
    if (!provenance || !whynot || prov_trace(t->arena, t->source, NULL, provenance) != ERR_OK) return false;
    e->provenance = provenance;
    t->sql_ns += provenance->sql_ns;
    if (provenance->status == PROV_UNAVAILABLE)
        narrate_missing(
            t, sentence_with(t->arena, "The rows behind the result are not explained", reason_shown(t, provenance)));
    if (provenance->status != PROV_EMPTY && provenance->status != PROV_NOTHING) return true;
    if (prov_whynot(t->arena, t->source, NULL, whynot) != ERR_OK) return false;
    t->sql_ns += whynot->sql_ns;
    e->whynot = whynot;
    if (whynot->status == WHYNOT_UNAVAILABLE)
        narrate_missing(t, sentence_with(t->arena, "Why there is no row is not explained", whynot->reason));
    return true;
}

static bool is_premise(const struct explain_phrase *phrase)
{
    return *phrase->premise;
}

static bool is_prose(const struct explain_phrase *phrase)
{
    return *phrase->prose;
}

static bool is_operation(const struct explain_phrase *phrase)
{
    return *phrase->premise && !phrase->from_data;
}

/* Joins the phrases that `wanted` selects, up to `max` bytes. If they do not fit, ends the text with an ellipsis and
 * sets *cut. */
static const char *join_texts(struct arena *arena, const struct explanation *e, size_t max,
                              bool (*wanted)(const struct explain_phrase *phrase), bool *cut)
{
    struct say out;
    bool prose = wanted == is_prose;
    size_t len = 0;
    for (uint32_t i = 0; i < e->n_phrases; i++) len += strlen(prose ? e->phrases[i].prose : e->phrases[i].premise) + 1;
    len += 4; /* room for an ellipsis */
    if (!say_init(&out, arena, len < max ? len : max, prose)) return NULL;
    for (uint32_t i = 0; i < e->n_phrases; i++) {
        if (!wanted(&e->phrases[i])) continue;
        if (out.len) say(&out, " ");
        say(&out, prose ? e->phrases[i].prose : e->phrases[i].premise);
    }
    *cut |= out.cut;
    return out.text;
}

static const struct explain_graph no_graph = {0};

static bool finish(struct narrator *t, struct explanation *e)
{
    e->phrases = t->phrases;
    e->n_phrases = t->n_phrases;
    size_t max = t->options->max_text ? t->options->max_text : explain_defaults.max_text;
    e->premise = join_texts(t->arena, e, max, is_premise, &t->cut);
    e->prose = join_texts(t->arena, e, max, is_prose, &t->cut);
    e->graph = narrate_graph(t, e->provenance);
    if (t->cut) narrate_missing(t, "The explanation is cut: the query is too large to be told in full.");
    e->missing = t->missing;
    e->cut = t->cut;
    e->sql_ns = t->sql_ns;
    return e->premise && e->prose && e->graph && !t->full;
}

enum err_code explain_query(struct arena *arena, const struct explain_source *source,
                            const struct explain_options *options, struct explanation **out, struct err *err)
{
    int64_t started = clock_now_ns();
    struct explanation *e = arena_new(arena, struct explanation);
    struct narrator *t = arena_alloc(arena, sizeof *t);
    *out = e;
    if (!e || !t || !begin(t, arena, source, options ? options : &explain_defaults)) goto full;
    e->premise = e->prose = "";
    e->graph = &no_graph;
    for (; t->query < t->n_queries && !t->full; t->query++) narrate_query(t);
    t->query = 0;
    if (!trace(t, e)) goto full;
    narrate_data(t, e->provenance, e->whynot);
    if (!finish(t, e)) goto full;
    e->ns = clock_now_ns() - started;
    return ERR_OK;
full:
    *out = NULL;
    return err_set(err, ERR_LIMIT_MEMORY, "the explanation exceeds its memory limit");
}

const char *explain_operations(struct arena *arena, const struct explanation *explanation)
{
    bool cut = false;
    return join_texts(arena, explanation, explain_defaults.max_text, is_operation, &cut);
}
