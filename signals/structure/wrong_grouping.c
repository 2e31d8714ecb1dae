/* wrong_grouping: the groups of the query differ from those that the question asks for.
 *
 * The signal fires if one group combines several things of the same name, and the data prove it. It also fires if the
 * query computes one extreme over all rows where the question asks for one in each group. */
#include "signals/support/grouping.h"

#include "lib/question/phrase.h"
#include "signals/support/names.h"
#include "signals/support/probe.h"
#include "signals/support/query.h"

#include <string.h>

static const char *const EACH_OF[] = {"for each", "for every", "within each", "within every", "in each",
                                      "in every", "of each",   "of every",    "per",          NULL};

/* --- groups that combine several things --- */

/* True if the question asks for groups by name: "for each first name", "people with the same name". */
static bool asks_by_name(const struct vsig_subject *subject)
{
    static const char *const NAMES[] = {
        "each name",      "every name",  "per name",         "group by name",   "each * name",   "every * name",
        "per * name",     "same name",   "same * name",      "distinct name",   "shared name",   "distinct * name",
        "different name", "common name", "different * name", "popular name",    "common * name", "popular * name",
        "unique name",    "which name",  "which * name",     "what name",       "what * name",   "each title",
        "per title",      "same title",  "distinct title",   "different title", "which title",   "regardless of",
        "irrespective",   "namesake",    "share a name",     "share the name",  "name used",     "name occur",
        "name appear",    NULL};
    return vsig_question_says(subject, NAMES);
}

/* True if the words are equal, or one is the beginning of the other: "stud" and "student". */
static bool abbreviates(const char *a, const char *b)
{
    enum { LEAST = 3 };
    size_t one = strlen(a), two = strlen(b), len = one < two ? one : two;
    return len >= LEAST && strncmp(a, b, len) == 0;
}

/* True for a column that names the rows of its table: emp.emp_name, person.last_name, book.title. */
static bool is_name_of_row(const struct vsig_subject *subject, const struct schema_column *column)
{
    static const char *const KINDS[] = {"name", "surnam", "titl", "label", "descript", "descr", NULL};
    static const char *const PARTS[] = {"first", "last", "full",    "given", "famili",  "middl",
                                        "sur",   "fore", "display", "short", "fullnam", NULL};
    const struct text_tokens *table = &subject->schema->tables[column->table].words;
    if (!query_name_has(column, KINDS)) return false;
    for (uint32_t i = 0; i < column->words.n; i++) {
        const struct text_token *word = &column->words.items[i];
        bool own = question_token_is(word, KINDS) || question_token_is(word, PARTS);
        for (uint32_t t = 0; t < table->n && !own; t++) own = abbreviates(word->norm, table->items[t].norm);
        if (!own) return false;
    }
    return true;
}

/* True if the query aggregates columns of the things, or counts their distinct values. It then combines things of one
 * name on purpose. */
static bool counts_things(const struct vsig_subject *subject, const struct sql_source *source)
{
    for (uint32_t i = 0; i < subject->bound->n_refs; i++) {
        const struct sql_ref *ref = subject->bound->refs[i];
        if (ref->kind != SQL_REF_COLUMN || ref->source != source || !ref->aggregate) continue;
        bool distinct = ref->aggregate->flags & SQL_F_DISTINCT;
        if (distinct || query_aggregate_of(ref->aggregate) != QUERY_COUNT) return true;
    }
    return false;
}

/* Returns a probe for a group of the block that combines two things of the FROM item. Returns NULL if it cannot be
 * built. */
