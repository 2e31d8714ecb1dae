/* assay check: judges one question and its candidates. check_pairs.c judges folders of questions and queries. */
#include "cli/commands/check_pairs.h"
#include "cli/output/output.h"
#include "cli/settings/catalogue.h"
#include "cli/settings/denied_settings.h"
#include "cli/settings/engine_settings.h"
#include "engine/run.h"
#include "lib/base/input.h"

#include <math.h>
#include <string.h>

/* Splits text into candidates. A statement ends with a semicolon at the end of a line. If there is no such semicolon,
 * each line is a candidate. */
static void split_candidates(char *text, GPtrArray *out)
{
    bool statements = false;
    gchar **lines = g_strsplit(text, "\n", -1);
    for (gchar **line = lines; *line; line++) statements |= g_str_has_suffix(g_strchomp(*line), ";");
    GString *one = g_string_new(NULL);
    for (gchar **line = lines; *line; line++) {
        if (one->len) g_string_append_c(one, '\n');
        g_string_append(one, *line);
        bool ends = !statements || g_str_has_suffix(*line, ";") || !line[1];
        if (!ends) continue;
        char *sql = g_strstrip(g_strdup(one->str));
        if (*sql)
            g_ptr_array_add(out, sql);
        else
            g_free(sql);
        g_string_truncate(one, 0);
    }
    g_string_free(one, TRUE);
    g_strfreev(lines);
}

static int read_candidates(struct cli *cli, GPtrArray *out)
{
    for (int i = 0; i < cli->n_args; i++) g_ptr_array_add(out, g_strdup(cli->args[i]));
    if (cli->n_args > 0) return 0;
    struct input input;
    struct err err = {0};
    if (input_read("-", &input, &err) != ERR_OK) return complain_err("standard input", &err);
    split_candidates(input.text, out);
    input_free(&input);
    return 0;
}

/* Returns the name of the database or, if there is no database, of the schema file. */
static const char *database_name(struct arena *arena, const char *path, const char *schema)
{
    char *base = db_path_name(path ? path : schema);
    const char *name = arena_strdup(arena, base);
    g_free(base);
    return name ? name : "db";
}

static int exit_code(const struct msg_verdict *verdict)
{
    if (verdict->status == MSG_STATUS_FAILED) return EXIT_ERROR;
    return verdict->status == MSG_STATUS_VALIDATED || verdict->status == MSG_STATUS_REPAIRED ? EXIT_VALIDATED
                                                                                             : EXIT_JUDGED;
}

static int check_request(struct cli *cli, const struct msg_request *request, enum format format)
{
    struct err err = {0};
    struct engine_config config;
    if (catalogue_open(cli, &err)) return complain_err(NULL, &err);
    engine_settings(cli, &config);
    engine_settings_polisher(cli, &config);
    const char *db = cli->settings.check.db;
    const struct worker_database *entry = db ? worker_database_find(&config.databases, db) : NULL;
    struct worker_database file = entry ? *entry : (struct worker_database){.path = db};
    file.name = request->db;
    config.databases =
        (struct worker_databases){.files = &file, .n_files = !request->schema, .deny_mode = config.databases.deny_mode};
    config.shows_locations = true;
    if (denied_settings_check(cli, &config.databases, NULL, &err)) return complain_err(NULL, &err);
    struct msg_verdict *verdict = NULL;
    enum err_code code = engine_judge(&config, request, &verdict, &err);
    int exit = EXIT_ERROR;
    if (code == ERR_OK) {
        struct output *output = output_begin(format, true, stdout);
        output_verdict(output, 0, verdict);
        exit = output_end(output) ? exit_code(verdict) : complain_err(NULL, &(struct err){.code = ERR_NOMEM});
    } else {
        err.code = code;
        complain_err(NULL, &err);
    }
    msg_verdict_free(verdict);
    return exit;
}

/* Reads each "QUESTION=CHOICE" into an answer of the request. Returns false if one is malformed. */
static bool read_answers(struct cli *cli, struct msg_request *request)
{
    const struct string_list *given = &cli->settings.check.answers;
    request->answers = arena_new_array(&cli->arena, given->n, struct msg_answer);
    for (unsigned i = 0; request->answers && i < given->n; i++) {
        const char *equals = strchr(given->items[i], '=');
        if (!equals || given->n > MSG_MAX_ANSWERS) {
            complain("--answer must be QUESTION=CHOICE, and may be given at most %d times" ERR_HINT
                     "use the ids of the question and the choice that the verdict shows",
                     MSG_MAX_ANSWERS);
            return false;
        }
        request->answers[request->n_answers++] = (struct msg_answer){
            arena_strndup(&cli->arena, given->items[i], (size_t)(equals - given->items[i])), equals + 1};
    }
    return true;
}

