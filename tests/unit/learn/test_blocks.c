/* Tests the binary form of a model. It gives the same results as the JSON. It is accepted only with the JSON from which
 * it was made, and is rejected if any part is invalid. */
#include "lib/learn/blocks.h"
#include "lib/learn/hashed.h"
#include "lib/learn/json_file.h"
#include "lib/learn/learn.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

TestSuite(blocks, .fini = leak_check);

enum { HEAD = 48, CHECKSUM_AT = 24, FIRST_PLACE = HEAD };
static const char MODEL[] =
    "{\"format\":\"assay-classifier\",\"version\":1,\"command\":\"\",\"features\":[\"a\",\"b\"],"
    "\"calibration\":{\"kind\":\"none\",\"a\":0,\"b\":0,\"x\":[],\"y\":[]},\"kind\":\"trees\",\"parameters\":"
    "{\"base\":0,\"gain\":[1,0],\"trees\":[{\"feature\":[-1],\"value\":[0.25],\"right\":[0],\"missing_left\":[0]},"
    "{\"feature\":[0,-1,-1],\"value\":[0.5,-1,1],\"right\":[2,0,0],\"missing_left\":[1,0,0]}]}}";

static GBytes *binary_of(const char *text)
{
    struct err err = {0};
    struct model_blocks blocks = {0};
    json_t *root = json_loads(text, 0, NULL);
    cr_assert_eq(learn_move(root, &blocks, &err), ERR_OK, "%s", err.text);
    GBytes *file = blocks_file(&blocks, root, text, strlen(text));
    blocks_clear(&blocks);
    return file;
}

static enum err_code load(GBytes *file, struct learn_model **out, struct err *err)
{
    struct model_document document;
    *out = NULL;
    enum err_code code = model_document_read(file, "assay-classifier", 1, &document, err);
    if (code) return code;
    code = learn_load_json(document.root, &document.blocks, out, err);
    model_document_clear(&document);
    return code;
}

