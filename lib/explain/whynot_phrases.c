/* Narrates why the result is empty. */
#include "lib/explain/narrator.h"

#include <string.h>

/* Narrates one side of a set operation. The left side may be a chain of set operations. */
static void say_excluding_arm(struct narrator *t, struct say *out, const struct sql_node *arm)
{
    if (sql_is(arm, SQL_COMPOUND)) {
        say(out, "what comes before ");
        arm = arm->parent->kids[1];
    }
    say_query(out, narrate_query_number(t, arm, NULL, NARRATE_ARM));
}

/* Writes " of query 2", which names the inner query that contains the condition. */
static void say_enclosing_query(struct narrator *t, struct say *out, const struct sql_block *block)
{
    uint32_t i = 1;
    while (i < t->n_queries && t->queries[i].node != block->node && t->queries[i].node != block->query) i++;
    if (i >= t->n_queries) return;
    say(out, " of ");
    if (out->prose && t->queries[i].in_place)
        say(out, "the inner query");
    else
        say_query(out, i);
}

static void say_culprit(struct narrator *t, struct say *out, const struct whynot_culprit *culprit)
{
    static const struct {
        const char *what, *next;
    } WORDING[] = {
        [WHYNOT_WHERE] = {"the condition", " that "},
        [WHYNOT_ON] = {"the join condition", " that "},
        [WHYNOT_HAVING] = {"the condition on groups", " that "},
        [WHYNOT_ARM] = {"", ""},
        [WHYNOT_LIMIT] = {"the limit", " "},
    };
    say(out, WORDING[culprit->kind].what);
    if (culprit->kind != WHYNOT_ARM && culprit->block) say_enclosing_query(t, out, culprit->block);
    bool quoted =
        sql_is(culprit->node, SQL_JOIN) || sql_is(culprit->node, SQL_USING) || sql_is(culprit->node, SQL_NAME);
    say(out, quoted && culprit->kind == WHYNOT_ON ? " " : WORDING[culprit->kind].next);
    if (culprit->kind == WHYNOT_ARM)
        say_excluding_arm(t, out, culprit->node);
    else if (culprit->kind == WHYNOT_LIMIT || quoted)
        say_sql(t, out, culprit->node);
    else
        say_expr(t, out, culprit->node);
    if (!narrate_shows_values(t) || !culprit->column || narrate_denied(t, culprit->column)) return;
    if (culprit->stored == 0) say(out, " (a value that the column does not hold)");
    for (uint32_t i = 0; i < culprit->n_nearest; i++) {
        say(out, i == 0 ? ", nearest to it " : ", ");
        say_quoted(out, culprit->nearest[i], strlen(culprit->nearest[i]), NARRATE_LITERAL_BYTES);
    }
}

static void say_why_not(struct narrator *t, struct say *out, const struct whynot *whynot, bool aggregate)
{
    say(out, aggregate ? "the aggregate has no row to work on" : "no row comes back");
    if (whynot->status == WHYNOT_NO_DATA) {
        say(out, ", whatever the conditions: a table that it reads has no rows to match");
        return;
    }
    say(out, " because of ");
    for (uint32_t i = 0; i < whynot->n_culprits; i++) {
        if (i) say(out, ", together with ");
        say_culprit(t, out, &whynot->culprits[i]);
    }
    say(out, whynot->n_culprits == 1 ? "; without it there is a row" : "; without them there is a row");
}

void narrate_why_not(struct narrator *t, const struct provenance *p, const struct whynot *whynot)
{
    bool found = whynot->status == WHYNOT_FOUND && whynot->n_culprits;
    if (!found && whynot->status != WHYNOT_NO_DATA) return;
    narrate_begin(t);
    say_why_not(t, &t->premise, whynot, p->status == PROV_NOTHING);
    say_why_not(t, &t->prose, whynot, p->status == PROV_NOTHING);
    narrate_end(t, EXPLAIN_WHY_NOT, found ? whynot->culprits[0].node : t->source->stmt->root, true);
}
