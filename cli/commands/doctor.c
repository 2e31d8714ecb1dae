/* assay doctor: checks whether untrusted SQL may run on this database. It reports the rights of the role beyond
 * reading, which of them are too wide, and how to narrow them. Assay's own checks do not depend on the role; narrow
 * rights are a second line of defence. */
#include "cli/output/format.h"
#include "cli/output/table.h"
#include "cli/settings/catalogue.h"
#include "lib/db/db.h"
#include "lib/db/db_checkup.h"
#include "lib/schema/deny_match.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* --- running the checks ------------------------------------------------------------------------------------------- */

struct visit {
    const struct db_checkup *checkup;
    json_t *findings;
    unsigned n_too_wide, n_errors;
    const struct string_list *denied; /* denied columns for all databases */
    bool *matched;                    /* for each entry of `denied`: true if a visited database has such a column */
};

static const char *text_of(const struct db_value *value)
{
    return value->type == DB_TEXT ? value->text : NULL;
}

static bool take_finding(void *ctx, const struct db_value *row, uint32_t n)
{
    struct visit *visit = ctx;
    if (n < 2 || !text_of(&row[0])) return true;
    visit->n_too_wide += visit->checkup->weight == DB_TOO_WIDE;
    json_array_append_new(visit->findings,
                          json_pack("{s:s,s:s,s:s,s:s,s:s?}", "check", visit->checkup->name, "weight",
                                    visit->checkup->weight == DB_TOO_WIDE ? "too wide" : "advice", "what",
                                    text_of(&row[0]), "why", visit->checkup->why, "narrow", text_of(&row[1])));
    return true;
}

static enum err_code examine(struct db *db, struct visit *visit, struct err *err)
{
    for (const struct db_checkup *checkup = db_dialect(db)->checkups; checkup && checkup->name; checkup++) {
        visit->checkup = checkup;
        enum err_code code = db_scan(db, visit->checkup->sql, take_finding, visit, err);
        if (code) return code;
    }
    return ERR_OK;
}

/* --- printing ----------------------------------------------------------------------------------------------------- */

static const char *field(const json_t *finding, const char *key)
{
    const char *text = json_string_value(json_object_get(finding, key));
    return text ? text : "";
}

static void print_table(const json_t *findings, bool named, enum format format)
{
    static const struct table_column columns[] = {
        {"weight"}, {"what", .wrap = true}, {"why", .wrap = true}, {"narrow it by", .wrap = true}, {NULL}};
    static const struct table_column of_several[] = {
        {"database"}, {"weight"}, {"what", .wrap = true}, {"why", .wrap = true}, {"narrow it by", .wrap = true},
        {NULL}};
    static const char *const keys[] = {"db", "weight", "what", "why", "narrow"};
    struct table *table = table_new(named ? of_several : columns);
    unsigned first = named ? 0 : 1;
    for (size_t i = 0; i < json_array_size(findings); i++) {
        table_row(table);
        for (unsigned k = first; k < 5; k++)
            table_cell(table, k - first, "%s", field(json_array_get(findings, i), keys[k]));
    }
    (format == FORMAT_CSV ? table_print_csv : table_print)(table, stdout);
    table_free(table);
}

static void print_findings(const struct visit *visit, const char *shown, bool named, enum format format)
{
    bool text = format == FORMAT_TEXT;
    if (!text && format != FORMAT_CSV) {
        format_json_list(visit->findings, format, stdout);
        return;
    }
    if (!text || json_array_size(visit->findings)) print_table(visit->findings, named, format);
    if (text)
        printf("%s: %u too wide, %zu findings in total\n", shown, visit->n_too_wide, json_array_size(visit->findings));
}

/* --- the catalogue ------------------------------------------------------------------------------------------------ */

static void note(struct visit *visit, const char *name, const char *weight, const char *what, const char *why)
{
    json_array_append_new(visit->findings, json_pack("{s:s,s:s,s:s,s:s,s:n,s:s?}", "check", "catalogue", "weight",
                                                     weight, "what", what, "why", why, "narrow", "db", name));
}

static void note_unmatched(struct visit *visit, const char *name, const char *const *entries, uint32_t n,
                           const bool *matched)
{
    for (uint32_t i = 0; i < n; i++) {
        if (matched[i]) continue;
        char *what = g_strdup_printf("the denied column '%.100s' matches no column", entries[i]);
        note(visit, name, "error", what, "the entry has no effect; correct it or remove it");
        visit->n_errors++;
        g_free(what);
    }
}

/* Reports denied columns of the entry that match no column. Those for all databases can only be reported after all
 * databases were visited. */
static enum err_code look_for_denied(struct db *db, const struct worker_database *entry, struct visit *visit,
                                     struct err *err)
{
    uint32_t n = entry ? entry->n_deny_columns : 0;
    bool *matched = g_new0(bool, n + 1);
    enum err_code code = n ? deny_match(db, entry->deny_columns, n, matched, err) : ERR_OK;
    if (!code && visit->matched) code = deny_match(db, visit->denied->items, visit->denied->n, visit->matched, err);
    if (!code) note_unmatched(visit, entry ? entry->name : NULL, entry ? entry->deny_columns : NULL, n, matched);
    g_free(matched);
    return code;
}

/* Checks one database and adds its findings, with the name of its entry. `entry` is NULL if the database is not in the
 * catalogue. */
