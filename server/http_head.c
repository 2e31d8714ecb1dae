/* Validates the head and the chunks of a request. Lines are cut off the input one at a time. A table maps the fields
 * that matter to their checks. `struct framing` counts the fields that decide where the request ends, so that a second
 * one is refused. Incomplete input may already be invalid. Otherwise the caller repeats the check with more bytes.
 */
#include "server/http_head.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

enum { MAX_FIELDS = 100, MAX_DIGITS = 18, MAX_HEX = 15 };

/* Bytes of the request; not NUL-terminated. */
struct slice {
    const char *at;
    size_t len;
};

/* The fields that decide where the request ends. */
struct framing {
    bool old;     /* HTTP/1.0 */
    bool expects; /* the client waits for 100 before it sends the body */
    unsigned n_fields, n_hosts, n_lengths, n_codings;
};

static bool is_token(char c)
{
    return g_ascii_isalnum(c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool all(struct slice text, bool (*is)(char c))
{
    for (size_t i = 0; i < text.len; i++)
        if (!is(text.at[i])) return false;
    return true;
}

static bool is_target(char c)
{
    return (unsigned char)c > 0x20 && c != 0x7F;
}

static bool is_value(char c)
{
    return ((unsigned char)c >= 0x20 && c != 0x7F) || c == '\t';
}

static bool is_digit(char c)
{
    return g_ascii_isdigit(c);
}

static bool is_called(struct slice text, const char *name)
{
    return text.len == strlen(name) && g_ascii_strncasecmp(text.at, name, text.len) == 0;
}

/* Removes blanks before a value. Keeps blanks after it, because libraries disagree about "5 " and "chunked ". */
static struct slice value_of(struct slice text)
{
    while (text.len && (*text.at == ' ' || *text.at == '\t')) text.at++, text.len--;
    return text;
}

/* Cuts the text before the first `c`, and `c` itself, off `rest`. */
static bool cut(struct slice *rest, char c, struct slice *out)
{
    const char *end = memchr(rest->at, c, rest->len);
    if (!end) return false;
    *out = (struct slice){rest->at, (size_t)(end - rest->at)};
    rest->len -= out->len + 1;
    rest->at = end + 1;
    return true;
}

/* Checks the request line. The target must be `*` or a path. A whole URL is for proxies, which might use its host
 * instead of the Host field. */
static const char *check_request_line(struct slice line, struct framing *framing)
{
    struct slice method, target;
    if (!cut(&line, ' ', &method) || !method.len || !all(method, is_token)) return "the method is missing or invalid";
    if (!cut(&line, ' ', &target) || !target.len || !all(target, is_target)) return "the target is missing or invalid";
    if (target.at[0] != '/' && !is_called(target, "*")) return "the target is not a path";
    framing->old = line.len == 8 && memcmp(line.at, "HTTP/1.0", 8) == 0;
    if (!framing->old && (line.len != 8 || memcmp(line.at, "HTTP/1.1", 8) != 0))
        return "the protocol is neither HTTP/1.1 nor HTTP/1.0";
    return NULL;
}

static const char *check_length(struct slice value, struct framing *framing)
{
    if (framing->n_lengths++) return "duplicate Content-Length";
    if (framing->n_codings) return "both Content-Length and Transfer-Encoding";
    return value.len && value.len <= MAX_DIGITS && all(value, is_digit) ? NULL : "Content-Length is not a number";
}

static const char *check_coding(struct slice value, struct framing *framing)
{
    if (framing->n_codings++) return "duplicate Transfer-Encoding";
    if (framing->n_lengths) return "both Content-Length and Transfer-Encoding";
    if (framing->old) return "Transfer-Encoding in HTTP/1.0";
    return is_called(value, "chunked") ? NULL : "Transfer-Encoding is not chunked";
}

static const char *check_host(struct slice value, struct framing *framing)
{
    (void)value;
    return framing->n_hosts++ ? "duplicate Host" : NULL;
}

static const char *check_expect(struct slice value, struct framing *framing)
{
    (void)value;
    framing->expects = true;
    return NULL;
}

static const char *check_field(struct slice line, struct framing *framing)
{
    static const struct {
        const char *name;
        const char *(*check)(struct slice value, struct framing *framing);
    } rows[] = {{"Content-Length", check_length},
                {"Transfer-Encoding", check_coding},
                {"Host", check_host},
                {"Expect", check_expect}};
    struct slice name;
    if (line.at[0] == ' ' || line.at[0] == '\t') return "a header line is folded";
    if (!cut(&line, ':', &name) || !name.len || !all(name, is_token)) return "a header field has no valid name";
    if (!all(line, is_value)) return "a header field contains a control character";
    if (++framing->n_fields > MAX_FIELDS) return "too many header fields";
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++)
        if (is_called(name, rows[i].name)) return rows[i].check(value_of(line), framing);
    return NULL;
}

/* Cuts one line and its CRLF off `rest`. Returns false if the line is incomplete, or if its end is invalid; `why` then
 * has the reason. An incomplete line is searched too, since a bare line feed must not wait for the deadline.
 */
static bool take_line(struct slice *rest, struct slice *out, const char **why)
{
    const char *feed = memchr(rest->at, '\n', rest->len);
    const char *end = memchr(rest->at, '\r', rest->len);
    if (feed && (!end || end > feed)) *why = "a line feed without a carriage return";
    if (end && end + 1 < rest->at + rest->len && end[1] != '\n') *why = "a carriage return without a line feed";
    if (*why || !feed) return false;
    *out = (struct slice){rest->at, (size_t)(end - rest->at)};
    rest->len -= out->len + 2;
    rest->at = feed + 1;
    return true;
}

/* Cuts the head off `rest`. */
static enum head_state take_head(struct slice *rest, struct framing *framing, const char **why)
{
    struct slice line;
    *why = NULL;
    if (!rest->len) return HEAD_PARTIAL;
    for (unsigned n = 0; take_line(rest, &line, why); n++) {
        if (n && !line.len) {
            if (!framing->old && !framing->n_hosts) *why = "Host is missing";
            return *why ? HEAD_BAD : HEAD_WHOLE;
        }
        *why = n ? check_field(line, framing) : check_request_line(line, framing);
        if (*why) return HEAD_BAD;
    }
    return *why ? HEAD_BAD : HEAD_PARTIAL;
}

enum head_state http_head_check(const char *bytes, size_t len, const char **why)
{
    struct framing framing = {0};
    return take_head(&(struct slice){bytes, len}, &framing, why);
}

/* --- chunks --- */

/* Reads the size of a chunk and checks its extension. An incomplete line may have no digit yet, and may end with CR. */
static const char *check_size(struct slice line, bool ended, size_t *size)
{
    size_t n = 0;
    for (*size = 0; n < line.len && g_ascii_isxdigit(line.at[n]); n++)
        *size = *size * 16 + (size_t)g_ascii_xdigit_value(line.at[n]);
    const struct slice rest = {line.at + n, line.len - n};
    if (n > MAX_HEX || (!n && (ended || rest.len))) return "the size of a chunk is not a hexadecimal number";
    if (!rest.len || (!ended && rest.len == 1 && *rest.at == '\r')) return NULL;
    if (*rest.at != ';') return "the size of a chunk is not a hexadecimal number";
    return all((struct slice){rest.at, rest.len - (!ended && rest.at[rest.len - 1] == '\r')}, is_value)
               ? NULL
               : "a control character in a chunk's extension";
}

/* Cuts the data of a chunk and its CRLF off `rest`. Returns false if they are incomplete or invalid; `why` then has the
 * reason. */
static bool take_data(struct slice *rest, size_t size, const char **why)
{
    static const char end[] = "\r\n";
    size_t behind = rest->len > size ? MIN(rest->len - size, 2) : 0;
    if (behind && memcmp(rest->at + size, end, behind) != 0) *why = "a chunk is longer than its stated size";
    if (behind < 2 || *why) return false;
    rest->at += size + 2;
    rest->len -= size + 2;
    return true;
}

/* Checks the fields after the last chunk. No field there may change the end of the request or its Host. */
static enum head_state check_trailer(struct slice *rest, const char **why)
{
    struct framing framing = {.n_lengths = 1, .n_codings = 1, .n_hosts = 1};
    struct slice line;
    while (take_line(rest, &line, why)) {
        if (!line.len) return HEAD_WHOLE;
        *why = check_field(line, &framing);
        if (*why) return HEAD_BAD;
    }
    return *why ? HEAD_BAD : HEAD_PARTIAL;
}

static enum head_state check_chunks(struct slice *rest, const char **why)
{
    struct slice line;
    size_t size = 0;
    while (take_line(rest, &line, why)) {
        *why = check_size(line, true, &size);
        if (*why) return HEAD_BAD;
        if (!size) return check_trailer(rest, why);
        if (!take_data(rest, size, why)) return *why ? HEAD_BAD : HEAD_PARTIAL;
    }
    if (!*why) *why = check_size(*rest, false, &size);
    return *why ? HEAD_BAD : HEAD_PARTIAL;
}

enum head_state http_body_check(const char *bytes, size_t len, const char **why)
{
    struct framing framing = {0};
    struct slice rest = {bytes, len};
    enum head_state head = take_head(&rest, &framing, why);
    if (head != HEAD_WHOLE || !framing.n_codings || framing.expects) return head;
    return check_chunks(&rest, why);
}
