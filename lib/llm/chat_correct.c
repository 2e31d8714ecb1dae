/* The chat task that corrects a query. Its instructions are prompts/correct.txt, which is linked in; the first line is
 * their version. This file also has the functions that chat tasks share. */
#include "lib/llm/remote_json.h"
#include "lib/llm/scorer_int.h"

#include <string.h>

enum { MAX_TEXT = 64 << 10 };

__asm__(".pushsection .rodata,\"a\",%progbits\n"
        ".globl assay_prompt_correct\n"
        ".hidden assay_prompt_correct\n"
        ".type assay_prompt_correct, %object\n"
        "assay_prompt_correct:\n"
        ".incbin \"" CORRECT_PROMPT_FILE "\"\n"
        ".byte 0\n"
        ".size assay_prompt_correct, . - assay_prompt_correct\n"
        ".popsection\n");

extern const char assay_prompt_correct[];

/* Returns the prompt, which consists of a line with the version, and the instructions. */
static const char *whole_prompt(const struct scorer *scorer)
{
    return scorer->prompt ? scorer->prompt : scorer->backend->chat->instructions;
}

const char *chat_own_prompt(const struct scorer *scorer)
{
    const char *line = strchr(whole_prompt(scorer), '\n');
    return line ? line + 1 : "";
}

void scorer_prompt_version(const struct scorer *scorer, char *out, size_t room)
{
    const char *prompt = scorer->backend->chat ? whole_prompt(scorer) : "";
    g_strlcpy(out, prompt, MIN(room, strcspn(prompt, "\n") + 1));
}

json_t *chat_own_data(const struct call *call)
{
    return json_loads(call->premise, JSON_REJECT_DUPLICATES, NULL);
}

static json_t *correct_schema(const struct call *call)
{
    (void)call;
    return json_pack("{s:s,s:b,s:{s:s,s:{s:{s:s}},s:[s],s:b}}", "name", "correction", "strict", 1, "schema", "type",
                     "object", "properties", "sql", "type", "string", "required", "sql", "additionalProperties", 0);
}

bool chat_read_text(struct call *call, const char *content, const char *member, double *p)
{
    size_t len = 0;
    g_clear_pointer(&call->text, free);
    for (const char *at = content; !call->text && (at = remote_json_object(at, &len)); at += len) {
        json_t *json = remote_json(at, len);
        const char *text = json_string_value(json_object_get(json, member));
        if (text && *text && strlen(text) <= MAX_TEXT) call->text = strdup(text);
        json_decref(json);
    }
    if (call->text) *p = 1;
    return call->text != NULL;
}

static bool correct_read(struct call *call, const json_t *choice, const char *content, double *p)
{
    (void)choice;
    return chat_read_text(call, content, "sql", p);
}

const struct chat_task chat_correct = {chat_own_prompt, chat_own_data,     correct_schema,
                                       correct_read,    .logprobs = false, .instructions = assay_prompt_correct};

const struct scorer_backend scorer_correct_backend = {.name = "correct",
                                                      .check = chat_check,
                                                      .open = chat_open,
                                                      .close = chat_close,
                                                      .ask = chat_ask,
                                                      .chat = &chat_correct,
                                                      .texts = true};
