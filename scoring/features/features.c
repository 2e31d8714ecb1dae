#include "scoring/features/extract.h"

#include <math.h>
#include <string.h>

static const struct {
    uint32_t id;
    const char *name;
    enum verifier_group group;
} listed[] = {
#define X(id, name, group) {id, #name, VERIFIER_GROUP_##group},
#include "scoring/features/feature_list.h"
#undef X
#define X(id, name, group) {VERIFIER_COMPONENT_ID + (id), #name, VERIFIER_GROUP_COMPONENTS},
    SQL_COMPONENTS(X)
#undef X
};
_Static_assert(sizeof listed / sizeof *listed == VERIFIER_FEATURES, "one row a feature");

static const char *const groups[VERIFIER_GROUP_COUNT] = {
    [VERIFIER_GROUP_SHAPE] = "shape",     [VERIFIER_GROUP_SCHEMA] = "schema",
    [VERIFIER_GROUP_VALUES] = "values",   [VERIFIER_GROUP_OPERATORS] = "operators",
    [VERIFIER_GROUP_RESULT] = "result",   [VERIFIER_GROUP_ALIGNMENT] = "alignment",
    [VERIFIER_GROUP_JOINS] = "joins",     [VERIFIER_GROUP_COMPONENTS] = "components",
    [VERIFIER_GROUP_SIGNALS] = "signals", [VERIFIER_GROUP_AGREEMENT] = "agreement"};

uint32_t verifier_feature_id(unsigned index)
{
    return index < VERIFIER_FEATURES ? listed[index].id : 0;
}

int verifier_feature_by_id(uint32_t id)
{
    /* Ids rise nearly as the list does: a row added late may stand out of order, so the end is a scan. */
    unsigned low = 0, high = VERIFIER_COMPONENTS;
    if (id >= VERIFIER_COMPONENT_ID)
        return id - VERIFIER_COMPONENT_ID < SQL_COMPONENT_COUNT
                   ? (int)(VERIFIER_COMPONENTS + id - VERIFIER_COMPONENT_ID)
                   : -1;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (listed[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < VERIFIER_COMPONENTS && listed[low].id == id) return (int)low;
    for (unsigned i = 0; i < VERIFIER_COMPONENTS; i++)
        if (listed[i].id == id) return (int)i;
    return -1;
}

const char *verifier_feature_name(unsigned index)
{
    return index < VERIFIER_FEATURES ? listed[index].name : NULL;
}

int verifier_feature_by_name(const char *name)
{
    for (unsigned i = 0; i < VERIFIER_FEATURES; i++)
        if (strcmp(listed[i].name, name) == 0) return (int)i;
    return -1;
}

enum verifier_group verifier_feature_group(unsigned index)
{
    return index < VERIFIER_FEATURES ? listed[index].group : VERIFIER_GROUP_COUNT;
}

const char *verifier_group_name(enum verifier_group group)
{
    return group < VERIFIER_GROUP_COUNT ? groups[group] : NULL;
}

int verifier_group_by_name(const char *name)
{
    for (unsigned i = 0; i < VERIFIER_GROUP_COUNT; i++)
        if (strcmp(groups[i], name) == 0) return (int)i;
    return -1;
}

static void set_size(struct look *look)
{
    const struct sql_bound *bound = look->subject->bound;
    look->out[VERIFIER_n_nodes] = (float)look->subject->stmt->n_nodes;
    look->out[VERIFIER_n_columns_used] = (float)look->n_used;
    look->out[VERIFIER_n_blocks] = (float)bound->n_blocks;
    if (look->asked) look->out[VERIFIER_n_question_tokens] = (float)look->asked->tokens.n;
    if (look->answer) look->out[VERIFIER_n_outputs] = (float)look->answer->n_outputs;
}

static void set_components(const struct sql_bound *bound, float *out)
{
    uint64_t has = sql_components(bound);
    for (unsigned i = 0; i < SQL_COMPONENT_COUNT; i++) out[VERIFIER_COMPONENTS + i] = (float)(has >> i & 1);
}

static enum err_code forget(float *out)
{
    for (unsigned i = 0; i < VERIFIER_FEATURES; i++) out[i] = (float)NAN;
    return ERR_LIMIT_MEMORY;
}

static bool look_at(struct vsig_subject *subject, const struct explanation *explanation, struct arena *arena,
                    float *out, struct look **at)
{
    struct look *look = *at = arena_alloc(arena, sizeof *look);
    if (!look || !look_init(look, subject, arena, out) || !look_values(look)) return false;
    set_components(subject->bound, out);
    set_size(look);
    look_operators(look);
    look_schema(look);
    look_result(look);
    look_joins(look);
    look_alignment(look, explanation);
    return true;
}

enum err_code verifier_features(struct vsig_subject *subject, const struct explanation *explanation,
                                struct arena *arena, float *out)
{
    struct look *look;
    forget(out);
    if (subject->code || !subject->bound) return ERR_OK;
    return look_at(subject, explanation, arena, out, &look) ? ERR_OK : forget(out);
}

/* --- what is left open --- */

static bool is_gap(const struct look *look, uint32_t token)
{
    const struct text_token *t = &look->asked->tokens.items[token];
    return t->kind != TEXT_PUNCT && !t->is_stop && !look->explained[token] && !look->covered[token];
}

uint32_t verifier_gaps(struct vsig_subject *subject, const struct explanation *explanation, struct arena *arena,
                       struct verifier_gap *out, uint32_t max)
{
    float features[VERIFIER_FEATURES];
    struct look *look;
    uint32_t n = 0;
    bool open = false; /* what comes next may go on with the last one */
    if (subject->code || !subject->bound || !subject->asked || !explanation) return 0;
    forget(features);
    if (!look_at(subject, explanation, arena, features, &look)) return 0;
    const struct text_tokens *tokens = &look->asked->tokens;
    for (uint32_t i = 0; i < tokens->n && i < LOOK_MAX_ASKED; i++) {
        const struct text_token *t = &tokens->items[i];
        if (!is_gap(look, i)) {
            open = open && t->is_stop && t->kind != TEXT_PUNCT;
            continue;
        }
        if (!open && n == max) break;
        if (!open) out[n++].start = t->start;
        out[n - 1].end = t->end;
        open = true;
    }
    return n;
}
