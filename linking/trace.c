/* Reads recorded generations of a schema linker (trace.h) from JSON lines, tensor files and messages.
 *
 * Recordings are untrusted: every count, id and text is checked before it is stored. An error names the file and line,
 * or the message. Generations are in the caller's arena. Hidden states stay in the tensor file or in the bytes of the
 * message, and are read on request. */
#include "linking/trace.h"

#include <glib.h>
#include <string.h>

static const char FORMAT[] = "assay-traces/1";

const char *const trace_stage_names[TRACE_STAGES] = {"tables", "columns"};

bool trace_is_branching(const struct trace_token *token)
{
    return token->id != token->gold_id;
}

/* --- a line --- */

static enum err_code no_memory(struct err *err)
{
    return err_set(err, ERR_LIMIT_MEMORY, "a generation exceeds its memory limit");
}

static bool read_id(const json_t *json, uint32_t *out)
{
    json_int_t id = json_is_integer(json) ? json_integer_value(json) : -1;
    if (id < 0 || id > UINT32_MAX) return false;
    *out = (uint32_t)id;
    return true;
}

/* Reads a list of token ids. An absent list counts as empty. */
static enum err_code read_ids(struct arena *arena, const json_t *json, const char *what, struct trace_ids *out,
                              struct err *err)
{
    size_t n = json_array_size(json);
    if (json && !json_is_array(json)) return err_set(err, ERR_MALFORMED, "%s is not a list of token ids", what);
    if (n > TRACE_MAX_NAME_TOKENS)
        return err_set(err, ERR_LIMIT_COUNT, "%s has more than %d tokens", what, TRACE_MAX_NAME_TOKENS);
    uint32_t *ids = arena_new_array(arena, n + 1, uint32_t);
    if (!ids) return no_memory(err);
    for (size_t i = 0; i < n; i++)
        if (!read_id(json_array_get(json, i), &ids[i]))
            return err_set(err, ERR_MALFORMED, "%s contains an invalid token id", what);
    *out = (struct trace_ids){ids, (uint32_t)n};
    return ERR_OK;
}

static enum err_code read_candidates(struct arena *arena, const json_t *json, struct trace *trace, struct err *err)
{
    size_t n = json_array_size(json);
    if (n < 1 || n > TRACE_MAX_CANDIDATES)
        return err_set(err, ERR_MALFORMED, "candidates: expected a list of 1 to %d names with their token ids",
                       TRACE_MAX_CANDIDATES);
    trace->candidates = arena_new_array(arena, n, struct trace_candidate);
    if (!trace->candidates) return no_memory(err);
    trace->n_candidates = (uint32_t)n;
    enum err_code code = ERR_OK;
    for (size_t i = 0; !code && i < n; i++) {
        const json_t *item = json_array_get(json, i);
        const char *name = json_string_value(json_object_get(item, "name"));
        struct trace_candidate *candidate = &trace->candidates[i];
        candidate->name = name ? arena_strdup(arena, name) : NULL;
        code = read_ids(arena, json_object_get(item, "ids"), "a candidate", &candidate->ids, err);
        if (!code && (!candidate->name || !candidate->ids.n))
            code = err_set(err, ERR_MALFORMED, "candidate %zu has no name or no token ids", i);
    }
    return code;
}

static enum err_code read_token(struct arena *arena, const json_t *json, struct trace *trace, uint32_t at,
                                struct err *err)
{
    struct trace_token *token = &trace->tokens[at];
    const json_t *gold = json_object_get(json, "gold_id"), *probability = json_object_get(json, "probability");
    if (!read_id(json_object_get(json, "id"), &token->id)) return err_set(err, ERR_MALFORMED, "token %u has no id", at);
    token->gold_id = token->id;
    if (gold && !read_id(gold, &token->gold_id))
        return err_set(err, ERR_MALFORMED, "token %u: gold_id is not a token id", at);
    if (at == 0) trace->has_gold = gold != NULL;
    if (trace->has_gold != (gold != NULL))
        return err_set(err, ERR_MALFORMED, "token %u: either all tokens have a gold_id or none has", at);
    token->probability = probability ? json_number_value(probability) : 1;
    if (!(token->probability >= 0 && token->probability <= 1))
        return err_set(err, ERR_MALFORMED, "token %u: a probability is not from 0 to 1", at);
    return read_ids(arena, json_object_get(json, "continuation"), "a continuation", &token->continuation, err);
}

static enum err_code read_tokens(struct arena *arena, const json_t *json, struct trace *trace, struct err *err)
{
    size_t n = json_array_size(json);
    if (n < 1)
        return err_set(err, ERR_MALFORMED, "tokens: expected a list with at least the token that ends the generation");
    if (n > TRACE_MAX_TOKENS)
        return err_set(err, ERR_LIMIT_TOKENS, "the generation has more than %d tokens", TRACE_MAX_TOKENS);
    trace->tokens = arena_new_array(arena, n, struct trace_token);
    if (!trace->tokens) return no_memory(err);
    trace->n_tokens = (uint32_t)n;
    enum err_code code = ERR_OK;
    for (uint32_t i = 0; !code && i < n; i++) code = read_token(arena, json_array_get(json, i), trace, i, err);
    return code;
}

