/* Tests the gate before routing, on header fields alone. tests/unit/cli/test_serve_gate.c tests it in the program. */
#include "server/http_gate.h"
#include "server/listen.h"

#include <criterion/criterion.h>
#include <string.h>

static const char *const names[] = {"assay.example", "[2001:db8::1]"};
static const struct http_gate here = {true, HTTP_GATE_HTTP}, proxied = {false, HTTP_GATE_EITHER},
                              secure = {false, HTTP_GATE_HTTPS}, named = {true, HTTP_GATE_EITHER, names, 2};

static unsigned status_of(const struct http_gate *gate, const struct http_gate_fields *fields, bool may_link)
{
    const struct http_gate_refusal *refusal = http_gate_check(gate, fields, may_link);
    return refusal ? refusal->status : 200;
}

Test(http_gate, authority_is_parsed_exactly)
{
    static const struct {
        const char *text, *host; /* `host` is NULL if the text is not an authority */
        int port;
    } rows[] = {{"localhost", "localhost", -1},
                {"LOCALHOST:80", "LOCALHOST", 80},
                {"127.0.0.1:0", "127.0.0.1", 0},
                {"a_b-c.example:65535", "a_b-c.example", 65535},
                {"[::1]", "[::1]", -1},
                {"[2001:db8::1]:8080", "[2001:db8::1]", 8080},
                {"", NULL, 0},
                {":80", NULL, 0},
                {"localhost:", NULL, 0},
                {"localhost:junk", NULL, 0},
                {"localhost:80x", NULL, 0},
                {"localhost:80:80", NULL, 0},
                {"localhost:65536", NULL, 0},
                {"localhost:000080", NULL, 0},
                {"localhost:-1", NULL, 0},
                {"localhost:+80", NULL, 0},
                {"localhost: 80", NULL, 0},
                {"localhost ", NULL, 0},
                {"localhost.", NULL, 0},
                {".localhost", NULL, 0},
                {"localhost/", NULL, 0},
                {"localhost#", NULL, 0},
                {"localhost%00", NULL, 0},
                {"user@localhost", NULL, 0},
                {"localhost,evil.example", NULL, 0},
                {"::1", NULL, 0},
                {"[::1", NULL, 0},
                {"[::1]x", NULL, 0},
                {"[::1]:", NULL, 0},
                {"[localhost]", NULL, 0},
                {"[]", NULL, 0},
                {"[::1%lo]", NULL, 0},
                {"\xc3\xa4.example", NULL, 0}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct listen_authority got;
        bool read = listen_read_authority(rows[i].text, &got);
        cr_expect_eq(read, rows[i].host != NULL, "%s", rows[i].text);
        if (!read || !rows[i].host) continue;
        cr_expect(got.len == strlen(rows[i].host) && memcmp(got.host, rows[i].host, got.len) == 0, "%s", rows[i].text);
        cr_expect_eq(got.port, rows[i].port, "%s", rows[i].text);
    }
}

