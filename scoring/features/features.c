/* Defines the table of features, and calls the groups in order (features.h).
 *
 * feature_list.h defines ids, names and groups; it generates the enum and this table. All features are NAN until their
 * group sets them. A candidate that does not parse or bind has no features, which is not an error. The gaps are
 * computed from the same extraction: words of the question that neither the query nor the explanation covers. */
#include "scoring/features/extract.h"

#include <math.h>
#include <string.h>

static const struct {
    uint32_t id;
    const char *name;
    enum feature_group group;
} listed[] = {
#define X(id, name, group) {id, #name, FEATURE_GROUP_##group},
#include "scoring/features/feature_list.h"
#undef X
#define X(id, name, group) {FEATURE_COMPONENT_ID + (id), #name, FEATURE_GROUP_COMPONENTS},
    SQL_COMPONENTS(X)
#undef X
};
_Static_assert(sizeof listed / sizeof *listed == FEATURE_COUNT, "one row a feature");

static const char *const groups[FEATURE_GROUP_COUNT] = {
    [FEATURE_GROUP_SHAPE] = "shape",           [FEATURE_GROUP_SCHEMA] = "schema",
    [FEATURE_GROUP_VALUES] = "values",         [FEATURE_GROUP_OPERATORS] = "operators",
    [FEATURE_GROUP_RESULT] = "result",         [FEATURE_GROUP_ALIGNMENT] = "alignment",
    [FEATURE_GROUP_JOINS] = "joins",           [FEATURE_GROUP_LINKS] = "links",
    [FEATURE_GROUP_COMPONENTS] = "components", [FEATURE_GROUP_SIGNALS] = "signals",
    [FEATURE_GROUP_AGREEMENT] = "agreement"};

uint32_t features_id(unsigned index)
{
    return index < FEATURE_COUNT ? listed[index].id : 0;
}

/* Index of each id, plus 1; 0 for an unknown id. */
static const uint16_t places[FEATURE_COMPONENT_ID] = {
#define X(id, name, group) [id] = FEATURE_##name + 1,
#include "scoring/features/feature_list.h"
#undef X
};

int features_by_id(uint32_t id)
{
    if (id < FEATURE_COMPONENT_ID) return places[id] - 1;
    uint32_t component = id - FEATURE_COMPONENT_ID;
    return component < SQL_COMPONENT_COUNT ? (int)(FEATURE_COMPONENTS + component) : -1;
}

const char *features_name(unsigned index)
{
    return index < FEATURE_COUNT ? listed[index].name : NULL;
}

int features_by_name(const char *name)
{
    for (unsigned i = 0; i < FEATURE_COUNT; i++)
        if (strcmp(listed[i].name, name) == 0) return (int)i;
    return -1;
}

enum feature_group features_group(unsigned index)
{
    return index < FEATURE_COUNT ? listed[index].group : FEATURE_GROUP_COUNT;
}

const char *features_group_name(enum feature_group group)
{
    return group < FEATURE_GROUP_COUNT ? groups[group] : NULL;
}

int features_group_by_name(const char *name)
{
    for (unsigned i = 0; i < FEATURE_GROUP_COUNT; i++)
        if (strcmp(groups[i], name) == 0) return (int)i;
    return -1;
}

static void set_size(struct extraction *ex)
{
    const struct sql_bound *bound = ex->subject->bound;
    ex->out[FEATURE_n_nodes] = (float)ex->subject->stmt->n_nodes;
    ex->out[FEATURE_n_columns_used] = (float)ex->n_used;
    ex->out[FEATURE_n_blocks] = (float)bound->n_blocks;
    if (ex->question) ex->out[FEATURE_n_question_tokens] = (float)ex->question->tokens.n;
    if (ex->answer) ex->out[FEATURE_n_outputs] = (float)ex->answer->n_outputs;
}

static void set_components(const struct sql_bound *bound, float *out)
{
    uint64_t has = sql_components(bound);
    for (unsigned i = 0; i < SQL_COMPONENT_COUNT; i++) out[FEATURE_COMPONENTS + i] = (float)(has >> i & 1);
}

static enum err_code fill_unknown(float *out)
{
    for (unsigned i = 0; i < FEATURE_COUNT; i++) out[i] = (float)NAN;
    return ERR_LIMIT_MEMORY;
}

static bool extract_all(struct vsig_subject *subject, const struct explanation *explanation, struct arena *arena,
                        float *out, struct extraction **at)
{
    struct extraction *ex = *at = arena_alloc(arena, sizeof *ex);
    if (!ex || !extract_init(ex, subject, arena, out) || !extract_values(ex)) return false;
    set_components(subject->bound, out);
    set_size(ex);
    extract_operators(ex);
    extract_asked(ex);
    extract_schema(ex);
    extract_result(ex);
    extract_joins(ex);
    extract_logic(ex);
    extract_measure(ex);
    extract_alignment(ex, explanation);
    extract_links(ex);
    extract_formulas(ex);
    extract_entity(ex);
    extract_nulls(ex);
    extract_meaning(ex);
    extract_sums(ex);
    return true;
}

enum err_code features_extract(struct vsig_subject *subject, const struct explanation *explanation, struct arena *arena,
                               float *out)
{
    struct extraction *ex;
    fill_unknown(out);
    if (subject->code || !subject->bound) return ERR_OK;
    return extract_all(subject, explanation, arena, out, &ex) ? ERR_OK : fill_unknown(out);
}

/* --- gaps --- */

static bool is_gap(const struct extraction *ex, uint32_t token)
{
    const struct text_token *t = &ex->question->tokens.items[token];
    return t->kind != TEXT_PUNCT && !t->is_stop && !ex->explained[token] && !ex->covered[token];
}

uint32_t features_gaps(struct vsig_subject *subject, const struct explanation *explanation, struct arena *arena,
                       struct features_gap *out, uint32_t max)
{
    float features[FEATURE_COUNT];
    struct extraction *ex;
    uint32_t n = 0;
    bool open = false; /* the next phrase may extend the last gap */
    if (subject->code || !subject->bound || !subject->analysis || !explanation) return 0;
    fill_unknown(features);
    if (!extract_all(subject, explanation, arena, features, &ex)) return 0;
    const struct text_tokens *tokens = &ex->question->tokens;
    for (uint32_t i = 0; i < tokens->n && i < EXTRACT_MAX_QUESTION_WORDS; i++) {
        const struct text_token *t = &tokens->items[i];
        if (!is_gap(ex, i)) {
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
