/* Tests recordings of a schema linker. Their tokens are read as names, and a branching point is traced back to a name
 * (Algorithm 2). An invalid recording is refused with the location of its error. */
#include "linking/trace.h"
#include "tests/unit/linking/made.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Tokens: "singer" 5 6, "singer_in_concert" 5 6 7, "concert" 8, "stadium" 9 10; comma 2, blank 3, end 1. */
#define CANDIDATES                                                                                                     \
    "\"candidates\":[{\"name\":\"singer\",\"ids\":[5,6]},{\"name\":\"singer_in_concert\",\"ids\":[5,6,7]},"            \
    "{\"name\":\"concert\",\"ids\":[8]},{\"name\":\"stadium\",\"ids\":[9,10]}],\"separator\":[2,3],\"end\":1"
#define HEAD "{\"format\":\"assay-traces/1\",\"id\":\"q\",\"stage\":\"tables\"," CANDIDATES ",\"tokens\":"

static struct arena arena;

static struct trace *parse(const char *text, struct err *err)
{
    struct trace *trace = NULL;
    json_t *json = json_loads(text, 0, NULL);
    cr_assert_not_null(json, "%s", text);
    trace_from_json(&arena, json, &trace, err);
    json_decref(json);
    return trace;
}

static void begin(void)
{
    arena_init(&arena, 0);
}

static void finish(void)
{
    arena_free(&arena);
}

TestSuite(trace, .init = begin, .fini = finish);

/* In this recording, the linker continued with singer and concert. */
static const char *const story =
    HEAD "[{\"id\":5,\"gold_id\":5},"
         "{\"id\":6,\"gold_id\":6},"
         "{\"id\":7,\"gold_id\":2,\"continuation\":[]}," /* the linker continued with singer_in_concert */
         "{\"id\":3,\"gold_id\":3},"
         "{\"id\":9,\"gold_id\":8,\"continuation\":[10]}," /* the linker began with stadium */
         "{\"id\":1,\"gold_id\":1}]}";

Test(trace, branching_point_is_traced_to_its_name)
{
    static const int own[] = {0, 0, 1, 2, 3, -1}, right[] = {0, 0, 2, 2, 2, -1};
    struct err err = {0};
    struct trace *trace = parse(story, &err);
    cr_assert(trace && trace->has_gold && trace->n_tokens == 6, "%s", err.text);
    for (uint32_t i = 0; i < 6; i++) {
        cr_assert_eq(trace_back(&arena, trace, i), own[i], "token %u: %d", i, trace_back(&arena, trace, i));
        cr_assert_eq(trace_gold_at(&arena, trace, i), right[i], "token %u: %d", i, trace_gold_at(&arena, trace, i));
    }
}

Test(trace, list_of_wrong_length_is_traced)
{
    struct err err = {0};
    struct trace *trace = parse(HEAD "[{\"id\":8,\"gold_id\":8},{\"id\":1,\"gold_id\":2},{\"id\":3,\"gold_id\":3},"
                                     "{\"id\":9,\"gold_id\":9},{\"id\":10,\"gold_id\":10},{\"id\":1,\"gold_id\":1}]}",
                                &err);
    cr_assert_eq(trace_back(&arena, trace, 1), -1, "it ended: no name");
    cr_assert_eq(trace_gold_at(&arena, trace, 1), 3, "and stadium was to come");
    trace = parse(HEAD "[{\"id\":8,\"gold_id\":8},{\"id\":2,\"gold_id\":1,\"continuation\":[3,9,10]}]}", &err);
    cr_assert_eq(trace_back(&arena, trace, 1), 3);
    cr_assert_eq(trace_gold_at(&arena, trace, 1), -1);
}

Test(trace, valid_names_are_read_and_nonsense_is_refused)
{
    struct err err = {0};
    struct trace *trace = parse(story, &err);
    static const struct {
        uint32_t ids[8], n;
        int found, last;
    } cases[] = {{{5, 6, 2, 3, 8, 1}, 6, 2, 2},
                 {{5, 6, 7, 1}, 4, 1, 1},
                 {{5, 6}, 2, 1, 0},
                 {{5}, 1, 0, 0},
                 {{1}, 1, 0, 0},
                 {{7}, 1, -1, 0},
                 {{5, 6, 2, 8}, 4, -1, 0},
                 {{8, 1, 8}, 3, -1, 0},
                 {{5, 1}, 2, -1, 0},
                 {{8, 2, 3, 1}, 4, -1, 0},
                 {{8, 2, 3, 8, 1}, 5, 1, 2}};
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        uint32_t *names = NULL;
        int found = trace_names(&arena, trace, cases[i].ids, cases[i].n, &names);
        cr_assert_eq(found, cases[i].found, "case %u: %d", i, found);
        if (found > 0) cr_assert_eq((int)names[found - 1], cases[i].last, "case %u", i);
    }
}

