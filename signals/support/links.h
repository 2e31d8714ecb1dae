/* Which part of the candidate stands for which word of the question (lib/question/link.h), linked once a candidate and
 * shared by the signals and the features that ask. */
#ifndef ASSAY_SIGNALS_SUPPORT_LINKS_H
#define ASSAY_SIGNALS_SUPPORT_LINKS_H

#include "lib/question/link.h"
#include "signals/vsig.h"

/* The subject's links, made on first use. NULL without a question, or when the arena is full. Thread: eval. */
const struct link_query *vsig_links(struct vsig_subject *subject);

#endif
