/* Copies the statistics of a process into the table of metrics. Each function here covers one source: the process, the
 * worker, the caches, the HTTP callers, the coordinator. A counter that is still 0 is left out if it would only add an
 * empty series. Label values are names from tables in the code, so their number has a limit.
 */
#include "server/fleet_metrics.h"

#include "lib/base/log.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

const struct metrics_def fleet_metrics_defs[FLEET_METRICS_COUNT] = {
#define X(id, kind, name, labels, help) [FLEET_##id] = {name, METRICS_##kind, labels, help},
    FLEET_METRICS(X)
#undef X
};

static void set(struct metrics *metrics, enum fleet_metric id, double value)
{
    metrics_set(metrics_get(metrics, id, NULL), value);
}

static void set_one(struct metrics *metrics, enum fleet_metric id, const char *label, double value)
{
    metrics_set(metrics_get(metrics, id, (const char *const[]){label}), value);
}

static void set_two(struct metrics *metrics, enum fleet_metric id, const char *first, const char *second, double value)
{
    metrics_set(metrics_get(metrics, id, (const char *const[]){first, second}), value);
}

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

/* --- the process --- */

void fleet_metrics_start(struct metrics *metrics, const char *part, const char *commit)
{
    const char *const build[] = {ASSAY_VERSION, commit, db_engine_version()};
    metrics_set(metrics_get(metrics, FLEET_BUILD, build), 1);
    set_one(metrics, FLEET_PART, part, 1);
    set(metrics, FLEET_STARTED, (double)time(NULL));
}

/* Returns the bytes of resident memory; 0 on systems without /proc. */
static double resident_bytes(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file) return 0;
    if (fscanf(file, "%*u %llu", &pages) != 1) pages = 0;
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double open_files(void)
{
    double n = -3; /* ".", "..", and the folder itself */
    DIR *folder = opendir("/proc/self/fd");
    if (!folder) return 0;
    while (readdir(folder)) n++;
    closedir(folder);
    return n;
}

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

void fleet_metrics_process(struct metrics *metrics)
{
    struct log_stats logged;
    log_get_stats(&logged);
    for (unsigned i = 0; i < LOG_LEVELS; i++)
        set_one(metrics, FLEET_LOGGED, log_level_name((enum log_level)i), (double)logged.lines[i]);
    set(metrics, FLEET_UNLOGGED, (double)(logged.suppressed + logged.lost));
    set(metrics, FLEET_MEMORY, resident_bytes());
    set(metrics, FLEET_CPU, cpu_seconds());
    set(metrics, FLEET_FILES, open_files());
}

void fleet_metrics_spans(struct metrics *metrics, const struct otlp_stats *stats)
{
    set_one(metrics, FLEET_SPANS, "sent", (double)stats->sent);
    set_one(metrics, FLEET_SPANS, "dropped", (double)stats->dropped);
    set_one(metrics, FLEET_SPANS, "refused", (double)stats->refused);
}

void fleet_metrics_traffic(struct metrics *metrics, const struct bus_traffic *traffic)
{
    set_one(metrics, FLEET_KAFKA_BYTES, "in", (double)traffic->bytes_in);
    set_one(metrics, FLEET_KAFKA_BYTES, "out", (double)traffic->bytes_out);
    set_one(metrics, FLEET_KAFKA_MESSAGES, "in", (double)traffic->messages_in);
    set_one(metrics, FLEET_KAFKA_MESSAGES, "out", (double)traffic->messages_out);
    set(metrics, FLEET_KAFKA_CONNECTS, (double)traffic->connects);
    set(metrics, FLEET_KAFKA_DISCONNECTS, (double)traffic->disconnects);
    set(metrics, FLEET_REBALANCES, (double)traffic->rebalances);
    set(metrics, FLEET_KAFKA_QUEUED, (double)traffic->queued);
    set(metrics, FLEET_KAFKA_LAG, (double)traffic->lag);
}

/* --- the worker --- */

static void put_signals(struct metrics *metrics, const struct worker_stats *stats)
{
    unsigned n;
    const struct vsig_def *const *all = vsig_all(&n);
    for (unsigned i = 0; i < n; i++) {
        if (!stats->signal_runs[all[i]->id]) continue; /* signals of families that run in other processes */
        set_one(metrics, FLEET_SIGNAL_RUNS, all[i]->name, (double)stats->signal_runs[all[i]->id]);
        set_one(metrics, FLEET_SIGNAL_SECONDS, all[i]->name, seconds(stats->signal_ns[all[i]->id]));
        set_one(metrics, FLEET_SIGNAL_FIRED, all[i]->name, (double)stats->signal_fired[all[i]->id]);
        set_one(metrics, FLEET_SIGNAL_UNAVAILABLE, all[i]->name, (double)stats->signal_unavailable[all[i]->id]);
    }
    set_one(metrics, FLEET_SHARED_SECONDS, "parse", seconds(stats->parse_ns));
    set_one(metrics, FLEET_SHARED_SECONDS, "prepare", seconds(stats->prepare_ns));
    set_one(metrics, FLEET_SHARED_SECONDS, "execute", seconds(stats->execute_ns));
}

