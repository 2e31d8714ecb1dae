/* The chat task that rewrites an explanation in better English. Its instructions are prompts/polish.txt, which is
 * linked in. */
#include "lib/llm/remote_json.h"
#include "lib/llm/scorer_int.h"

__asm__(".pushsection .rodata,\"a\",%progbits\n"
        ".globl assay_prompt_polish\n"
        ".hidden assay_prompt_polish\n"
        ".type assay_prompt_polish, %object\n"
        "assay_prompt_polish:\n"
        ".incbin \"" POLISH_PROMPT_FILE "\"\n"
        ".byte 0\n"
        ".size assay_prompt_polish, . - assay_prompt_polish\n"
        ".popsection\n");

extern const char assay_prompt_polish[];

static json_t *polish_schema(const struct call *call)
{
    (void)call;
    return json_pack("{s:s,s:b,s:{s:s,s:{s:{s:s}},s:[s],s:b}}", "name", "polish", "strict", 1, "schema", "type",
                     "object", "properties", "text", "type", "string", "required", "text", "additionalProperties", 0);
}

static bool polish_read(struct call *call, const json_t *choice, const char *content, double *p)
{
    (void)choice;
    return chat_read_text(call, content, "text", p);
}

const struct chat_task chat_polish = {chat_own_prompt, chat_own_data,     polish_schema,
                                      polish_read,     .logprobs = false, .instructions = assay_prompt_polish};

const struct scorer_backend scorer_polish_backend = {.name = "polish",
                                                     .check = chat_check,
                                                     .open = chat_open,
                                                     .close = chat_close,
                                                     .ask = chat_ask,
                                                     .chat = &chat_polish,
                                                     .texts = true};
