/* Tests the admin listener alone, with correct and with hostile clients. Then tests the pages of a process. */
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "server/admin_http.h"
#include "server/health.h"
#include "tests/support/leak.h"
#include "tests/support/wait.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <fcntl.h>
#include <glib.h>
#include <netinet/in.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CALL_MS = 10000 };

static int connect_to(uint16_t port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct timeval limit = {CALL_MS / 1000, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    cr_assert_eq(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

/* Sends these bytes. Returns everything that the server sends until it closes the connection. */
static char *exchange(uint16_t port, const char *bytes, size_t len)
{
    static char answer[1 << 18];
    size_t have = 0;
    ssize_t n;
    int fd = connect_to(port);
    send(fd, bytes, len, MSG_NOSIGNAL);
    while (have < sizeof answer - 1 && (n = recv(fd, answer + have, sizeof answer - 1 - have, 0)) > 0)
        have += (size_t)n;
    answer[have] = '\0';
    close(fd);
    return answer;
}

static char *ask(uint16_t port, const char *method, const char *path)
{
    char request[256];
    int len = snprintf(request, sizeof request, "%s %s HTTP/1.1\r\nHost: localhost\r\n\r\n", method, path);
    return exchange(port, request, (size_t)len);
}

static bool is_status(const char *answer, int status)
{
    char start[32];
    snprintf(start, sizeof start, "HTTP/1.1 %d ", status);
    return g_str_has_prefix(answer, start);
}

static const char *body_of(const char *answer)
{
    const char *end = strstr(answer, "\r\n\r\n");
    return end ? end + 4 : "";
}

/* --- the listener --- */

static bool write_good(void *ctx, FILE *out)
{
    fprintf(out, "good %s\n", (const char *)ctx);
    return true;
}

static bool write_bad(void *ctx, FILE *out)
{
    (void)ctx;
    fputs("bad\n", out);
    return false;
}

static const struct admin_http_page pages[] = {{"/good", "text/plain", write_good}, {"/bad", "text/plain", write_bad}};

static struct admin_http *open_observe(int64_t limit_ms)
{
    struct admin_http_config config = {"127.0.0.1:0", pages, 2, "news", limit_ms};
    struct admin_http *admin;
    struct err err = {0};
    cr_assert_eq(admin_http_open(&config, &admin, &err), ERR_OK, "%s", err.text);
    cr_assert_neq(admin_http_port(admin), 0);
    return admin;
}

Test(admin, pages_are_served_and_others_refused)
{
    struct admin_http *admin = open_observe(0);
    uint16_t port = admin_http_port(admin);
    char *answer = ask(port, "GET", "/good");
    cr_assert(is_status(answer, 200) && strstr(answer, "text/plain"), "%s", answer);
    cr_assert_str_eq(body_of(answer), "good news\n");
    answer = ask(port, "GET", "/good?x=1");
    cr_assert(is_status(answer, 200), "%s", answer);
    answer = ask(port, "HEAD", "/good");
    cr_assert(is_status(answer, 200) && strstr(answer, "Content-Length: 10\r\n"), "%s", answer);
    cr_assert_str_eq(body_of(answer), "");
    answer = ask(port, "GET", "/bad");
    cr_assert(is_status(answer, 503), "%s", answer);
    cr_assert_str_eq(body_of(answer), "bad\n");
    static const char *const nowhere[] = {"/", "/good/", "/GOOD", "/goo", "/../good", "//good", "*"};
    for (unsigned i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        answer = ask(port, "GET", nowhere[i]);
        cr_assert(is_status(answer, 404), "%s: %s", nowhere[i], answer);
    }
    static const char *const methods[] = {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get", "BREW"};
    for (unsigned i = 0; i < sizeof methods / sizeof *methods; i++) {
        answer = ask(port, methods[i], "/good");
        cr_assert(is_status(answer, 405) && strstr(answer, "Allow: GET, HEAD"), "%s: %s", methods[i], answer);
    }
    admin_http_close(admin);
    leak_check();
}

Test(admin, foreign_pages_are_refused)
{
    static const struct {
        const char *fields;
        int status;
    } rows[] = {{"Host: localhost:1\r\n", 200},
                {"Host: localhost\r\nOrigin: http://localhost\r\nSec-Fetch-Site: same-origin\r\n", 200},
                {"Host: evil.example\r\n", 421},
                {"Host: localhost:junk\r\n", 400},
                {"Host: localhost\r\nOrigin: http://evil.example\r\n", 403},
                {"Host: localhost\r\nSec-Fetch-Site: same-site\r\n", 403},
                {"Host: localhost\r\nAuthorization: a\r\nAuthorization: b\r\n", 400}};
    struct admin_http *admin = open_observe(0);
    uint16_t port = admin_http_port(admin);
    char request[256];
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        int len = snprintf(request, sizeof request, "GET /good HTTP/1.1\r\n%s\r\n", rows[i].fields);
        char *answer = exchange(port, request, (size_t)len);
        cr_expect(is_status(answer, rows[i].status), "row %u: %s", i, answer);
        cr_expect(strstr(answer, "\r\nX-Content-Type-Options: nosniff\r\n"), "row %u: %s", i, answer);
        cr_expect(strstr(answer, "\r\nCross-Origin-Resource-Policy: same-origin\r\n"), "row %u: %s", i, answer);
    }
    static const char probe[] = "GET /good HTTP/1.0\r\n\r\n";
    cr_expect(is_status(exchange(port, probe, sizeof probe - 1), 200));
    cr_expect(is_status(ask(port, "GET", "/good%00"), 400));
    admin_http_close(admin);
    leak_check();
}

Test(admin, bodies_are_ignored_and_heads_bounded)
{
    static char request[1 << 16];
    struct admin_http *admin = open_observe(0);
    uint16_t port = admin_http_port(admin);
    static const char post[] = "POST /good HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\nxxxx";
    cr_assert(is_status(exchange(port, post, sizeof post - 1), 405));
    static const char get[] =
        "GET /good HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n";
    cr_assert(is_status(exchange(port, get, sizeof get - 1), 200));
    memset(request, 'a', sizeof request);
    memcpy(request, "GET /", 5);
    char *answer = exchange(port, request, sizeof request); /* one line without an end */
    cr_assert(!is_status(answer, 200), "%s", answer);
    int len = snprintf(request, sizeof request, "GET /good HTTP/1.1\r\nHost: localhost\r\nX: ");
    request[len] = 'a';
    answer = exchange(port, request, sizeof request);
    cr_assert(!is_status(answer, 200), "%s", answer);
    static const char rubbish[] = "\x16\x03\x01\x02\x00\x01\x00\r\n\r\n";
    exchange(port, rubbish, sizeof rubbish - 1);
    cr_assert(is_status(ask(port, "GET", "/good"), 200), "and is still there");
    admin_http_close(admin);
    leak_check();
}

/* Twice as many clients as the listener serves at a time send nothing, or send slowly. Another caller waits no longer
 * than such a client may stay. */
Test(admin, slow_clients_do_not_block_others, .timeout = 60)
{
    enum { IDLE = 2 * ADMIN_HTTP_CONNECTIONS };
    struct admin_http *admin = open_observe(300);
    int idle[IDLE];
    for (int i = 0; i < IDLE; i++) {
        idle[i] = connect_to(admin_http_port(admin));
        if (i % 2) send(idle[i], "GET ", 4, MSG_NOSIGNAL);
    }
    int64_t start = clock_now_ns();
    char *answer = ask(admin_http_port(admin), "GET", "/good");
    cr_assert(is_status(answer, 200), "%s", answer);
    cr_assert_lt(clock_now_ns() - start, 15000000000LL);
    for (int i = 0; i < IDLE; i++) close(idle[i]);
    admin_http_close(admin);
    leak_check();
}

Test(admin, listener_closes_with_connected_clients)
{
    struct admin_http *admin = open_observe(0);
    int fd = connect_to(admin_http_port(admin));
    int64_t start = clock_now_ns();
    admin_http_close(admin);
    cr_assert_lt(clock_now_ns() - start, 3000000000LL);
    close(fd);
    leak_check();
}

static void expect_refused(const char *listen, const char *says)
{
    struct admin_http_config config = {listen, pages, 2, NULL, 0};
    struct admin_http *admin;
    struct err err = {0};
    cr_assert_eq(admin_http_open(&config, &admin, &err), ERR_CONFIG, "%s", listen);
    cr_assert_null(admin);
    cr_assert(strstr(err.text, says), "%s: %s", listen, err.text);
}

Test(admin, invalid_addresses_and_used_port_are_refused)
{
    static const char *const bad[] = {"", "9000", "localhost", "localhost:", "::1:9000", "[::1]", "[::1:9000"};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) expect_refused(bad[i], "is not HOST:PORT");
    expect_refused("127.0.0.1:http-no-such", "listen: 127.0.0.1:http-no-such");
    expect_refused("203.0.113.1:9000", "cannot listen on 203.0.113.1:9000");
    struct admin_http *admin = open_observe(0);
    char listen[32];
    snprintf(listen, sizeof listen, "127.0.0.1:%u", admin_http_port(admin));
    expect_refused(listen, "in use");
    admin_http_close(admin);
    leak_check();
}

Test(admin, wildcard_address_is_supported)
{
    static const char *const all[] = {":0", "*:0"};
    for (unsigned i = 0; i < 2; i++) {
        struct admin_http_config config = {all[i], pages, 2, "news", 0};
        struct admin_http *admin;
        struct err err = {0};
        cr_assert_eq(admin_http_open(&config, &admin, &err), ERR_OK, "%s", err.text);
        admin_http_close(admin);
    }
    leak_check();
}

/* --- a process --- */

static atomic_llong turned;

static int64_t heartbeat_ns(void *ctx)
{
    (void)ctx;
    return atomic_load(&turned);
}

static atomic_int bus_code;

static enum err_code fake_health(struct bus *bus, struct err *err)
{
    (void)bus;
    int code = atomic_load(&bus_code);
    return code ? err_set(err, (enum err_code)code, "fenced by another") : ERR_OK;
}

static atomic_uint joined = 2;

static void fake_traffic(struct bus *bus, struct bus_traffic *out)
{
    (void)bus;
    *out = (struct bus_traffic){.clients = 3, .members = 2, .joined = atomic_load(&joined), .lag = 12, .bytes_out = 5};
}

static const struct bus_transport fake_transport = {.name = "fake", .health = fake_health, .traffic = fake_traffic};
static struct bus fake_bus = {&fake_transport};

static struct db_abandoned three_abandoned(const char *path)
{
    (void)path;
    return (struct db_abandoned){.running = 3, .ever = 7};
}

static enum err_code asked(const char *path, struct err *err)
{
    (void)path, (void)err;
    return ERR_OK;
}

static void collect_both(void *ctx, struct metrics *metrics)
{
    (void)ctx;
    struct worker_stats worker = {.tasks = 10,
                                  .answered = 7,
                                  .late = 1,
                                  .retried = 2,
                                  .slow = 3,
                                  .slow_running = 1,
                                  .dead = 1,
                                  .failed = 1,
                                  .executors = {.started = 9, .killed = 6, .crashed = 2}};
    struct cache_stats redis = {.hits = 5, .failures = 3, .unavailable = true, .bytes_in = 77, .call_ns = 1500000000};
    struct coordinator_stats coordinator = {.requests = 9,
                                            .verdicts = 5,
                                            .rejected = 1,
                                            .results = 40,
                                            .stray = 2,
                                            .open = 3,
                                            .duplicates = 4,
                                            .oldest_age_ns = INT64_C(2500000000),
                                            .once = {.committed = 6, .lost = 1, .takeovers = 8, .closed = 2}};
    coordinator.once.gaps[0] = (struct bus_once_gap){7, 40};
    coordinator.once.n_gaps = 1;
    struct schema_cache_stats schemas = {.hits = 11, .misses = 2, .indexes = 2, .bytes = 4096};
    worker.dead_by[ERR_MALFORMED] = 1;
    worker.signal_runs[VSIG_ID_incorrect_group_by] = 3;
    worker.signal_fired[VSIG_ID_incorrect_group_by] = 2;
    worker.signal_unavailable[VSIG_ID_incorrect_group_by] = 1;
    metrics_histogram_count(&worker.families[VSIG_JOIN], 3000000);
    coordinator.by_status[MSG_STATUS_VALIDATED] = 4;
    coordinator.by_status[MSG_STATUS_FAILED] = 1;
    coordinator.rejected_by[ERR_ENCODING] = 1;
    coordinator.quality.answers_by_p[7] = 3;
    coordinator.quality.answers_unknown = 1;
    coordinator.quality.p_sum = 2.25;
    coordinator.quality.unanswered[VSIG_MISALIGNMENT] = 2;
    coordinator.quality.unanswered[VSIG_CAUSE_COUNT] = 6;
    metrics_histogram_count(&coordinator.latency, 40000000);
    metrics_histogram_count(&coordinator.once.commits, 8000000);
    metrics_histogram_count(&coordinator.judgements, 30000000);
    metrics_histogram_count(&coordinator.once.waits, 2000000);
    metrics_histogram_count(&worker.task_reads, 4000000);
    fleet_metrics_worker(metrics, &worker, 6);
    fleet_metrics_guards(metrics, &(struct permits_stats){.taken = 8, .local = 4}, 5, 1);
    int64_t wait_ms;
    struct breakers *breakers = breakers_new(&(struct breakers_config){.count = three_abandoned, .ask = asked});
    cr_expect_eq(breakers_check_abandoned(breakers, "shop", "path", &wait_ms, NULL), ERR_DB_UNAVAILABLE);
    fleet_metrics_abandoned(metrics, breakers);
    breakers_free(breakers);
    fleet_metrics_redis(metrics, &redis);
    fleet_metrics_schemas(metrics, &schemas);
    fleet_metrics_coordinator(metrics, &coordinator);
}

static atomic_llong restoring;

static int64_t fake_restoring(void *ctx)
{
    (void)ctx;
    return atomic_load(&restoring);
}

struct process {
    struct health *watch;
    uint16_t port;
};

static void process_open(struct process *process)
{
    static const struct fleet_part part = {.name = "worker-0", .heartbeat_ns = heartbeat_ns};
    const struct health_config config = {.name = "worker",
                                         .commit = "1234567",
                                         .listen = "127.0.0.1:0",
                                         .stall_ms = 60000,
                                         .parts = &part,
                                         .n_parts = 1,
                                         .bus = &fake_bus,
                                         .collect = collect_both,
                                         .restoring_ns = fake_restoring};
    struct err err = {0};
    log_open(open("/dev/null", O_WRONLY | O_CLOEXEC), LOG_FORM_JSON, LOG_LEVEL_INFO);
    *process = (struct process){0};
    cr_assert_eq(health_open(&config, &process->watch, &err), ERR_OK, "%s", err.text);
    process->port = health_port(process->watch);
}

static void expect_page(const struct process *process, const char *path, int status, const char *says)
{
    char *answer = ask(process->port, "GET", path);
    cr_assert(is_status(answer, status), "%s: %s", path, answer);
    cr_assert(strstr(answer, says), "%s: %s", path, answer);
    if (strcmp(path, "/readyz") != 0) return;
    const char *metric = status == 200 ? "\nassay_ready 1\n" : "\nassay_ready 0\n";
    answer = ask(process->port, "GET", "/metrics");
    cr_assert(strstr(answer, metric), "no %s after %s: %s", metric, says, answer);
}

Test(watch, missing_address_opens_no_listener)
{
    const struct health_config config = {
        .name = "worker", .commit = "1234567", .bus = &fake_bus, .collect = collect_both};
    struct health *watch;
    cr_assert_eq(health_open(&config, &watch, NULL), ERR_OK);
    cr_assert_null(watch);
    health_close(watch);
}

Test(watch, health_depends_on_loops_and_fatal_errors)
{
    struct process process;
    process_open(&process);
    expect_page(&process, "/healthz", 200, "loops: ok");
    expect_page(&process, "/readyz", 503, "started: not yet");
    atomic_store(&turned, clock_now_ns());
    expect_page(&process, "/readyz", 200, "started: ok");
    atomic_store(&joined, 1);
    expect_page(&process, "/readyz", 503, "joined: 1 of 2");
    expect_page(&process, "/healthz", 200, "loops: ok");
    atomic_store(&joined, 2);
    atomic_store(&restoring, 1500000000LL);
    expect_page(&process, "/readyz", 503, "takeover: not yet, for 1.5 s");
    expect_page(&process, "/healthz", 200, "loops: ok");
    atomic_store(&restoring, HEALTH_RESTORE_MS * 1000000LL + 1);
    expect_page(&process, "/readyz", 200, "takeover: in progress");
    atomic_store(&restoring, 0);
    atomic_store(&turned, clock_now_ns() - 61000000000LL);
    expect_page(&process, "/healthz", 503, "loops: stuck, slowest iteration 61");
    expect_page(&process, "/readyz", 503, "loops: stuck");
    atomic_store(&turned, clock_now_ns());
    expect_page(&process, "/healthz", 200, "transport: ok");
    atomic_store(&bus_code, ERR_CLOSED);
    expect_page(&process, "/healthz", 503, "transport: fenced by another");
    expect_page(&process, "/readyz", 503, "transport: fenced by another");
    health_close(process.watch);
    leak_check();
}

/* The expected lines of a metrics page, from the counters that collect_both makes. */
static const char *const COUNTED[] = {
    "assay_build_info{version=\"" ASSAY_VERSION "\",commit=\"1234567\",sqlite=\"" SQLITE_VERSION "\"} 1",
    "assay_part_info{part=\"worker\"} 1",
    "assay_consumed_total{topic=\"assay.tasks.join\"} 1",
    "assay_consumed_total{topic=\"assay.requests\"} 9",
    "assay_consumed_total{topic=\"assay.results\"} 40",
    "assay_produced_total{topic=\"assay.results\"} 7",
    "assay_produced_total{topic=\"assay.verdicts\"} 5",
    "assay_dlq_total{topic=\"assay.tasks.dlq\",reason=\"malformed\"} 1",
    "assay_process_duration_seconds_bucket{family=\"join\",le=\"0.0025\"} 0",
    "assay_process_duration_seconds_bucket{family=\"join\",le=\"0.005\"} 1",
    "assay_signal_runs_total{signal=\"incorrect_group_by\"} 3",
    "assay_signal_fired_total{signal=\"incorrect_group_by\"} 2",
    "assay_signal_unavailable_total{signal=\"incorrect_group_by\"} 1",
    "assay_in_flight 6",
    "assay_retries_total 2",
    "assay_slow_total 3",
    "assay_slow_running 1",
    "assay_late_total 1",
    "assay_executor_events_total{event=\"started\"} 9",
    "assay_executor_events_total{event=\"killed\"} 6",
    "assay_executor_events_total{event=\"crashed\"} 2",
    "assay_cache_events_total{layer=\"process\",event=\"hits\"} 11",
    "assay_cache_events_total{layer=\"redis\",event=\"hits\"} 5",
    "assay_cache_events_total{layer=\"redis\",event=\"failures\"} 3",
    "assay_redis_away 1",
    "assay_redis_bytes_total{direction=\"in\"} 77",
    "assay_redis_seconds_total 1.5",
    "assay_cache_bytes 4096",
    "assay_state_open_requests 3",
    "assay_verdicts_total{decision=\"validated\"} 4",
    "assay_verdicts_total{decision=\"failed\"} 1",
    "assay_verdicts_total{decision=\"abstained\"} 0",
    "assay_stray_results_total 2",
    "assay_answers_total{p=\"0.7\"} 3",
    "assay_answers_total{p=\"0.9\"} 0",
    "assay_answers_total{p=\"unknown\"} 1",
    "assay_answers_p_total 2.25",
    "assay_unanswered_total{cause=\"misalignment\"} 2",
    "assay_unanswered_total{cause=\"not enough evidence\"} 6",
    "assay_dlq_total{topic=\"assay.dlq\",reason=\"encoding\"} 1",
    "assay_request_latency_seconds_bucket{le=\"0.05\"} 1",
    "assay_request_latency_seconds_sum 0.04",
    "assay_transaction_duration_seconds_count 1",
    "assay_stage_duration_seconds_sum{stage=\"judge\"} 0.03",
    "assay_stage_duration_seconds_sum{stage=\"commit_wait\"} 0.002",
    "assay_stage_duration_seconds_sum{stage=\"task_read\"} 0.004",
    "assay_stage_duration_seconds_count{stage=\"write\"} 0",
    "assay_transactions_total{outcome=\"committed\"} 6",
    "assay_duplicate_requests_total 4",
    "assay_requests_lost_total 1",
    "assay_takeovers_total 8",
    "assay_closed_partitions 2",
    "assay_oldest_open_request_seconds 2.5",
    "assay_watermark_gap{partition=\"7\"} 40",
    "assay_breakers_open 1",
    "assay_breakers_opened_total 5",
    "assay_abandoned_statements{database=\"shop\"} 3",
    "assay_abandoned_statements_total{database=\"shop\"} 7",
    "assay_permit_events_total{event=\"local\"} 4",
    "assay_kafka_lag_messages 12",
    "assay_kafka_bytes_total{direction=\"out\"} 5",
};

/* Metrics of the process itself. */
static const char *const OURS[] = {"process_resident_memory_bytes", "process_cpu_seconds_total", "process_open_fds",
                                   "process_start_time_seconds"};

static void expect_lines(const char *page, const char *const *lines, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *line = g_strdup_printf("\n%s\n", lines[i]);
        cr_expect(strstr(page, line), "no %s in\n%s", lines[i], page);
        g_free(line);
    }
}

static void expect_positive(const char *page, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *start = g_strdup_printf("\n%s ", names[i]);
        const char *at = strstr(page, start);
        cr_expect(at && g_ascii_strtod(at + strlen(start), NULL) > 0, "%s", names[i]);
        g_free(start);
    }
}

