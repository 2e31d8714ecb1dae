/* Determines which answers are right. With databases, it executes gold and the answers, as `assay eval` does. Otherwise
 * it compares normal forms. An answer with another normal form may be right too, so its correctness stays unknown. */
#include "eval/diff.h"

#include <string.h>

struct diff_gold {
    struct labeler *labeler; /* NULL means that normal forms are compared */
};

struct diff_gold *diff_gold_new(const struct worker_databases *databases)
{
    struct diff_gold *gold = g_new0(struct diff_gold, 1);
    if (databases) gold->labeler = labeler_new(databases);
    return gold;
}

void diff_gold_free(struct diff_gold *gold)
{
    if (!gold) return;
    if (gold->labeler) labeler_free(gold->labeler);
    g_free(gold);
}

/* Runs gold and the answers; equal answers run once. Returns false, with the reason in `err`, if the answers cannot be
 * labelled. */
static bool by_execution(struct diff_gold *gold, struct diff_pair *pair, const char *db, const char *sql,
                         struct err *err)
{
    struct msg_judged answers[2] = {0};
    unsigned at[2] = {0}, n = 0;
    for (int i = 0; i < 2; i++) {
        const char *answer = pair->side[i].sql;
        if (!answer) continue;
        bool again = i == 1 && n && strcmp(answer, answers[0].sql.bytes) == 0;
        at[i] = again ? 0 : n;
        if (!again) answers[n++].sql = (struct msg_text){answer, (uint32_t)strlen(answer)};
    }
    struct arena arena;
    struct labels labels;
    arena_init(&arena, 0);
    bool good = label_line(gold->labeler, &arena, db, sql, answers, n, &labels, err) == ERR_OK;
    if (good && labels.gold_failed) {
        err_set(err, ERR_ENGINE, "the gold query failed");
        good = false;
    }
    for (int i = 0; good && i < 2; i++)
        pair->right[i] = pair->side[i].sql && labels.of[at[i]] == LABEL_RIGHT ? DIFF_RIGHT : DIFF_WRONG;
    arena_free(&arena);
    return good;
}

static enum diff_right by_form(const char *answer, const char *gold)
{
    if (!answer) return DIFF_WRONG;
    return diff_same_sql(answer, gold) ? DIFF_RIGHT : DIFF_UNKNOWN;
}

enum err_code diff_measure(struct diff_gold *gold, struct diff_pair *pair, const char *db, const char *sql,
                           struct diff_totals *totals, struct err *err)
{
    pair->right[0] = pair->right[1] = DIFF_UNKNOWN;
    pair->measured = false;
    if (!sql || (gold->labeler && !db)) {
        totals->no_gold++;
        return ERR_OK;
    }
    totals->measure = gold->labeler ? DIFF_BY_EXECUTION : DIFF_BY_FORM;
    pair->measured = true;
    if (!gold->labeler) {
        for (int i = 0; i < 2; i++) pair->right[i] = by_form(pair->side[i].sql, sql);
        return ERR_OK;
    }
    if (by_execution(gold, pair, db, sql, err)) return ERR_OK;
    pair->measured = false;
    totals->gold_failed++;
    return err->code ? err->code : ERR_ENGINE;
}
