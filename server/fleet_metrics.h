/* The metrics of a fleet's processes: the table of all, and how the rooms' own counts get there.
 *
 * A row here is a metric, its help text and a line of docs/metrics.md, which a test compares. A process shows the
 * metrics of its own parts; no label value comes from a request.
 */
#ifndef ASSAY_SERVER_FLEET_METRICS_H
#define ASSAY_SERVER_FLEET_METRICS_H

#include "coordinator/coordinator.h"
#include "lib/base/metrics.h"
#include "lib/schema/schema.h"
#include "server/http_server.h"
#include "server/otlp.h"
#include "server/pending.h"
#include "server/verdict_store.h"
#include "worker/cache.h"
#include "worker/db_breakers.h"
#include "worker/llm.h"
#include "worker/permits.h"
#include "worker/worker.h"

/* id, kind, name, labels, help */
#define FLEET_METRICS(X)                                                                                               \
    X(BUILD, GAUGE, "assay_build_info", "version,commit,sqlite", "Always 1; the labels say what runs.")                \
    X(PART, GAUGE, "assay_part_info", "part", "Always 1; what this process is: coordinator, worker or serve.")         \
    X(READY, GAUGE, "assay_ready", "", "1 while /readyz says yes, else 0: whether it takes part.")                     \
    X(CONSUMED, COUNTER, "assay_consumed_total", "topic",                                                              \
      "Requests, tasks and results taken from a topic and handled, repeats too; of tasks, the topic of their family.") \
    X(PRODUCED, COUNTER, "assay_produced_total", "topic", "Tasks, results, verdicts and letters for a topic.")         \
    X(DEAD, COUNTER, "assay_dlq_total", "topic,reason",                                                                \
      "Messages that nobody can use, put into a dead-letter topic, by error code.")                                    \
    X(IN_FLIGHT, GAUGE, "assay_in_flight", "", "Tasks taken and not yet answered.")                                    \
    X(LOOP_AGE, GAUGE, "assay_poll_loop_age_seconds", "",                                                              \
      "Since the slowest loop of the process last turned; what liveness looks at.")                                    \
    X(PROCESS, HISTOGRAM, "assay_process_duration_seconds", "family",                                                  \
      "A task from being taken up to its answer or failure.")                                                          \
    X(SLOW, COUNTER, "assay_slow_total", "", "Candidates judged aside, as they took longer than --slow-ms.")           \
    X(SLOW_RUNNING, GAUGE, "assay_slow_running", "", "Candidates that are judged aside now.")                          \
    X(RETRIES, COUNTER, "assay_retries_total", "", "Tasks put back since their failure may pass.")                     \
    X(LATE, COUNTER, "assay_late_total", "", "Tasks dropped as their deadline had passed; the verdict says so.")       \
    X(FAILED, COUNTER, "assay_failed_total", "", "Tasks answered as unavailable, late ones too.")                      \
    X(CANDIDATES, COUNTER, "assay_candidates_total", "", "Candidates taken up, once for all their families.")          \
    X(EXECUTED, COUNTER, "assay_executed_total", "", "Candidates that were run.")                                      \
    X(EXECUTORS, COUNTER, "assay_executor_events_total", "event",                                                      \
      "Processes in which statements run: started, killed for overrunning, crashed.")                                  \
    X(SIGNAL_RUNS, COUNTER, "assay_signal_runs_total", "signal", "Times that a signal looked at a candidate.")         \
    X(SIGNAL_SECONDS, COUNTER, "assay_signal_seconds_total", "signal", "Time spent in a signal.")                      \
    X(SIGNAL_FIRED, COUNTER, "assay_signal_fired_total", "signal", "Times that it fired.")                             \
    X(SIGNAL_UNAVAILABLE, COUNTER, "assay_signal_unavailable_total", "signal", "Times that it could not look.")        \
    X(SHARED_SECONDS, COUNTER, "assay_shared_work_seconds_total", "step",                                              \
      "Time spent on what signals share: parse, prepare, execute.")                                                    \
    X(CACHE, COUNTER, "assay_cache_events_total", "layer,event",                                                       \
      "What the caches of schema indexes did: hits, misses, builds, failures and more.")                               \
    X(CACHE_BYTES, GAUGE, "assay_cache_bytes", "", "Schema indexes in the memory of this process.")                    \
    X(CACHE_INDEXES, GAUGE, "assay_cache_indexes", "", "How many schema indexes are there.")                           \
    X(REDIS_AWAY, GAUGE, "assay_redis_away", "", "1 while Redis is left alone after a failure, else 0.")               \
    X(REDIS_BYTES, COUNTER, "assay_redis_bytes_total", "direction", "Bytes to and from Redis.")                        \
    X(REDIS_SECONDS, COUNTER, "assay_redis_seconds_total", "", "Time spent waiting for Redis.")                        \
    X(BREAKERS, GAUGE, "assay_breakers_open", "", "Databases that are left alone now, as they did not answer.")        \
    X(BROKEN, COUNTER, "assay_breakers_opened_total", "", "Times that a database began to be left alone.")             \
    X(ABANDONED, GAUGE, "assay_abandoned_statements", "database",                                                      \
      "Statements that were given up and that the database's server still ran when last asked; at 2 it is left "       \
      "alone.")                                                                                                        \
    X(ABANDONED_EVER, COUNTER, "assay_abandoned_statements_total", "database",                                         \
      "Statements that a database's server went on with after they were given up.")                                    \
    X(PERMITS, COUNTER, "assay_permit_events_total", "event",                                                          \
      "Permits to run statements: taken, local (of this process's share), waits, refused, lost.")                      \
    X(LLM, COUNTER, "assay_llm_events_total", "event",                                                                 \
      "Questions to language models: calls, failures, remembered, shared (in Redis), refused (no budget).")            \
    X(LLM_TOKENS, COUNTER, "assay_llm_tokens_total", "direction", "Tokens that language models read and wrote.")       \
    X(LLM_COST, COUNTER, "assay_llm_cost_total", "", "What they cost, at the prices of the configuration.")            \
    X(OPEN, GAUGE, "assay_state_open_requests", "", "Requests taken and not yet decided.")                             \
    X(VERDICTS, COUNTER, "assay_verdicts_total", "decision", "Verdicts given, by status.")                             \
    X(ANSWERS, COUNTER, "assay_answers_total", "p",                                                                    \
      "Verdicts with an answer, by its P(correct), rounded down to a tenth; unknown: it has none.")                    \
    X(ANSWERS_P, COUNTER, "assay_answers_p_total", "",                                                                 \
      "Sum of P(correct) over answers: divided by how many have one, the share that should be right.")                 \
    X(UNANSWERED, COUNTER, "assay_unanswered_total", "cause", "Abstentions and questions back, by their root cause.")  \
    X(LATENCY, HISTOGRAM, "assay_request_latency_seconds", "",                                                         \
      "A request from its arrival in its topic up to its verdict, which the next transaction commits.")                \
    X(STAGE, HISTOGRAM, "assay_stage_duration_seconds", "stage",                                                       \
      "A stage of a request: request_read, task_read, result_read, judge, commit_wait, write, commit.")                \
    X(DUPLICATES, COUNTER, "assay_duplicate_requests_total", "",                                                       \
      "Requests that came before, which get no verdict of their own.")                                                 \
    X(CUT, COUNTER, "assay_cut_verdicts_total", "", "Verdicts too large for a message, which leave something out.")    \
    X(UNCOMMITTED, GAUGE, "assay_uncommitted_verdicts", "", "Verdicts and dead letters that wait for a transaction.")  \
    X(TRANSACTIONS, COUNTER, "assay_transactions_total", "outcome", "Transactions committed and aborted.")             \
    X(TRANSACTION, HISTOGRAM, "assay_transaction_duration_seconds", "", "A committed transaction from begin to end.")  \
    X(TAKEOVERS, COUNTER, "assay_takeovers_total", "",                                                                 \
      "Partitions taken over from another coordinator, or from this one's past.")                                      \
    X(LOST, COUNTER, "assay_requests_lost_total", "", "Requests that retention took before they were settled.")        \
    X(POISON, COUNTER, "assay_poison_requests_total", "", "Requests put aside as their owners died of them.")          \
    X(GAP, GAUGE, "assay_watermark_gap", "partition",                                                                  \
      "Offsets from the first request not settled to the last one read.")                                              \
    X(OLDEST, GAUGE, "assay_oldest_open_request_seconds", "",                                                          \
      "Age of the oldest open request, from its arrival in its topic.")                                                \
    X(RESTORE, GAUGE, "assay_restore_seconds", "",                                                                     \
      "What taking over partitions took the last time, until their answers were read.")                                \
    X(RESTORING, GAUGE, "assay_restoring_seconds", "", "Since such a take-over began that goes on; 0: none does.")     \
    X(CLOSED, GAUGE, "assay_closed_partitions", "", "Own partitions that are not read, as another topic has fewer.")   \
    X(REFUSED, COUNTER, "assay_refused_verdicts_total", "",                                                            \
      "Verdicts that the brokers refused as too large; a dead letter took their place.")                               \
    X(UNSENDABLE, COUNTER, "assay_unsendable_tasks_total", "",                                                         \
      "Tasks too large for their topic; their families are unavailable.")                                              \
    X(STRAY, COUNTER, "assay_stray_results_total", "",                                                                 \
      "Results that nobody waits for: repeats, or later than their request's deadline.")                               \
    X(DEADLINES, COUNTER, "assay_deadlines_total", "", "Requests decided by their deadline and not by their results.") \
    X(REPAIRS, COUNTER, "assay_repairs_total", "outcome",                                                              \
      "Answers that a repair was looked for; applied, proposed beside the answer, given_up (deadline, no proposals).") \
    X(CORRECTIONS, COUNTER, "assay_corrections_total", "outcome",                                                      \
      "Queries that the corrector was asked for; failed: it gave none; refused: it was not asked.")                    \
    X(PROMISES, COUNTER, "assay_promises_total", "status",                                                             \
      "Verdicts on requests with alpha, by what is promised: held, withdrawn, too_few.")                               \
    X(SHIFTED, COUNTER, "assay_promises_withdrawn_total", "",                                                          \
      "Generators whose traffic is no longer like the calibration's.")                                                 \
    X(POLISHED, COUNTER, "assay_polished_total", "outcome",                                                            \
      "Explanations that the polisher was asked for; failed: they stay as they are.")                                  \
    X(CONSULTED, COUNTER, "assay_consultations_total", "outcome",                                                      \
      "Candidates that a language model was asked about; failed: it had no opinion.")                                  \
    X(LOOKUPS, COUNTER, "assay_verdict_cache_total", "outcome",                                                        \
      "Requests that could have a kept verdict: hits, misses, unknown (state), late, failed, skipped, rejected; "      \
      "kept.")                                                                                                         \
    X(QUESTIONS, COUNTER, "assay_questions_total", "outcome",                                                          \
      "Questions to the person who asked; answered: requests that came with an answer.")                               \
    X(VERIFIED, COUNTER, "assay_verifications_total", "outcome",                                                       \
      "Questions to the remote verifier; failed: the built-in one judged.")                                            \
    X(CALLS, COUNTER, "assay_http_requests_total", "outcome",                                                          \
      "HTTP callers by how their wait ended: answered, letter, late; refused: not let in.")                            \
    X(SENT_AWAY, COUNTER, "assay_http_sent_away_total", "reason",                                                      \
      "HTTP connections ended: malformed head, late, or crowded out by the next one.")                                 \
    X(WAITING, GAUGE, "assay_http_waiting", "", "HTTP callers who wait for a verdict.")                                \
    X(KEPT_BYTES, GAUGE, "assay_http_kept_bytes", "", "Verdicts kept to be asked for by id.")                          \
    X(STORED, COUNTER, "assay_http_stored_total", "outcome",                                                           \
      "Verdicts for the file of --keep: written; dropped, for the disk was too slow; failed.")                         \
    X(STORED_BYTES, GAUGE, "assay_http_stored_bytes", "", "Verdicts in the file of --keep.")                           \
    X(KAFKA_BYTES, COUNTER, "assay_kafka_bytes_total", "direction", "Bytes to and from the brokers.")                  \
    X(KAFKA_MESSAGES, COUNTER, "assay_kafka_messages_total", "direction", "Messages to and from the brokers.")         \
    X(KAFKA_CONNECTS, COUNTER, "assay_kafka_connects_total", "", "Connections tried to brokers.")                      \
    X(KAFKA_DISCONNECTS, COUNTER, "assay_kafka_disconnects_total", "", "Connections to brokers that were lost.")       \
    X(REBALANCES, COUNTER, "assay_rebalances_total", "", "Times that partitions were shared out anew.")                \
    X(KAFKA_QUEUED, GAUGE, "assay_kafka_queued_messages", "", "Messages produced and not yet safe with a broker.")     \
    X(KAFKA_LAG, GAUGE, "assay_kafka_lag_messages", "", "Messages of own partitions that are not handled yet.")        \
    X(SPANS, COUNTER, "assay_spans_total", "outcome",                                                                  \
      "Spans of traces: sent; dropped, for want of room; refused by the collector, or it was not there.")              \
    X(LOGGED, COUNTER, "assay_log_lines_total", "level", "Lines written to the log.")                                  \
    X(UNLOGGED, COUNTER, "assay_log_suppressed_total", "", "Lines not written, for they repeat or the log is full.")   \
    X(MEMORY, GAUGE, "process_resident_memory_bytes", "", "Memory of this process.")                                   \
    X(CPU, COUNTER, "process_cpu_seconds_total", "", "CPU time of this process, user and system.")                     \
    X(FILES, GAUGE, "process_open_fds", "", "Open file descriptors.")                                                  \
    X(STARTED, GAUGE, "process_start_time_seconds", "", "When the process started, in seconds since 1970.")

