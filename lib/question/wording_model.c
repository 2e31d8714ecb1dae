/* Reads and writes the file of a wording model: a header, the hashes of the common words, and the weights. The bundled
 * model is linked in, like the lexicon (lib/text/lexicon.h). So every worker has it, and all workers have the same
 * one. */
#include "lib/question/wording.h"

#include <glib.h>
#include <pthread.h>
#include <string.h>
#include <xxhash.h>

#define MAGIC "assaywrd"

enum { VERSION = 1 };

struct wording_header {
    char magic[8];
    uint32_t version, bits, n_common;
    float scale;
    uint64_t checksum; /* checksum of the rest of the file */
};

__asm__(".pushsection .rodata,\"a\",%progbits\n"
        ".balign 64\n"
        ".globl assay_wording_data\n"
        ".hidden assay_wording_data\n"
        ".type assay_wording_data, %object\n"
        "assay_wording_data:\n"
        ".incbin \"" WORDING_FILE "\"\n"
        ".globl assay_wording_end\n"
        ".hidden assay_wording_end\n"
        "assay_wording_end:\n"
        ".byte 0\n"
        ".size assay_wording_data, . - assay_wording_data\n"
        ".popsection\n");

extern const char assay_wording_data[], assay_wording_end[];

static size_t body_size(const struct wording_header *h)
{
    return h->n_common * sizeof(uint32_t) + ((size_t)1 << h->bits);
}

static bool open_model(const char *data, size_t size, bool check_sum, struct wording_model *out)
{
    const struct wording_header *h = (const void *)data;
    if (size < sizeof *h || memcmp(h->magic, MAGIC, sizeof h->magic) != 0 || h->version != VERSION) return false;
    if (!h->bits || h->bits > WORDING_MAX_BITS || h->n_common > WORDING_MAX_COMMON || !(h->scale >= 0)) return false;
    if (size - sizeof *h != body_size(h)) return false;
    if (check_sum && XXH3_64bits(data + sizeof *h, size - sizeof *h) != h->checksum) return false;
    const char *common = data + sizeof *h;
    *out = (struct wording_model){.bits = h->bits,
                                  .n_common = h->n_common,
                                  .scale = h->scale,
                                  .common = (const void *)common,
                                  .weights = (const void *)(common + h->n_common * sizeof(uint32_t))};
    return true;
}

static struct wording_model the_model;
static bool the_model_is_open;

static void open_it(void)
{
    size_t size = (size_t)(assay_wording_end - assay_wording_data);
    the_model_is_open = open_model(assay_wording_data, size, false, &the_model);
}

const struct wording_model *wording_bundled(void)
{
    static pthread_once_t opened = PTHREAD_ONCE_INIT;
    pthread_once(&opened, open_it);
    return the_model_is_open ? &the_model : NULL;
}

enum err_code wording_load(const char *path, struct wording_model *out, struct err *err)
{
    char *data = NULL;
    size_t size = 0;
    *out = (struct wording_model){0};
    if (!g_file_get_contents(path, &data, &size, NULL))
        return err_set(err, ERR_CONFIG, "cannot read the wording model %s" ERR_HINT "run `assay train wording`", path);
    if (!open_model(data, size, true, out)) {
        g_free(data);
        return err_set(err, ERR_CONFIG,
                       "%s is no wording model of version %d" ERR_HINT "run `assay train wording` again", path,
                       VERSION);
    }
    out->owned = data;
    return ERR_OK;
}

enum err_code wording_save(const char *path, const struct wording_model *model, struct err *err)
{
    struct wording_header h = {
        .version = VERSION, .bits = model->bits, .n_common = model->n_common, .scale = model->scale};
    memcpy(h.magic, MAGIC, sizeof h.magic);
    GString *text = g_string_new(NULL);
    g_string_append_len(text, (const char *)&h, sizeof h);
    g_string_append_len(text, (const char *)model->common, (gssize)(model->n_common * sizeof(uint32_t)));
    g_string_append_len(text, (const char *)model->weights, (gssize)1 << model->bits);
    h.checksum = XXH3_64bits(text->str + sizeof h, text->len - sizeof h);
    memcpy(text->str, &h, sizeof h);
    bool good = g_file_set_contents(path, text->str, (gssize)text->len, NULL);
    g_string_free(text, TRUE);
    return good ? ERR_OK : err_set(err, ERR_CONFIG, "cannot write %s", path);
}

void wording_free(struct wording_model *model)
{
    g_free(model->owned);
    *model = (struct wording_model){0};
}
