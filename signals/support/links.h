/* Links between words of the question and parts of the candidate (lib/question/link.h). Signals and features share
 * them. */
#ifndef ASSAY_SIGNALS_SUPPORT_LINKS_H
#define ASSAY_SIGNALS_SUPPORT_LINKS_H

#include "lib/question/link.h"
#include "signals/vsig.h"

/* Returns the subject's links, computed on first use. Returns NULL without a question, or if the arena is full. Thread:
 * eval. */
const struct link_query *vsig_links(struct vsig_subject *subject);

#endif
