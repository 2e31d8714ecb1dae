/* repeated_total: the query adds up a total of a subquery once for each row of another table.
 *
 * A derived table has one total for each thing. A join with a table that has several rows for a thing repeats the
 * total. The statistics of the joined columns show whether that table has several rows. The fan_out signal covers plain
 * tables. */
#include "signals/support/meaning.h"

#include <string.h>

static bool is_of_source(const struct meaning_term *term, const struct meaning_source *source)
{
    size_t len = strlen(source->name);
    bool named = term->kind == MEANING_COLUMN || term->kind == MEANING_QUERY;
    return named && term->name && strncmp(term->name, source->name, len) == 0 && term->name[len] == '.';
}

/* True if the column has no repeated values in the data, or this is unknown. */
static bool is_unique(const struct vsig_subject *subject, const struct meaning_term *term)
{
    const struct schema_column *column = align_term_column(subject->schema, term);
    if (!column || column->unique || column->stats.sampled) return true;
    return column->stats.distinct >= column->stats.rows - column->stats.nulls;
}

/* Returns how many columns of `source` the condition compares with other columns by equality. Sets *unique if one of
 * them is unique. */
static unsigned joined_columns(const struct vsig_subject *subject, const struct meaning_term *condition,
                               const struct meaning_source *source, bool *unique)
{
    unsigned n = 0;
    if (!condition || condition->kind != MEANING_OPERATION) return 0;
    for (uint32_t i = 0; strcmp(condition->name, "and") == 0 && i < condition->n_parts; i++)
        n += joined_columns(subject, condition->parts[i], source, unique);
    if (strcmp(condition->name, "=") != 0) return n;
    for (unsigned side = 0; side < 2; side++) {
        const struct meaning_term *own = condition->parts[side], *other = condition->parts[1 - side];
        if (!is_of_source(own, source) || is_of_source(other, source)) continue;
        *unique |= is_unique(subject, own);
        n++;
    }
    return n;
}

/* True if the source is a table that may have several rows for one row that it is joined to. */
static bool repeats_rows(const struct vsig_subject *subject, const struct meaning *m,
                         const struct meaning_source *source)
{
    bool unique = false;
    unsigned n = joined_columns(subject, source->on, source, &unique);
    for (uint32_t i = 0; i < m->n_conditions; i++) n += joined_columns(subject, m->conditions[i], source, &unique);
    return !source->relation && n == 1 && !unique;
}

static bool is_grouped_by(const struct meaning *m, const struct meaning_source *source)
{
    for (uint32_t i = 0; i < m->n_keys; i++)
        if (is_of_source(m->keys[i], source)) return true;
    return false;
}

/* Returns the derived table with one row for each key whose column is summed, or NULL. */
static const struct meaning_source *totals_source(const struct meaning *m, const struct meaning_term *measure)
{
    bool sum = strcmp(measure->name, "sum") == 0 && !measure->distinct && measure->n_parts == 1;
    for (uint32_t i = 0; sum && i < m->n_sources; i++)
        if (m->sources[i].relation && m->sources[i].relation->grain == MEANING_KEYS &&
            is_of_source(measure->parts[0], &m->sources[i]))
            return &m->sources[i];
    return NULL;
}

static void check_measure(void *self, const struct meaning *m, const struct meaning_term *term)
{
    struct vsig_run *run = self;
    const struct meaning_source *own = term->kind == MEANING_MEASURE ? totals_source(m, term) : NULL;
    for (uint32_t i = 0; own && i < m->n_sources; i++) {
        const struct meaning_source *other = &m->sources[i];
        if (other == own || is_grouped_by(m, other) || !repeats_rows(run->subject, m, other)) continue;
        struct vsig_finding *finding =
            vsig_fire(run, VSIG_ERROR, vsig_node_at(run->subject, term->start, term->end),
                      "the total of the subquery is added up once for each row of %s", other->name);
        vsig_add_fact(run, finding, "by", false, "%s", other->name);
        return;
    }
}

static enum err_code repeated_total_eval(struct vsig_run *run)
{
    const struct meaning *meaning;
    enum err_code code = vsig_read_meaning(run->subject, &meaning);
    if (meaning) meaning_visit(meaning, &(struct meaning_visitor){.self = run, .term = check_measure});
    return code;
}

const struct vsig_def vsig_repeated_total = {
    .id = VSIG_ID_repeated_total,
    .name = "repeated_total",
    .family = VSIG_JOIN,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_DATA,
    .sentence = "a total of a subquery is added up once for each row of a joined table",
    .description = "A derived table or CTE has one total for each thing. The query joins it with a table that has "
                   "several rows for a thing, and adds the totals up. So each total counts several times.",
    .example = "Payments and visits of each member - SELECT p.member_id, SUM(p.paid), COUNT(*) FROM (SELECT member_id, "
               "SUM(amount) AS paid FROM payment GROUP BY member_id) p JOIN visit v ON v.member_id = p.member_id GROUP "
               "BY p.member_id",
    .instruction = "Aggregate each table in a subquery of its own before the join, and group by the total instead of "
                   "adding it up.",
    .eval = repeated_total_eval,
};
