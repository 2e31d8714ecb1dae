/* Writes a run as one HTML file. Scripts and style are inline, and a Content-Security-Policy permits them by their
 * hashes. The run is a block of JSON, which browsers do not execute. In this block, `<` and the line separators of
 * JavaScript are always escaped. */
#include "cli/output/run_output.h"
#include "page/page.h"

#include <string.h>

static const struct page_asset *asset(const char *path)
{
    for (size_t i = 0; i < page_n_assets; i++)
        if (strcmp(page_assets[i].path, path) == 0) return &page_assets[i];
    return NULL;
}

/* Appends "'sha256-...'", the source expression of an inline element in a Content-Security-Policy. */
static void append_hash(GString *out, const struct page_asset *of)
{
    guint8 digest[32];
    gsize len = sizeof digest;
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    g_checksum_update(sum, of->bytes, (gssize)of->len);
    g_checksum_get_digest(sum, digest, &len);
    gchar *text = g_base64_encode(digest, len);
    g_string_append_printf(out, " 'sha256-%s'", text);
    g_free(text);
    g_checksum_free(sum);
}

static void append_inline(GString *out, const char *open, const struct page_asset *of, const char *close)
{
    g_string_append(out, open);
    g_string_append_len(out, (const char *)of->bytes, (gssize)of->len);
    g_string_append(out, close);
}

/* Appends JSON, escaped so that it cannot close its HTML element. */
static void append_data(GString *out, const char *json)
{
    for (const char *at = json; *at; at++) {
        if (*at == '<')
            g_string_append(out, "\\u003c");
        else if (strncmp(at, "\xe2\x80\xa8", 3) == 0 || strncmp(at, "\xe2\x80\xa9", 3) == 0) {
            g_string_append(out, at[2] == '\xa8' ? "\\u2028" : "\\u2029");
            at += 2;
        } else
            g_string_append_c(out, *at);
    }
}

GString *run_html(const json_t *report, struct err *err)
{
    const struct page_asset *style = asset("/page/style.css"), *own_style = asset("/page/runs.css"),
                            *theme = asset("/page/theme.js"), *script = asset("/page/report.js");
    char *json = json_dumps(report, JSON_COMPACT | JSON_REAL_PRECISION(6));
    if (!json) {
        err_set(err, ERR_NOMEM, "out of memory for the page");
        return NULL;
    }
    char *title = g_markup_escape_text(json_string_value(json_object_get(report, "name")), -1);
    GString *out = g_string_new("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                                "base-uri 'none'; form-action 'none'; script-src");
    append_hash(out, theme);
    append_hash(out, script);
    g_string_append(out, "; style-src");
    append_hash(out, style);
    append_hash(out, own_style);
    g_string_append_printf(out,
                           "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                           "<meta name=\"color-scheme\" content=\"light dark\">\n<title>%s · Assay</title>\n",
                           title);
    append_inline(out, "<style>", style, "</style>\n");
    append_inline(out, "<style>", own_style, "</style>\n");
    append_inline(out, "<script>", theme, "</script>\n</head>\n<body>\n<main id=\"main\" tabindex=\"-1\"></main>\n");
    g_string_append(out, "<script type=\"application/json\" id=\"report\">");
    append_data(out, json);
    append_inline(out, "</script>\n<script>", script, "</script>\n</body>\n</html>\n");
    g_free(title);
    free(json);
    return out;
}
