/* dropped_rows: the question also asks for rows without a partner, but the query drops them.
 *
 * If the question says so ("including those without", "zeros included"), the statistics show whether any row has no
 * partner. If each row has one, an inner join gives the same result, and the signal is silent. "Each" and "every" alone
 * prove nothing, because the gold queries of such questions use an inner join.
 *
 * A LEFT JOIN whose rows a later condition or join drops is stronger evidence. The author of the query meant to keep
 * the rows, especially if the query counts the optional side or replaces NULL by 0. The signal reports such a query if
 * a probe finds a lost row.
 *
 * The whole of a share should be all rows of a table. If it is counted over an inner join, a probe searches for rows
 * that are missing from both counts. */
#include "signals/support/kept.h"
#include "signals/support/names.h"
#include "signals/support/undone.h"
#include "signals/support/whole.h"

static const char *const CAUSES[] = {
    [VSIG_DROP_JOIN] = "the question asks for all rows, but the inner join drops rows without a match",
    [VSIG_DROP_SIDE] = "the question asks for all rows, but the outer join keeps the unmatched rows of the wrong table",
    [VSIG_DROP_FILTER] = "the outer join keeps unmatched rows, but this condition drops the unmatched rows again",
    [VSIG_DROP_UNJOINED] =
        "the question also asks for rows that nothing refers to, but the query does not read the table of these rows",
    [VSIG_DROP_COUNTED] = "COUNT(*) counts an unmatched row as 1, but the question asks for 0 in that case",
};

static void check_kept(struct vsig_run *run, const struct vsig_kept *kept)
{
    if (kept->asked != VSIG_KEEP_SAID || kept->drop == VSIG_DROP_NOTHING || kept->anti) return;
    if (kept->drop == VSIG_DROP_JOIN && kept->meant) return;
    bool other = kept->drop == VSIG_DROP_SIDE || kept->drop == VSIG_DROP_UNJOINED;
    if (other && kept->spoken >= 0 && kept->spoken != kept->table) return;
    struct vsig_finding *finding = vsig_fire(run, VSIG_ERROR, kept->at, "%s", CAUSES[kept->drop]);
    if (kept->table < 0) return;
    vsig_add_fact(run, finding, "table", false, "%s", run->subject->schema->tables[kept->table].name);
    if (kept->lost >= 1)
        vsig_add_fact(run, finding, "rows without a partner", true, "%.0f of %.0f", kept->lost, kept->rows);
}

/* Words that begin a restriction of the thing before them: "carriers that shipped by air". */
static const char *const THAT[] = {"who", "that", "which", "with", "having", "whose", NULL};

/* Returns the end of a mention of the table that begins at most `reach` tokens after one of `phrases`. Returns 0 if
 * there is none. */
static uint32_t named_behind(const struct vsig_subject *subject, const char *const *phrases, uint32_t reach, int table)
{
    const struct question *question = subject->analysis;
    struct question_phrase at = {0, 0};
    while (question_phrase_find(question, phrases, at.first + at.n_tokens, &at)) {
        uint32_t from = at.first + at.n_tokens;
        for (uint32_t i = 0; i < question->n_mentions; i++) {
            const struct question_mention *m = &question->mentions[i];
            if (m->column < 0 && m->table == table && m->first >= from && m->first <= from + reach && m->score > 0.6)
                return m->first + m->n_tokens;
        }
    }
    return 0;
}

/* True if the words from token `end` restrict the thing, as in "with flu visits". False for words that ask for an
 * output, as in "with the number of visits". */
static bool is_restricted(const struct vsig_subject *subject, uint32_t end)
{
    static const char *const SHOWN[] = {"the", "its", "their", "number", "count", "total", "how", "zero", NULL};
    static const char *const WITH[] = {"with", NULL};
    const struct text_tokens *tokens = &subject->analysis->tokens;
    if (end >= tokens->n || !question_token_is(&tokens->items[end], THAT)) return false;
    bool shown = end + 1 < tokens->n && question_token_is(&tokens->items[end + 1], SHOWN);
    return !shown || !question_token_is(&tokens->items[end], WITH);
}

