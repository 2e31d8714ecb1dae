/* The request to a language model about a candidate, and its reply.
 *
 * Each signal has a file of instructions in prompts/, which is linked into the program. A file of the same name in the
 * team's folder replaces it. One table of members defines the JSON schema of the reply. The readers check the same
 * members again, because a reply is untrusted text. Texts that the model quotes from the query are searched there
 * without regard to case. The model's own words are made valid UTF-8, stripped of control characters and shortened
 * before they become facts. */
#include "signals/support/ask.h"

#include "lib/base/input.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PART = 16 << 10, MAX_VERSION = 48, MAX_PIECES = 8, MAX_WORDS = 160 };

/* --- instructions ------------------------------------------------------------------------------------------------- */

/* Links a file of prompts/ into the program, as a string that ends with NUL. */
#define LINK_IN(symbol, file)                                                                                          \
    __asm__(".pushsection .rodata,\"a\",%progbits\n"                                                                   \
            ".globl " #symbol "\n"                                                                                     \
            ".hidden " #symbol "\n"                                                                                    \
            ".type " #symbol ", %object\n" #symbol ":\n"                                                               \
            ".incbin \"" PROMPTS_FOLDER file "\"\n"                                                                    \
            ".byte 0\n"                                                                                                \
            ".size " #symbol ", . - " #symbol "\n"                                                                     \
            ".popsection\n");                                                                                          \
    extern const char symbol[];
LINK_IN(assay_ask_signals, "/signals.txt")
#define X(name) LINK_IN(assay_ask_##name, "/signals/" #name ".txt")
ASK_SIGNALS(X)
#undef X

static const struct {
    const char *name, *prompt;
} parts[ASK_COUNT] = {
#define X(name) [ASK_##name] = {#name, assay_ask_##name},
    ASK_SIGNALS(X)
#undef X
};

/* True if the text has a version on its first line and instructions below it. */
static bool is_prompt(const char *text)
{
    size_t version = strcspn(text, "\n");
    return version && version < MAX_VERSION && text[version] && text[version + 1] && strlen(text) <= MAX_PART &&
           g_utf8_validate(text, -1, NULL);
}

/* Sets *out to the text of the team's file if the folder `dir` has one, and otherwise to `linked`. The caller frees
 * *own with g_free. Returns false with `err` set if the file is not valid. */
static bool read_part(const char *dir, const char *name, const char *linked, char **own, const char **out,
                      struct err *err)
{
    char *path = dir ? g_strdup_printf("%s/%s.txt", dir, name) : NULL;
    struct input input = {0};
    *own = NULL;
    *out = linked;
    bool good = true;
    if (path && g_file_test(path, G_FILE_TEST_EXISTS)) {
        good = input_read(path, &input, err) == ERR_OK;
        if (good) *out = *own = g_strndup(input.text, input.len);
        if (good) input_free(&input);
        if (good && !is_prompt(*own)) {
            err_set(err, ERR_CONFIG,
                    "%s contains no instructions" ERR_HINT "write the version on the first line, then the instructions",
                    path);
            good = false;
        }
    }
    g_free(path);
    return good;
}

static void add_part(GString *versions, GString *body, const char *text)
{
    size_t version = strcspn(text, "\n");
    if (versions->len) g_string_append_c(versions, ' ');
    g_string_append_len(versions, text, (gssize)version);
    g_string_append(body, text + version + 1);
}

char *ask_prompt(unsigned which, const char *dir, struct err *err)
{
    GString *versions = g_string_new(NULL), *body = g_string_new(NULL);
    char *own = NULL;
    const char *text;
    bool good = read_part(dir, "signals", assay_ask_signals, &own, &text, err);
    if (good) add_part(versions, body, text);
    g_free(own);
    for (unsigned i = 0; i < ASK_COUNT && good; i++) {
        if (!(which >> i & 1)) continue;
        good = read_part(dir, parts[i].name, parts[i].prompt, &own, &text, err);
        if (good) add_part(versions, body, text);
        g_free(own);
    }
    g_string_append_c(versions, '\n');
    g_string_append(versions, body->str);
    g_string_free(body, TRUE);
    char *out = good ? strdup(versions->str) : NULL;
    g_string_free(versions, TRUE);
    return out;
}

