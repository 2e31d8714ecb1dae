/* What was found out about a question for one candidate, and holds for the others: each part belongs to the file that it
 * is named for, which makes it when it is first needed. All of it lives in the question's arena. */
#ifndef ASSAY_LIB_QUESTION_MEMO_H
#define ASSAY_LIB_QUESTION_MEMO_H

#include "lib/base/arena.h"

struct question_memo {
    struct arena *arena;
    struct column_said *columns;  /* forms.c: by column id */
    struct kept_forms *forms;     /* forms.c */
    struct kept_phrases *phrases; /* phrase.c */
};

#endif
