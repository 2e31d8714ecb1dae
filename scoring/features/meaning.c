/* Features of the alignment (lib/question/align.h): how many parts of the query agree with the question, and differ.
 * Features of the learned score (lib/question/wording.h). */
#include "scoring/features/extract.h"

#include "lib/question/frame.h"
#include "lib/question/wording.h"
#include "signals/support/meaning.h"

/* Elements of the frame that no part of the query agrees with or differs from. */
static unsigned count_unmatched(const struct question_frame *frame, const struct alignment *alignment)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < frame->n; i++) n += !align_has_item(alignment, &frame->elements[i]);
    return n;
}

static enum feature_index aspect_feature(enum align_aspect aspect)
{
    static const enum feature_index features[ALIGN_ASPECT_COUNT] = {
        [ALIGN_RUNNING] = FEATURE_aspect_running,
        [ALIGN_RESTART] = FEATURE_aspect_restart,
        [ALIGN_MOVING] = FEATURE_aspect_moving,
        [ALIGN_STEP] = FEATURE_aspect_step,
        [ALIGN_PARTITION] = FEATURE_aspect_partition,
        [ALIGN_TIES] = FEATURE_aspect_ties,
        [ALIGN_FIRST] = FEATURE_aspect_first,
        [ALIGN_MISSING] = FEATURE_aspect_missing,
        [ALIGN_LEVEL] = FEATURE_aspect_level,
        [ALIGN_WHOLE] = FEATURE_aspect_whole,
        [ALIGN_COMPLEMENT] = FEATURE_aspect_complement,
        [ALIGN_BASE] = FEATURE_aspect_base,
        [ALIGN_SIDES] = FEATURE_aspect_sides,
        [ALIGN_DISTINCT] = FEATURE_aspect_distinct,
        [ALIGN_NULLS] = FEATURE_aspect_nulls,
        [ALIGN_REPEATS] = FEATURE_aspect_repeats,
        [ALIGN_SIGN] = FEATURE_aspect_sign,
        [ALIGN_COLUMNS] = FEATURE_aspect_columns,
        [ALIGN_DIRECTION] = FEATURE_aspect_direction,
        [ALIGN_ROWS] = FEATURE_aspect_rows,
        [ALIGN_UNIT] = FEATURE_aspect_unit,
    };
    return features[aspect];
}

static void set_aspects(const struct alignment *alignment, float *out)
{
    for (unsigned i = 0; i < ALIGN_ASPECT_COUNT; i++) out[aspect_feature((enum align_aspect)i)] = 0;
    for (uint32_t i = 0; i < alignment->n; i++) {
        const struct align_item *item = &alignment->items[i];
        out[aspect_feature(item->aspect)] += item->agrees ? 1 : item->certain ? -2 : -1;
    }
}

static void set_wording(struct extraction *ex)
{
    const struct meaning *meaning = ex->question->foreign ? NULL : vsig_meaning(ex->subject);
    struct wording_score score = wording_score(ex->arena, ex->question->wording, meaning);
    ex->out[FEATURE_wording_sum] = score.sum;
    ex->out[FEATURE_wording_mean] = score.mean;
    ex->out[FEATURE_wording_least] = score.least;
}

void extract_meaning(struct extraction *ex)
{
    if (ex->question) set_wording(ex);
    const struct alignment *alignment = ex->question ? vsig_alignment(ex->subject) : NULL;
    if (!alignment || !ex->question->frame) return;
    float agrees = 0, differs = 0, certain = 0;
    for (uint32_t i = 0; i < alignment->n; i++) {
        const struct align_item *item = &alignment->items[i];
        agrees += item->agrees;
        differs += !item->agrees;
        certain += item->certain;
    }
    set_aspects(alignment, ex->out);
    ex->out[FEATURE_meaning_agrees] = agrees;
    ex->out[FEATURE_meaning_differs] = differs;
    ex->out[FEATURE_meaning_differs_surely] = certain;
    ex->out[FEATURE_meaning_balance] = agrees - differs - certain;
    ex->out[FEATURE_meaning_asked] = (float)ex->question->frame->n;
    ex->out[FEATURE_meaning_unmatched] = (float)count_unmatched(ex->question->frame, alignment);
}
