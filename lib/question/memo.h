/* The result cache of a question: results for one candidate that later candidates reuse. The comment of each member
 * names the file that owns it and creates it on first use. All memory is in the question's arena, so one thread at a
 * time may use the cache. */
#ifndef ASSAY_LIB_QUESTION_MEMO_H
#define ASSAY_LIB_QUESTION_MEMO_H

#include "lib/base/arena.h"

struct question_memo {
    struct arena *arena;
    struct column_said *columns;  /* forms.c: values of each column that the question says, by column id */
    struct kept_forms *forms;     /* forms.c: forms in which the question or a column has a text */
    struct kept_phrases *phrases; /* phrase.c: positions of phrases in the question */
};

#endif
