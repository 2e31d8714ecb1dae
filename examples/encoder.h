/* Vectors of an example's texts by a model that is served elsewhere, in place of the built-in embedder. A vector of any length is projected to TEXT_DIM by
 * fixed random signs, which keeps cosines within some 0.06 (Johnson and Lindenstrauss), so that a store is the same whoever made its vectors.
 */
#ifndef ASSAY_EXAMPLES_ENCODER_H
#define ASSAY_EXAMPLES_ENCODER_H

#include "examples/examples.h"
#include "lib/llm/scorer.h"

/* Asks the endpoint once, for the length of its vectors. `config`: of a server with OpenAI's /v1/embeddings; `timeout_ms` bounds each call. ERR_CONFIG,
 * ERR_UNREACHABLE, ERR_MALFORMED. The caller owes examples_encoder_close; stores that use it are closed before. */
enum err_code examples_encoder_open(const struct scorer_config *config, struct examples_encoder **out, struct err *err);
void examples_encoder_close(struct examples_encoder *encoder); /* NULL is fine */

#endif
