/* The result of schema linking for a question, with its uncertain places. It is the `linking` of a request
 * (docs/linking.md).
 *
 *   {"id", "linking": {"tables": ["singer"], "columns": ["singer.name"],
 *                      "uncertain": [{"stage": "tables", "name": "concert", "p": 0.71}]}}
 *
 * `tables` and `columns` list the names that the linker continued with. An uncertain place has the name of the table or
 * column that the linker was writing. Without a name, the linker ended its list there, and an entry may be missing. */
#ifndef ASSAY_LINKING_RESULT_H
#define ASSAY_LINKING_RESULT_H

#include "linking/predictor.h"

struct linking_results; /* results by id, in order of first appearance */

struct linking_results *linking_results_new(void);
void linking_results_free(struct linking_results *results);

/* Adds one generation of a recording, of tables or of columns. Two generations with the same id form one result.
 * Returns the errors of predictor_check and predictor_judge. Returns ERR_MALFORMED if the tokens are not a list of
 * candidate names. */
enum err_code linking_results_add(struct linking_results *results, const struct predictor *predictor,
                                  const struct predictor_options *options, struct recording *recording,
                                  const struct trace *trace, struct arena *arena, struct err *err);

/* Returns the results as an array. Release with json_decref. */
json_t *linking_results_json(const struct linking_results *results);

/* Creates the result of one generation that was received as a message (trace_message_read). If the tables and the
 * columns of a question come in two messages, they give two results. Returns the errors of trace_message_read and
 * linking_results_add. Release *out with json_decref. */
enum err_code linking_result_of_message(const struct predictor *predictor, const struct predictor_options *options,
                                        const void *bytes, size_t len, const char *name, json_t **out, struct err *err);

#endif