/* Returns how certainly the question asks for the rows that the query drops after an outer join. VSIG_NOTE means that
 * it may not ask for them. */
static enum vsig_severity want_of_lost(const struct vsig_run *run, const struct vsig_kept *kept,
                                       const struct vsig_undone *undone)
{
    static const char *const EVERY[] = {"each", "every", "all", "full list", "complete list", NULL};
    if (kept->asked == VSIG_KEEP_SAID) return VSIG_ERROR;
    if (kept->asked == VSIG_KEEP_ONLY || kept->anti || !(undone->counts || undone->fills)) return VSIG_NOTE;
    uint32_t end = named_behind(run->subject, EVERY, 2, undone->kept->table);
    if (end && is_restricted(run->subject, end)) return VSIG_NOTE;
    return end || undone->fills ? VSIG_ERROR : VSIG_WARNING;
}

static enum err_code check_undone(struct vsig_run *run, const struct vsig_kept *kept)
{
    struct vsig_undone undone;
    enum err_code code = vsig_undone_look(run->subject, &undone);
    if (code || !undone.at) return code;
    enum vsig_severity severity = want_of_lost(run, kept, &undone);
    if (severity == VSIG_NOTE) return ERR_OK;
    const char *table = vsig_source_name(run->subject, undone.kept);
    struct vsig_finding *finding =
        undone.by_join
            ? vsig_fire(run, severity, undone.at,
                        "the outer join keeps rows of %s without a match, but this inner join drops these rows again",
                        table)
            : vsig_fire(run, severity, undone.at,
                        "the outer join keeps rows of %s without a match, but this condition drops these rows again",
                        table);
    vsig_add_fact(run, finding, "table", false, "%s", table);
    return ERR_OK;
}

static enum err_code check_whole(struct vsig_run *run)
{
    static const char *const OF[] = {"of all the", "of all our", "of all", "of our", "of the", "of every", "of", NULL};
    static const char *const SHARES[] = {"percent", "percentag", "share", "proport",   "fraction", "pct",
                                         "portion", "%",         "rate",  "what part", NULL};
    struct vsig_whole whole;
    if (!vsig_question_says(run->subject, SHARES)) return ERR_OK;
    enum err_code code = vsig_whole_look(run->subject, &whole);
    if (code || !whole.at) return code;
    uint32_t end = named_behind(run->subject, OF, 0, whole.table);
    if (!end || is_restricted(run->subject, end)) return ERR_OK;
    const char *table = run->subject->schema->tables[whole.table].name;
    struct vsig_finding *finding =
        vsig_fire(run, VSIG_ERROR, whole.at,
                  "the question asks for a share of the rows of %s, but rows without a match are not counted", table);
    vsig_add_fact(run, finding, "table", false, "%s", table);
    return ERR_OK;
}

static enum err_code dropped_rows_eval(struct vsig_run *run)
{
    const struct vsig_kept *kept = vsig_kept_look(run->subject);
    if (!kept) return ERR_LIMIT_MEMORY;
    check_kept(run, kept);
    enum err_code code = run->verdict->n_findings ? ERR_OK : check_undone(run, kept);
    return code ? code : check_whole(run);
}

const struct vsig_def vsig_dropped_rows = {
    .id = VSIG_ID_dropped_rows,
    .name = "dropped_rows",
    .family = VSIG_JOIN,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION | VSIG_NEEDS_DATA,
    .sentence = "the question also asks for rows without a match, but a join or condition drops these rows",
    .description = "The question asks for all things of a kind, including things without a row in the other table. An "
                   "inner join drops these things. So does a condition on the optional side of an outer join. A "
                   "share that is counted over an inner join leaves these things out of the whole.",
    .example = "How many staff does each department have, including departments without staff? - SELECT d.name, "
               "COUNT(*) FROM department d JOIN staff s ON s.dept_id = d.id GROUP BY d.id",
    .instruction = "Use LEFT JOIN from the table whose rows must all appear. Count a column of the other table, and "
                   "move conditions on the other table into ON.",
    .eval = dropped_rows_eval,
};
