/* Embeds the texts of an example with a remote model instead of the built-in embedder. A vector of any length is
 * projected to TEXT_DIM by fixed random signs. This preserves cosines within about 0.06 (Johnson and Lindenstrauss). So
 * a store has the same form for every model. */
#ifndef ASSAY_EXAMPLES_ENCODER_H
#define ASSAY_EXAMPLES_ENCODER_H

#include "examples/examples.h"
#include "lib/llm/scorer.h"

/* Opens an encoder, and sends one request to learn the length of its vectors. `config` names a server with OpenAI's
 * /v1/embeddings; its `timeout_ms` bounds each call. Close with examples_encoder_close, after the stores that use it.
 * Errors: ERR_CONFIG, ERR_UNREACHABLE, ERR_MALFORMED. */
enum err_code examples_encoder_open(const struct scorer_config *config, struct examples_encoder **out, struct err *err);
void examples_encoder_close(struct examples_encoder *encoder); /* NULL is fine */

#endif