Test(blocks, blocks_match_json)
{
    GBytes *file = binary_of(MODEL);
    struct learn_model *json, *binary;
    struct err err = {0};
    cr_assert_eq(learn_load_text(MODEL, strlen(MODEL), &json, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(load(file, &binary, &err), ERR_OK, "%s", err.text);
    g_bytes_unref(file); /* safe, because the model has its own reference */
    char *one = learn_save_text(json), *two = learn_save_text(binary);
    cr_expect_str_eq(one, two);
    for (int i = 0; i < 3; i++) {
        const float x[2] = {(float[]){0, 1, NAN}[i], 0};
        cr_expect_eq(learn_predict(json, x), learn_predict(binary, x));
    }
    free(one);
    free(two);
    learn_free(json);
    learn_free(binary);
}

/* Loads a copy with one byte changed. `resum` makes its checksum valid. */
static enum err_code load_with(GBytes *file, size_t at, unsigned char value, bool resum)
{
    gsize len;
    const void *data = g_bytes_get_data(file, &len);
    unsigned char *copy = g_memdup2(data, len);
    copy[at] = value;
    uint64_t sum = XXH3_64bits(copy + HEAD, len - HEAD);
    if (resum) memcpy(copy + CHECKSUM_AT, &sum, sizeof sum);
    GBytes *changed = g_bytes_new_take(copy, len);
    struct learn_model *model;
    enum err_code code = load(changed, &model, NULL);
    learn_free(model);
    g_bytes_unref(changed);
    return code;
}

static size_t offset_of_block(GBytes *file, size_t i)
{
    uint64_t offset;
    memcpy(&offset, (const char *)g_bytes_get_data(file, NULL) + FIRST_PLACE + i * 16, sizeof offset);
    return (size_t)offset;
}

Test(blocks, hostile_blocks_are_refused)
{
    enum { NODE = 16, FEATURE = 4, RIGHT = 8, MISSING = 12 };
    GBytes *file = binary_of(MODEL);
    size_t first = offset_of_block(file, 0), nodes = offset_of_block(file, 1);
    const struct {
        enum err_code code;
        size_t at;
        unsigned char value;
        bool resum;
    } cases[] = {
        {ERR_OK, nodes + NODE + MISSING, 0, true},
        {ERR_MALFORMED, nodes + NODE + MISSING, 0, false}, /* wrong checksum */
        {ERR_MALFORMED, 0, 'a', true},
        {ERR_MALFORMED, 8, 1, true}, /* wrong byte order */
        {ERR_VERSION, 12, 2, true},
        {ERR_MALFORMED, 33, 9, true},               /* wrong size */
        {ERR_MALFORMED, 40, 0, true},               /* no blocks, so not even the JSON */
        {ERR_MALFORMED, 40, 65, true},              /* too many blocks */
        {ERR_MALFORMED, FIRST_PLACE, 1, true},      /* misaligned */
        {ERR_MALFORMED, FIRST_PLACE + 3, 1, true},  /* ends past the end of the file */
        {ERR_MALFORMED, FIRST_PLACE + 11, 1, true}, /* longer than the file */
        {ERR_MALFORMED, FIRST_PLACE + 8, 11, true}, /* not a whole number of elements */
        {ERR_MALFORMED, FIRST_PLACE + 8, 4, true},  /* belongs to no tree */
        {ERR_MALFORMED, first, 1, true},            /* trees must start at the first node */
        {ERR_MALFORMED, first + 4, 0, true},        /* an empty tree */
        {ERR_MALFORMED, first + 8, 3, true},        /* nodes that belong to no tree */
        {ERR_MALFORMED, first + 8, 5, true},        /* fewer nodes than the trees need */
        {ERR_MALFORMED, nodes + NODE + FEATURE, 2, true},
        {ERR_MALFORMED, nodes + NODE + RIGHT, 0, true}, /* a node is its own child */
        {ERR_MALFORMED, nodes + NODE + RIGHT, 3, true}, /* child outside of the tree */
        {ERR_MALFORMED, nodes + NODE + MISSING, 2, true},
        {ERR_MALFORMED, nodes + 3 * NODE + FEATURE + 3, 0, true}, /* no node is left for its children */
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        cr_expect_eq(load_with(file, cases[i].at, cases[i].value, cases[i].resum), cases[i].code, "case %zu", i);
    gsize len = g_bytes_get_size(file);
    for (gsize n = 0; n < len; n += 7) {
        struct learn_model *model;
        GBytes *cut = g_bytes_new_from_bytes(file, 0, n);
        cr_expect_neq(load(cut, &model, NULL), ERR_OK);
        g_bytes_unref(cut);
    }
    g_bytes_unref(file);
}

Test(blocks, component_weights_match_json)
{
    static const char TEXT[] = "{\"bits\":1,\"outputs\":3,\"bias\":[0,1,2],\"scale\":[1,1,1],\"used\":\"Ag==\","
                               "\"weights\":\"AQL9\"}"; /* weights 1, 2 and -3 in the second bucket */
    struct model_blocks blocks = {0};
    json_t *object = json_loads(TEXT, 0, NULL);
    struct hashed_model *json = hashed_load(object, NULL);
    cr_assert_not_null(json);
    cr_assert(hashed_move(object, &blocks));
    cr_expect_null(hashed_load(object, NULL), "a block of no file");
    struct hashed_model *binary = hashed_load(object, &blocks);
    cr_assert_not_null(binary);
    const uint64_t keys[] = {0, UINT64_MAX, UINT64_MAX};
    double p[3], q[3];
    hashed_predict(json, keys, 3, p);
    hashed_predict(binary, keys, 3, q);
    cr_expect_arr_eq(p, q, sizeof p);
    json_object_set_new(object, "bits", json_integer(2)); /* the JSON now needs more weights than the block has */
    cr_expect_null(hashed_load(object, &blocks));
    json_decref(object);
    blocks_clear(&blocks);
    hashed_free(json);
    hashed_free(binary);
}

static void write_bytes(const char *path, GBytes *file)
{
    gsize len;
    const char *bytes = g_bytes_get_data(file, &len);
    cr_assert(g_file_set_contents(path, bytes, (gssize)len, NULL));
}

static enum err_code load_path(const char *path, bool *mapped, struct err *err)
{
    struct model_document document;
    enum err_code code = model_document_open(path, "assay-classifier", 1, &document, err);
    *mapped = !code && document.blocks.n > 0;
    if (!code) {
        uint64_t digest;
        cr_expect(model_file_digest(path, &digest));
        cr_expect_eq(document.digest, digest, "of the JSON, by whichever form it was read");
        model_document_clear(&document);
    }
    return code;
}

/* The file may be a pipe, as in `--verifier <(zcat verifier.json.gz)`. */
Test(blocks, pipe_is_read_once)
{
    int ends[2];
    struct model_document document;
    struct err err = {0};
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(write(ends[1], MODEL, strlen(MODEL)), (ssize_t)strlen(MODEL));
    close(ends[1]);
    char *path = g_strdup_printf("/dev/fd/%d", ends[0]);
    cr_assert_eq(model_document_open(path, "assay-classifier", 1, &document, &err), ERR_OK, "%s", err.text);
    cr_expect_eq(document.digest, XXH3_64bits(MODEL, strlen(MODEL)));
    model_document_clear(&document);
    close(ends[0]);
    g_free(path);
}

Test(blocks, blocks_of_other_json_are_refused)
{
    char *dir = g_dir_make_tmp("assay-blocks-XXXXXX", NULL);
    char *json = g_build_filename(dir, "m.json", NULL), *binary = blocks_path(json);
    cr_expect(g_str_has_suffix(binary, "/m.bin"));
    GBytes *file = binary_of(MODEL);
    bool mapped;
    struct err err = {0};
    write_bytes(binary, file);
    cr_expect_eq(load_path(json, &mapped, &err), ERR_IO, "the JSON is what counts");
    cr_assert(g_file_set_contents(json, MODEL, -1, NULL));
    cr_expect_eq(load_path(json, &mapped, &err), ERR_OK, "%s", err.text);
    cr_expect(mapped);
    char *longer = g_strconcat(MODEL, "\n", NULL); /* another JSON, as after a new training */
    cr_assert(g_file_set_contents(json, longer, -1, NULL));
    cr_expect_eq(load_path(json, &mapped, &err), ERR_OK, "%s", err.text);
    cr_expect_not(mapped);
    cr_assert(g_file_set_contents(json, MODEL, -1, NULL));
    GBytes *cut = g_bytes_new_from_bytes(file, 0, g_bytes_get_size(file) - 1);
    write_bytes(binary, cut);
    cr_expect_eq(load_path(json, &mapped, &err), ERR_MALFORMED);
    cr_expect(strstr(err.text, "m.bin"), "%s", err.text);
    g_bytes_unref(cut);
    g_bytes_unref(file);
    g_unlink(json);
    g_unlink(binary);
    g_rmdir(dir);
    g_free(longer);
    g_free(binary);
    g_free(json);
    g_free(dir);
}
