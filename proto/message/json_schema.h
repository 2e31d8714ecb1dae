/* What requests and verdicts are in JSON, as tables: of them `assay docs api` makes docs/api.md, and the HTTP API its description
 * (server/http_openapi.h). Readers and writers are json.c and json_write.c; tests hold them against these tables. */
#ifndef ASSAY_PROTO_MESSAGE_JSON_SCHEMA_H
#define ASSAY_PROTO_MESSAGE_JSON_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

enum json_schema_kind {
    JSON_SCHEMA_STRING,
    JSON_SCHEMA_WHOLE,
    JSON_SCHEMA_REAL,
    JSON_SCHEMA_BOOL,
    JSON_SCHEMA_OBJECT,    /* `of` is its name */
    JSON_SCHEMA_MAP,       /* an object whose keys are data; `of` names what its values are, NULL: strings */
    JSON_SCHEMA_CANDIDATE, /* a string, or an object `of` */
    JSON_SCHEMA_EXPLAIN,   /* true, false or "full" */
    JSON_SCHEMA_ANY
};

struct json_schema_field {
    const char *name;
    enum json_schema_kind kind;
    bool list;               /* of that kind */
    bool required, nullable; /* of a list's items, `nullable` means them */
    const char *of;
    const char *(*choice)(unsigned i); /* of a string: the i-th value it may have, NULL behind the last; NULL: any */
    double min, max;                   /* of a number; of a string `max` is bytes, of a list items; both 0: any */
    const char *sentence;
};

struct json_schema_object {
    const char *name, *sentence;
    const struct json_schema_field *fields; /* up to one without a name */
};

/* Up to one without a name. */
extern const struct json_schema_object json_schema_objects[];
/* NULL: there is none of that name. Thread: any. */
const struct json_schema_object *json_schema_find(const char *name);
/* "string", "list of finding", "whole number" ...; the caller owes g_free. Thread: any. */
char *json_schema_kind_text(const struct json_schema_field *field);

#endif