enum fleet_metric {
#define X(id, kind, name, labels, help) FLEET_##id,
    FLEET_METRICS(X)
#undef X
        FLEET_METRICS_COUNT
};

extern const struct metrics_def fleet_metrics_defs[FLEET_METRICS_COUNT];

/* Put in what stays: `part` is "worker", "coordinator" or "serve". Thread: main. */
void fleet_metrics_start(struct metrics *metrics, const char *part, const char *commit);

/* Put in how things stand now. Thread: one at a time. */
void fleet_metrics_process(struct metrics *metrics);
void fleet_metrics_spans(struct metrics *metrics, const struct otlp_stats *stats);
void fleet_metrics_traffic(struct metrics *metrics, const struct bus_traffic *traffic);
void fleet_metrics_worker(struct metrics *metrics, const struct worker_stats *stats, uint32_t in_flight);
void fleet_metrics_coordinator(struct metrics *metrics, const struct coordinator_stats *stats);
void fleet_metrics_serve(struct metrics *metrics, const struct pending_stats *pending,
                         const struct http_server_stats *clients);
void fleet_metrics_store(struct metrics *metrics, const struct verdict_store_stats *stats);
void fleet_metrics_schemas(struct metrics *metrics, const struct schema_cache_stats *stats);
void fleet_metrics_guards(struct metrics *metrics, const struct permits_stats *permits, uint64_t opened, uint32_t open);
void fleet_metrics_abandoned(struct metrics *metrics, struct breakers *breakers);
void fleet_metrics_llm(struct metrics *metrics, const struct llm_stats *stats);
void fleet_metrics_redis(struct metrics *metrics, const struct cache_stats *stats);

#endif
