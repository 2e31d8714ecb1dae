/* What a linker said of a question, and where it is not to be trusted: the `linking` of a request (docs/linking.md).
 *
 *   {"id", "linking": {"tables": ["singer"], "columns": ["singer.name"],
 *                      "uncertain": [{"stage": "tables", "name": "concert", "p": 0.71}]}}
 *
 * tables and columns are what the linker went on with. An uncertain place names what the linker was writing there; without a name it
 * ended its list there, and something may be missing.
 */
#ifndef ASSAY_LINKING_RESULT_H
#define ASSAY_LINKING_RESULT_H

#include "linking/predictor.h"

struct linking_results; /* by id, in the order in which they first came */

struct linking_results *linking_results_new(void);
void linking_results_free(struct linking_results *results);

/* One generation of a recording, of tables or of columns; both of one id make one result. What predictor_check and predictor_judge say;
 * ERR_MALFORMED when its tokens are no list of its names. */
enum err_code linking_results_add(struct linking_results *results, const struct predictor *predictor,
                                  const struct predictor_options *options, struct recording *recording,
                                  const struct trace *trace, struct arena *arena, struct err *err);

/* An array; the caller owes json_decref. */
json_t *linking_results_json(const struct linking_results *results);

/* The result of one generation that came as a message (trace_message_read); one of tables and one of columns, if both came, are two. What
 * trace_message_read and linking_results_add say. The caller owes json_decref. */
enum err_code linking_result_of_message(const struct predictor *predictor, const struct predictor_options *options,
                                        const void *bytes, size_t len, const char *name, json_t **out, struct err *err);

#endif
