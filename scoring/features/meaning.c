/* Features of the alignment (lib/question/align.h): how many parts of the query agree with the question, and differ. */
#include "scoring/features/extract.h"

#include "lib/question/frame.h"
#include "signals/support/meaning.h"

/* Elements of the frame that no part of the query agrees with or differs from. */
static unsigned count_unmatched(const struct question_frame *frame, const struct alignment *alignment)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < frame->n; i++) n += !align_has_item(alignment, &frame->elements[i]);
    return n;
}

void extract_meaning(struct extraction *ex)
{
    const struct alignment *alignment = ex->question ? vsig_alignment(ex->subject) : NULL;
    if (!alignment || !ex->question->frame) return;
    float agrees = 0, differs = 0, certain = 0;
    for (uint32_t i = 0; i < alignment->n; i++) {
        const struct align_item *item = &alignment->items[i];
        agrees += item->agrees;
        differs += !item->agrees;
        certain += item->certain;
    }
    ex->out[FEATURE_meaning_agrees] = agrees;
    ex->out[FEATURE_meaning_differs] = differs;
    ex->out[FEATURE_meaning_differs_surely] = certain;
    ex->out[FEATURE_meaning_balance] = agrees - differs - certain;
    ex->out[FEATURE_meaning_asked] = (float)ex->question->frame->n;
    ex->out[FEATURE_meaning_unmatched] = (float)count_unmatched(ex->question->frame, alignment);
}
