/* Defines the metrics of the fleet's processes, and copies the statistics of each component into them.
 *
 * Each row is a metric with its help text. docs/metrics.md has a line for each row; a test compares the two. A process
 * shows the metrics of its own parts. No label value comes from a request.
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

/* columns: id, kind, name, labels, help */
#define FLEET_METRICS(X)                                                                                               \
    X(BUILD, GAUGE, "assay_build_info", "version,commit,sqlite", "Always 1; the labels are the versions in use.")      \
    X(PART, GAUGE, "assay_part_info", "part",                                                                          \
      "Always 1; the label is the role of this process: coordinator, worker or serve.")                                \
    X(READY, GAUGE, "assay_ready", "", "1 if /readyz succeeds, else 0.")                                               \
    X(CONSUMED, COUNTER, "assay_consumed_total", "topic",                                                              \
      "Requests, tasks and results received and handled, including repeats. Tasks count under the topic of their "     \
      "family.")                                                                                                       \
    X(PRODUCED, COUNTER, "assay_produced_total", "topic",                                                              \
      "Tasks, results, verdicts and dead letters written to a topic.")                                                 \
    X(DEAD, COUNTER, "assay_dlq_total", "topic,reason",                                                                \
      "Messages that could not be processed and were written to a dead-letter topic, by error code.")                  \
    X(IN_FLIGHT, GAUGE, "assay_in_flight", "", "Tasks received and not yet answered.")                                 \
    X(LOOP_AGE, GAUGE, "assay_poll_loop_age_seconds", "",                                                              \
      "Time since the slowest loop of the process last made progress. The liveness probe checks this value.")          \
    X(PROCESS, HISTOGRAM, "assay_process_duration_seconds", "family",                                                  \
      "Time from receiving a task until its answer or failure.")                                                       \
    X(SLOW, COUNTER, "assay_slow_total", "",                                                                           \
      "Candidates that took longer than --slow-ms and moved to an extra thread.")                                      \
    X(SLOW_RUNNING, GAUGE, "assay_slow_running", "", "Candidates that run in an extra thread now.")                    \
    X(RETRIES, COUNTER, "assay_retries_total", "", "Tasks queued for a retry because their failure may be temporary.") \
    X(LATE, COUNTER, "assay_late_total", "",                                                                           \
      "Tasks dropped because their deadline had passed. The verdict names them as unavailable.")                       \
    X(FAILED, COUNTER, "assay_failed_total", "",                                                                       \
      "Tasks answered as unavailable, including tasks dropped at their deadline.")                                     \
    X(CANDIDATES, COUNTER, "assay_candidates_total", "",                                                               \
      "Candidates received. A candidate counts once for all its families.")                                            \
    X(EXECUTED, COUNTER, "assay_executed_total", "", "Candidates executed.")                                           \
    X(EXECUTORS, COUNTER, "assay_executor_events_total", "event",                                                      \
      "Child processes that run statements: started, killed because a statement exceeded a limit, or crashed.")        \
    X(SIGNAL_RUNS, COUNTER, "assay_signal_runs_total", "signal", "Runs of a signal on a candidate.")                   \
    X(SIGNAL_SECONDS, COUNTER, "assay_signal_seconds_total", "signal", "Seconds spent in a signal.")                   \
    X(SIGNAL_FIRED, COUNTER, "assay_signal_fired_total", "signal", "Times that a signal fired.")                       \
    X(SIGNAL_UNAVAILABLE, COUNTER, "assay_signal_unavailable_total", "signal", "Times that a signal could not run.")   \
    X(SHARED_SECONDS, COUNTER, "assay_shared_work_seconds_total", "step",                                              \
      "Time spent on steps that signals share: parse, prepare and execute.")                                           \
    X(CACHE, COUNTER, "assay_cache_events_total", "layer,event",                                                       \
      "Events of the schema index caches, such as hits, misses, builds and failures.")                                 \
    X(CACHE_BYTES, GAUGE, "assay_cache_bytes", "", "Bytes of schema indexes in the memory of this process.")           \
    X(CACHE_INDEXES, GAUGE, "assay_cache_indexes", "", "Number of schema indexes in the memory of this process.")      \
    X(REDIS_AWAY, GAUGE, "assay_redis_away", "",                                                                       \
      "1 while this process does not call Redis because of a failure, else 0.")                                        \
    X(REDIS_BYTES, COUNTER, "assay_redis_bytes_total", "direction", "Bytes sent to and received from Redis.")          \
    X(REDIS_SECONDS, COUNTER, "assay_redis_seconds_total", "", "Seconds spent waiting for Redis.")                     \
    X(BREAKERS, GAUGE, "assay_breakers_open", "",                                                                      \
      "Databases whose circuit breaker is open, so that no statement is sent to them.")                                \
    X(BROKEN, COUNTER, "assay_breakers_opened_total", "", "Times that the circuit breaker of a database opened.")      \
    X(ABANDONED, GAUGE, "assay_abandoned_statements", "database",                                                      \
      "Abandoned statements that the database server still ran at the last check. At 2, the circuit breaker opens.")   \
    X(ABANDONED_EVER, COUNTER, "assay_abandoned_statements_total", "database",                                         \
      "Statements that a database server continued to run after Assay abandoned them.")                                \
    X(PERMITS, COUNTER, "assay_permit_events_total", "event",                                                          \
      "Permits to run statements: taken, local (from this process's share), waits, refused, lost.")                    \
    X(LLM, COUNTER, "assay_llm_events_total", "event",                                                                 \
      "Calls of language models: calls, failures, remembered (cached in memory), shared (cached in Redis), refused "   \
      "(no budget).")                                                                                                  \
    X(LLM_TOKENS, COUNTER, "assay_llm_tokens_total", "direction", "Tokens read and written by language models.")       \
    X(LLM_COST, COUNTER, "assay_llm_cost_total", "", "Cost of calls of language models, at the configured prices.")    \
    X(OPEN, GAUGE, "assay_state_open_requests", "", "Requests received and not yet decided.")                          \
    X(VERDICTS, COUNTER, "assay_verdicts_total", "decision", "Verdicts by status.")                                    \
    X(ANSWERS, COUNTER, "assay_answers_total", "p",                                                                    \
      "Verdicts with an answer, by P(correct) rounded down to a tenth. Label unknown: the answer has no P(correct).")  \
    X(ANSWERS_P, COUNTER, "assay_answers_p_total", "", "Sum of P(correct) over all answers that have one.")            \
    X(UNANSWERED, COUNTER, "assay_unanswered_total", "cause",                                                          \
      "Verdicts that abstain or ask the user a question, by root cause.")                                              \
    X(LATENCY, HISTOGRAM, "assay_request_latency_seconds", "",                                                         \
      "Time from the arrival of a request in its topic until its verdict. The next transaction commits the verdict.")  \
    X(STAGE, HISTOGRAM, "assay_stage_duration_seconds", "stage",                                                       \
      "Time that a request spends in a stage: request_read, task_read, result_read, judge, commit_wait, write, "       \
      "commit.")                                                                                                       \
    X(DUPLICATES, COUNTER, "assay_duplicate_requests_total", "",                                                       \
      "Duplicate requests. A duplicate gets no second verdict.")                                                       \
    X(CUT, COUNTER, "assay_cut_verdicts_total", "", "Verdicts shortened because they were too large for a message.")   \
    X(UNCOMMITTED, GAUGE, "assay_uncommitted_verdicts", "", "Verdicts and dead letters that wait for a transaction.")  \
    X(TRANSACTIONS, COUNTER, "assay_transactions_total", "outcome", "Transactions committed and aborted.")             \
    X(TRANSACTION, HISTOGRAM, "assay_transaction_duration_seconds", "",                                                \
      "Time from the begin to the end of a committed transaction.")                                                    \
    X(TAKEOVERS, COUNTER, "assay_takeovers_total", "",                                                                 \
      "Partitions taken over from another coordinator, or from an earlier run of this one.")                           \
    X(LOST, COUNTER, "assay_requests_lost_total", "",                                                                  \
      "Requests that retention deleted before their verdict was committed.")                                           \
    X(POISON, COUNTER, "assay_poison_requests_total", "",                                                              \
      "Requests dead-lettered because they repeatedly crashed a coordinator.")                                         \
    X(GAP, GAUGE, "assay_watermark_gap", "partition",                                                                  \
      "Offsets from the first request without a committed verdict to the last request read.")                          \
    X(OLDEST, GAUGE, "assay_oldest_open_request_seconds", "",                                                          \
      "Age of the oldest open request since its arrival in its topic.")                                                \
    X(RESTORE, GAUGE, "assay_restore_seconds", "",                                                                     \
      "Duration of the last takeover of partitions, until their results were read.")                                   \
    X(RESTORING, GAUGE, "assay_restoring_seconds", "",                                                                 \
      "Time since the takeover in progress began; 0 if there is none.")                                                \
    X(CLOSED, GAUGE, "assay_closed_partitions", "",                                                                    \
      "Partitions of this process that are not read because another topic has fewer partitions.")                      \
    X(REFUSED, COUNTER, "assay_refused_verdicts_total", "",                                                            \
      "Verdicts that the brokers refused as too large. A dead letter replaced each.")                                  \
    X(UNSENDABLE, COUNTER, "assay_unsendable_tasks_total", "",                                                         \
      "Tasks too large for their topic. Their families are unavailable in the verdict.")                               \
    X(STRAY, COUNTER, "assay_stray_results_total", "",                                                                 \
      "Unexpected results: duplicates, and results that arrived after the deadline of the request.")                   \
    X(DEADLINES, COUNTER, "assay_deadlines_total", "",                                                                 \
      "Requests decided at their deadline, before all results arrived.")                                               \
    X(REPAIRS, COUNTER, "assay_repairs_total", "outcome",                                                              \
      "Searches for a repair: looked_for (started), applied, proposed (shown beside the answer), given_up (deadline "  \
      "or no proposals).")                                                                                             \
    X(CORRECTIONS, COUNTER, "assay_corrections_total", "outcome",                                                      \
      "Calls of the corrector: asked (sent), failed (no query returned), refused (not sent: queue full or budget "     \
      "used).")                                                                                                        \
    X(PROMISES, COUNTER, "assay_promises_total", "status",                                                             \
      "Verdicts of requests with alpha, by status of the guarantee: held, withdrawn, too_few (labelled verdicts).")    \
    X(SHIFTED, COUNTER, "assay_promises_withdrawn_total", "",                                                          \
      "Generators whose guarantee was withdrawn because their requests no longer resemble the calibration data.")      \
    X(POLISHED, COUNTER, "assay_polished_total", "outcome",                                                            \
      "Explanations sent to a chat model for rewriting. Outcome failed: the explanation stays unchanged.")             \
    X(CONSULTED, COUNTER, "assay_consultations_total", "outcome",                                                      \
      "Candidates sent to a language model for an opinion. Outcome failed: the model gave no opinion.")                \
    X(LOOKUPS, COUNTER, "assay_verdict_cache_total", "outcome",                                                        \
      "Lookups in the verdict cache: hits, misses, unknown (state), late, failed, skipped, rejected. Outcome kept: "   \
      "verdicts stored.")                                                                                              \
    X(QUESTIONS, COUNTER, "assay_questions_total", "outcome",                                                          \
      "Clarification questions asked. Outcome answered: requests that contained an answer.")                           \
    X(VERIFIED, COUNTER, "assay_verifications_total", "outcome",                                                       \
      "Calls of the remote verifier. Outcome failed: the built-in verifier judged instead.")                           \
    X(CALLS, COUNTER, "assay_http_requests_total", "outcome",                                                          \
      "HTTP requests: answered, letter (dead-lettered), late (no verdict in time), refused (not accepted).")           \
    X(SENT_AWAY, COUNTER, "assay_http_sent_away_total", "reason",                                                      \
      "HTTP connections closed: malformed (invalid head), late (too slow), crowded (closed for a newer connection).")  \
    X(WAITING, GAUGE, "assay_http_waiting", "", "HTTP callers that wait for a verdict.")                               \
    X(KEPT_BYTES, GAUGE, "assay_http_kept_bytes", "", "Bytes of verdicts in memory that callers can read by id.")      \
    X(STORED, COUNTER, "assay_http_stored_total", "outcome",                                                           \
      "Verdicts for the file of --keep: written, dropped (the disk was too slow), failed.")                            \
    X(STORED_BYTES, GAUGE, "assay_http_stored_bytes", "", "Bytes of verdicts in the file of --keep.")                  \
    X(KAFKA_BYTES, COUNTER, "assay_kafka_bytes_total", "direction", "Bytes sent to and received from the brokers.")    \
    X(KAFKA_MESSAGES, COUNTER, "assay_kafka_messages_total", "direction",                                              \
      "Messages sent to and received from the brokers.")                                                               \
    X(KAFKA_CONNECTS, COUNTER, "assay_kafka_connects_total", "", "Connection attempts to brokers.")                    \
    X(KAFKA_DISCONNECTS, COUNTER, "assay_kafka_disconnects_total", "", "Lost connections to brokers.")                 \
    X(REBALANCES, COUNTER, "assay_rebalances_total", "",                                                               \
      "Rebalances: changes of the partitions that this process reads.")                                                \
    X(KAFKA_QUEUED, GAUGE, "assay_kafka_queued_messages", "",                                                          \
      "Messages produced that no broker has acknowledged yet.")                                                        \
    X(KAFKA_LAG, GAUGE, "assay_kafka_lag_messages", "",                                                                \
      "Messages in the partitions of this process that are not handled yet.")                                          \
    X(SPANS, COUNTER, "assay_spans_total", "outcome",                                                                  \
      "Trace spans: sent, dropped (the queue was full), refused (by the collector, or the collector was "              \
      "unreachable).")                                                                                                 \
    X(LOGGED, COUNTER, "assay_log_lines_total", "level", "Lines written to the log.")                                  \
    X(UNLOGGED, COUNTER, "assay_log_suppressed_total", "",                                                             \
      "Log lines left out because they repeat or could not be written.")                                               \
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

/* Sets the metrics that never change. `part` is "worker", "coordinator" or "serve". Thread: main. */
void fleet_metrics_start(struct metrics *metrics, const char *part, const char *commit);

/* Set the current values. Each function covers one source. Thread: one call at a time. */
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
