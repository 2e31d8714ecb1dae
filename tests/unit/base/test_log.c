/* Tests the log: its two formats, escaping, levels, and the rate limit on repeated lines. */
#include "lib/base/clock.h"
#include "lib/base/log.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Log lines are written to an unnamed file. The clock does not advance unless a test sets it. */
static FILE *file;
static int64_t now_ns = 1000000000;

static int64_t fake_now(void)
{
    return now_ns;
}

static void open_log(enum log_form form, enum log_level most)
{
    file = tmpfile();
    clock_set_source(fake_now);
    log_open(fileno(file), form, most);
}

static void close_log(void)
{
    log_open(-1, LOG_FORM_TEXT, LOG_LEVEL_INFO);
    fclose(file);
}

/* Returns all lines written so far. */
static char *written(void)
{
    static char text[1 << 20];
    ssize_t n = pread(fileno(file), text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

static json_t *line_as_json(const char *line)
{
    json_error_t error;
    size_t len = strcspn(line, "\n");
    json_t *root = json_loadb(line, len, 0, &error);
    cr_assert(root, "%s at %d in %.*s", error.text, error.position, (int)len, line);
    cr_assert_lt(len, LOG_LINE);
    return root;
}

static const char *text_of(json_t *root, const char *key)
{
    const char *text = json_string_value(json_object_get(root, key));
    return text ? text : "(none)";
}

Test(log, line_is_json_with_time_level_and_fields)
{
    open_log(LOG_FORM_AUTO, LOG_LEVEL_INFO); /* a file is not a terminal, so this is JSON */
    const struct log_field fields[] = {log_field_text("family", "join"), log_field_number("tasks", -7),
                                       log_field_text("absent", NULL)};
    errno = 42;
    log_event(LOG_LEVEL_WARN, "worker", fields, 3, "stopped after %d tasks", 12);
    cr_assert_eq(errno, 42);
    json_t *root = line_as_json(written());
    cr_assert_str_eq(text_of(root, "level"), "warn");
    cr_assert_str_eq(text_of(root, "room"), "worker");
    cr_assert_str_eq(text_of(root, "message"), "stopped after 12 tasks");
    cr_assert_str_eq(text_of(root, "family"), "join");
    cr_assert_eq(json_integer_value(json_object_get(root, "tasks")), -7);
    cr_assert_eq(json_object_size(root), 6);
    const char *time = text_of(root, "time"); /* expected form: 2026-11-21T22:31:05.123Z */
    cr_assert(strlen(time) == 24 && time[10] == 'T' && time[19] == '.' && time[23] == 'Z', "%s", time);
    json_decref(root);
    close_log();
}

Test(log, text_for_a_terminal)
{
    open_log(LOG_FORM_TEXT, LOG_LEVEL_INFO);
    const struct log_field fields[] = {log_field_text("path", "a \"b\"\x1B[2J\xC2\x9B"), log_field_number("n", 3)};
    log_event(LOG_LEVEL_INFO, "cache", fields, 2, "opened");
    const char *line = strchr(written(), ' ');
    cr_assert(line, "a line");
    cr_assert_str_eq(line, " info cache: opened path=\"a \\\"b\\\"\\u001b[2J\\u009b\" n=3\n");
    close_log();
}

/* Direction marks and tag characters must not reverse a line or be hidden in it. JSON preserves them. */
Test(log, invisible_characters_are_escaped)
{
    static const char text[] = "a\xE2\x80\xAE"
                               "b\xF3\xA0\x81\x81"
                               "c\xEF\xBB\xBF\xC2\xAD"
                               "\xC3\xA9";
    const struct log_field field = log_field_text("path", text);
    open_log(LOG_FORM_TEXT, LOG_LEVEL_INFO);
    log_event(LOG_LEVEL_INFO, "cache", &field, 1, "opened");
    cr_assert(strstr(written(), "path=\"a\\u202eb\\udb40\\udc41c\\ufeff\\u00ad\xC3\xA9\"\n"), "%s", written());
    close_log();
    open_log(LOG_FORM_JSON, LOG_LEVEL_INFO);
    log_event(LOG_LEVEL_INFO, "cache", &field, 1, "opened");
    json_t *root = json_loads(written(), 0, NULL);
    cr_assert_str_eq(text_of(root, "path"), text);
    json_decref(root);
    close_log();
}

Test(log, closed_log_writes_nothing)
{
    open_log(LOG_FORM_TEXT, LOG_LEVEL_DEBUG);
    log_close();
    cr_assert_not(log_enabled(LOG_LEVEL_ERROR));
    log_error("test", "nobody reads this");
    cr_assert_str_eq(written(), "");
    close_log();
    cr_assert(log_enabled(LOG_LEVEL_INFO), "until it is opened again");
}

Test(log, lines_below_level_are_dropped)
{
    open_log(LOG_FORM_JSON, LOG_LEVEL_WARN);
    log_info("x", "no");
    log_debug("x", "no");
    cr_assert_str_eq(written(), "");
    log_warn("x", "yes");
    log_error("x", "yes");
    cr_assert(strstr(written(), "warn") && strstr(written(), "error"));
    cr_assert(log_enabled(LOG_LEVEL_ERROR) && !log_enabled(LOG_LEVEL_INFO));
    for (int i = 0; i < LOG_LEVELS; i++) cr_assert_eq(log_level_by_name(log_level_name((enum log_level)i)), i);
    cr_assert_eq(log_level_by_name("loud"), -1);
    close_log();
}

Test(log, any_text_stays_one_json_line)
{
    open_log(LOG_FORM_JSON, LOG_LEVEL_DEBUG);
    unsigned seed = 7;
    for (int round = 0; round < 200; round++) {
        char bytes[3000];
        size_t len = (size_t)rand_r(&seed) % (sizeof bytes - 1);
        for (size_t i = 0; i < len; i++) bytes[i] = (char)(rand_r(&seed) % 255 + 1);
        bytes[len] = '\0';
        const struct log_field fields[] = {log_field_text("a", bytes), log_field_outside("b", bytes),
                                           log_field_sql("c", bytes), log_field_number("d", round)};
        now_ns += 1000000000LL * 60;
        cr_assert_eq(ftruncate(fileno(file), 0), 0);
        lseek(fileno(file), 0, SEEK_SET);
        log_event(LOG_LEVEL_ERROR, "x", fields, 4, "%s", bytes);
        json_t *root = line_as_json(written());
        cr_assert_eq(strcspn(written(), "\n") + 1, strlen(written()), "one line");
        json_decref(root);
    }
    close_log();
}

Test(log, long_line_is_truncated_and_marked)
{
    open_log(LOG_FORM_JSON, LOG_LEVEL_INFO);
    char bytes[2 * LOG_LINE];
    memset(bytes, '\x01', sizeof bytes); /* each is six bytes when escaped */
    bytes[sizeof bytes - 1] = '\0';
    const struct log_field fields[] = {log_field_text("long", bytes), log_field_number("after", 1)};
    log_event(LOG_LEVEL_INFO, "x", fields, 2, "m");
    json_t *root = line_as_json(written());
    cr_assert(json_is_true(json_object_get(root, "cut")));
    cr_assert_gt(strlen(text_of(root, "long")), 500);
    json_decref(root);
    close_log();
}

/* The form of a statement that a stored log may contain. */
static const struct {
    const char *sql, *shown;
} statements[] = {
    {"SELECT name FROM t1 WHERE x2 = 'secret' AND y > 3.5e7", "SELECT name FROM t1 WHERE x2 = ? AND y > ?"},
    {"SELECT 'it''s secret', \"secret\" FROM t", "SELECT ?, ? FROM t"},
    {"SELECT x'5ec4e7', N'secret' FROM t LIMIT 0x5ec4e7", "SELECT x?, N? FROM t LIMIT ?"},
    {"SELECT 'secret", "SELECT ?"},
    {"SELECT 1 -- secret", "SELECT ? ..."},
    {"SELECT 1 /* secret */ + 2", "SELECT ? ..."},
    {"SELECT $q$secret$q$, 'x'", "SELECT ..."},
    {"SELECT $1 FROM t WHERE a = 'secret'", "SELECT $? FROM t WHERE a = ?"},
    {"SELECT 'a\\' , secret , 'b'", "SELECT ?"},
    {"SELECT E'a\\'secret'", "SELECT E?"},
    {"SELECT [it's] FROM t WHERE x = 'secret'", "SELECT ..."},
    {"SELECT `it's` FROM t WHERE x = 'secret'", "SELECT ..."},
    {"SELECT caf\xC3\xA9 FROM t\n", "SELECT caf\xC3\xA9 FROM t\n"},
    {"", ""},
};

Test(log, sql_is_shown_without_its_values)
{
    for (unsigned i = 0; i < sizeof statements / sizeof *statements; i++) {
        open_log(LOG_FORM_JSON, LOG_LEVEL_INFO);
        now_ns += 1000000000LL * 60;
        const struct log_field fields[] = {log_field_sql("sql", statements[i].sql)};
        log_event(LOG_LEVEL_INFO, "x", fields, 1, "a statement");
        json_t *root = line_as_json(written());
        cr_assert_str_eq(text_of(root, "sql"), statements[i].shown);
        cr_assert(!strstr(written(), "secret") && !strstr(written(), "5ec4e7"), "%s", written());
        json_decref(root);
        close_log();
    }
}

Test(log, external_text_shows_only_at_level_debug)
{
    const struct log_field fields[] = {log_field_outside("said", "secret"), log_field_sql("sql", "SELECT 'secret'")};
    open_log(LOG_FORM_JSON, LOG_LEVEL_INFO);
    log_event(LOG_LEVEL_ERROR, "x", fields, 2, "refused");
    cr_assert(!strstr(written(), "secret") && !strstr(written(), "said"), "%s", written());
    close_log();
    open_log(LOG_FORM_JSON, LOG_LEVEL_DEBUG);
    log_event(LOG_LEVEL_ERROR, "x", fields, 2, "refused");
    cr_assert(strstr(written(), "\"said\":\"secret\"") && strstr(written(), "SELECT 'secret'"), "%s", written());
    close_log();
}

static unsigned count(const char *text, const char *part)
{
    unsigned n = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part)) n++;
    return n;
}

