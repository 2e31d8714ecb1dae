/* The engine of assay.h for the rooms of this program: configured and asked by structs instead of by text. */
#ifndef ASSAY_ENGINE_ASSAY_INTERNAL_H
#define ASSAY_ENGINE_ASSAY_INTERNAL_H

#include "engine/assay.h"
#include "engine/engine.h"

/* As assay_open, with all that an engine can be told. What engine_open does not copy must outlive the engine. */
enum err_code assay_open_config(const struct engine_config *config, struct assay_engine **out, struct err *err);

/* As assay_judge; the request's tag is not looked at. The caller owes msg_verdict_free. */
enum err_code assay_judge_request(struct assay_engine *engine, const struct msg_request *request,
                                  struct msg_verdict **out, struct err *err);

/* The engine inside of it, for what only reads; it stays there. */
const struct engine *assay_inner_engine(const struct assay_engine *engine);

#endif