Test(trace, invalid_trace_is_refused_with_reason)
{
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"{}", "\"format\""},
        {"{\"format\":\"assay-traces/2\"}", "this build reads"},
        {"{\"format\":\"assay-traces/1\",\"stage\":\"rows\"}", "stage:"},
        {"{\"format\":\"assay-traces/1\",\"stage\":\"tables\",\"candidates\":[]}", "candidates"},
        {"{\"format\":\"assay-traces/1\",\"stage\":\"tables\",\"candidates\":[{\"name\":\"a\",\"ids\":[]}]}",
         "no token ids"},
        {"{\"format\":\"assay-traces/1\",\"stage\":\"tables\",\"candidates\":[{\"name\":\"a\",\"ids\":[-1]}]}",
         "invalid token id"},
        {"{\"format\":\"assay-traces/1\",\"stage\":\"tables\",\"candidates\":[{\"name\":\"a\",\"ids\":[4]}]}", "end:"},
        {HEAD "[]}", "tokens:"},
        {HEAD "[{}]}", "no id"},
        {HEAD "[{\"id\":5000000000}]}", "no id"},
        {HEAD "[{\"id\":5,\"gold_id\":\"x\"}]}", "gold_id"},
        {HEAD "[{\"id\":5,\"gold_id\":5},{\"id\":1}]}", "all tokens"},
        {HEAD "[{\"id\":5,\"probability\":1.5}]}", "0 to 1"},
        {HEAD "[{\"id\":5,\"continuation\":7}]}", "continuation"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct err err = {0};
        cr_assert_null(parse(cases[i].text, &err));
        cr_assert(err.code && strstr(err.text, cases[i].part), "%s: %s", cases[i].text, err.text);
    }
}

/* --- recordings --- */

static char name[64];

static void name_it(void)
{
    arena_init(&arena, 0);
    snprintf(name, sizeof name, "/tmp/assay-recording-%d", (int)getpid());
}

static void remove_it(void)
{
    made_remove(name);
    arena_free(&arena);
}

TestSuite(recording, .init = name_it, .fini = remove_it);

static enum err_code read_through(uint64_t *tokens, struct err *err)
{
    struct recording recording;
    struct trace *trace = NULL;
    enum err_code code = recording_open(name, &recording, err);
    if (code) return code;
    float state[64];
    while (!(code = recording_next(&recording, &arena, &trace, err)) && trace)
        for (uint32_t i = 0; !code && i < trace->n_tokens; i++, (*tokens)++)
            if ((code = recording_state(&recording, 0, trace, i, state, err))) goto done;
done:
    recording_close(&recording);
    return code;
}

Test(recording, hidden_states_belong_to_tokens)
{
    struct err err = {0};
    uint64_t tokens = 0;
    made_write(name, &(struct made){.questions = 20, .layers = 3, .hidden = 8, .wrong = 0.2, .seed = 1});
    cr_assert_eq(read_through(&tokens, &err), ERR_OK, "%s", err.text);
    cr_assert_geq(tokens, 80);
}

static void append(const char *end, const char *text)
{
    char *path = g_strdup_printf("%s.%s", name, end);
    FILE *file = fopen(path, "a");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
    g_free(path);
}

Test(recording, missing_or_surplus_line_is_detected)
{
    struct err err = {0};
    uint64_t tokens = 0;
    made_write(name, &(struct made){.questions = 3, .layers = 1, .hidden = 4, .seed = 2, .stage = "tables"});
    append("jsonl", HEAD "[{\"id\":1,\"gold_id\":1}]}\n");
    cr_assert_eq(read_through(&tokens, &err), ERR_MALFORMED);
    cr_assert(strstr(err.text, ".jsonl:4:") && strstr(err.text, "hidden states for"), "%s", err.text);
    char *path = g_strdup_printf("%s.jsonl", name);
    cr_assert(g_file_set_contents(path, HEAD "[{\"id\":1,\"gold_id\":1}]}\n", -1, NULL));
    g_free(path);
    cr_assert_eq(read_through(&tokens, &err), ERR_MALFORMED);
    cr_assert(strstr(err.text, "do not match"), "%s", err.text);
}

static void write_states(const char *const *tensors, const uint64_t (*shapes)[2], unsigned n, float value)
{
    struct err err = {0};
    struct tensors_writer *w = tensors_writer_new();
    char *path = g_strdup_printf("%s.safetensors", name);
    for (unsigned i = 0; i < n; i++) {
        float *numbers = g_new(float, shapes[i][0] * shapes[i][1] + 1);
        for (uint64_t k = 0; k < shapes[i][0] * shapes[i][1]; k++) numbers[k] = value;
        tensors_writer_add(w, tensors[i], TENSOR_F16, numbers, shapes[i][0], shapes[i][1]);
        g_free(numbers);
    }
    cr_assert_eq(tensors_writer_save(w, path, &err), ERR_OK);
    tensors_writer_free(w);
    g_free(path);
}

