/* Adds a user's answer to the request whose verdict asked a question. */
#ifndef ASSAY_SERVER_HTTP_ANSWERS_H
#define ASSAY_SERVER_HTTP_ANSWERS_H

#include "lib/base/error.h"

#include <stddef.h>

/* Returns the request of `verdict` (JSON) with the answer of `body` as one line of JSON, allocated with malloc. `body`
 * is {"choice": ID}, optionally with "question". On failure returns NULL and sets `err`. It is ERR_REFUSED if the
 * verdict asks no question or does not contain its request. It is ERR_MALFORMED if the body is not an answer. Thread:
 * any. */
char *http_answers_request(const char *verdict, size_t verdict_len, const char *body, size_t body_len, struct err *err);

#endif
