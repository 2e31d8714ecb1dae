/* Reads replies of model servers. Reading must end in a probability, a query or an error. An odd first byte selects a
 * chat completion; it is read as the reply of a judge, a corrector, a polisher and a form. An even one selects the
 * reply of /info, a NUL and the reply of /predict. */
#include "lib/llm/scorer_int.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef enum err_code open_fn(const struct scorer_config *config, struct scorer **out, struct err *err);

static struct scorer *scorer_of(open_fn *open, const char *backend, const char *entail_label)
{
    struct scorer_config config = scorer_defaults();
    struct scorer *scorer = NULL;
    config.backend = backend;
    config.endpoint = "http://127.0.0.1:1"; /* no request is ever sent */
    config.model = "model";
    config.entail_label = entail_label;
    if (open(&config, &scorer, NULL) != ERR_OK) abort();
    return scorer;
}

static enum err_code open_form(const struct scorer_config *config, struct scorer **out, struct err *err)
{
    static const char schema[] = "{\"type\":\"object\",\"required\":[\"right\"]}";
    return scorer_open_form(config, "form/1\nFill it in.", schema, out, err);
}

static struct http_reply reply_of(char *bytes, size_t len)
{
    return (struct http_reply){.end = HTTP_ANSWERED, .status = 200, .body = bytes, .len = len};
}

static void check(enum err_code code, const struct call *call, double p)
{
    bool probability = p >= 0 && p <= 1;
    if (code == ERR_OK ? !probability : p != -1) abort();
    if (code != ERR_OK && call->err->code != code) abort();
    if (memchr(call->info->model, 0, sizeof call->info->model) == NULL) abort();
}

static void read_chat(char *bytes, size_t len)
{
    static open_fn *const opens[] = {scorer_open, scorer_open_corrector, scorer_open_polisher, open_form};
    static struct scorer *scorers[G_N_ELEMENTS(opens)];
    for (unsigned i = 0; i < G_N_ELEMENTS(opens); i++) {
        if (!scorers[i]) scorers[i] = scorer_of(opens[i], "chat", NULL);
        struct scorer_reply info = {0};
        struct err err = {0};
        struct call call = {.scorer = scorers[i], .info = &info, .err = &err};
        struct http_reply reply = reply_of(bytes, len);
        bool formless = false;
        double p = -1;
        enum err_code code = chat_read(&call, &reply, &p, &formless);
        check(code, &call, p);
        if (i > 0 && (code == ERR_OK) != (call.text && *call.text)) abort();
        free(call.text);
    }
}

static void read_tei(char *bytes, size_t len)
{
    static struct scorer *scorers[2];
    if (!scorers[0]) {
        scorers[0] = scorer_of(scorer_open, "tei", NULL);
        scorers[1] = scorer_of(scorer_open, "tei", "LABEL_1");
    }
    char *end = memchr(bytes, 0, len), *answer = end ? end + 1 : bytes;
    for (int i = 0; i < 2; i++) {
        struct scorer_reply info = {0};
        struct err err = {0};
        struct call call = {.scorer = scorers[i], .info = &info, .err = &err};
        struct http_reply about = reply_of(bytes, end ? (size_t)(end - bytes) : 0);
        struct http_reply reply = reply_of(answer, len - (size_t)(answer - bytes));
        double p = -1;
        if (end) tei_learn(&call, &about);
        enum err_code code = tei_read(&call, &reply, &p);
        check(code, &call, p);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    char *bytes = g_strndup("", size); /* a body ends with a NUL, as http.c guarantees */
    memcpy(bytes, data + 1, size - 1);
    if (data[0] & 1)
        read_chat(bytes, size - 1);
    else
        read_tei(bytes, size - 1);
    g_free(bytes);
    return 0;
}
