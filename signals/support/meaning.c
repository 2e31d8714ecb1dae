#include "signals/support/meaning.h"

#include "signals/support/links.h"

enum err_code vsig_read_meaning(struct vsig_subject *subject, const struct meaning **out)
{
    struct meaning *meaning = NULL;
    enum err_code code = ERR_OK;
    if (!subject->meaning && subject->bound) {
        code = meaning_read(subject->arena, subject->bound, &meaning);
        if (!code) subject->meaning = meaning;
    }
    *out = subject->meaning;
    return code;
}

const struct meaning *vsig_meaning(struct vsig_subject *subject)
{
    const struct meaning *meaning;
    return vsig_read_meaning(subject, &meaning) == ERR_OK ? meaning : NULL;
}

const struct alignment *vsig_alignment(struct vsig_subject *subject)
{
    if (subject->alignment || !subject->analysis) return subject->alignment;
    const struct meaning *meaning = vsig_meaning(subject);
    if (!meaning) return NULL;
    return subject->alignment =
               align_make(subject->arena, subject->analysis, subject->schema, meaning, vsig_links(subject));
}

const struct sql_node *vsig_node_at(const struct vsig_subject *subject, uint32_t start, uint32_t end)
{
    const struct sql_node *root = subject->stmt->root, *best = root;
    for (const struct sql_node *n = root; n && end; n = sql_walk(root, n))
        if (n->end && n->start <= start && n->end >= end && n->end - n->start <= best->end - best->start) best = n;
    return best;
}

enum err_code vsig_report_differences(struct vsig_run *run, enum align_group group)
{
    const struct meaning *meaning;
    enum err_code code = vsig_read_meaning(run->subject, &meaning);
    if (code || !meaning || !run->subject->analysis) return code;
    const struct alignment *alignment = vsig_alignment(run->subject);
    if (!alignment) return ERR_LIMIT_MEMORY;
    for (uint32_t i = 0; i < alignment->n; i++) {
        const struct align_item *item = &alignment->items[i];
        if (item->agrees || align_group(item->aspect) != group) continue;
        const struct sql_node *node = vsig_node_at(run->subject, item->start, item->end);
        struct vsig_finding *finding =
            vsig_fire(run, item->certain ? VSIG_ERROR : VSIG_WARNING, node, "%s", item->says);
        if (!item->n_tokens) continue;
        const struct question *question = run->subject->analysis;
        const struct text_token *first = &question->tokens.items[item->first], *last = first + item->n_tokens - 1;
        vsig_add_fact(run, finding, "question says", false, "%.*s", (int)(last->end - first->start),
                      question->text + first->start);
    }
    return ERR_OK;
}
