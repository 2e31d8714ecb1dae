/* model_compile MODEL.json MODEL.bin makes the binary form of a model file (lib/learn/blocks.h). The build runs it for
 * the models that it installs. */
#include "lib/learn/blocks.h"
#include "lib/learn/classifier.h"
#include "lib/learn/hashed.h"
#include "lib/learn/json_file.h"

#include <stdio.h>

/* Moves the weights of a classifier, or of both models of a verifier, into blocks. A verifier has component models and
 * a content classifier. */
static enum err_code move(json_t *root, struct model_blocks *blocks, struct err *err)
{
    json_t *components = json_object_get(root, "components"), *content = json_object_get(root, "content");
    if (components && !hashed_move(components, blocks))
        return err_set(err, ERR_MALFORMED, "the component models are invalid");
    return learn_move(content ? content : root, blocks, err);
}

static enum err_code make(const char *text, size_t len, GBytes **out, struct err *err)
{
    struct model_blocks blocks = {0};
    json_error_t where;
    json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &where);
    if (!root) return err_set(err, ERR_MALFORMED, "line %d: %s", where.line, where.text);
    enum err_code code = move(root, &blocks, err);
    if (code)
        json_decref(root);
    else if (!(*out = blocks_file(&blocks, root, text, len)))
        code = err_set(err, ERR_NOMEM, "out of memory");
    blocks_clear(&blocks);
    return code;
}

static enum err_code write_file(const char *path, GBytes *file, struct err *err)
{
    gsize len;
    const char *bytes = g_bytes_get_data(file, &len);
    GError *failure = NULL;
    enum err_code code = ERR_OK;
    if (!g_file_set_contents(path, bytes, (gssize)len, &failure)) code = err_set(err, ERR_IO, "%s", failure->message);
    g_clear_error(&failure);
    return code;
}

int main(int argc, char **argv)
{
    struct err err = {0};
    char *text;
    gsize len;
    GBytes *file = NULL;
    if (argc != 3 || !g_file_get_contents(argv[1], &text, &len, NULL)) {
        fprintf(stderr, "usage: model_compile MODEL.json MODEL.bin\n");
        return 2;
    }
    enum err_code code = make(text, len, &file, &err);
    if (!code) code = write_file(argv[2], file, &err);
    if (code) fprintf(stderr, "%s: %s\n", argv[1], err.text);
    if (file) g_bytes_unref(file);
    g_free(text);
    return code != ERR_OK;
}
