/* An answer over HTTP: the request that a verdict asked about, with the answer. */
#ifndef ASSAY_SERVER_HTTP_ANSWERS_H
#define ASSAY_SERVER_HTTP_ANSWERS_H

#include "lib/base/error.h"

#include <stddef.h>

/* The request of `verdict` (JSON) as one line of JSON, malloc'd, with the answer of `body`: {"choice": ID}, with or without "question". NULL, with
 * the reason in `err`: ERR_REFUSED when the verdict asks nothing, or its request is too large to be kept in it; ERR_MALFORMED for a body that is no
 * answer. Thread: any. */
char *http_answers_request(const char *verdict, size_t verdict_len, const char *body, size_t body_len, struct err *err);

#endif