/* Each counter of the modules has its metric. */
Test(watch, metrics_match_counters)
{
    struct process process;
    process_open(&process);
    atomic_store(&turned, clock_now_ns());
    char *answer = ask(process.port, "GET", "/metrics");
    cr_assert(is_status(answer, 200) && strstr(answer, "text/plain; version=0.0.4"), "%.300s", answer);
    expect_lines(answer, COUNTED, sizeof COUNTED / sizeof *COUNTED);
    expect_positive(answer, OURS, sizeof OURS / sizeof *OURS);
    health_close(process.watch);
    leak_check();
}

/* docs/metrics.md must have a row for each metric, with its type, labels and help. It must have no row for a metric
 * that does not exist. */
Test(watch, manual_lists_all_metrics)
{
    gchar *text = NULL;
    unsigned rows = 0;
    cr_assert(g_file_get_contents(SOURCE_ROOT "/docs/metrics.md", &text, NULL, NULL));
    for (unsigned i = 0; i < FLEET_METRICS_COUNT; i++) {
        const struct metrics_def *def = &fleet_metrics_defs[i];
        char *row = g_strdup_printf("\n| `%s` | %s | %s | %s |\n", def->name, metrics_kind_name(def->kind), def->labels,
                                    def->help);
        cr_expect(strstr(text, row), "docs/metrics.md has no row%s", row);
        g_free(row);
    }
    for (const char *at = strstr(text, "\n| `"); at; at = strstr(at + 1, "\n| `")) rows++;
    cr_expect_eq(rows, FLEET_METRICS_COUNT, "%u rows for %d metrics", rows, FLEET_METRICS_COUNT);
    g_free(text);
}
