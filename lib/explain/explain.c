/* Putting an explanation together (seed 002, Algorithm 1). */
#include "lib/explain/explain.h"

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

static const struct explain_graph no_graph = {0};

enum err_code explain_query(struct arena *arena, const struct explain_source *source,
                            const struct explain_options *options, struct explanation **out, struct err *err)
{
    (void)source, (void)options;
    struct explanation *explanation = arena_new(arena, struct explanation);
    if (!explanation) return err_set(err, ERR_LIMIT_MEMORY, "the explanation does not fit into memory");
    explanation->premise = explanation->prose = "";
    explanation->missing = "Explanations are not built yet.";
    explanation->graph = &no_graph;
    *out = explanation;
    return ERR_OK;
}

const char *explain_operations(struct arena *arena, const struct explanation *explanation)
{
    (void)arena;
    return explanation->premise;
}
