/* Generates the API's OpenAPI document from two tables: the routes and the JSON objects of proto/message/json_schema.h.
 * The document is built once, when the API opens, and then served unchanged. Statuses come from the gate, the method,
 * the threads and the route's description. A route without a description is left out.
 */
#include "server/http_openapi.h"

#include "server/http_batch.h"
#include "server/http_events.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct openapi {
    GBytes *json;
};

#define REF "#/components/schemas/"

/* --- schemas --- */

static json_t *reference(const char *name)
{
    char *path = g_strconcat(REF, name, NULL);
    json_t *out = json_pack("{s:s}", "$ref", path);
    g_free(path);
    return out;
}

static json_t *choices_of(const struct json_schema_field *field)
{
    json_t *out = json_array();
    const char *choice;
    for (unsigned i = 0; (choice = field->choice(i)); i++) json_array_append_new(out, json_string(choice));
    return out;
}

static json_t *string_of(const struct json_schema_field *field)
{
    json_t *out = json_pack("{s:s}", "type", "string");
    if (field->choice) json_object_set_new(out, "enum", choices_of(field));
    if (field->max > 0 && !field->list) json_object_set_new(out, "maxLength", json_integer((json_int_t)field->max));
    return out;
}

static json_t *number_of(const struct json_schema_field *field, const char *type)
{
    json_t *out = json_pack("{s:s}", "type", type);
    if (field->max <= 0 || field->list) return out;
    bool whole = field->kind == JSON_SCHEMA_WHOLE;
    json_object_set_new(out, "minimum", whole ? json_integer((json_int_t)field->min) : json_real(field->min));
    json_object_set_new(out, "maximum", whole ? json_integer((json_int_t)field->max) : json_real(field->max));
    return out;
}

static json_t *map_of(const struct json_schema_field *field)
{
    json_t *values = field->of ? json_object() : string_of(field);
    if (!field->of && field->nullable) json_object_set_new(values, "type", json_pack("[s, s]", "string", "null"));
    return json_pack("{s:s, s:o}", "type", "object", "additionalProperties", values);
}

static json_t *one_of(const struct json_schema_field *field)
{
    switch (field->kind) {
    case JSON_SCHEMA_STRING: return string_of(field);
    case JSON_SCHEMA_WHOLE: return number_of(field, "integer");
    case JSON_SCHEMA_REAL: return number_of(field, "number");
    case JSON_SCHEMA_BOOL: return json_pack("{s:s}", "type", "boolean");
    case JSON_SCHEMA_OBJECT: return reference(field->of);
    case JSON_SCHEMA_MAP: return map_of(field);
    case JSON_SCHEMA_CANDIDATE: return json_pack("{s:[{s:s}, o]}", "anyOf", "type", "string", reference(field->of));
    case JSON_SCHEMA_EXPLAIN: return json_pack("{s:[b, b, s]}", "enum", 1, 0, "full");
    case JSON_SCHEMA_ANY: break;
    }
    return json_object();
}

static json_t *or_null(json_t *schema)
{
    return json_pack("{s:[o, {s:s}]}", "anyOf", schema, "type", "null");
}

static json_t *schema_of(const struct json_schema_field *field)
{
    json_t *out = one_of(field);
    /* A list of objects may be null as a whole, but its items may not. */
    bool lists_null = field->list && field->kind == JSON_SCHEMA_OBJECT;
    if (field->nullable && !lists_null && field->kind != JSON_SCHEMA_ANY) out = or_null(out);
    if (field->list) out = json_pack("{s:s, s:o}", "type", "array", "items", out);
    if (field->list && field->max > 0) json_object_set_new(out, "maxItems", json_integer((json_int_t)field->max));
    if (field->nullable && lists_null) out = or_null(out);
    json_object_set_new(out, "description", json_string(field->sentence));
    return out;
}