Test(http_gate, host_and_origin_identify_caller)
{
    static const struct {
        const struct http_gate *gate;
        const char *host, *origin;
        unsigned status;
    } rows[] = {{&here, "localhost:8080", NULL, 200},
                {&here, "[::1]:8080", NULL, 200},
                {&here, "127.0.0.1", NULL, 200},
                {&here, NULL, NULL, 421},
                {&here, "127.0.0.2", NULL, 421},
                {&here, "localhost.evil.example", NULL, 421},
                {&here, "evil.example:8080", "http://evil.example:8080", 421},
                {&here, "localhost:junk", NULL, 400},
                {&here, "localhost.", NULL, 400},
                {&here, "localhost:8080", "http://localhost:8080", 200},
                {&here, "localhost:80", "http://localhost", 200},
                {&here, "LOCALHOST:8080", "http://localhost:8080", 200},
                {&here, "localhost:8080", "https://localhost:8080", 403},
                {&here, "localhost:8080", "http://localhost:8081", 403},
                {&here, "localhost:8080", "http://localhost", 403},
                {&here, "localhost:8080", "http://127.0.0.1:8080", 403},
                {&here, "localhost:8080", "null", 403},
                {&here, "localhost:8080", "", 403},
                {&here, "localhost:8080", "https://evil.example", 403},
                {&here, "localhost:8080", "http://localhost:8080/", 403},
                {&here, "localhost:8080", "http://localhost:8080.evil.example", 403},
                {&here, "localhost:8080", "http://user@localhost:8080", 403},
                {&here, "localhost:8080", "HTTP://localhost:8080", 403},
                {&here, "localhost:8080", "localhost:8080", 403},
                {&here, "localhost:8080", "file://", 403},
                {&here, "localhost:8080", "http://localhost:8080 http://evil.example", 403},
                {&proxied, "assay.example", "https://assay.example", 200},
                {&proxied, "assay.example:443", "https://assay.example", 200},
                {&proxied, "assay.example:8080", "http://assay.example:8080", 200},
                {&proxied, "assay.example", "https://evil.example", 403},
                {&proxied, NULL, NULL, 200},
                {&proxied, NULL, "http://", 403},
                {&proxied, NULL, "http://evil.example", 403},
                {&named, "Assay.Example:8080", "http://assay.example:8080", 200},
                {&named, "[2001:db8::1]", NULL, 200},
                {&named, "localhost", NULL, 200},
                {&named, "evil.example", "https://evil.example", 421},
                {&named, "assay.example.evil.example", NULL, 421},
                {&named, "x.assay.example", NULL, 421},
                {&named, NULL, NULL, 421},
                {&secure, "assay.example", "https://assay.example", 200},
                {&secure, "assay.example", "http://assay.example", 403},
                {&secure, "assay.example:80", "https://assay.example", 403}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct http_gate_fields fields = {
            .values = {[HTTP_FIELD_HOST] = rows[i].host, [HTTP_FIELD_ORIGIN] = rows[i].origin}};
        cr_expect_eq(status_of(rows[i].gate, &fields, true), rows[i].status, "row %u: %s %s", i, rows[i].host,
                     rows[i].origin);
    }
}

Test(http_gate, only_links_pass_from_other_site)
{
    static const struct {
        const char *site, *mode, *destination, *origin;
        bool may_link;
        unsigned status;
    } rows[] = {{"same-origin", "cors", "empty", NULL, false, 200},
                {"none", "navigate", "document", NULL, false, 200},
                {"same-site", "cors", "empty", NULL, false, 403},
                {"cross-site", "no-cors", "image", NULL, false, 403},
                {"", "cors", "empty", NULL, false, 403},
                {"SAME-ORIGIN", "cors", "empty", NULL, false, 403},
                {"cross-site", "navigate", "document", NULL, false, 403},
                {"cross-site", "navigate", "document", NULL, true, 200},
                {"same-site", "navigate", "document", NULL, true, 200},
                {"cross-site", "navigate", "iframe", NULL, true, 403},
                {"cross-site", "no-cors", "document", NULL, true, 403},
                {"cross-site", NULL, NULL, NULL, true, 403},
                {"cross-site", "navigate", "document", "http://evil.example", true, 403},
                {NULL, "cors", NULL, NULL, false, 200}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct http_gate_fields fields = {.values = {[HTTP_FIELD_HOST] = "localhost",
                                                           [HTTP_FIELD_ORIGIN] = rows[i].origin,
                                                           [HTTP_FIELD_SITE] = rows[i].site,
                                                           [HTTP_FIELD_MODE] = rows[i].mode,
                                                           [HTTP_FIELD_DESTINATION] = rows[i].destination}};
        cr_expect_eq(status_of(&here, &fields, rows[i].may_link), rows[i].status, "row %u", i);
    }
}

Test(http_gate, ambiguous_requests_are_refused_first)
{
    struct http_gate_fields fields = {.values = {[HTTP_FIELD_HOST] = "evil.example"}, .repeated = true};
    cr_expect_eq(status_of(&here, &fields, true), 400);
    fields = (struct http_gate_fields){.values = {[HTTP_FIELD_HOST] = "localhost"}, .escaped_control = true};
    cr_expect_eq(status_of(&here, &fields, true), 400);
}

Test(http_gate, media_type_must_match_completely)
{
    static const struct {
        const char *type;
        bool fits;
    } rows[] = {{"application/json", true},
                {"Application/JSON; charset=utf-8", true},
                {"application/json;charset=utf-8", true},
                {"application/json ", true},
                {NULL, false},
                {"", false},
                {"application/jsonx", false},
                {"application", false},
                {"application/json,text/plain", false},
                {"text/plain", false},
                {"application/x-www-form-urlencoded", false},
                {"multipart/form-data; boundary=application/json", false}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct http_gate_fields fields = {.values = {[HTTP_FIELD_TYPE] = rows[i].type}};
        cr_expect_eq(http_gate_has_type(&fields, "application/json"), rows[i].fits, "%s", rows[i].type);
    }
}
