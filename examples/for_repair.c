/* Finds examples for proposals. The repair tries their edits on the query. */
#include "examples/examples.h"

uint32_t examples_for_repair(struct examples *store, struct arena *arena, const struct examples_query *query,
                             uint32_t k, struct repair_example *out)
{
    struct examples_found found[EXAMPLES_MAX_FOUND];
    struct example read[EXAMPLES_MAX_FOUND];
    uint32_t n = examples_search(store, query, EXAMPLES_HYBRID, k, found);
    n = examples_read_whole(store, arena, found, n, read);
    for (uint32_t i = 0; i < n; i++)
        out[i] =
            (struct repair_example){read[i].question, read[i].wrong, read[i].right, read[i].columns, read[i].n_columns};
    return n;
}