static json_t *object_of(const struct json_schema_object *object)
{
    json_t *properties = json_object(), *required = json_array();
    for (const struct json_schema_field *field = object->fields; field->name; field++) {
        json_object_set_new(properties, field->name, schema_of(field));
        if (field->required) json_array_append_new(required, json_string(field->name));
    }
    return json_pack("{s:s, s:s, s:o, s:o}", "type", "object", "description", object->sentence, "properties",
                     properties, "required", required);
}

/* Returns the schema of a line of a batch's answer, which has one of three forms. */
static json_t *batch_line(void)
{
    json_t *line = json_pack("{s:s, s:[s, s], s:{s:o, s:{s:s}}}", "type", "object", "required", "problem", "line",
                             "properties", "problem", reference("problem"), "line", "type", "integer");
    return json_pack("{s:[o, o, o]}", "anyOf", reference("verdict"), reference("later"), line);
}

static json_t *schemas(void)
{
    json_t *out = json_object();
    for (const struct json_schema_object *object = json_schema_objects; object->name; object++)
        json_object_set_new(out, object->name, object_of(object));
    json_object_set_new(out, "batch_line", batch_line());
    return out;
}

/* --- paths --- */

static json_t *content(const char *type, const char *schema)
{
    return json_pack("{s:{s:o}}", type, "schema", schema ? reference(schema) : json_object());
}

/* Returns a body with one value per line. OpenAPI before version 3.2 cannot express NDJSON, so the schema is a list. */
static json_t *lines_of(const char *schema, int most)
{
    return json_pack("{s:{s:{s:s, s:s, s:i, s:i, s:o}}}", "application/x-ndjson", "schema", "type", "array",
                     "description", "one per line, without brackets and commas", "minItems", 1, "maxItems", most,
                     "items", reference(schema));
}

static json_t *events(void)
{
    return json_pack(
        "{s:{s:{s:s, s:s}}}", HTTP_EVENTS, "schema", "type", "string", "description",
        "events accepted and progress, then one of verdict, later or problem; the data of each event is JSON");
}

static json_t *body_of(unsigned status, const struct http_description *about)
{
    if (status == 202) return content("application/json", "later");
    if (status != 200) return content("application/problem+json", "problem");
    json_t *body = about->lines ? lines_of(about->gives, HTTP_BATCH_LINES) : content("application/json", about->gives);
    if (about->events) json_object_update_new(body, events());
    return body;
}

static json_t *answer_of(unsigned status, const struct http_description *about)
{
    static const struct {
        unsigned status;
        const char *sentence;
    } rows[] = {{200, "done"},
                {202, "the judgement takes longer than wait_ms: location of the verdict"},
                {400, "invalid request; nothing was judged"},
                {401, "the token is missing or unknown"},
                {403, "the request comes from a page of another origin, or the token does not allow it"},
                {404, "not found"},
                {405, "method not allowed"},
                {413, "the request is too large"},
                {415, "unsupported media type"},
                {421, "the Host header is not a name of this server"},
                {422, "dead letter: the request could not be judged, and will not be retried"},
                {503, "temporarily unavailable; see Retry-After"}};
    const char *sentence = "";
    json_t *body = body_of(status, about);
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++)
        if (rows[i].status == status) sentence = rows[i].sentence;
    return json_pack("{s:s, s:o}", "description", sentence, "content", body);
}

static void add_answer(json_t *answers, unsigned status, const struct http_description *about)
{
    char text[8];
    g_snprintf(text, sizeof text, "%u", status);
    json_object_set_new(answers, text, answer_of(status, about));
}

static json_t *answers_of(const struct http_route *route, bool tokens)
{
    const struct http_description *about = route->description;
    static const uint16_t gate[] = {400, 403, 421}; /* statuses of server/http_gate.h, which every row can return */
    json_t *out = json_object();
    add_answer(out, 200, about);
    for (unsigned i = 0; i < G_N_ELEMENTS(gate); i++) add_answer(out, gate[i], about);
    if (strcmp(route->method, "POST") == 0) add_answer(out, 415, about);
    for (const uint16_t *status = about->statuses; status && *status; status++) add_answer(out, *status, about);
    if (route->work == HTTP_SLOW) add_answer(out, 503, about); /* all slow threads are busy */
    if (tokens && route->scope != HTTP_SCOPE_NONE) add_answer(out, 401, about);
    return out;
}

