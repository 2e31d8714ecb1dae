/* Features of the alignment (lib/question/align.h): how many parts of the query agree with the question, and how many
 * differ. Also features of the learned score (lib/question/wording.h). */
#include "scoring/features/extract.h"

#include "lib/question/frame.h"
#include "lib/question/wording.h"
#include "signals/support/meaning.h"

/* Counts the elements of the frame for which no part of the query agrees or differs. */
static unsigned count_unmatched(const struct question_frame *frame, const struct alignment *alignment)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < frame->n; i++) n += !align_has_item(alignment, &frame->elements[i]);
    return n;
}

static enum feature_index aspect_feature(enum align_aspect aspect)
{
    static const enum feature_index features[ALIGN_ASPECT_COUNT] = {
#define X(aspect, look, group, name) [ALIGN_##aspect] = FEATURE_aspect_##look,
        ALIGN_ASPECTS(X)
#undef X
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
