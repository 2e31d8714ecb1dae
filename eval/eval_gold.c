#include "eval/eval_gold.h"

#include <string.h>

struct eval_gold *eval_gold_new(void)
{
    struct eval_gold *golds = g_new0(struct eval_gold, 1);
    for (int i = 0; i < VSIG_ID_END; i++) golds->by_signal[i].ids = g_ptr_array_new_with_free_func(g_free);
    return golds;
}

void eval_gold_free(struct eval_gold *golds)
{
    for (int i = 0; i < VSIG_ID_END; i++) g_ptr_array_free(golds->by_signal[i].ids, TRUE);
    g_free(golds);
}

void eval_gold_add(struct eval_gold *golds, const struct msg_verdict *verdict)
{
    const struct msg_judged *gold = verdict->n_candidates ? &verdict->candidates[0] : NULL;
    golds->golds++;
    if (!gold || !gold->judged || gold->invalid) {
        golds->invalid++;
        return;
    }
    for (uint32_t i = 0; i < gold->n_signals; i++) {
        const struct msg_signal *signal = &gold->signals[i];
        if (signal->id >= VSIG_ID_END) continue;
        struct eval_gold_signal *tally = &golds->by_signal[signal->id];
        if (signal->state == MSG_UNAVAILABLE) {
            tally->unavailable++;
            continue;
        }
        tally->seen++;
        if (signal->state != MSG_FIRED) continue;
        tally->fired++;
        if (tally->ids->len < EVAL_GOLD_EXAMPLES) g_ptr_array_add(tally->ids, g_strdup(verdict->id));
    }
}
