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
    X(BUILD, GAUGE, "assay_build_info", "version,commit,sqlite", "Always 1; the labels are the versions in use.")      \
    X(PART, GAUGE, "assay_part_info", "part",                                                                          \
      "Always 1; the label is the role of this process: coordinator, worker or serve.")                                \
    X(READY, GAUGE, "assay_ready", "", "1 if /readyz succeeds, else 0.")                                               \
    X(CONSUMED, COUNTER, "assay_consumed_total", "topic",                                                              \
      "Requests, tasks and results consumed and handled, repeats included; tasks under the topic of their family.")    \
    X(PRODUCED, COUNTER, "assay_produced_total", "topic",                                                              \
      "Tasks, results, verdicts and dead letters produced to a topic.")                                                \
    X(DEAD, COUNTER, "assay_dlq_total", "topic,reason",                                                                \
      "Unusable messages written to a dead-letter topic, by error code.")                                              \
    X(IN_FLIGHT, GAUGE, "assay_in_flight", "", "Tasks received and not yet answered.")                                 \
    X(LOOP_AGE, GAUGE, "assay_poll_loop_age_seconds", "",                                                              \
      "Time since the slowest loop of the process last made progress; the liveness probe checks it.")                  \
    X(PROCESS, HISTOGRAM, "assay_process_duration_seconds", "family",                                                  \
      "Time from receiving a task to its answer or failure.")                                                          \
    X(SLOW, COUNTER, "assay_slow_total", "",                                                                           \
      "Candidates that took longer than --slow-ms and moved to an extra thread.")                                      \
    X(SLOW_RUNNING, GAUGE, "assay_slow_running", "", "Candidates now running in an extra thread.")                     \
    X(RETRIES, COUNTER, "assay_retries_total", "",                                                                     \
      "Tasks put back for a retry because their failure may be temporary.")                                            \
    X(LATE, COUNTER, "assay_late_total", "",                                                                           \
      "Tasks dropped because their deadline had passed; the verdict reports it.")                                      \
    X(FAILED, COUNTER, "assay_failed_total", "", "Tasks answered as unavailable, including late ones.")                \
    X(CANDIDATES, COUNTER, "assay_candidates_total", "", "Candidates received, counted once for all their families.")  \
    X(EXECUTED, COUNTER, "assay_executed_total", "", "Candidates executed.")                                           \
    X(EXECUTORS, COUNTER, "assay_executor_events_total", "event",                                                      \
      "Processes that run statements: started, killed for exceeding a limit, crashed.")                                \
    X(SIGNAL_RUNS, COUNTER, "assay_signal_runs_total", "signal", "Runs of a signal on a candidate.")                   \
    X(SIGNAL_SECONDS, COUNTER, "assay_signal_seconds_total", "signal", "Seconds spent in a signal.")                   \
    X(SIGNAL_FIRED, COUNTER, "assay_signal_fired_total", "signal", "Times that a signal fired.")                       \
    X(SIGNAL_UNAVAILABLE, COUNTER, "assay_signal_unavailable_total", "signal", "Times that a signal could not run.")   \
    X(SHARED_SECONDS, COUNTER, "assay_shared_work_seconds_total", "step",                                              \
      "Time spent on steps that signals share: parse, prepare, execute.")                                              \
    X(CACHE, COUNTER, "assay_cache_events_total", "layer,event",                                                       \
      "Events of the schema index caches: hits, misses, builds, failures and more.")                                   \
    X(CACHE_BYTES, GAUGE, "assay_cache_bytes", "", "Bytes of schema indexes in the memory of this process.")           \
    X(CACHE_INDEXES, GAUGE, "assay_cache_indexes", "", "Bytes of schema indexes in the memory of this process.")       \
    X(REDIS_AWAY, GAUGE, "assay_redis_away", "", "1 while Redis is not called after a failure, else 0.")               \
    X(REDIS_BYTES, COUNTER, "assay_redis_bytes_total", "direction", "Bytes sent to and received from Redis.")          \
    X(REDIS_SECONDS, COUNTER, "assay_redis_seconds_total", "", "Seconds spent waiting for Redis.")                     \
    X(BREAKERS, GAUGE, "assay_breakers_open", "", "Databases whose circuit breaker is open.")                          \
    X(BROKEN, COUNTER, "assay_breakers_opened_total", "", "Times that the circuit breaker of a database opened.")      \
    X(ABANDONED, GAUGE, "assay_abandoned_statements", "database",                                                      \
      "Abandoned statements that the database server still ran at the last check; at 2 the circuit breaker opens.")    \
    X(ABANDONED_EVER, COUNTER, "assay_abandoned_statements_total", "database",                                         \
      "Statements that a database server kept running after they were abandoned.")                                     \
    X(PERMITS, COUNTER, "assay_permit_events_total", "event",                                                          \
      "Permits to run statements: taken, local (from this process's share), waits, refused, lost.")                    \
    X(LLM, COUNTER, "assay_llm_events_total", "event",                                                                 \
      "Questions to language models: calls, failures, remembered (in memory), shared (in Redis), refused (no "         \
      "budget).")                                                                                                      \
    X(LLM_TOKENS, COUNTER, "assay_llm_tokens_total", "direction", "Tokens read and written by language models.")       \
    X(LLM_COST, COUNTER, "assay_llm_cost_total", "", "Cost of language models, at the configured prices.")             \
    X(OPEN, GAUGE, "assay_state_open_requests", "", "Requests received and not yet decided.")                          \
    X(VERDICTS, COUNTER, "assay_verdicts_total", "decision", "Verdicts by status.")                                    \
    X(ANSWERS, COUNTER, "assay_answers_total", "p",                                                                    \
      "Verdicts with an answer, by P(correct) rounded down to a tenth; unknown: no P(correct).")                       \
    X(ANSWERS_P, COUNTER, "assay_answers_p_total", "",                                                                 \
      "Sum of P(correct) over answers; divided by the answers that have one, the expected share of correct answers.")  \
    X(UNANSWERED, COUNTER, "assay_unanswered_total", "cause", "Abstentions and questions to the user, by root cause.") \
    X(LATENCY, HISTOGRAM, "assay_request_latency_seconds", "",                                                         \
      "Time from a request's arrival in its topic to its verdict, which the next transaction commits.")                \
    X(STAGE, HISTOGRAM, "assay_stage_duration_seconds", "stage",                                                       \
      "Time of a request in a stage: request_read, task_read, result_read, judge, commit_wait, write, commit.")        \
    X(DUPLICATES, COUNTER, "assay_duplicate_requests_total", "",                                                       \
      "Duplicate requests, which get no verdict of their own.")                                                        \
    X(CUT, COUNTER, "assay_cut_verdicts_total", "", "Verdicts shortened because they were too large for a message.")   \
    X(UNCOMMITTED, GAUGE, "assay_uncommitted_verdicts", "", "Verdicts and dead letters waiting for a transaction.")    \
    X(TRANSACTIONS, COUNTER, "assay_transactions_total", "outcome", "Transactions committed and aborted.")             \
    X(TRANSACTION, HISTOGRAM, "assay_transaction_duration_seconds", "",                                                \
      "Time of a committed transaction from begin to end.")                                                            \
    X(TAKEOVERS, COUNTER, "assay_takeovers_total", "",                                                                 \
      "Partitions taken over from another coordinator, or from an earlier run of this one.")                           \
    X(LOST, COUNTER, "assay_requests_lost_total", "", "Requests deleted by retention before they were settled.")       \
    X(POISON, COUNTER, "assay_poison_requests_total", "",                                                              \
      "Requests dead-lettered because they crashed their coordinators.")                                               \
    X(GAP, GAUGE, "assay_watermark_gap", "partition",                                                                  \
      "Offsets from the first unsettled request to the last one read.")                                                \
    X(OLDEST, GAUGE, "assay_oldest_open_request_seconds", "",                                                          \
      "Age of the oldest open request since its arrival in its topic.")                                                \
    X(RESTORE, GAUGE, "assay_restore_seconds", "",                                                                     \
      "Time that the last takeover of partitions took, until their results were read.")                                \
    X(RESTORING, GAUGE, "assay_restoring_seconds", "", "Time since a takeover in progress began; 0: none.")            \
    X(CLOSED, GAUGE, "assay_closed_partitions", "",                                                                    \
      "Own partitions that are not read because another topic has fewer.")                                             \
    X(REFUSED, COUNTER, "assay_refused_verdicts_total", "",                                                            \
      "Verdicts that the brokers refused as too large, replaced by a dead letter.")                                    \
    X(UNSENDABLE, COUNTER, "assay_unsendable_tasks_total", "",                                                         \
      "Tasks too large for their topic; their families are unavailable.")                                              \
    X(STRAY, COUNTER, "assay_stray_results_total", "",                                                                 \
      "Unexpected results: duplicates, or later than their request's deadline.")                                       \
    X(DEADLINES, COUNTER, "assay_deadlines_total", "", "Requests decided at their deadline, without all results.")     \
    X(REPAIRS, COUNTER, "assay_repairs_total", "outcome",                                                              \
      "Answers for which a repair was searched: applied, proposed beside the answer, given_up (deadline, no "          \
      "proposals).")                                                                                                   \
    X(CORRECTIONS, COUNTER, "assay_corrections_total", "outcome",                                                      \
      "Queries requested from the corrector; failed: it gave none; refused: it was not asked.")                        \
    X(PROMISES, COUNTER, "assay_promises_total", "status",                                                             \
      "Verdicts on requests with alpha, by status of the guarantee: held, withdrawn, too_few.")                        \
    X(SHIFTED, COUNTER, "assay_promises_withdrawn_total", "",                                                          \
      "Generators whose traffic no longer resembles the calibration's, so that their guarantee is withdrawn.")         \
    X(POLISHED, COUNTER, "assay_polished_total", "outcome",                                                            \
      "Explanations sent to be rewritten; failed: they stay unchanged.")                                               \
    X(CONSULTED, COUNTER, "assay_consultations_total", "outcome",                                                      \
      "Candidates that a language model was asked about; failed: it gave no opinion.")                                 \
    X(LOOKUPS, COUNTER, "assay_verdict_cache_total", "outcome",                                                        \
      "Requests looked up in the verdict cache: hits, misses, unknown (state), late, failed, skipped, rejected; "      \
      "kept: stored.")                                                                                                 \
    X(QUESTIONS, COUNTER, "assay_questions_total", "outcome",                                                          \
      "Questions to the user; answered: requests that came with an answer.")                                           \
    X(VERIFIED, COUNTER, "assay_verifications_total", "outcome",                                                       \
      "Calls of the remote verifier; failed: the built-in one judged.")                                                \
    X(CALLS, COUNTER, "assay_http_requests_total", "outcome",                                                          \
      "HTTP callers by outcome: answered, letter (dead letter), late; refused: not accepted.")                         \
    X(SENT_AWAY, COUNTER, "assay_http_sent_away_total", "reason",                                                      \
      "HTTP connections closed: malformed head, late, or crowded out by a newer one.")                                 \
    X(WAITING, GAUGE, "assay_http_waiting", "", "HTTP callers waiting for a verdict.")                                 \
    X(KEPT_BYTES, GAUGE, "assay_http_kept_bytes", "", "Bytes of verdicts stored to be read by id.")                    \
    X(STORED, COUNTER, "assay_http_stored_total", "outcome",                                                           \
      "Verdicts for the file of --keep: written; dropped because the disk was too slow; failed.")                      \
    X(STORED_BYTES, GAUGE, "assay_http_stored_bytes", "", "Bytes of verdicts in the file of --keep.")                  \
    X(KAFKA_BYTES, COUNTER, "assay_kafka_bytes_total", "direction", "Bytes sent to and received from the brokers.")    \
    X(KAFKA_MESSAGES, COUNTER, "assay_kafka_messages_total", "direction",                                              \
      "Messages sent to and received from the brokers.")                                                               \
    X(KAFKA_CONNECTS, COUNTER, "assay_kafka_connects_total", "", "Connection attempts to brokers.")                    \
    X(KAFKA_DISCONNECTS, COUNTER, "assay_kafka_disconnects_total", "", "Lost connections to brokers.")                 \
    X(REBALANCES, COUNTER, "assay_rebalances_total", "", "Rebalances of partitions.")                                  \
    X(KAFKA_QUEUED, GAUGE, "assay_kafka_queued_messages", "",                                                          \
      "Messages produced and not yet acknowledged by a broker.")                                                       \
    X(KAFKA_LAG, GAUGE, "assay_kafka_lag_messages", "", "Messages of owned partitions not handled yet.")               \
    X(SPANS, COUNTER, "assay_spans_total", "outcome",                                                                  \
      "Trace spans: sent; dropped because the queue was full; refused by the collector, or it was unreachable.")       \
    X(LOGGED, COUNTER, "assay_log_lines_total", "level", "Lines written to the log.")                                  \
    X(UNLOGGED, COUNTER, "assay_log_suppressed_total", "", "Lines not logged because they repeat or the log is full.") \
    X(MEMORY, GAUGE, "process_resident_memory_bytes", "", "Resident memory of this process.")                          \
    X(CPU, COUNTER, "process_cpu_seconds_total", "", "CPU time of this process, user and system.")                     \
    X(FILES, GAUGE, "process_open_fds", "", "Open file descriptors.")                                                  \
    X(STARTED, GAUGE, "process_start_time_seconds", "", "Start time of the process, in seconds since 1970.")

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