static enum err_code read_stage(const json_t *json, struct trace *trace, struct err *err)
{
    const char *name = json_string_value(json);
    for (int i = 0; name && i < TRACE_STAGES; i++)
        if (strcmp(name, trace_stage_names[i]) == 0) {
            trace->stage = (enum trace_stage)i;
            return ERR_OK;
        }
    return err_set(err, ERR_MALFORMED, "stage: expected \"tables\" or \"columns\"");
}

static const char *text_of(struct arena *arena, const json_t *line, const char *key)
{
    const char *text = json_string_value(json_object_get(line, key));
    return arena_strdup(arena, text ? text : "");
}

static enum err_code check_format(const json_t *line, struct err *err)
{
    const char *format = json_string_value(json_object_get(line, "format"));
    if (format && strcmp(format, FORMAT) == 0) return ERR_OK;
    if (format && strncmp(format, FORMAT, sizeof FORMAT - 2) == 0)
        return err_set(err, ERR_VERSION, "unsupported format %.40s; this build reads %s", format, FORMAT);
    return err_set(err, ERR_MALFORMED, "not a trace: expected \"format\": \"%s\"", FORMAT);
}

enum err_code trace_from_json(struct arena *arena, const json_t *line, struct trace **out, struct err *err)
{
    struct trace *trace = arena_new(arena, struct trace);
    *out = NULL;
    enum err_code code = trace ? check_format(line, err) : no_memory(err);
    if (!code) code = read_stage(json_object_get(line, "stage"), trace, err);
    if (!code) code = read_candidates(arena, json_object_get(line, "candidates"), trace, err);
    if (!code) code = read_ids(arena, json_object_get(line, "separator"), "the separator", &trace->separator, err);
    if (!code && !read_id(json_object_get(line, "end"), &trace->end))
        code = err_set(err, ERR_MALFORMED, "end: expected the id of the token that ends the list");
    if (!code) code = read_tokens(arena, json_object_get(line, "tokens"), trace, err);
    if (code) return code;
    trace->id = text_of(arena, line, "id");
    trace->database = text_of(arena, line, "database");
    trace->question = text_of(arena, line, "question");
    if (!trace->id || !trace->database || !trace->question) return no_memory(err);
    *out = trace;
    return ERR_OK;
}

/* --- recordings --- */

static enum err_code add_layer(struct recording *r, const struct tensor *tensor, struct err *err)
{
    char *end = NULL;
    if (!g_str_has_prefix(tensor->name, "layer_")) return ERR_OK;
    uint64_t number = g_ascii_strtoull(tensor->name + strlen("layer_"), &end, 10);
    if (!*(tensor->name + strlen("layer_")) || *end || number > UINT32_MAX)
        return err_set(err, ERR_MALFORMED, "%s: tensor %.80s: layers must be named layer_0, layer_1 ...",
                       r->states->path, tensor->name);
    if (r->n_layers == TRACE_MAX_LAYERS)
        return err_set(err, ERR_LIMIT_COUNT, "%s: more than %d layers", r->states->path, TRACE_MAX_LAYERS);
    if (r->n_layers && (tensor->columns != r->hidden || tensor->rows != r->all))
        return err_set(err, ERR_MALFORMED,
                       "%s: tensor %.80s: all layers must have the same shape, with one row per token", r->states->path,
                       tensor->name);
    uint32_t at = r->n_layers++;
    for (; at > 0 && r->layer_numbers[at - 1] > number; at--) {
        r->layer_numbers[at] = r->layer_numbers[at - 1];
        r->layers[at] = r->layers[at - 1];
    }
    r->layer_numbers[at] = (uint32_t)number;
    r->layers[at] = tensor;
    r->hidden = (uint32_t)tensor->columns;
    r->all = tensor->rows;
    return ERR_OK;
}

static enum err_code read_layers(struct recording *r, struct err *err)
{
    enum err_code code = ERR_OK;
    for (uint32_t i = 0; !code && i < r->states->n; i++) code = add_layer(r, &r->states->items[i], err);
    if (!code && !r->n_layers)
        code = err_set(err, ERR_MALFORMED, "%s: no hidden states: there is no tensor layer_0, layer_1 ...",
                       r->states->path);
    if (!code && r->hidden > TRACE_MAX_HIDDEN)
        code = err_set(err, ERR_LIMIT_COUNT, "%s: hidden states of %u numbers; the limit is %d", r->states->path,
                       r->hidden, TRACE_MAX_HIDDEN);
    if (!code && r->all > TRACE_MAX_ROWS)
        code =
            err_set(err, ERR_LIMIT_ROWS, "%s: %llu tokens; the limit of a recording is %d" ERR_HINT "record in parts",
                    r->states->path, (unsigned long long)r->all, TRACE_MAX_ROWS);
    return code;
}