static void put_families(struct metrics *metrics, const struct worker_stats *stats)
{
    for (unsigned i = 0; i < VSIG_FAMILY_COUNT; i++) {
        const char *name = vsig_family_name((enum vsig_family)i);
        char topic[64];
        uint64_t n = metrics_histogram_total(&stats->families[i]);
        if (!n) continue;
        snprintf(topic, sizeof topic, "%s%s", BUS_TASKS_PREFIX, name);
        set_one(metrics, FLEET_CONSUMED, topic, (double)n);
        metrics_set_histogram(metrics_get(metrics, FLEET_PROCESS, (const char *const[]){name}), &stats->families[i]);
    }
}

static void put_stage(struct metrics *metrics, const char *stage, const struct metrics_histogram *histogram)
{
    metrics_set_histogram(metrics_get(metrics, FLEET_STAGE, (const char *const[]){stage}), histogram);
}

void fleet_metrics_worker(struct metrics *metrics, const struct worker_stats *stats, uint32_t in_flight)
{
    put_families(metrics, stats);
    put_stage(metrics, "task_read", &stats->task_reads);
    put_signals(metrics, stats);
    for (unsigned i = 0; i < ERR_COUNT; i++)
        if (stats->dead_by[i])
            set_two(metrics, FLEET_DEAD, BUS_TASKS_DLQ, err_name((enum err_code)i), (double)stats->dead_by[i]);
    set_one(metrics, FLEET_PRODUCED, BUS_RESULTS, (double)stats->answered);
    set_one(metrics, FLEET_PRODUCED, BUS_TASKS_DLQ, (double)stats->dead);
    set(metrics, FLEET_IN_FLIGHT, in_flight);
    set(metrics, FLEET_SLOW, (double)stats->slow);
    set(metrics, FLEET_SLOW_RUNNING, stats->slow_running);
    set(metrics, FLEET_RETRIES, (double)stats->retried);
    set(metrics, FLEET_LATE, (double)stats->late);
    set(metrics, FLEET_FAILED, (double)stats->failed);
    set(metrics, FLEET_CANDIDATES, (double)stats->candidates);
    set(metrics, FLEET_EXECUTED, (double)stats->executed);
    set_one(metrics, FLEET_EXECUTORS, "started", stats->executors.started);
    set_one(metrics, FLEET_EXECUTORS, "killed", stats->executors.killed);
    set_one(metrics, FLEET_EXECUTORS, "crashed", stats->executors.crashed);
}

void fleet_metrics_schemas(struct metrics *metrics, const struct schema_cache_stats *stats)
{
    static const char layer[] = "process";
    set_two(metrics, FLEET_CACHE, layer, "hits", (double)stats->hits);
    set_two(metrics, FLEET_CACHE, layer, "misses", (double)stats->misses);
    set_two(metrics, FLEET_CACHE, layer, "failures", (double)stats->failures);
    set_two(metrics, FLEET_CACHE, layer, "evicted", (double)stats->evicted);
    set(metrics, FLEET_CACHE_BYTES, (double)stats->bytes);
    set(metrics, FLEET_CACHE_INDEXES, (double)stats->indexes);
}

/* Returns true for a counter of the cache that has its own metric in other units. */
static bool has_own_metric(const char *counter)
{
    size_t len = strlen(counter);
    return strncmp(counter, "bytes_", strlen("bytes_")) == 0 || (len > 3 && strcmp(counter + len - 3, "_ns") == 0);
}