static enum err_code visit_one(const struct worker_database *entry, const char *path, struct visit *visit,
                               struct err *err)
{
    struct db *db = NULL;
    const char *name = entry ? entry->name : NULL;
    size_t before = json_array_size(visit->findings);
    enum err_code code = db_open(path, NULL, &db, err);
    if (!code) code = examine(db, visit, err);
    if (!code) code = look_for_denied(db, entry, visit, err);
    db_close(db);
    for (size_t i = before; name && i < json_array_size(visit->findings); i++)
        json_object_set_new(json_array_get(visit->findings, i), "db", json_string(name));
    return code;
}

/* Advises to set limits that the entry does not set. A database in a file needs none of them. */
static void advise(const struct worker_database *entry, struct visit *visit)
{
    bool file = db_is_file(entry->path);
    if (file) return;
    if (!entry->max_statements)
        note(visit, entry->name, "advice", "max_statements is not set",
             "every worker thread can run a statement on it concurrently");
    if (db_knows_cost(entry->path) && !(entry->limits.max_cost > 0))
        note(visit, entry->name, "advice", "max_cost is not set", "only time_ms limits an expensive statement");
}

/* Visits every entry. An entry that cannot be opened is a finding, and the others are still checked. */
static int visit_catalogue(struct cli *cli, enum format format)
{
    struct err err = {0};
    unsigned n_closed = 0;
    if (catalogue_open(cli, &err)) return complain_err(NULL, &err);
    const struct string_list *denied = &cli->settings.judge.deny_columns;
    struct visit visit = {
        .findings = json_array(), .denied = denied, .matched = denied->n ? g_new0(bool, denied->n) : NULL};
    struct worker_databases databases = catalogue_databases(cli);
    if (!databases.n_files) {
        complain("the catalogue is empty" ERR_HINT "add the section `databases` to a configuration file");
        json_decref(visit.findings);
        g_free(visit.matched);
        return EXIT_ERROR;
    }
    for (uint32_t i = 0; i < databases.n_files; i++) {
        const struct worker_database *entry = &databases.files[i];
        err = (struct err){0};
        if (visit_one(entry, entry->path, &visit, &err)) {
            note(&visit, entry->name, "cannot be opened", err.text, err_meaning(err.code));
            n_closed++;
        }
        advise(entry, &visit);
    }
    if (!n_closed && visit.matched) note_unmatched(&visit, NULL, denied->items, denied->n, visit.matched);
    char *shown = g_strdup_printf("%u databases", databases.n_files);
    print_findings(&visit, shown, true, format);
    g_free(shown);
    json_decref(visit.findings);
    g_free(visit.matched);
    return n_closed || visit.n_errors ? EXIT_ERROR : visit.n_too_wide ? EXIT_JUDGED : EXIT_VALIDATED;
}

static int doctor_run(struct cli *cli)
{
    enum format format;
    if (!format_choose(cli, FORMATS_TABLE, &format)) return EXIT_ERROR;
    if (strcmp(cli->settings.output.format, "auto") == 0) format = FORMAT_TEXT; /* text is the default for a pipe too */
    if (cli->settings.doctor.catalogue) return visit_catalogue(cli, format);
    const char *path = cli->settings.doctor.db;
    if (!path) {
        complain("no database is given" ERR_HINT
                 "set --db=FILE|DSN, or --catalogue to check all databases of the configuration");
        return EXIT_ERROR;
    }
    struct err err = {0};
    struct visit visit = {.findings = json_array()};
    char *shown = db_path_shown(path);
    enum err_code code = visit_one(NULL, path, &visit, &err);
    if (!code) print_findings(&visit, shown, false, format);
    int status = code ? complain_err(shown, &err) : visit.n_too_wide ? EXIT_JUDGED : EXIT_VALIDATED;
    json_decref(visit.findings);
    g_free(shown);
    return status;
}

const struct command command_doctor = {
    .name = "doctor",
    .guide = "databases.md",
    .sentence = "check whether a database role has more than read access",
    .args = "--db FILE|DSN | --catalogue",
    .description =
        "Connects as Assay would and checks the privileges of a PostgreSQL role or a MariaDB account. For PostgreSQL, "
        "it checks attributes, memberships, writable tables, CREATE and TEMP, and limits of connections and files. It "
        "also checks functions whose effects outlive a transaction. User-defined functions are checked with the "
        "operators, casts and domains that call them. Each finding includes a statement that narrows the privilege. A "
        "SQLite file has no privileges, so the command only opens the file.\n\n"
        "The result is a table, also in a pipe. The exit status is 0 if no privilege is too wide, and 1 if one is. It "
        "is 2 if the database cannot be reached, or if a denied column of the configuration matches no column.\n\n"
        "--catalogue checks every database of the configuration (section `databases`), with the password that workers "
        "would use. It also advises on limits that are not set. If a database cannot be opened, it is listed, and the "
        "exit status is 2.",
    .examples = "assay doctor --catalogue --config fleet.yaml\n"
                "assay doctor --db 'host=db.example dbname=shop user=assay passfile=/run/secrets/pgpass'\n"
                "assay doctor --db postgresql://assay@db.example/shop --format json",
    .groups = (const struct option_group *const[]){&options_doctor, &options_output, &options_general, NULL},
    .run = doctor_run,
};