static int check_candidates(struct cli *cli, const GPtrArray *texts, const char *schema, enum format format)
{
    if (texts->len > MSG_MAX_CANDIDATES) {
        complain("too many candidates: %u, expected at most %d", texts->len, MSG_MAX_CANDIDATES);
        return EXIT_ERROR;
    }
    struct msg_candidate *candidates = g_new0(struct msg_candidate, texts->len + 1);
    for (guint i = 0; i < texts->len; i++) {
        size_t len = strlen(texts->pdata[i]);
        candidates[i] =
            (struct msg_candidate){{texts->pdata[i], (uint32_t)MIN(len, UINT32_MAX)}, 1, (double)NAN, NULL, 0};
    }
    struct msg_request request = {
        .id = "check",
        .db = database_name(&cli->arena, cli->settings.check.db, cli->settings.check.schema),
        .schema = schema,
        .question = cli->settings.check.question,
        .evidence = cli->settings.check.evidence,
        .candidates = candidates,
        .n_candidates = texts->len,
    };
    int code = read_answers(cli, &request) ? check_request(cli, &request, format) : EXIT_ERROR;
    g_free(candidates);
    return code;
}

/* True if the text has only Unicode white space. */
static bool is_blank(const char *text)
{
    if (text && !g_utf8_validate(text, -1, NULL)) return false; /* a later check refuses invalid UTF-8 */
    for (; text && *text; text = g_utf8_next_char(text))
        if (!g_unichar_isspace(g_utf8_get_char(text))) return false;
    return true;
}

static int check_run(struct cli *cli)
{
    enum format format;
    if (!format_choose(cli, FORMATS_CHECK, &format)) return EXIT_ERROR;
    if (cli->settings.pairs.pairs) return check_pairs(cli, format);
    if (!cli->settings.check.db && !cli->settings.check.schema) {
        complain("no database is given" ERR_HINT "set --db=FILE, or --schema=FILE.sql to judge without data");
        return EXIT_ERROR;
    }
    if (is_blank(cli->settings.check.question)) {
        complain("no question is given" ERR_HINT "set --question=TEXT, the question that the SQL should answer");
        return EXIT_ERROR;
    }
    struct input schema = {0};
    struct err err = {0};
    const char *path = cli->settings.check.schema;
    if (path && input_read(path, &schema, &err) != ERR_OK) return complain_err(path, &err);
    GPtrArray *texts = g_ptr_array_new_with_free_func(g_free);
    int code = read_candidates(cli, texts);
    if (code == 0) code = check_candidates(cli, texts, path ? schema.text : NULL, format);
    g_ptr_array_free(texts, TRUE);
    if (path) input_free(&schema);
    return code;
}

const struct command command_check = {
    .name = "check",
    .guide = "ci.md",
    .sentence = "judge the candidates of one question",
    .args = "--db FILE --question TEXT [SQL...]\n--pairs DIR|FILE... --db-root DIR",
    .description =
        "Judges each SQL candidate against the database and the question. The output shows which candidate may be "
        "trusted, with what probability, and which clauses are suspect and why.\n\n"
        "Without SQL arguments, the candidates are read from standard input, one per line. If a line ends with a "
        "semicolon, a statement may span several lines. Each statement then ends with a semicolon at the end of a "
        "line.\n\n"
        "With --pairs, the arguments are files, or directories of *.sql files. Each file holds one query. Comment "
        "lines before the query give its question: `-- question: TEXT`. `-- db: NAME` and `-- evidence: TEXT` are "
        "optional. Without a db line, the database is that of --db, or the one named like the file's directory. "
        "Findings show line numbers of the files. Symbolic links, names that begin with a dot, and files without a "
        "question are skipped.\n\n"
        "The exit status is 0 if a candidate validates, 1 if none does, and 2 if nothing could be judged. With "
        "--pairs, it is 0 if every query validates, 1 if a query does not, and 2 if a query could not be judged.",
    .examples =
        "assay check --db shop.sqlite --question 'How many customers are there?' 'SELECT count(*) FROM customer'\n"
        "assay check --schema shop.sql --question 'How many customers are there?' 'SELECT count(*) FROM customer'\n"
        "assay check --db shop.sqlite --question 'Name all products.' --format json < candidates.sql\n"
        "assay check --pairs queries --db-root databases --format junit > assay.xml",
    .main_flags = "db schema question evidence answer pairs format policy threshold expose deny-column",
    .groups = (const struct option_group *const[]){&options_check, &options_ddl, &options_answer, &options_judge,
                                                   &options_verifier, &options_repair, &options_encoder, &options_llm,
                                                   &options_consult, &options_corrector, &options_polish,
                                                   &options_output, &options_signals, &options_database,
                                                   &options_schema, &options_redis, &options_general, NULL},
    .max_args = -1,
    .run = check_run,
};
