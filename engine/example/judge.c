/* Judges which of two candidates answers the question. Build it against the installed library:
 *
 *    cc judge.c $(pkg-config --cflags --libs assay) -o judge && ./judge podcasts.sqlite
 */
#include <assay.h>

#include <stdio.h>
#include <string.h>

static const char request[] = "{\"id\": \"example\", \"db\": \"podcasts\","
                              " \"question\": \"Give the name of each host and the titles of the shows they host.\","
                              " \"candidates\": ["
                              "\"SELECT h.name, s.title FROM host AS h JOIN show AS s ON h.host_id = s.show_id\","
                              "\"SELECT h.name, s.title FROM host AS h JOIN show_host AS x ON h.host_id = x.host_id"
                              " JOIN show AS s ON x.show_id = s.show_id\"]}";

static int complain(const struct assay_error *error)
{
    fprintf(stderr, "%s: %s\n", error->code, error->text);
    return 2;
}

static void print(struct assay_verdict *verdict)
{
    const char *sql = assay_verdict_sql(verdict), *message = assay_verdict_message(verdict);
    printf("%s, P(correct) = %.3f, candidates[%d]\n", assay_verdict_status_name(verdict),
           assay_verdict_p_correct(verdict), (int)assay_verdict_chosen(verdict));
    if (sql) printf("%s\n", sql);
    if (message) printf("%s\n", message);
    printf("%s\n", assay_verdict_json(verdict));
}

int main(int argc, char **argv)
{
    struct assay_database database = {.name = "podcasts", .path = argc > 1 ? argv[1] : "podcasts.sqlite"};
    struct assay_options options;
    struct assay_engine *engine;
    struct assay_verdict *verdict;
    struct assay_error error;

    assay_options_init(&options);
    options.databases = &database;
    options.n_databases = 1;
    options.executor = argc > 2 ? argv[2] : NULL; /* the program `assay`, so that a hostile statement can be killed */
    if (assay_open(&options, &engine, &error)) return complain(&error);

    /* A server would call this on many threads, or use assay_submit. */
    enum assay_result result = assay_judge(engine, request, strlen(request), &verdict, &error);
    int code = result ? complain(&error) : 0;
    if (verdict) print(verdict);
    assay_verdict_free(verdict);
    assay_close(engine);
    return code;
}