static const char *merging_group(struct vsig_subject *subject, const struct vsig_block_shape *shape,
                                 const struct sql_source *source)
{
    struct arena *arena = subject->arena;
    const struct schema_table *table = &subject->schema->tables[source->table];
    const struct sql_node *group = sql_kid(shape->block->node, SELECT_GROUP);
    const struct schema_column *key = NULL;
    for (uint32_t i = 0; i < table->n_columns && table->n_pk == 1; i++)
        if (table->columns[i].pk) key = &table->columns[i];
    const char *things = key ? vsig_probe_column(subject, source, key) : NULL, *list = NULL;
    for (uint32_t i = 0; things && i < group->n_kids; i++) {
        const struct sql_ref *ref = vsig_group_column(shape->block, group->kids[i]);
        const struct schema_column *column = ref ? schema_column_of(subject->schema, ref) : NULL;
        const char *name =
            column && ref->kind == SQL_REF_COLUMN ? vsig_probe_column(subject, ref->source, column) : NULL;
        if (!name) return NULL;
        list = list ? arena_printf(arena, "%s, %s", list, name) : name;
    }
    const char *rows = list ? vsig_probe_rows(subject, shape, 0, NULL) : NULL;
    const char *with = rows ? vsig_probe_with(subject, NULL, NULL) : NULL;
    if (!with) return NULL;
    return arena_printf(arena, "%sSELECT 1 %s GROUP BY %s HAVING COUNT(DISTINCT %s) > 1 LIMIT 1", with, rows, list,
                        things);
}

/* Reports groups by a name that several things share. The finding is an error only if the data contain a group with two
 * things, and the column names the thing itself: emp.emp_name, not emp.town. */
static enum err_code check_merged(struct vsig_run *run, const struct sql_block *block,
                                  const struct vsig_grouping *grouping)
{
    struct vsig_subject *subject = run->subject;
    const struct sql_ref *ref = grouping->merged > 0 ? vsig_group_column(block, grouping->merged_at) : NULL;
    if (!ref) return ERR_OK;
    const struct vsig_shape *shapes = vsig_shape(subject);
    if (!shapes) return ERR_LIMIT_MEMORY;
    const struct vsig_block_shape *shape = &shapes->blocks[block->index];
    enum err_code code = ERR_OK;
    bool names = is_name_of_row(subject, grouping->merged_by) && !grouping->merged_said && !asks_by_name(subject);
    bool meant = shape->too_large || block->correlated || counts_things(subject, ref->source);
    bool proved = names && !meant && vsig_probe_proves(subject, merging_group(subject, shape, ref->source), &code);
    if (code || !(proved || grouping->merged_asked)) return code;
    const struct schema_table *table = &subject->schema->tables[grouping->merged_by->table];
    struct vsig_finding *finding =
        vsig_fire(run, proved ? VSIG_ERROR : VSIG_WARNING, grouping->merged_at,
                  "several rows of %s have the same %s, so GROUP BY merges these rows into one group", table->name,
                  grouping->merged_by->name);
    vsig_add_fact(run, finding, "share of rows", true, "%.3f", (double)grouping->merged);
    return ERR_OK;
}

static enum err_code wrong_grouping_eval(struct vsig_run *run)
{
    struct vsig_grouping grouping;
    struct vsig_subject *subject = run->subject;
    if (!vsig_grouping_look(subject, false, &grouping)) return ERR_LIMIT_MEMORY;
    const struct sql_block *answer = query_answer_block(subject);
    enum err_code code = answer ? check_merged(run, answer, &grouping) : ERR_OK;
    for (uint32_t i = 0; i < subject->bound->n_blocks && !code && !run->verdict->n_findings; i++) {
        struct vsig_grouping inner;
        if (subject->bound->blocks[i] == answer || subject->bound->blocks[i]->correlated) continue;
        if (!vsig_merged_look(subject, subject->bound->blocks[i], &inner)) return ERR_LIMIT_MEMORY;
        code = check_merged(run, subject->bound->blocks[i], &inner);
    }
    if (grouping.each_extreme && !grouping.per_group && grouping.for_all && vsig_question_says(subject, EACH_OF))
        vsig_fire(run, VSIG_ERROR, grouping.for_all,
                  "the question asks for an extreme per group, but the query uses one extreme for all rows");
    return code;
}

const struct vsig_def vsig_wrong_grouping = {
    .id = VSIG_ID_wrong_grouping,
    .name = "wrong_grouping",
    .family = VSIG_STRUCTURE,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION,
    .sentence = "the query groups by a name that several things share, or uses one extreme of all rows instead of one "
                "per group",
    .description = "The query does not use the groups that the question names. Things with the same name are merged, "
                   "or rows are compared with the extreme of all rows instead of the extreme of their group.",
    .example = "Who earns most in each department? - SELECT name FROM staff WHERE pay = (SELECT MAX(pay) FROM staff)",
    .instruction =
        "Group by the key. Compute the extreme within the group, with a correlated subquery or a window function.",
    .eval = wrong_grouping_eval,
};