/* --- the schema of a reply ---------------------------------------------------------------------------------------- */

enum kind { KIND_TEXT, KIND_BOOL, KIND_NUMBER, KIND_TEXTS, KIND_OBJECTS };

/* The members of each part, all of which are required. `of` names the list whose objects have the member. It is NULL if
 * the part itself has the member. */
static const struct {
    enum ask_signal part;
    const char *of, *name;
    enum kind kind;
} members[] = {
    {ASK_evidence_violation, NULL, "violated", KIND_BOOL},
    {ASK_evidence_violation, NULL, "clauses", KIND_TEXTS},
    {ASK_evidence_violation, NULL, "why", KIND_TEXT},
    {ASK_insufficient_evidence, NULL, "insufficient", KIND_BOOL},
    {ASK_insufficient_evidence, NULL, "why", KIND_TEXT},
    {ASK_question_clause_linking, NULL, "links", KIND_OBJECTS},
    {ASK_question_clause_linking, "links", "words", KIND_TEXT},
    {ASK_question_clause_linking, "links", "clause", KIND_TEXT},
    {ASK_question_clause_linking, "links", "sure", KIND_BOOL},
    {ASK_column_ambiguity, NULL, "rivals", KIND_OBJECTS},
    {ASK_column_ambiguity, "rivals", "clause", KIND_TEXT},
    {ASK_column_ambiguity, "rivals", "column", KIND_TEXT},
    {ASK_self_check, NULL, "right", KIND_BOOL},
    {ASK_self_check, NULL, "probability", KIND_NUMBER},
    {ASK_self_check, NULL, "clauses", KIND_TEXTS},
    {ASK_self_check, NULL, "why", KIND_TEXT},
};

static json_t *part_schema(enum ask_signal part, const char *of);

static json_t *member_schema(size_t i)
{
    static const char *const types[] = {[KIND_TEXT] = "string", [KIND_BOOL] = "boolean", [KIND_NUMBER] = "number"};
    enum kind kind = members[i].kind;
    if (kind == KIND_TEXTS) return json_pack("{s:s,s:{s:s}}", "type", "array", "items", "type", "string");
    if (kind == KIND_OBJECTS)
        return json_pack("{s:s,s:o}", "type", "array", "items", part_schema(members[i].part, members[i].name));
    return json_pack("{s:s}", "type", types[kind]);
}

static json_t *object_schema(json_t *properties, json_t *required)
{
    return json_pack("{s:s,s:o,s:o,s:b}", "type", "object", "properties", properties, "required", required,
                     "additionalProperties", 0);
}

static json_t *part_schema(enum ask_signal part, const char *of)
{
    json_t *properties = json_object(), *required = json_array();
    for (size_t i = 0; i < G_N_ELEMENTS(members); i++) {
        if (members[i].part != part || g_strcmp0(members[i].of, of) != 0) continue;
        json_object_set_new(properties, members[i].name, member_schema(i));
        json_array_append_new(required, json_string(members[i].name));
    }
    return object_schema(properties, required);
}

char *ask_schema(unsigned which)
{
    json_t *properties = json_object(), *required = json_array();
    for (unsigned i = 0; i < ASK_COUNT; i++) {
        if (!(which >> i & 1)) continue;
        json_object_set_new(properties, parts[i].name, part_schema((enum ask_signal)i, NULL));
        json_array_append_new(required, json_string(parts[i].name));
    }
    json_t *schema = object_schema(properties, required);
    char *out = json_dumps(schema, JSON_COMPACT);
    json_decref(schema);
    return out;
}

/* --- the reply ---------------------------------------------------------------------------------------------------- */

void ask_malformed(struct vsig_run *run)
{
    vsig_unavailable(run, err_name(ERR_MALFORMED));
}

const json_t *ask_part(struct vsig_run *run)
{
    const struct vsig_reply *reply = run->subject->reply;
    unsigned i = 0;
    while (i < ASK_COUNT && strcmp(parts[i].name, run->def->name) != 0) i++;
    const json_t *part = reply && i < ASK_COUNT ? reply->parts[i] : NULL;
    if (!reply || i == ASK_COUNT)
        vsig_unavailable(run, "no language model was asked");
    else if (!part)
        vsig_unavailable(run, reply->reasons[i]);
    else if (!json_is_object(part))
        ask_malformed(run);
    return json_is_object(part) ? part : NULL;
}

