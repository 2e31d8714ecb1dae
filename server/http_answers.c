#include "server/http_answers.h"

#include <jansson.h>

static json_t *nothing(struct err *err, enum err_code code, const char *why)
{
    err_set(err, code, "%s", why);
    return NULL;
}

/* Reads the answer in a body. The question of `asked` is the default. Release with json_decref. */
static json_t *read_answer(const char *body, size_t len, const json_t *asked, struct err *err)
{
    json_error_t error;
    json_t *root = json_loadb(body, len, JSON_REJECT_DUPLICATES, &error);
    const json_t *choice = json_object_get(root, "choice"), *question = json_object_get(root, "question");
    json_t *out = NULL;
    if (!root)
        err_set(err, ERR_MALFORMED, "not JSON, at byte %d: %s", error.position, error.text);
    else if (!json_is_string(choice) || (question && !json_is_string(question)))
        nothing(err, ERR_MALFORMED, "expected {\"choice\": ID}, with an optional \"question\"");
    else
        out = json_pack("{s:O, s:O}", "question", question ? question : json_object_get(asked, "id"), "choice", choice);
    json_decref(root);
    return out;
}

/* Returns the request with one more answer. Release with json_decref. */
static json_t *with_answer(const json_t *asked, const char *body, size_t len, struct err *err)
{
    const json_t *request = json_object_get(asked, "request");
    if (!asked) return nothing(err, ERR_REFUSED, "the newest verdict of this id asks no question");
    if (!json_is_object(request))
        return nothing(err, ERR_REFUSED, "the verdict does not hold its request: send that again, with \"answers\"");
    json_t *answer = read_answer(body, len, asked, err);
    if (!answer) return NULL;
    json_t *out = json_deep_copy(request), *answers = json_object_get(out, "answers");
    if (!answers) json_object_set_new(out, "answers", answers = json_array());
    if (json_array_append_new(answers, answer) == 0) return out;
    json_decref(out);
    return nothing(err, ERR_NOMEM, "no memory for the answer");
}

char *http_answers_request(const char *verdict, size_t verdict_len, const char *body, size_t body_len, struct err *err)
{
    json_t *root = json_loadb(verdict, verdict_len, 0, NULL);
    json_t *request = with_answer(json_object_get(root, "clarification"), body, body_len, err);
    char *text = request ? json_dumps(request, JSON_COMPACT | JSON_REAL_PRECISION(6)) : NULL;
    if (request && !text) err_set(err, ERR_NOMEM, "no memory for the answer");
    json_decref(request);
    json_decref(root);
    return text;
}
