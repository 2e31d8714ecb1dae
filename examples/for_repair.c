/* Examples for proposals: whose edits are tried on the query that is to be repaired. */
#include "examples/examples.h"

uint32_t examples_for_repair(struct examples *store, struct arena *arena, const struct examples_query *query,
                             uint32_t k, struct repair_example *out)
{
    struct examples_found found[EXAMPLES_MAX_FOUND];
    uint32_t n = examples_search(store, query, EXAMPLES_HYBRID, k, found), kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct example e;
        if (examples_read(store, arena, found[i].at, &e, NULL) != ERR_OK) continue;
        out[kept++] = (struct repair_example){e.question, e.wrong, e.right, e.columns, e.n_columns};
    }
    return kept;
}