Test(log, repeated_message_is_limited_and_counted)
{
    open_log(LOG_FORM_JSON, LOG_LEVEL_INFO);
    struct log_stats before, after;
    log_get_stats(&before);
    for (int i = 0; i < 1000; i++) log_error("x", "attempt %d", i); /* equal format strings: one message */
    cr_assert_eq(count(written(), "attempt"), LOG_BURST);
    log_info("x", "another");
    cr_assert_eq(count(written(), "another"), 1, "others are not held back");
    now_ns += LOG_WINDOW_MS * (int64_t)1000000;
    log_error("x", "attempt %d", 1000);
    cr_assert_eq(count(written(), "\"suppressed\":995"), 1, "%s", written());
    cr_assert_eq(count(written(), "suppressed"), 1);
    log_get_stats(&after);
    cr_assert_eq(after.suppressed - before.suppressed, 1000 - LOG_BURST);
    cr_assert_eq(after.lines[LOG_LEVEL_ERROR] - before.lines[LOG_LEVEL_ERROR], LOG_BURST + 1);
    close_log();
}

Test(log, all_lines_except_errors_share_limit)
{
    struct log_stats before, after;
    open_log(LOG_FORM_JSON, LOG_LEVEL_INFO);
    log_get_stats(&before);
    for (int i = 0; i < 1000; i++) {
        char room[16];
        snprintf(room, sizeof room, "r%d", i);
        log_info(room, "hello");
    }
    log_get_stats(&after);
    cr_assert_eq(count(written(), "hello"), LOG_ALL);
    cr_assert_eq(after.suppressed - before.suppressed, 1000 - LOG_ALL);
    log_error("y", "still here");
    cr_assert_eq(count(written(), "still here"), 1);
    cr_assert_eq(count(written(), "suppressed"), 1, "%s", written());
    now_ns += 1000000000;
    log_info("z", "later");
    cr_assert_eq(count(written(), "later"), 1);
    close_log();
}

Test(log, failed_writes_are_counted)
{
    struct log_stats before, after;
    int fd = open("/dev/full", O_WRONLY);
    cr_assert_geq(fd, 0);
    log_open(fd, LOG_FORM_AUTO, LOG_LEVEL_INFO);
    log_get_stats(&before);
    log_error("x", "into the void");
    log_get_stats(&after);
    cr_assert_eq(after.lost, before.lost + 1);
    log_open(-1, LOG_FORM_TEXT, LOG_LEVEL_INFO);
    close(fd);
}
