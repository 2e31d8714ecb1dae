/* Converts tokens to candidate names and back (the decode function of Algorithm 2). */
#include "linking/trace.h"

#include <string.h>

/* State of reading a list of names, token by token. */
struct reading {
    const struct trace *trace;
    const uint32_t *rest; /* first token of the unfinished name */
    uint32_t n_rest, of_separator;
    uint32_t *done, n_done;
    bool ended;
};

static bool begins(const struct trace_candidate *candidate, const uint32_t *ids, uint32_t n)
{
    return candidate->ids.n >= n && memcmp(candidate->ids.items, ids, n * sizeof *ids) == 0;
}

/* Returns the candidate with exactly these tokens. Returns -1 if there is none. */
static int whole(const struct trace *trace, const uint32_t *ids, uint32_t n)
{
    for (uint32_t i = 0; n && i < trace->n_candidates; i++)
        if (trace->candidates[i].ids.n == n && begins(&trace->candidates[i], ids, n)) return (int)i;
    return -1;
}

static bool goes_on(const struct trace *trace, const uint32_t *ids, uint32_t n)
{
    for (uint32_t i = 0; i < trace->n_candidates; i++)
        if (begins(&trace->candidates[i], ids, n)) return true;
    return false;
}

/* Adds the completed name to the list. Returns false if it is not a candidate. */
static bool finish(struct reading *r)
{
    int name = whole(r->trace, r->rest, r->n_rest);
    if (name < 0) return false;
    bool known = false;
    for (uint32_t i = 0; i < r->n_done; i++) known |= r->done[i] == (uint32_t)name;
    if (!known) r->done[r->n_done++] = (uint32_t)name;
    r->n_rest = 0;
    return true;
}

/* Reads the next token. `token` points into the array that also has the earlier tokens. Returns false if the tokens so
 * far do not begin a list of names. */
static bool take(struct reading *r, const uint32_t *token)
{
    const struct trace_ids *separator = &r->trace->separator;
    if (r->ended) return false;
    if (r->of_separator) {
        if (*token != separator->items[r->of_separator]) return false;
        r->of_separator = (r->of_separator + 1) % separator->n;
        return true;
    }
    if (!r->n_rest) r->rest = token;
    if (goes_on(r->trace, r->rest, r->n_rest + 1)) return ++r->n_rest, true;
    r->ended = *token == r->trace->end;
    if (r->ended && !r->n_rest) return !r->n_done;
    if (!finish(r)) return false;
    if (r->ended) return true;
    if (separator->n) {
        r->of_separator = 1 % separator->n;
        return *token == separator->items[0];
    }
    r->rest = token;
    return goes_on(r->trace, token, 1) && (r->n_rest = 1);
}

static bool read_all(struct arena *arena, const struct trace *trace, const uint32_t *ids, uint32_t n, struct reading *r)
{
    *r = (struct reading){.trace = trace, .done = arena_new_array(arena, trace->n_candidates + 1, uint32_t)};
    if (!r->done) return false;
    for (uint32_t i = 0; i < n; i++)
        if (!take(r, &ids[i])) return false;
    return true;
}

int trace_names(struct arena *arena, const struct trace *trace, const uint32_t *ids, uint32_t n, uint32_t **out)
{
    struct reading r;
    if (!read_all(arena, trace, ids, n, &r)) return -1;
    if (r.n_rest) finish(&r);
    *out = r.done;
    return (int)r.n_done;
}

/* Returns the name that token `at` of a list belongs to. `ids` has all tokens of the list. Returns -1 if the list ends
 * there. A token of a separator belongs to the next name. */
static int name_at(struct arena *arena, const struct trace *trace, const uint32_t *ids, uint32_t n, uint32_t at)
{
    struct reading before;
    uint32_t *names = NULL;
    if (!ids || !read_all(arena, trace, ids, at, &before)) return -1;
    bool finishes = before.n_rest && (at >= n || !goes_on(trace, before.rest, before.n_rest + 1));
    int known = (int)before.n_done + finishes, found = trace_names(arena, trace, ids, n, &names);
    return found > known ? (int)names[known] : -1;
}

/* Returns the tokens that the linker continued with before `at`, then `id`, then `more`. Returns NULL if the arena is
 * full. */
static uint32_t *line_up(struct arena *arena, const struct trace *trace, uint32_t at, uint32_t id,
                         const struct trace_ids *more)
{
    uint32_t *ids = arena_new_array(arena, (size_t)at + 1 + more->n, uint32_t);
    for (uint32_t i = 0; ids && i < at; i++) ids[i] = trace->tokens[i].gold_id;
    if (!ids) return NULL;
    ids[at] = id;
    if (more->n) memcpy(ids + at + 1, more->items, more->n * sizeof *ids);
    return ids;
}

static int gold_name_at(struct arena *arena, const struct trace *trace, uint32_t at)
{
    const struct trace_ids none = {0};
    uint32_t last = trace->n_tokens - 1;
    return name_at(arena, trace, line_up(arena, trace, last, trace->tokens[last].gold_id, &none), trace->n_tokens, at);
}

int trace_gold_at(struct arena *arena, const struct trace *trace, uint32_t at)
{
    return trace->has_gold ? gold_name_at(arena, trace, at) : -1;
}

int trace_back(struct arena *arena, const struct trace *trace, uint32_t at)
{
    const struct trace_token *token = &trace->tokens[at];
    if (!trace_is_branching(token)) return gold_name_at(arena, trace, at);
    uint32_t *ids = line_up(arena, trace, at, token->id, &token->continuation);
    return name_at(arena, trace, ids, at + 1 + token->continuation.n, at);
}
