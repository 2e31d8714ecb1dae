/* The JSON of requests and verdicts, described as tables. `assay docs api` generates docs/api.md from the tables. The
 * HTTP API generates its description from them (server/http_openapi.h). The code in json.c and json_write.c reads and
 * writes this JSON; tests compare the code with the tables. */
#ifndef ASSAY_PROTO_MESSAGE_JSON_SCHEMA_H
#define ASSAY_PROTO_MESSAGE_JSON_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

enum json_schema_kind {
    JSON_SCHEMA_STRING,
    JSON_SCHEMA_WHOLE,
    JSON_SCHEMA_REAL,
    JSON_SCHEMA_BOOL,
    JSON_SCHEMA_OBJECT,    /* the object named `of` */
    JSON_SCHEMA_MAP,       /* an object whose keys are data; `of` names the type of its values, NULL for strings */
    JSON_SCHEMA_CANDIDATE, /* a string, or an object of the type `of` */
    JSON_SCHEMA_EXPLAIN,   /* true, false or "full" */
    JSON_SCHEMA_ANY
};

struct json_schema_field {
    const char *name;
    enum json_schema_kind kind;
    bool list;               /* true for a list of such values */
    bool required, nullable; /* for a list, `nullable` applies to its items */
    const char *of;
    const char *(*choice)(unsigned i); /* for a string: returns the i-th allowed value, NULL past the last; a NULL
                                        * function allows any value */
    /* range of a number; for a string `max` is in bytes, for a list in items; both 0 mean no bound */
    double min, max;
    const char *sentence;
};

struct json_schema_object {
    const char *name, *sentence;
    const struct json_schema_field *fields; /* ends with a NULL name */
};

/* All objects; ends with a NULL name. */
extern const struct json_schema_object json_schema_objects[];
/* Returns the object of that name, or NULL if it is unknown. Thread: any. */
const struct json_schema_object *json_schema_find(const char *name);
/* Returns a description of the type, such as "string", "list of finding" or "whole number". Free with g_free. Thread:
 * any. */
char *json_schema_kind_text(const struct json_schema_field *field);

#endif
