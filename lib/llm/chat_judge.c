/* The chat task that judges whether the premise answers the question. The answer is a verdict (yes or no) with a
 * confidence. The instructions are prompts/judge.txt, which is linked in. */
#include "lib/llm/remote_json.h"
#include "lib/llm/scorer_int.h"

#include <math.h>
#include <string.h>

__asm__(".pushsection .rodata,\"a\",%progbits\n"
        ".globl assay_prompt_judge\n"
        ".hidden assay_prompt_judge\n"
        ".type assay_prompt_judge, %object\n"
        "assay_prompt_judge:\n"
        ".incbin \"" JUDGE_PROMPT_FILE "\"\n"
        ".byte 0\n"
        ".size assay_prompt_judge, . - assay_prompt_judge\n"
        ".popsection\n");

extern const char assay_prompt_judge[];

static json_t *judge_data(const struct call *call)
{
    return json_pack("{s:s,s:s}", "premise", call->premise, "question", call->hypothesis);
}

static json_t *judge_schema(const struct call *call)
{
    (void)call;
    return json_pack("{s:s,s:b,s:{s:s,s:{s:{s:s,s:[s,s]},s:{s:s}},s:[s,s],s:b}}", "name", "verdict", "strict", 1,
                     "schema", "type", "object", "properties", "verdict", "type", "string", "enum", "yes", "no",
                     "confidence", "type", "number", "required", "verdict", "confidence", "additionalProperties", 0);
}

struct verdict {
    bool yes;
    double confidence;
    const char *object; /* start of the verdict's JSON object in the content */
};

/* Reads a JSON object as a verdict. Returns false if `verdict` or `confidence` is missing or invalid. Ignores other
 * members. */
static bool read_verdict(const char *text, size_t len, struct verdict *out)
{
    json_t *json = remote_json(text, len);
    const char *word = json_string_value(json_object_get(json, "verdict"));
    bool no = word && g_ascii_strcasecmp(word, "no") == 0;
    *out = (struct verdict){.yes = word && g_ascii_strcasecmp(word, "yes") == 0, .object = text};
    bool valid = (out->yes || no) && remote_number(json_object_get(json, "confidence"), &out->confidence) &&
                 out->confidence >= 0 && out->confidence <= 1;
    json_decref(json);
    return valid;
}

/* Finds the verdict in the content, which may contain other text. Returns false if there are two different verdicts,
 * because one of them may be quoted from the input. */
static bool find_verdict(const char *content, struct verdict *out)
{
    size_t len = 0;
    bool found = false;
    struct verdict other;
    for (const char *at = content; (at = remote_json_object(at, &len)); at += len) {
        if (!read_verdict(at, len, &other)) continue;
        if (found && (other.yes != out->yes || other.confidence != out->confidence)) return false;
        if (!found) *out = other;
        found = true;
    }
    return found;
}

/* Returns the position of the first letter of the verdict's value in `object`, or NULL. */
static const char *verdict_value(const char *object)
{
    static const char key[] = "\"verdict\"";
    const char *at = strstr(object, key);
    if (!at) return NULL;
    at += sizeof key - 1;
    at += strspn(at, " \t\r\n:");
    return *at == '"' && g_ascii_isalpha(at[1]) ? at + 1 : NULL;
}

/* Concatenates all tokens. Returns NULL if one of them is not a text. */
static GString *join_tokens(const json_t *tokens)
{
    GString *all = g_string_new(NULL);
    for (size_t i = 0; i < json_array_size(tokens); i++) {
        const char *text = remote_text(json_object_get(json_array_get(tokens, i), "token"));
        if (text)
            g_string_append(all, text);
        else
            return g_string_free(all, TRUE), NULL;
    }
    return all;
}

/* Returns the token that contains byte `offset` of `content`. Returns NULL if the tokens do not contain `content`.
 * There may be tokens before and after it: llama.cpp removes a Markdown fence from the content but not from the tokens.
 */
static const json_t *token_at(const json_t *tokens, const char *content, size_t offset)
{
    GString *all = join_tokens(tokens);
    const char *begin = all ? strstr(all->str, content) : NULL;
    const json_t *found = NULL;
    size_t end = 0, wanted = begin ? (size_t)(begin - all->str) + offset : 0;
    for (size_t i = 0; begin && !found && i < json_array_size(tokens); i++) {
        const json_t *entry = json_array_get(tokens, i);
        end += json_string_length(json_object_get(entry, "token"));
        if (wanted < end) found = entry;
    }
    if (all) g_string_free(all, TRUE);
    return found;
}

/* Returns 1 if the first word of a token is "yes" or a prefix of "yes". Returns -1 for "no" or a prefix of it, and 0
 * for other words. */
static int answer_of(const char *token)
{
    static const char *const words[] = {"yes", "no"};
    while (*token && !g_ascii_isalpha(*token)) token++;
    size_t len = 0;
    while (g_ascii_isalpha(token[len])) len++;
    for (int i = 0; i < 2; i++)
        if (len && len <= strlen(words[i]) && g_ascii_strncasecmp(token, words[i], len) == 0) return 1 - 2 * i;
    return 0;
}

/* Computes P(yes) from the alternatives of one token. Adds up the variants of "yes" and of "no" in case and spacing.
 * Ignores other words. Returns false if the list is invalid, or if "yes" and "no" together have less than half of the
 * probability. */
static bool token_probability(const json_t *entry, double *p)
{
    const json_t *list = json_object_get(entry, "top_logprobs");
    double yes = 0, no = 0;
    for (size_t i = 0; i < json_array_size(list) && i < 32; i++) {
        const json_t *alternative = json_array_get(list, i);
        const char *text = remote_text(json_object_get(alternative, "token"));
        double logprob = 0;
        if (!json_is_string(json_object_get(alternative, "token")) ||
            !remote_number(json_object_get(alternative, "logprob"), &logprob) || logprob > 1e-6)
            return false;
        int answer = text ? answer_of(text) : 0;
        if (answer > 0) yes += exp(logprob);
        if (answer < 0) no += exp(logprob);
    }
    if (yes + no < 0.5 || yes + no > 1.01) return false;
    *p = yes / (yes + no);
    return true;
}

static double probability(struct call *call, const json_t *choice, const char *content, const struct verdict *verdict)
{
    double p = 0;
    const char *value = verdict_value(verdict->object);
    const json_t *tokens = json_object_get(json_object_get(choice, "logprobs"), "content");
    const json_t *token = value ? token_at(tokens, content, (size_t)(value - content)) : NULL;
    call->info->logprobs = token && token_probability(token, &p);
    if (call->info->logprobs) return p;
    return verdict->yes ? verdict->confidence : 1 - verdict->confidence;
}

static bool judge_read(struct call *call, const json_t *choice, const char *content, double *p)
{
    struct verdict verdict = {0};
    if (!find_verdict(content, &verdict)) return false;
    *p = probability(call, choice, content, &verdict);
    return true;
}

const struct chat_task chat_judge = {chat_own_prompt, judge_data,       judge_schema,
                                     judge_read,      .logprobs = true, .instructions = assay_prompt_judge};

const struct scorer_backend scorer_chat = {
    .name = "chat", .check = chat_check, .open = chat_open, .close = chat_close, .ask = chat_ask, .chat = &chat_judge};