bool ask_bool(struct vsig_run *run, const json_t *part, const char *member, bool *out)
{
    const json_t *value = json_object_get(part, member);
    *out = json_is_true(value);
    if (!json_is_boolean(value)) ask_malformed(run);
    return json_is_boolean(value);
}

bool ask_share(struct vsig_run *run, const json_t *part, const char *member, double *out)
{
    const json_t *value = json_object_get(part, member);
    *out = json_number_value(value);
    bool good = json_is_number(value) && *out >= 0 && *out <= 1;
    if (!good) ask_malformed(run);
    return good;
}

const json_t *ask_list(struct vsig_run *run, const json_t *part, const char *member)
{
    const json_t *value = json_object_get(part, member);
    if (!json_is_array(value)) ask_malformed(run);
    return json_is_array(value) ? value : NULL;
}

const char *ask_text(const json_t *entry, const char *member)
{
    return json_string_value(json_object_get(entry, member));
}

/* --- texts quoted from the query ---------------------------------------------------------------------------------- */

/* Finds `piece` in the query, without regard to case, and sets its byte range. Returns false if the query does not
 * contain it. */
static bool find_piece(const struct vsig_subject *subject, const char *piece, size_t *start, size_t *end)
{
    while (g_ascii_isspace(*piece) || *piece == ';') piece++;
    size_t len = strlen(piece);
    while (len && (g_ascii_isspace(piece[len - 1]) || piece[len - 1] == ';')) len--;
    for (size_t at = 0; len && at + len <= subject->sql_len; at++) {
        if (g_ascii_strncasecmp(subject->sql + at, piece, len) != 0) continue;
        *start = at;
        *end = at + len;
        return true;
    }
    return false;
}

const struct sql_node *ask_place(const struct vsig_run *run, const char *piece)
{
    const struct vsig_subject *subject = run->subject;
    const struct sql_node *best = NULL;
    size_t start, end;
    if (!piece || !subject->stmt || !find_piece(subject, piece, &start, &end)) return NULL;
    for (const struct sql_node *n = subject->stmt->root; n; n = sql_walk(subject->stmt->root, n)) {
        if (n->start == n->end || n->start > start || n->end < end) continue;
        if (!best || n->end - n->start <= best->end - best->start) best = n;
    }
    return best;
}

void ask_mark(struct vsig_run *run, struct vsig_finding *finding, const json_t *pieces, unsigned *dropped)
{
    const json_t *piece;
    size_t i;
    json_array_foreach(pieces, i, piece)
    {
        const struct sql_node *place = i < MAX_PIECES ? ask_place(run, json_string_value(piece)) : NULL;
        if (place)
            vsig_add_clause(run, finding, place);
        else
            ++*dropped;
    }
    if (finding && !finding->n_clauses && run->subject->stmt) vsig_add_clause(run, finding, run->subject->stmt->root);
}

void ask_note_dropped(struct vsig_run *run, unsigned dropped)
{
    if (dropped)
        vsig_note(run, NULL, "%u item%s that the model mentions %s not in the query or the schema", dropped,
                  dropped == 1 ? "" : "s", dropped == 1 ? "is" : "are");
}

void ask_quote(struct vsig_run *run, struct vsig_finding *finding, const json_t *part)
{
    const char *why = ask_text(part, "why");
    if (!why || !*why) return;
    char *line = g_strdelimit(g_utf8_make_valid(why, -1), "\r\n\t\v\f", ' ');
    for (char *c = line; *c; c++)
        if (g_ascii_iscntrl(*c)) *c = ' ';
    glong words = g_utf8_strlen(line, -1);
    char *cut = g_utf8_substring(line, 0, MIN(words, MAX_WORDS));
    vsig_add_fact(run, finding, "the model says", true, "%s%s", cut, words > MAX_WORDS ? " ..." : "");
    g_free(cut);
    g_free(line);
}
