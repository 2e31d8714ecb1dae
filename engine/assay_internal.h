/* The engine of assay.h for other parts of this program, which use structs instead of text. */
#ifndef ASSAY_ENGINE_ASSAY_INTERNAL_H
#define ASSAY_ENGINE_ASSAY_INTERNAL_H

#include "engine/assay.h"
#include "engine/engine.h"

/* Opens an engine as assay_open does, with all settings. Data that engine_open does not copy must outlive the
 * engine. */
enum err_code assay_open_config(const struct engine_config *config, struct assay_engine **out, struct err *err);

/* Judges a request as assay_judge does; ignores the request's tag. Free *out with msg_verdict_free. */
enum err_code assay_judge_request(struct assay_engine *engine, const struct msg_request *request,
                                  struct msg_verdict **out, struct err *err);

/* Returns the inner engine, for reading only. `engine` owns it. */
const struct engine *assay_inner_engine(const struct assay_engine *engine);

#endif