static json_t *parameter(const char *name, const char *in, json_t *schema, const char *sentence)
{
    return json_pack("{s:s, s:s, s:b, s:o, s:s*}", "name", name, "in", in, "required", strcmp(in, "path") == 0,
                     "schema", schema, "description", sentence);
}

/* Returns the path parameters (names in braces) and the query parameters. */
static json_t *parameters_of(const struct http_route *route)
{
    json_t *out = json_array();
    for (const char *at = route->path; (at = strchr(at, '{')); at++) {
        char *name = g_strndup(at + 1, strcspn(at + 1, "}"));
        json_array_append_new(out,
                              parameter(name, "path", json_pack("{s:s, s:i}", "type", "string", "minLength", 1), NULL));
        g_free(name);
    }
    for (const struct json_schema_field *field = route->description->query; field && field->name; field++)
        json_array_append_new(out, parameter(field->name, "query", one_of(field), field->sentence));
    return out;
}

static json_t *operation_of(const struct http_route *route, bool tokens)
{
    const struct http_description *about = route->description;
    json_t *out = json_pack("{s:s, s:o, s:o}", "summary", about->sentence, "parameters", parameters_of(route),
                            "responses", answers_of(route, tokens));
    if (strcmp(route->method, "POST") == 0)
        json_object_set_new(out, "requestBody",
                            json_pack("{s:b, s:o}", "required", 1, "content",
                                      about->lines ? lines_of(about->takes, HTTP_BATCH_LINES)
                                                   : content(http_route_type(route), about->takes)));
    return out;
}

static json_t *paths(const GArray *routes, bool tokens)
{
    json_t *out = json_object();
    for (guint i = 0; i < routes->len; i++) {
        const struct http_route *route = &g_array_index(routes, struct http_route, i);
        if (!route->description) continue;
        char *method = g_ascii_strdown(route->method, -1);
        json_t *path = json_object_get(out, route->path);
        if (!path) json_object_set_new(out, route->path, path = json_object());
        json_object_set_new(path, method, operation_of(route, tokens));
        g_free(method);
    }
    return out;
}

struct openapi *openapi_new(const GArray *routes, bool tokens)
{
    struct openapi *openapi = g_new0(struct openapi, 1);
    json_t *json = json_pack("{s:s, s:{s:s, s:s, s:{s:s, s:s}}, s:o, s:{s:o}}", "openapi", "3.1.0", "info", "title",
                             "Assay", "version", ASSAY_VERSION, "license", "name", "Apache-2.0", "identifier",
                             "Apache-2.0", "paths", paths(routes, tokens), "components", "schemas", schemas());
    if (tokens) {
        json_object_set_new(json_object_get(json, "components"), "securitySchemes",
                            json_pack("{s:{s:s, s:s}}", "token", "type", "http", "scheme", "bearer"));
        json_object_set_new(json, "security", json_pack("[{s:[]}]", "token"));
    }
    char *text = json_dumps(json, JSON_COMPACT);
    json_decref(json);
    openapi->json = text ? g_bytes_new_with_free_func(text, strlen(text), free, text) : g_bytes_new_static("{}", 2);
    return openapi;
}

void openapi_free(struct openapi *openapi)
{
    if (!openapi) return;
    g_bytes_unref(openapi->json);
    g_free(openapi);
}

static void get_openapi(void *ctx, const struct http_request *request, struct http_reply *reply)
{
    const struct openapi *openapi = ctx;
    (void)request;
    reply->status = 200;
    reply->type = "application/json";
    reply->body = g_bytes_ref(openapi->json);
}

void openapi_routes(struct openapi *openapi, GArray *routes)
{
    const struct http_route row = {.method = "GET", .path = "/openapi.json", .answer = get_openapi, .ctx = openapi};
    g_array_append_val(routes, row);
}