void fleet_metrics_redis(struct metrics *metrics, const struct cache_stats *stats)
{
#define X(name, help)                                                                                                  \
    if (!has_own_metric(#name)) set_two(metrics, FLEET_CACHE, "redis", #name, (double)stats->name);
    CACHE_COUNTERS(X)
#undef X
    set(metrics, FLEET_REDIS_AWAY, stats->unavailable);
    set_one(metrics, FLEET_REDIS_BYTES, "in", (double)stats->bytes_in);
    set_one(metrics, FLEET_REDIS_BYTES, "out", (double)stats->bytes_out);
    set(metrics, FLEET_REDIS_SECONDS, seconds((int64_t)stats->call_ns));
}

void fleet_metrics_guards(struct metrics *metrics, const struct permits_stats *permits, uint64_t opened, uint32_t open)
{
#define X(name, help) set_one(metrics, FLEET_PERMITS, #name, (double)permits->name);
    PERMIT_COUNTERS(X)
#undef X
    set(metrics, FLEET_BROKEN, (double)opened);
    set(metrics, FLEET_BREAKERS, open);
}

static void set_abandoned(void *metrics, const char *db, const struct db_abandoned *count)
{
    set_one(metrics, FLEET_ABANDONED, db, count->running);
    set_one(metrics, FLEET_ABANDONED_EVER, db, (double)count->ever);
}

void fleet_metrics_abandoned(struct metrics *metrics, struct breakers *breakers)
{
    breakers_abandoned(breakers, set_abandoned, metrics);
}

void fleet_metrics_llm(struct metrics *metrics, const struct llm_stats *stats)
{
#define X(name, help) set_one(metrics, FLEET_LLM, #name, (double)stats->name);
    LLM_COUNTERS(X)
#undef X
    set_one(metrics, FLEET_LLM_TOKENS, "in", (double)stats->tokens_in);
    set_one(metrics, FLEET_LLM_TOKENS, "out", (double)stats->tokens_out);
    set(metrics, FLEET_LLM_COST, stats->cost);
}

/* --- HTTP callers --- */

void fleet_metrics_serve(struct metrics *metrics, const struct pending_stats *pending,
                         const struct http_server_stats *clients)
{
    set_one(metrics, FLEET_CALLS, "answered", (double)pending->answered);
    set_one(metrics, FLEET_CALLS, "letter", (double)pending->letters);
    set_one(metrics, FLEET_CALLS, "late", (double)pending->late);
    set_one(metrics, FLEET_CALLS, "refused", (double)pending->refused);
    set_one(metrics, FLEET_SENT_AWAY, "malformed", (double)clients->malformed);
    set_one(metrics, FLEET_SENT_AWAY, "late", (double)clients->late);
    set_one(metrics, FLEET_SENT_AWAY, "crowded", (double)clients->crowded);
    set(metrics, FLEET_WAITING, pending->pending);
    set(metrics, FLEET_KEPT_BYTES, (double)pending->kept_bytes);
}

void fleet_metrics_store(struct metrics *metrics, const struct verdict_store_stats *stats)
{
    set_one(metrics, FLEET_STORED, "written", (double)stats->written);
    set_one(metrics, FLEET_STORED, "dropped", (double)stats->dropped);
    set_one(metrics, FLEET_STORED, "failed", (double)stats->failed);
    set(metrics, FLEET_STORED_BYTES, (double)stats->bytes);
}

/* --- the coordinator --- */

static void put_once(struct metrics *metrics, const struct bus_once_stats *once)
{
    set(metrics, FLEET_UNCOMMITTED, once->waiting);
    set_one(metrics, FLEET_TRANSACTIONS, "committed", (double)once->committed);
    set_one(metrics, FLEET_TRANSACTIONS, "aborted", (double)once->aborted);
    metrics_set_histogram(metrics_get(metrics, FLEET_TRANSACTION, NULL), &once->commits);
    put_stage(metrics, "commit_wait", &once->waits);
    put_stage(metrics, "write", &once->writes);
    put_stage(metrics, "commit", &once->ends);
    set(metrics, FLEET_TAKEOVERS, (double)once->takeovers);
    set(metrics, FLEET_LOST, (double)once->lost);
    set(metrics, FLEET_POISON, (double)once->poison);
    set(metrics, FLEET_CLOSED, once->closed);
    set(metrics, FLEET_REFUSED, (double)once->refused);
    set(metrics, FLEET_RESTORE, seconds(once->restored_ns));
    set(metrics, FLEET_RESTORING, seconds(once->restoring_ns));
    for (uint32_t i = 0; i < once->n_gaps; i++) {
        char partition[16];
        snprintf(partition, sizeof partition, "%d", once->gaps[i].partition);
        set_one(metrics, FLEET_GAP, partition, (double)once->gaps[i].gap);
    }
}

static void put_repairs(struct metrics *metrics, const struct coordinator_repairs *repairs)
{
    set_one(metrics, FLEET_REPAIRS, "looked_for", (double)repairs->looked_for);
    set_one(metrics, FLEET_REPAIRS, "applied", (double)repairs->applied);
    set_one(metrics, FLEET_REPAIRS, "proposed", (double)repairs->proposed);
    set_one(metrics, FLEET_REPAIRS, "given_up", (double)repairs->given_up);
    set_one(metrics, FLEET_CORRECTIONS, "asked", (double)repairs->corrections);
    set_one(metrics, FLEET_CORRECTIONS, "refused", (double)repairs->corrections_refused);
    set_one(metrics, FLEET_CORRECTIONS, "failed", (double)repairs->corrections_failed);
}

static void put_promises(struct metrics *metrics, const struct coordinator_stats *stats)
{
    for (unsigned i = MSG_PROMISE_UNSET + 1; i < MSG_PROMISE_COUNT; i++)
        set_one(metrics, FLEET_PROMISES, msg_promise_name((enum msg_promise)i), (double)stats->promises[i]);
    set(metrics, FLEET_SHIFTED, (double)stats->promises_withdrawn);
}

static void put_quality(struct metrics *metrics, const struct coordinator_quality *quality)
{
    for (unsigned i = 0; i < COORDINATOR_P_RANGES; i++) {
        char p[8];
        snprintf(p, sizeof p, "%.1f", (double)i / COORDINATOR_P_RANGES);
        set_one(metrics, FLEET_ANSWERS, p, (double)quality->answers_by_p[i]);
    }
    set_one(metrics, FLEET_ANSWERS, "unknown", (double)quality->answers_unknown);
    set(metrics, FLEET_ANSWERS_P, quality->p_sum);
    for (unsigned i = 0; i < VSIG_CAUSE_COUNT; i++)
        set_one(metrics, FLEET_UNANSWERED, vsig_cause_name((enum vsig_cause)i), (double)quality->unanswered[i]);
    set_one(metrics, FLEET_UNANSWERED, "not enough evidence", (double)quality->unanswered[VSIG_CAUSE_COUNT]);
}

static void put_lookups(struct metrics *metrics, const struct coordinator_lookups *lookups)
{
#define X(name) set_one(metrics, FLEET_LOOKUPS, #name, (double)lookups->name);
    COORDINATOR_LOOKUPS(X)
#undef X
}

void fleet_metrics_coordinator(struct metrics *metrics, const struct coordinator_stats *stats)
{
    for (unsigned i = 0; i < MSG_STATUS_COUNT; i++)
        set_one(metrics, FLEET_VERDICTS, msg_status_name((enum msg_status)i), (double)stats->by_status[i]);
    set_one(metrics, FLEET_CONSUMED, BUS_REQUESTS, (double)stats->requests);
    set_one(metrics, FLEET_CONSUMED, BUS_RESULTS, (double)stats->results);
    set_one(metrics, FLEET_PRODUCED, BUS_TASKS_PREFIX "*", (double)stats->tasks);
    set_one(metrics, FLEET_PRODUCED, BUS_VERDICTS, (double)stats->verdicts);
    set_one(metrics, FLEET_PRODUCED, BUS_DLQ, (double)stats->rejected);
    for (unsigned i = 0; i < ERR_COUNT; i++)
        if (stats->rejected_by[i])
            set_two(metrics, FLEET_DEAD, BUS_DLQ, err_name((enum err_code)i), (double)stats->rejected_by[i]);
    set(metrics, FLEET_OPEN, stats->open);
    set(metrics, FLEET_DUPLICATES, (double)stats->duplicates);
    set(metrics, FLEET_CUT, (double)stats->cut);
    set(metrics, FLEET_UNSENDABLE, (double)stats->unsendable);
    set(metrics, FLEET_OLDEST, seconds(stats->oldest_age_ns));
    metrics_set_histogram(metrics_get(metrics, FLEET_LATENCY, NULL), &stats->latency);
    put_stage(metrics, "request_read", &stats->request_reads);
    put_stage(metrics, "judge", &stats->judgements);
    put_stage(metrics, "result_read", &stats->result_reads);
    put_quality(metrics, &stats->quality);
    set(metrics, FLEET_STRAY, (double)stats->stray);
    set(metrics, FLEET_DEADLINES, (double)stats->deadlines);
    set_one(metrics, FLEET_CONSULTED, "asked", (double)stats->consultations);
    set_one(metrics, FLEET_CONSULTED, "failed", (double)stats->consultations_failed);
    set_one(metrics, FLEET_QUESTIONS, "asked", (double)stats->questions);
    set_one(metrics, FLEET_QUESTIONS, "answered", (double)stats->answered);
    set_one(metrics, FLEET_VERIFIED, "asked", (double)stats->verifications);
    set_one(metrics, FLEET_VERIFIED, "failed", (double)stats->verifier_failures);
    put_lookups(metrics, &stats->lookups);
    put_repairs(metrics, &stats->repairs);
    put_promises(metrics, stats);
    set_one(metrics, FLEET_POLISHED, "asked", (double)stats->polish.asked);
    set_one(metrics, FLEET_POLISHED, "failed", (double)stats->polish.failed);
    put_once(metrics, &stats->once);
}
