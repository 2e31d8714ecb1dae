/* rival_column: the words of the question name another column of the same tables far better than the column that the
 * query uses there.
 *
 * Linking (lib/question/link.h) finds the words of the question that belong to each column of the query. They are near
 * the cue of an order, in the phrase of a requested output, or beside the value of a condition. Linking scores how well
 * these words name each column. A column has no rival if a value of the question implies it, or if the words name it at
 * least half as well. */
#include "signals/support/links.h"
#include "signals/support/query.h"
#include "signals/support/shape.h"

#include <math.h>

enum { OPT_GAP, OPT_KEY_GAP };

static const char *table_of(const struct vsig_run *run, const struct schema_column *column)
{
    return run->subject->schema->tables[column->table].name;
}

/* True if the query joins the two columns. */
static bool are_joined(struct vsig_subject *subject, const struct schema_column *a, const struct schema_column *b)
{
    const struct vsig_shape *shape = vsig_shape(subject);
    for (uint32_t i = 0; shape && i < shape->n_pairs; i++) {
        const struct schema_column *left = schema_column_of(subject->schema, shape->pairs[i].left);
        const struct schema_column *right = schema_column_of(subject->schema, shape->pairs[i].right);
        if ((left == a && right == b) || (left == b && right == a)) return true;
    }
    return false;
}

/* True if the words refer to a key or a name, which stands for the row, but the query uses another column. "Trips"
 * refers to trip_id and means the counted rows. */
static bool stands_for_row(const struct vsig_run *run, const struct link_part *part)
{
    return part->role != LINK_ANSWER && query_is_generic(run->subject, part->same.column) &&
           !query_is_generic(run->subject, part->column);
}

/* True if the column is compared inside an aggregate or a WHEN. The literal beside it then determines which column is
 * meant. */
static bool is_tested(const struct link_part *part)
{
    const struct sql_node *up = part->node ? part->node->parent : NULL;
    return part->role == LINK_ARGUMENT && up &&
           ((sql_is(up, SQL_BINARY) && sql_is_comparison(up->op)) || sql_is(up, SQL_IN) || sql_is(up, SQL_LIKE) ||
            sql_is(up, SQL_BETWEEN));
}

static void check_part(struct vsig_run *run, const struct link_part *part)
{
    const struct schema_column *rival = part->same.column;
    if (rival && part->node && sql_up(part->node, SQL_WINDOW))
        return; /* no place of the question corresponds to a window */
    if (rival && is_tested(part)) return;
    if (rival && (!part->same.named || part->same.used)) return;
    if (rival && (stands_for_row(run, part) || are_joined(run->subject, rival, part->column))) return;
    if (!rival || !part->node || (double)(part->same.score - part->score) <= vsig_opt(run, OPT_GAP)) return;
    struct vsig_finding *finding =
        vsig_fire(run, VSIG_WARNING, part->node, "the question names %s.%s, but the query uses %s.%s here",
                  table_of(run, rival), rival->name, table_of(run, part->column), part->column->name);
    vsig_add_fact(run, finding, "used", false, "%s.%s", table_of(run, part->column), part->column->name);
    vsig_add_fact(run, finding, "named", false, "%s.%s", table_of(run, rival), rival->name);
}

/* Reports a join by one of several keys to the same table, if the words of the question name another one. */
static void check_key(struct vsig_run *run, const struct link_query *links)
{
    double gap = (double)(links->role_rival - links->role_score);
    if (isnan(gap) || gap <= vsig_opt(run, OPT_KEY_GAP)) return;
    struct vsig_finding *finding = vsig_fire(run, VSIG_WARNING, links->role_node,
                                             "the question refers to the key %s, but the query joins by the key %s",
                                             links->role_better->name, links->role_key->name);
    vsig_add_fact(run, finding, "used", false, "%s.%s", table_of(run, links->role_key), links->role_key->name);
    vsig_add_fact(run, finding, "named", false, "%s.%s", table_of(run, links->role_better), links->role_better->name);
}

static enum err_code rival_column_eval(struct vsig_run *run)
{
    const struct link_query *links = vsig_links(run->subject);
    if (!links) return ERR_LIMIT_MEMORY;
    for (uint32_t i = 0; i < links->n_parts; i++)
        if (links->parts[i].role < LINK_COLUMN_ROLES) check_part(run, &links->parts[i]);
    check_key(run, links);
    return ERR_OK;
}

static const struct vsig_option OPTIONS[] = {
    [OPT_GAP] = {"gap", 0.5, 0, 2,
                 "minimum difference between the match scores of the other column and of the column that is used"},
    [OPT_KEY_GAP] = {"key_gap", 0.15, 0, 2,
                     "minimum difference between the match scores of the other key and of the key that the join uses"},
    {NULL},
};

const struct vsig_def vsig_rival_column = {
    .id = VSIG_ID_rival_column,
    .name = "rival_column",
    .family = VSIG_QUESTION,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION,
    .sentence = "the words of the question that belong to a column name another column of the same tables",
    .description = "Each word of the question was linked to a part of the query. The words linked to this column name "
                   "another column of the same tables, but the query does not use that column there. Or the words name "
                   "another key that leads to the same table.",
    .example = "Which singer is the heaviest? - SELECT name FROM singer ORDER BY height DESC LIMIT 1",
    .instruction = "Use the column that these words of the question name.",
    .options = OPTIONS,
    .eval = rival_column_eval,
};