static void states_refused(const char *const *tensors, const uint64_t (*shapes)[2], unsigned n, float value,
                           const char *part)
{
    struct err err = {0};
    uint64_t tokens = 0;
    write_states(tensors, shapes, n, value);
    enum err_code code = read_through(&tokens, &err);
    cr_assert(code && strstr(err.text, part), "%s: %s", part, err.text);
}

Test(recording, invalid_layers_and_oversized_traces_are_refused)
{
    made_write(name, &(struct made){.questions = 1, .layers = 1, .hidden = 4, .seed = 2, .stage = "tables"});
    static const char *const names[] = {"layer_0", "layer_1"}, *const odd[] = {"layer_x"}, *const none[] = {"hidden"};
    states_refused(names, (const uint64_t[][2]){{4, 4}, {3, 4}}, 2, 0, "the same shape");
    states_refused(names, (const uint64_t[][2]){{4, 4}, {4, 5}}, 2, 0, "the same shape");
    states_refused(odd, (const uint64_t[][2]){{4, 4}}, 1, 0, "layer_0, layer_1");
    states_refused(none, (const uint64_t[][2]){{4, 4}}, 1, 0, "no hidden states");
    states_refused(names, (const uint64_t[][2]){{4, 4}}, 1, INFINITY, "not finite");
    states_refused(names, (const uint64_t[][2]){{4, 20000}}, 1, 0, "the limit is 16384");
    states_refused(names, (const uint64_t[][2]){{1000000, 1}}, 1, 0, "record in parts");
}

/* --- messages --- */

static const struct made one = {.questions = 1, .layers = 2, .hidden = 4, .wrong = 0.2, .plain = 1, .seed = 4};

static enum err_code read_bytes(const void *bytes, size_t len, struct err *err)
{
    struct arena own;
    struct recording recording;
    struct trace *trace = NULL;
    arena_init(&own, 0);
    enum err_code code = trace_message_read(bytes, len, "message", &own, &recording, &trace, err);
    cr_expect_eq(code == ERR_OK, trace != NULL);
    if (!code) recording_close(&recording);
    arena_free(&own);
    return code;
}

Test(message, message_round_trips_with_states)
{
    struct arena own;
    struct recording recording;
    struct trace *trace = NULL;
    struct err err = {0};
    float state[4];
    gsize len;
    GBytes *message = made_message(&one);
    const void *bytes = g_bytes_get_data(message, &len);
    arena_init(&own, 0);
    cr_assert_eq(trace_message_read(bytes, len, "message", &own, &recording, &trace, &err), ERR_OK, "%s", err.text);
    cr_expect_str_eq(trace->id, "q0");
    cr_expect_eq(recording.n_layers, 2);
    for (uint32_t i = 0; i < trace->n_tokens; i++)
        cr_expect_eq(recording_state(&recording, 1, trace, i, state, &err), ERR_OK, "%s", err.text);
    cr_expect_eq(recording_state(&recording, 1, trace, trace->n_tokens, state, &err), ERR_MALFORMED);
    recording_close(&recording);
    arena_free(&own);
    g_bytes_unref(message);
}

/* The message is truncated at each place, or has one byte changed. It must be read, or refused with a reason. */
Test(message, damaged_message_is_refused_safely)
{
    gsize len;
    GBytes *message = made_message(&one);
    const char *bytes = g_bytes_get_data(message, &len);
    for (gsize n = 0; n < len; n++) {
        struct err err = {0};
        char *part = g_memdup2(bytes, n + 1); /* a separate block, so that a sanitizer detects a read past its end */
        cr_expect_neq(read_bytes(part, n, &err), ERR_OK, "%zu bytes of %zu", n, len);
        cr_expect(err.text[0], "%zu", n);
        g_free(part);
    }
    for (gsize at = 0; at < len; at++) {
        struct err err = {0};
        char *spoilt = g_memdup2(bytes, len);
        spoilt[at] ^= 0x15;
        cr_expect(read_bytes(spoilt, len, &err) == ERR_OK || err.text[0], "%zu", at);
        g_free(spoilt);
    }
    g_bytes_unref(message);
}

Test(message, overlong_or_empty_message_is_refused)
{
    struct err err = {0};
    char *long_one = g_malloc0((gsize)TRACE_MAX_MESSAGE + 1);
    cr_expect_eq(read_bytes(long_one, (size_t)TRACE_MAX_MESSAGE + 1, &err), ERR_LIMIT_BYTES);
    g_free(long_one);
    static const char bare[] = "\x02\0\0\0\0\0\0\0{}";
    cr_expect_eq(read_bytes(bare, sizeof bare - 1, &err), ERR_MALFORMED);
    cr_expect(strstr(err.text, "`trace` in the metadata"), "%s", err.text);
}
