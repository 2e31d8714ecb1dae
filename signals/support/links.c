#include "signals/support/links.h"

#include "signals/support/shape.h"

const struct link_query *vsig_links(struct vsig_subject *subject)
{
    if (subject->links || !subject->analysis || !subject->bound) return subject->links;
    const struct vsig_shape *shape = vsig_shape(subject);
    if (shape)
        subject->links =
            link_make(subject->arena, subject->analysis->links, subject->bound, shape->pairs, shape->n_pairs);
    return subject->links;
}