enum err_code recording_open(const char *name, struct recording *out, struct err *err)
{
    size_t stem = strlen(name) - (g_str_has_suffix(name, ".jsonl") ? strlen(".jsonl") : 0);
    char *states = g_strdup_printf("%.*s.safetensors", (int)stem, name);
    *out = (struct recording){.path = g_strdup_printf("%.*s.jsonl", (int)stem, name)};
    enum err_code code = tensors_open(states, &out->states, err);
    g_free(states);
    if (!code) code = read_layers(out, err);
    if (!code) code = lines_open(out->path, &out->lines, err);
    if (!code) return ERR_OK;
    tensors_close(out->states);
    g_free(out->path);
    return code;
}

void recording_close(struct recording *r)
{
    if (r->lines.file) lines_close(&r->lines); /* a message has no file of lines */
    tensors_close(r->states);
    g_free(r->path);
}

static enum err_code read_line(struct recording *r, struct arena *arena, struct trace **out, struct err *err)
{
    struct err inner = {0};
    json_error_t where;
    json_t *line = r->lines.too_long ? NULL : json_loadb(r->lines.text, r->lines.len, JSON_REJECT_DUPLICATES, &where);
    enum err_code code = ERR_OK;
    if (r->lines.too_long)
        code = err_set(&inner, ERR_LIMIT_BYTES, "longer than %d bytes", INPUT_MAX_BYTES);
    else if (!line)
        code = err_set(&inner, ERR_MALFORMED, "invalid JSON: %s", where.text);
    else
        code = trace_from_json(arena, line, out, &inner);
    json_decref(line);
    if (!code && r->rows + (*out)->n_tokens > r->all)
        code = err_set(&inner, ERR_MALFORMED, "%llu tokens so far, but hidden states for %llu",
                       (unsigned long long)(r->rows + (*out)->n_tokens), (unsigned long long)r->all);
    if (code) return err_at(err, code, &inner, "%s:%llu", r->path, (unsigned long long)r->lines.number);
    (*out)->first_row = r->rows;
    r->rows += (*out)->n_tokens;
    return ERR_OK;
}

enum err_code recording_next(struct recording *r, struct arena *arena, struct trace **out, struct err *err)
{
    *out = NULL;
    int more = lines_next(&r->lines);
    if (more < 0) return err_set(err, ERR_MALFORMED, "%s: %s", r->path, lines_error(&r->lines));
    if (more > 0) return read_line(r, arena, out, err);
    if (r->rows == r->all) return ERR_OK;
    return err_set(err, ERR_MALFORMED, "%s: %llu tokens, but hidden states for %llu: the two files do not match",
                   r->path, (unsigned long long)r->rows, (unsigned long long)r->all);
}

enum err_code recording_state(struct recording *r, uint32_t layer, const struct trace *trace, uint32_t token,
                              float *out, struct err *err)
{
    return tensors_row(r->states, r->layers[layer], trace->first_row + token, out, err);
}

/* --- messages --- */

static enum err_code read_message(struct recording *r, struct arena *arena, struct trace **out, struct err *err)
{
    struct err inner = {0};
    json_error_t where;
    const char *text = tensors_metadata(r->states, "trace");
    enum err_code code = text ? read_layers(r, err) : ERR_OK;
    if (code) return code;
    json_t *line = text ? json_loads(text, JSON_REJECT_DUPLICATES, &where) : NULL;
    if (!line)
        code = err_set(&inner, ERR_MALFORMED, "`trace` in the metadata is missing or is not JSON");
    else
        code = trace_from_json(arena, line, out, &inner);
    json_decref(line);
    if (!code && (*out)->n_tokens != r->all)
        code = err_set(&inner, ERR_MALFORMED, "%u tokens, but hidden states for %llu", (*out)->n_tokens,
                       (unsigned long long)r->all);
    if (code) return err_at(err, code, &inner, "%s", r->path);
    r->rows = r->all;
    return ERR_OK;
}

enum err_code trace_message_read(const void *bytes, size_t len, const char *name, struct arena *arena,
                                 struct recording *out, struct trace **trace, struct err *err)
{
    *trace = NULL;
    *out = (struct recording){0};
    if (len > TRACE_MAX_MESSAGE)
        return err_set(err, ERR_LIMIT_BYTES, "%s: %zu bytes; the limit is %d", name, len, TRACE_MAX_MESSAGE);
    enum err_code code = tensors_read(bytes, len, name, &out->states, err);
    if (code) return code;
    out->path = g_strdup(name);
    code = read_message(out, arena, trace, err);
    if (code) recording_close(out);
    return code;
}
