/* Combines the answer to a clarification question over HTTP with the request of its verdict. The bytes are
 * untrusted. */
#include "server/http_answers.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(http_answers, .fini = leak_check);

static const char asking[] = "{\"id\":\"q\",\"clarification\":{\"id\":\"aa\",\"request\":{\"id\":\"q\",\"db\":\"d\"}}}";
static const char asking_again[] = "{\"clarification\":{\"id\":\"bb\",\"request\":{\"db\":\"d\",\"answers\":"
                                   "[{\"question\":\"aa\",\"choice\":\"1\"}]}}}";

static const struct {
    const char *what, *verdict, *body, *request; /* `request` is NULL if the body is refused */
    enum err_code code;
    const char *says;
} cases[] = {
    {"a choice", asking, "{\"choice\":\"7\"}",
     "{\"id\":\"q\",\"db\":\"d\",\"answers\":[{\"question\":\"aa\",\"choice\":\"7\"}]}"},
    {"a choice of a named question", asking, "{\"question\":\"zz\",\"choice\":\"none\"}",
     "{\"id\":\"q\",\"db\":\"d\",\"answers\":[{\"question\":\"zz\",\"choice\":\"none\"}]}"},
    {"the second answer", asking_again, "{\"choice\":\"2\"}",
     "{\"db\":\"d\",\"answers\":[{\"question\":\"aa\",\"choice\":\"1\"},{\"question\":\"bb\",\"choice\":\"2\"}]}"},
    {"a verdict that asks nothing", "{\"id\":\"q\",\"status\":\"validated\"}", "{\"choice\":\"7\"}", NULL, ERR_REFUSED,
     "asks no question"},
    {"a verdict without its request", "{\"clarification\":{\"id\":\"aa\"}}", "{\"choice\":\"7\"}", NULL, ERR_REFUSED,
     "send that again"},
    {"no choice", asking, "{}", NULL, ERR_MALFORMED, "with an optional"},
    {"a choice that is no text", asking, "{\"choice\":7}", NULL, ERR_MALFORMED, "with an optional"},
    {"a list", asking, "[\"7\"]", NULL, ERR_MALFORMED, "with an optional"},
    {"no JSON", asking, "7, please", NULL, ERR_MALFORMED, "not JSON"},
    {"nothing", asking, "", NULL, ERR_MALFORMED, "not JSON"},
};

Test(http_answers, answer_bodies_are_validated)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        char *request = http_answers_request(cases[i].verdict, strlen(cases[i].verdict), cases[i].body,
                                             strlen(cases[i].body), &err);
        cr_expect_eq(!request, !cases[i].request, "%s: %s", cases[i].what, err.text);
        if (request) cr_expect_str_eq(request, cases[i].request, "%s", cases[i].what);
        if (!request) cr_expect_eq(err.code, cases[i].code, "%s: %s", cases[i].what, err.text);
        if (!request) cr_expect(strstr(err.text, cases[i].says), "%s: %s", cases[i].what, err.text);
        free(request);
    }
}
