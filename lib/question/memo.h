/* The result cache of a question: results of one candidate that later candidates reuse. Each part belongs to the file
 * named beside it, which creates it on first use. All memory is in the question's arena, so one thread at a time may
 * use it. */
#ifndef ASSAY_LIB_QUESTION_MEMO_H
#define ASSAY_LIB_QUESTION_MEMO_H

#include "lib/base/arena.h"

struct question_memo {
    struct arena *arena;
    struct column_said *columns;  /* forms.c: values that the question says, by column id */
    struct kept_forms *forms;     /* forms.c: forms of texts */
    struct kept_phrases *phrases; /* phrase.c: positions of phrases */
};

#endif
