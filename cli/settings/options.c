#include "cli/settings/options.h"
#include "examples/examples.h"
#include "lib/schema/deny_name.h"
#include "proto/bus/transport.h"
#include "proto/message/msg.h"

#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) .offset = offsetof(struct settings, field)
#define END                                                                                                            \
    {                                                                                                                  \
        NULL                                                                                                           \
    }
#define FLAG_ARG .type = OPT_FLAG

static const struct option_row general_rows[] = {
    {"config", 'c', OPT_TEXT, "FILE", AT(general.config), .command_line_only = true,
     .sentence = "also read this configuration file; it overrides the user's and the system's"},
    {"color", 0, OPT_CHOICE, "WHEN", AT(general.color), "auto", "auto|always|never",
     .sentence = "colour standard output; auto: only on a terminal without NO_COLOR"},
    {"quiet", 'q', FLAG_ARG, AT(general.quiet), "false",
     .sentence = "print no progress and no summary on standard error, only errors"},
    END};

static const struct option_row output_rows[] = {
    {"format", 'f', OPT_CHOICE, "FORMAT", AT(output.format), "auto", "auto|text|jsonl|json|csv|sarif|junit|github",
     .sentence = "output format; auto: text on a terminal, jsonl elsewhere"},
    END};

#define CHOICE(id, name, more)              "|" #name
#define CHOICE_SENTENCE(id, name, sentence) #name " " sentence "; "

static const struct option_row judge_rows[] = {
    {"strategy", 0, OPT_CHOICE, "NAME", AT(judge.strategy), "auto", "auto" MSG_STRATEGIES(CHOICE),
     .sentence = MSG_STRATEGIES(CHOICE_SENTENCE) "auto is the strategy that measured best (docs/results.md)"},
    {"policy", 0, OPT_CHOICE, "NAME", AT(judge.policy), "best_effort", &MSG_POLICIES(CHOICE)[1],
     .sentence = "if no candidate validates: return the best one, none (abstain), or a question (ask)"},
    {"order", 0, OPT_CHOICE, "NAME", AT(judge.order), "auto", "auto" MSG_ORDERS(CHOICE),
     .sentence = "how the candidates were generated, if the request does not say: " MSG_ORDERS(
         CHOICE_SENTENCE) "auto: as recorded in feedback on their generator, else unknown"},
    {"repair", 0, OPT_CHOICE, "WHAT", AT(judge.repair), "off", &MSG_REPAIRS(CHOICE)[1],
     .sentence = "search near the answer for a query more likely to be correct: " MSG_REPAIRS(
         CHOICE_SENTENCE) "see docs/correction.md"},
    {"repair-margin", 0, OPT_REAL, "P", AT(judge.repair_margin), "0", .min = 0, .max = 1,
     .sentence = "minimum gain in P(correct) of a repair; 0: the model's own value"},
    {"ask-gain", 0, OPT_REAL, "P", AT(judge.ask_gain), "0.05", .min = 0.001, .max = 1,
     .sentence = "policy ask: minimum expected gain in P(correct) from asking the user a question (docs/ask.md)"},
    {"threshold", 0, OPT_REAL, "P", AT(judge.threshold), "0", .min = 0, .max = 1,
     .sentence = "minimum P(correct) to validate; 0: the model's own"},
    {"alpha", 0, OPT_REAL, "SHARE", AT(judge.alpha), "0", .min = 0, .max = 1,
     .sentence = "maximum share of wrong answers among validated ones, instead of a threshold; guaranteed with "
                 "--calibration, otherwise the threshold is 1 - alpha"},
    {"delta", 0, OPT_REAL, "SHARE", AT(judge.delta), "0.1", .min = 0.000001, .max = 0.5,
     .sentence = "probability that the guarantee of alpha fails; its confidence is 1 - delta"},
    {"calibration", 0, OPT_TEXT, "FILE", AT(judge.calibration),
     .sentence = "calibration file from assay calibrate, for the guarantee of alpha"},
    {"watch-drift", 0, FLAG_ARG, AT(judge.watch_drift), "true",
     .sentence = "withdraw the guarantee of alpha if traffic no longer resembles the calibration's; traffic sorted by "
                 "database never does"},
    {"deadline-ms", 0, OPT_INT, "MS", AT(judge.deadline_ms), "0", .min = -1, .max = 86400000,
     .sentence = "time for one question from its arrival; 0: no limit, but 10 s in assay serve without a fleet; -1: no "
                 "limit; a fleet and assay serve allow ten minutes at most"},
    {"max-iterations", 0, OPT_INT, "N", AT(judge.max_iterations), "0", .min = 0, .max = 10000,
     .sentence = "maximum candidates to judge; 0: all"},
    {"speculate", 0, OPT_INT, "N", AT(judge.speculate), "0", .min = 0, .max = 64,
     .sentence =
         "candidates judged concurrently, with the same verdict; 0: one, in a fleet more while workers are idle"},
    {"family", 0, OPT_LIST, "NAME", AT(judge.families), NULL, "structure|join|execution|value|question|explain|llm",
     .sentence = "run only this family of signals (repeat the flag)"},
    {"label-model", 0, OPT_TEXT, "FILE", AT(judge.label_model),
     .sentence = "label model to use instead of the installed one; none: use no label model"},
    {"classifier", 0, OPT_TEXT, "FILE", AT(judge.classifier),
     .sentence = "classifier to use instead of the installed one; none: use no classifier"},
    {"verifier", 0, OPT_TEXT, "FILE", AT(judge.verifier),
     .sentence = "built-in verifier to use instead of the installed one; none: use no built-in verifier"},
    {"explain", 0, FLAG_ARG, AT(judge.explain), "true",
     .sentence =
         "explain each candidate from the data and ask a verifier whether the explanation answers the question"},
    {"models", 0, OPT_TEXT, "DIR", AT(judge.models),
     .sentence = "directory of the model files; not set: the installed ones"},
    {"expose", 0, OPT_CHOICE, "WHAT", AT(judge.expose), "values", "none|values|rows",
     .sentence = "data allowed in findings, reports and verdicts"},
    {"deny-column", 0, OPT_LIST, "COLUMN", AT(judge.deny_columns),
     .sentence = "run no statement that reads column, table.column or table.* (repeat the flag)",
     .check = deny_name_check},
    {"deny-mode", 0, OPT_CHOICE, "MODE", AT(judge.deny_mode), "refuse", "refuse|hide",
     .sentence = "refuse: do not run statements that read a denied column; hide: run them with its values hidden, "
                 "which is no security boundary"},
    END};

static const struct option_row verifier_rows[] = {
    {"verifier-backend", 0, OPT_CHOICE, "NAME", AT(verifier.backend), "none", "none|tei|chat",
     .sentence = "also ask a remote verifier: a text-embeddings-inference server (tei) or a chat model as judge "
                 "(chat); if it fails, the built-in verifier decides"},
    {"verifier-endpoint", 0, OPT_TEXT, "URL", AT(verifier.endpoint),
     .sentence = "base URL of the remote verifier; for a chat model with its /v1"},
    {"verifier-model", 0, OPT_TEXT, "NAME", AT(verifier.model), .sentence = "name of the chat model"},
    {"verifier-key-file", 0, OPT_TEXT, "FILE", AT(verifier.key_file),
     .sentence = "file whose first line is the API key of the remote verifier"},
    {"verifier-key-variable", 0, OPT_TEXT, "NAME", AT(verifier.key_variable),
     .sentence = "environment variable with the API key of the remote verifier"},
    {"verifier-ca-file", 0, OPT_TEXT, "FILE", AT(verifier.ca_file),
     .sentence = "CA certificates to trust instead of the system's"},
    {"verifier-proxy", 0, OPT_TEXT, "URL", AT(verifier.proxy),
     .sentence = "proxy to the remote verifier; not set: none, even if the environment names one"},
    {"verifier-prompt", 0, OPT_TEXT, "FILE", AT(verifier.prompt),
     .sentence =
         "your own instructions for the chat model, instead of prompts/judge.txt; the first line is their version"},
    {"verifier-label", 0, OPT_TEXT, "NAME", AT(verifier.label),
     .sentence = "label of the tei model that means entailed; not set: found by its name"},
    {"verifier-timeout-ms", 0, OPT_INT, "MS", AT(verifier.timeout_ms), "10000", .min = 1, .max = 600000,
     .sentence = "timeout of one attempt to reach the remote verifier"},
    {"verifier-attempts", 0, OPT_INT, "N", AT(verifier.attempts), "3", .min = 1, .max = 10,
     .sentence = "maximum attempts per question to the remote verifier"},
    {"verifier-threads", 0, OPT_INT, "N", AT(verifier.threads), "4", .min = 1, .max = 64,
     .sentence = "concurrent questions to the remote verifier"},
    END};

static const struct option_row repair_rows[] = {
    {"examples", 0, OPT_TEXT, "FILE|DSN", AT(shots.path),
     .sentence = "store of corrected queries (assay examples), a file or a PostgreSQL connection string; repairs try "
                 "the edits of similar queries and show them to the corrector"},
    {"examples-shots", 0, OPT_INT, "N", AT(shots.n), "3", .min = 1, .max = 10,
     .sentence = "number of examples shown to the corrector"},
    {"examples-key", 0, OPT_CHOICE, "KEY", AT(shots.key), "hybrid", &EXAMPLES_KEYS(CHOICE)[1],
     .sentence = "similarity measure that selects the examples"},
    END};

static const struct option_row encoder_rows[] = {
    {"encoder-endpoint", 0, OPT_TEXT, "URL", AT(encoder.endpoint),
     .sentence =
         "embedding model for the vectors of examples, as base URL with its /v1; not set: the built-in embedder"},
    {"encoder-model", 0, OPT_TEXT, "NAME", AT(encoder.model), .sentence = "name of the embedding model"},
    {"encoder-key-file", 0, OPT_TEXT, "FILE", AT(encoder.key_file), .sentence = "file whose first line is the API key"},
    {"encoder-key-variable", 0, OPT_TEXT, "NAME", AT(encoder.key_variable),
     .sentence = "environment variable with the API key"},
    {"encoder-ca-file", 0, OPT_TEXT, "FILE", AT(encoder.ca_file),
     .sentence = "CA certificates to trust instead of the system's"},
    {"encoder-proxy", 0, OPT_TEXT, "URL", AT(encoder.proxy),
     .sentence = "proxy to the embedding model; not set: none, even if the environment names one"},
    {"encoder-timeout-ms", 0, OPT_INT, "MS", AT(encoder.timeout_ms), "2000", .min = 1, .max = 600000,
     .sentence = "timeout of one attempt"},
    {"encoder-attempts", 0, OPT_INT, "N", AT(encoder.attempts), "2", .min = 1, .max = 10,
     .sentence = "maximum attempts per example or query"},
    END};

static const struct option_row llm_rows[] = {
    {"llm-endpoint", 0, OPT_LIST, "URL", AT(llm.endpoints),
     .sentence = "language model to ask about doubtful answers (family llm), as base URL with its /v1; repeat the flag "
                 "for more; a prefix 3* triples an endpoint's share; not set: none"},
    {"llm-model", 0, OPT_TEXT, "NAME", AT(llm.model.model), .sentence = "name of the model, the same at all endpoints"},
    {"llm-key-file", 0, OPT_TEXT, "FILE", AT(llm.model.key_file), .sentence = "file whose first line is the API key"},
    {"llm-key-variable", 0, OPT_TEXT, "NAME", AT(llm.model.key_variable),
     .sentence = "environment variable with the API key"},
    {"llm-ca-file", 0, OPT_TEXT, "FILE", AT(llm.model.ca_file),
     .sentence = "CA certificates to trust instead of the system's"},
    {"llm-proxy", 0, OPT_TEXT, "URL", AT(llm.model.proxy),
     .sentence = "proxy to the endpoints; not set: none, even if the environment names one"},
    {"llm-prompts", 0, OPT_TEXT, "DIR", AT(llm.prompts),
     .sentence = "directory with your own instructions instead of prompts/signals.txt and prompts/signals/; the first "
                 "line of each file is its version"},
    {"llm-calls", 0, OPT_CHOICE, "HOW", AT(llm.calls), "combined", "combined|single",
     .sentence = "combined: one call for all signals of the family; single: one call per signal"},
    {"llm-timeout-ms", 0, OPT_INT, "MS", AT(llm.model.timeout_ms), "30000", .min = 1, .max = 600000,
     .sentence = "timeout of one attempt"},
    {"llm-attempts", 0, OPT_INT, "N", AT(llm.model.attempts), "2", .min = 1, .max = 10,
     .sentence = "maximum attempts at each endpoint"},
    {"llm-answer-tokens", 0, OPT_INT, "N", AT(llm.answer_tokens), "2048", .min = 64, .max = 100000,
     .sentence = "maximum tokens of an answer"},
    {"llm-threads", 0, OPT_INT, "N", AT(llm.model.threads), "4", .min = 1, .max = 64,
     .sentence = "concurrent calls, if judge and workers are one process"},
    {"llm-requests-per-minute", 0, OPT_INT, "N", AT(llm.requests), "0", .min = 0, .max = 100000000,
     .sentence = "budget of the whole fleet, counted in Redis (without Redis: of this process); 0: no limit"},
    {"llm-tokens-per-minute", 0, OPT_INT, "N", AT(llm.tokens), "0", .min = 0, .max = 1000000000000,
     .sentence = "the same for tokens, read and written"},
    {"llm-money-per-minute", 0, OPT_REAL, "AMOUNT", AT(llm.money), "0", .min = 0, .max = 1e9,
     .sentence = "the same for cost, at --llm-price-in and --llm-price-out"},
    {"llm-price-in", 0, OPT_REAL, "AMOUNT", AT(llm.price_in), "0", .min = 0, .max = 1e9,
     .sentence = "price of a million tokens that the model reads"},
    {"llm-price-out", 0, OPT_REAL, "AMOUNT", AT(llm.price_out), "0", .min = 0, .max = 1e9,
     .sentence = "price of a million tokens that the model writes"},
    {"llm-cache-entries", 0, OPT_INT, "N", AT(llm.entries), "4096", .min = 1, .max = 10000000,
     .sentence = "maximum answers cached in memory"},
    {"llm-cache-ttl-s", 0, OPT_INT, "S", AT(llm.ttl_s), "86400", .min = 1, .max = 31536000,
     .sentence = "lifetime of cached answers, in memory and in Redis"},
    END};

static const struct option_row consult_rows[] = {
    {"llm-when", 0, OPT_TEXT, "WHEN", AT(llm.when),
     .sentence =
         "when to ask a language model about the answer: never, always, or LOW:HIGH for P in this range; suffix "
         ",disagree: also if signals and verifier disagree; not set: 0.1:0.95,disagree with endpoints, else never"},
    {"llm-hit-rate", 0, OPT_REAL, "SHARE", AT(llm.hit_rate), "0.7", .min = 0.5, .max = 0.99,
     .sentence = "share of queries that the model is assumed to judge correctly; sets the weight of its opinion"},
    {"llm-candidates", 0, OPT_INT, "N", AT(llm.candidates), "3", .min = 1, .max = 64,
     .sentence = "maximum candidates of a request to ask about"},
    {"llm-wait-ms", 0, OPT_INT, "MS", AT(llm.wait_ms), "60000", .min = 1, .max = 3600000,
     .sentence = "time that a verdict waits for one opinion before it goes on without it"},
    {"llm-request-tokens", 0, OPT_INT, "N", AT(llm.request_tokens), "0", .min = 0, .max = 1000000000,
     .sentence = "tokens after which no further candidate of a request is asked about; 0: no limit"},
    END};

static const struct option_row corrector_rows[] = {
    {"corrector-endpoint", 0, OPT_TEXT, "URL", AT(corrector.endpoint),
     .sentence = "chat model that also proposes queries when a repair is searched for, as base URL with its /v1; not "
                 "set: none"},
    {"corrector-model", 0, OPT_TEXT, "NAME", AT(corrector.model), .sentence = "name of the chat model"},
    {"corrector-key-file", 0, OPT_TEXT, "FILE", AT(corrector.key_file),
     .sentence = "file whose first line is the API key"},
    {"corrector-key-variable", 0, OPT_TEXT, "NAME", AT(corrector.key_variable),
     .sentence = "environment variable with the API key"},
    {"corrector-ca-file", 0, OPT_TEXT, "FILE", AT(corrector.ca_file),
     .sentence = "CA certificates to trust instead of the system's"},
    {"corrector-proxy", 0, OPT_TEXT, "URL", AT(corrector.proxy),
     .sentence = "proxy to the corrector; not set: none, even if the environment names one"},
    {"corrector-prompt", 0, OPT_TEXT, "FILE", AT(corrector.prompt),
     .sentence = "your own instructions instead of prompts/correct.txt; the first line is their version"},
    {"corrector-timeout-ms", 0, OPT_INT, "MS", AT(corrector.timeout_ms), "30000", .min = 1, .max = 600000,
     .sentence = "timeout of one attempt"},
    {"corrector-attempts", 0, OPT_INT, "N", AT(corrector.attempts), "2", .min = 1, .max = 10,
     .sentence = "maximum attempts per query"},
    {"corrector-threads", 0, OPT_INT, "N", AT(corrector.threads), "4", .min = 1, .max = 64,
     .sentence = "concurrent requests to the corrector"},
    {"corrector-per-minute", 0, OPT_INT, "N", AT(corrector.per_minute), "0", .min = 0, .max = 1000000,
     .sentence =
         "maximum requests of each process to the corrector; further answers are repaired without it; 0: no limit"},
    {"corrector-rounds", 0, OPT_INT, "N", AT(corrector.rounds), "3", .min = 1, .max = 8,
     .sentence = "maximum requests about one answer, each about another finding, until a repair can be applied"},
    END};

static const struct option_row polish_rows[] = {
    {"polish-endpoint", 0, OPT_TEXT, "URL", AT(polish.endpoint),
     .sentence = "chat model that rewrites the answer's explanation in better English, as base URL with its /v1; not "
                 "set: none"},
    {"polish-model", 0, OPT_TEXT, "NAME", AT(polish.model), .sentence = "name of the chat model"},
    {"polish-key-file", 0, OPT_TEXT, "FILE", AT(polish.key_file), .sentence = "file whose first line is the API key"},
    {"polish-key-variable", 0, OPT_TEXT, "NAME", AT(polish.key_variable),
     .sentence = "environment variable with the API key"},
    {"polish-ca-file", 0, OPT_TEXT, "FILE", AT(polish.ca_file),
     .sentence = "CA certificates to trust instead of the system's"},
    {"polish-proxy", 0, OPT_TEXT, "URL", AT(polish.proxy),
     .sentence = "proxy to the chat model; not set: none, even if the environment names one"},
    {"polish-prompt", 0, OPT_TEXT, "FILE", AT(polish.prompt),
     .sentence = "your own instructions instead of prompts/polish.txt; the first line is their version"},
    {"polish-timeout-ms", 0, OPT_INT, "MS", AT(polish.timeout_ms), "10000", .min = 1, .max = 600000,
     .sentence = "time that a verdict waits for the rewritten explanation, all attempts together"},
    {"polish-attempts", 0, OPT_INT, "N", AT(polish.attempts), "2", .min = 1, .max = 10,
     .sentence = "maximum attempts per explanation"},
    {"polish-threads", 0, OPT_INT, "N", AT(polish.threads), "4", .min = 1, .max = 64,
     .sentence = "explanations rewritten concurrently"},
    END};

static const struct option_row database_rows[] = {
    {"db-root", 0, OPT_LIST, "DIR", AT(database.root),
     .sentence = "directory with databases as DB/DB.sqlite (repeat the flag; the first match counts)"},
    {"time-ms", 0, OPT_INT, "MS", AT(database.time_ms), "3000", .min = 1, .max = 3600000,
     .sentence = "time limit of one statement"},
    {"max-rows", 0, OPT_INT, "N", AT(database.max_rows), "100000", .min = 1, .max = 10000000,
     .sentence = "maximum rows fetched from one statement"},
    {"max-bytes", 0, OPT_INT, "BYTES", AT(database.max_bytes), "16777216", .min = 1024, .max = 4294967296.0,
     .sentence = "maximum bytes fetched from one statement"},
    END};

static const struct option_row schema_rows[] = {
    {"index-bytes", 0, OPT_INT, "BYTES", AT(schema.max_bytes), "268435456", .min = 1048576, .max = 68719476736.0,
     .sentence = "maximum memory for the index of one database"},
    {"index-values", 0, OPT_INT, "N", AT(schema.max_values), "200000", .min = 100, .max = 100000000,
     .sentence = "maximum distinct values of a column in the index; a column with more is sampled"},
    {"index-ms", 0, OPT_INT, "MS", AT(schema.time_ms), "60000", .min = 10, .max = 3600000,
     .sentence = "time limit for reading the tables and views of a database; the rest is left out, with a note"},
    {"inferred-joins", 0, FLAG_ARG, AT(schema.inferred_joins), "true",
     .sentence = "also use joins without a declared key, inferred from names and values"},
    {"descriptions", 0, OPT_TEXT, "DIR", AT(schema.descriptions),
     .sentence = "directory with TABLE.csv descriptions; not set: database_description beside the database"},
    END};

static const struct option_row redis_rows[] = {
    {"redis", 0, OPT_TEXT, "HOST:PORT", AT(redis.address),
     .sentence =
         "share schema indexes between processes in this Redis (or unix:/path); not set: each process builds its own"},
    {"redis-tls", 0, FLAG_ARG, AT(redis.tls), "false",
     .sentence = "unsupported, and refused: this build has no TLS to Redis; connect through a TLS tunnel"},
    {"redis-user", 0, OPT_TEXT, "NAME", AT(redis.user), .sentence = "Redis user; not set: the default user"},
    {"redis-password-file", 0, OPT_TEXT, "FILE", AT(redis.password_file),
     .sentence = "file whose first line is the Redis password"},
    {"redis-password-variable", 0, OPT_TEXT, "NAME", AT(redis.password_variable),
     .sentence = "environment variable with the Redis password"},
    {"redis-database", 0, OPT_INT, "N", AT(redis.database), "0", .min = 0, .max = 1e6,
     .sentence = "number of the Redis database"},
    {"redis-prefix", 0, OPT_TEXT, "TEXT", AT(redis.prefix), "assay", .sentence = "prefix of all keys in Redis"},
    {"redis-ttl-s", 0, OPT_INT, "SECONDS", AT(redis.ttl_s), "604800", .min = 1, .max = 1e9,
     .sentence = "lifetime of an index in Redis after its last use"},
    {"redis-timeout-ms", 0, OPT_INT, "MS", AT(redis.timeout_ms), "500", .min = 1, .max = 60000,
     .sentence = "Redis timeout, after which this process builds the index"},
    {"redis-wait-ms", 0, OPT_INT, "MS", AT(redis.wait_ms), "30000", .min = 1, .max = 3600000,
     .sentence = "time to wait for an index that another process is building, before building it here too"},
    {"redis-retry-ms", 0, OPT_INT, "MS", AT(redis.retry_ms), "1000", .min = 1, .max = 3600000,
     .sentence = "time without calls to Redis after a failure; doubles with each failure, up to 30 times as much"},
    {"redis-max-bytes", 0, OPT_INT, "BYTES", AT(redis.max_bytes), "268435456", .min = 1024, .max = 512000000,
     .sentence = "maximum size of an index that is written to Redis or read from it"},
    END};

static const struct option_row verdicts_rows[] = {
    {"verdict-cache", 0, FLAG_ARG, AT(verdicts.on), "false",
     .sentence = "cache verdicts of equal requests in Redis; set it for all coordinators and workers, or for none"},
    {"verdict-cache-s", 0, OPT_INT, "SECONDS", AT(verdicts.ttl_s), "3600", .min = 1, .max = 1e9,
     .sentence = "lifetime of a cached verdict"},
    {"verdict-cache-bytes", 0, OPT_INT, "BYTES", AT(verdicts.max_bytes), "65536", .min = 1, .max = 262144,
     .sentence = "maximum size of a verdict in the cache"},
    END};

static const struct option_row signals_rows[] = {
    {"signal", 0, OPT_SIGNAL, "NAME.KEY=VALUE", .command_line_only = true,
     .sentence =
         "set an option of a signal, or NAME.enabled=no to disable it (repeat the flag); `assay signals` lists them"},
    END};

static const struct option_row log_rows[] = {{"limit", 'n', OPT_INT, "N", AT(log.limit), "0", .min = 0, .max = 1e15,
                                              .command_line_only = true,
                                              .sentence = "stop after this many lines of the log; 0: all"},
                                             END};

static const struct option_row check_rows[] = {
    {"db", 'd', OPT_TEXT, "FILE|DSN", AT(check.db), .command_line_only = true,
     .sentence = "database: a name in the configuration, a SQLite file, or a server's connection string"},
    {"question", 'Q', OPT_TEXT, "TEXT", AT(check.question), .command_line_only = true,
     .sentence = "the question that the SQL should answer"},
    {"evidence", 'e', OPT_TEXT, "TEXT", AT(check.evidence), .command_line_only = true,
     .sentence = "background knowledge for the question"},
    END};

static const struct option_row ddl_rows[] = {{"schema", 0, OPT_TEXT, "FILE.sql", AT(check.schema),
                                              .command_line_only = true,
                                              .sentence = "judge from this DDL only, without data"},
                                             END};

static const struct option_row answer_rows[] = {
    {"answer", 0, OPT_LIST, "QUESTION=CHOICE", AT(check.answers), .command_line_only = true,
     .sentence = "your choice for a question of a verdict, as its ids (repeat the flag, in order)"},
    {"pairs", 0, FLAG_ARG, AT(pairs.pairs), "false", .command_line_only = true,
     .sentence = "the arguments are files or directories of pairs"},
    {"strict", 0, FLAG_ARG, AT(pairs.strict), "false", .command_line_only = true,
     .sentence = "with --pairs: a file without a question is an error"},
    END};

static const struct option_row fix_rows[] = {
    {"apply", 0, FLAG_ARG, AT(fix.apply), "false", .command_line_only = true,
     .sentence = "print only the SQL: the repaired query, or else the original"},
    END};

static const struct option_row explain_rows[] = {
    {"premise", 'p', FLAG_ARG, AT(explain.premise), "false", .command_line_only = true,
     .sentence = "print the input of the verifier instead of prose"},
    {"words", 'w', FLAG_ARG, AT(explain.words), "false", .command_line_only = true,
     .sentence = "print what each word of the question refers to in the statement, instead of prose"},
    END};

static const struct option_row replay_rows[] = {
    {"workers", 'j', OPT_INT, "N", AT(replay.workers), "0", .min = 0, .max = 256,
     .sentence = "threads that judge; 0: one per processor"},
    {"window", 0, OPT_INT, "N", AT(replay.window), "0", .min = 0, .max = 65536,
     .sentence =
         "maximum questions in flight, including verdicts that wait to be written in order; 0: eight per worker"},
    {"unordered", 'u', FLAG_ARG, AT(replay.unordered), "false",
     .sentence = "write each verdict when it is ready, not in the order of the log"},
    {"index-cache-bytes", 0, OPT_INT, "BYTES", AT(replay.cache_bytes), "0", .min = 0, .max = 1e12,
     .sentence = "memory for cached schema indexes; 0: 96 MiB"},
    {"strict", 0, FLAG_ARG, AT(replay.strict), "false",
     .sentence = "stop at the first line that is not a valid request, with exit status 2"},
    {"out", 'o', OPT_TEXT, "FILE", AT(replay.out), .command_line_only = true,
     .sentence = "write verdicts to this file"},
    {"resume", 'r', FLAG_ARG, AT(replay.resume), "false", .command_line_only = true,
     .sentence = "continue the file of --out: drop an incomplete last line and judge the missing requests"},
    {"force", 0, FLAG_ARG, AT(replay.force), "false", .command_line_only = true,
     .sentence = "overwrite the file of --out"},
    END};

static const struct option_row range_rows[] = {
    {"from-topic", 0, OPT_TEXT, "TOPIC", AT(past.from_topic), .command_line_only = true,
     .sentence = "read the records of this topic: replay judges them instead of a log, train calibration reads "
                 "feedback, link judge reads traces"},
    {"from-offset", 0, OPT_INT, "N", AT(past.from_offset), "-1", .min = -1, .max = 1LL << 47, .command_line_only = true,
     .sentence = "first offset to read in every partition; not set: the oldest record"},
    {"from-time", 0, OPT_TEXT, "TIME", AT(past.from_time), .command_line_only = true,
     .sentence = "first time to read: 2026-03-01T12:00:00Z (RFC 3339), or milliseconds since 1970"},
    {"to-offset", 0, OPT_INT, "N", AT(past.to_offset), "-1", .min = -1, .max = 1LL << 47, .command_line_only = true,
     .sentence = "offset to stop at, exclusive; not set: the end of the topic at the start"},
    {"to-time", 0, OPT_TEXT, "TIME", AT(past.to_time), .command_line_only = true,
     .sentence = "time to stop at, exclusive"},
    END};

static const struct option_row past_rows[] = {
    {"to-topic", 0, OPT_TEXT, "TOPIC", AT(past.to_topic), .command_line_only = true,
     .sentence = "write verdicts to this topic instead of a file"},
    {"group", 0, OPT_TEXT, "NAME", AT(past.group), "assay-replay", .command_line_only = true,
     .sentence = "consumer group whose offsets record the progress of a replay into a topic"},
    {"feed", 0, OPT_TEXT, "TOPIC", AT(past.feed), .command_line_only = true,
     .sentence = "judge nothing: send the log's requests to this topic of a fleet"},
    {"answers", 0, OPT_TEXT, "TOPIC", AT(past.answers), BUS_VERDICTS, .command_line_only = true,
     .sentence = "topic of the fleet's verdicts, for --feed with --out"},
    {"wait-ms", 0, OPT_INT, "MS", AT(past.wait_ms), "60000", .min = 0, .max = 86400000,
     .sentence = "with --feed and --out: time to wait for the next verdict"},
    {"rate", 0, OPT_REAL, "N", AT(past.rate), "0", .min = 0, .max = 1e6,
     .sentence = "maximum requests per second; 0: no limit"},
    {"speed", 0, OPT_REAL, "X", AT(past.speed), "0", .min = 0, .max = 1e9,
     .sentence = "keep the original intervals, divided by X; a log has the `time` of each line; 0: no intervals"},
    END};

static const struct option_row diff_rows[] = {
    {"tolerance", 0, OPT_REAL, "P", AT(diff.tolerance), "1e-6", .min = 0, .max = 1,
     .sentence = "maximum change of p_correct that counts as equal; verdicts have six digits"},
    {"explanations", 0, FLAG_ARG, AT(diff.explanations), "false", .sentence = "compare explanations too"},
    {"gold", 0, FLAG_ARG, AT(diff.gold), "false", .command_line_only = true,
     .sentence = "run the gold queries and both answers on the databases of --db-root"},
    {"log", 0, OPT_TEXT, "LOG", AT(diff.log), .command_line_only = true,
     .sentence = "take gold queries from this log, by id, instead of the verdicts"},
    {"list", 0, OPT_INT, "N", AT(diff.list), "50", .min = 0, .max = 1e15,
     .sentence = "maximum changes listed as text; 0: all; other formats list all"},
    END};

static const struct option_row report_rows[] = {
    {"html", 0, OPT_TEXT, "FILE", AT(report.html), .command_line_only = true,
     .sentence = "write a self-contained page with charts and a table of verdicts"},
    {"gold", 0, FLAG_ARG, AT(report.gold), "false", .command_line_only = true,
     .sentence = "run the gold queries and the answers on the databases of --db-root, and store in the index which are "
                 "correct"},
    {"log", 0, OPT_TEXT, "LOG", AT(report.log), .command_line_only = true,
     .sentence = "query log that was judged, for the questions, and for gold where verdicts have none"},
    {"rows", 0, OPT_INT, "N", AT(report.rows), "1000", .min = 1, .max = 1000,
     .sentence = "verdicts in the table of --html: all if there are no more, else the most informative ones"},
    END};

static const struct option_row eval_rows[] = {
    {"profile", 0, FLAG_ARG, AT(eval.profile), "false", .sentence = "print the share of time spent by each signal"},
    {"gold", 0, FLAG_ARG, AT(eval.gold), "false", .command_line_only = true,
     .sentence = "measure how often each signal fires on the log's gold queries instead"},
    {"folds", 0, FLAG_ARG, AT(eval.folds), "false",
     .sentence = "also cross-validate the models over five folds of databases, against a majority vote and the best "
                 "single signal"},
    {"bootstrap", 0, OPT_INT, "N", AT(eval.bootstrap), "1000", .min = 0, .max = 100000,
     .sentence = "resamples for each 95 % interval; 0: no intervals"},
    {"labels", 0, OPT_TEXT, "FILE", AT(eval.labels), .command_line_only = true,
     .sentence = "write each candidate's label as JSON, one array per line of the log"},
    {"plots", 0, OPT_TEXT, "DIR", AT(eval.plots), .command_line_only = true,
     .sentence = "write SVG plots of calibration, precision over coverage and ROC to this directory"},
    {"schema-only", 0, FLAG_ARG, AT(eval.schema_only), "false", .command_line_only = true,
     .sentence =
         "judge from each SQLite file's DDL only, as in requests with a schema; labels still come from execution"},
    {"triggering", 0, FLAG_ARG, AT(eval.triggering), "false", .command_line_only = true,
     .sentence = "also measure when to answer and when to ask a person, by P, label model, verifier, findings, votes "
                 "and the generator's own score"},
    END};

static const struct option_row calibrate_rows[] = {{"out", 'o', OPT_TEXT, "FILE", AT(calibrate.out),
                                                    .command_line_only = true, .sentence = "calibration file to write"},
                                                   END};

static const struct option_row feedback_rows[] = {{"labels-wanted", 'n', OPT_INT, "N", AT(feedback.n), "200", .min = 1,
                                                   .max = 1000000, .command_line_only = true,
                                                   .sentence = "sample: maximum verdicts to select"},
                                                  END};

static const struct option_row examples_rows[] = {
    {"out", 'o', OPT_TEXT, "FILE|DSN", AT(examples.out), .command_line_only = true,
     .sentence = "build, add: store to write, a file or a PostgreSQL connection string"},
    {"question", 'Q', OPT_TEXT, "TEXT", AT(examples.question), .command_line_only = true,
     .sentence = "search: the question"},
    {"sql", 0, OPT_TEXT, "SQL", AT(examples.sql), .command_line_only = true, .sentence = "search: the wrong query"},
    {"error", 0, OPT_TEXT, "TEXT", AT(examples.error), .command_line_only = true,
     .sentence = "search: the error or finding about the query"},
    {"source", 0, OPT_TEXT, "ID", AT(examples.source), .command_line_only = true,
     .sentence = "search: exclude examples from this request"},
    {"key", 0, OPT_CHOICE, "KEY", AT(examples.key), "hybrid", &EXAMPLES_KEYS(CHOICE)[1], .command_line_only = true,
     .sentence = "search: similarity measure"},
    {"nearest", 'k', OPT_INT, "N", AT(examples.n), "3", .min = 1, .max = 100, .command_line_only = true,
     .sentence = "search: number of examples to print"},
    {"likeness", 0, OPT_REAL, "SHARE", AT(examples.likeness), "0.98", .min = 0, .max = 1, .command_line_only = true,
     .sentence = "prune: similarity from which two examples are duplicates"},
    END};

static const struct option_row predictor_rows[] = {
    {"predictor", 0, OPT_TEXT, "FILE", AT(link.predictor),
     .sentence = "predictors of a schema linker's errors, from `assay link train`"},
    {"link-alpha", 0, OPT_REAL, "SHARE", AT(link.alpha), "0.1", .min = 0.001, .max = 0.5,
     .sentence = "maximum share of tokens, or of branching points, for which the set of one layer is wrong"},
    {"layers", 'k', OPT_INT, "N", AT(link.layers), "3", .min = 1, .max = 64,
     .sentence = "layers whose sets are merged: those with the highest AUC on the calibration recording"},
    {"merge", 0, OPT_CHOICE, "HOW", AT(link.merge), "permuted", "majority|permuted",
     .sentence = "how to merge the sets of several layers: what a share --tau of them contains (majority), or "
                 "Algorithm 1 (permuted)"},
    {"tau", 0, OPT_REAL, "SHARE", AT(link.tau), "0.5", .min = 0.01, .max = 0.99,
     .sentence = "share of layers for --merge majority"},
    {"marginal", 0, FLAG_ARG, AT(link.marginal), "false",
     .sentence =
         "use one threshold for all tokens, as in the paper, not one for branching points and one for the others"},
    {"near", 0, OPT_INT, "N", AT(link.near), "0", .min = 0, .max = 1000000,
     .sentence = "weight the N nearest calibration points by similarity, for new questions unlike the old ones; 0: "
                 "equal weights"},
    {"temperature", 0, OPT_REAL, "X", AT(link.temperature), "1", .min = 1e-6, .max = 1e6,
     .sentence = "with --near: how fast weights fall with distance"},
    END};

static const struct option_row link_rows[] = {
    {"out", 'o', OPT_TEXT, "FILE", AT(link.out), .command_line_only = true,
     .sentence = "export, train: the file to write; - is standard output for export"},
    {"calibrate-on", 0, OPT_LIST, "RECORDING", AT(link.calibrate), .command_line_only = true,
     .sentence = "train: calibration recording, from databases unknown to both the linker and the predictors"},
    {"units", 0, OPT_INT, "N", AT(link.units), "32", .min = 1, .max = 1024,
     .sentence = "train: hidden units of a perceptron"},
    {"epochs", 0, OPT_INT, "N", AT(link.epochs), "20", .min = 1, .max = 10000,
     .sentence = "train: passes over the tokens when training a perceptron"},
    {"link-seed", 0, OPT_INT, "N", AT(link.seed), "1", .min = 0, .max = 1e15,
     .sentence = "train: seed of the initial weights and the order"},
    {"ablation", 0, FLAG_ARG, AT(link.ablation), "false", .command_line_only = true,
     .sentence = "eval: also vary alpha, number of layers, merge and form of calibration"},
    {"surrogate", 0, OPT_TEXT, "VERDICTS", AT(link.surrogate), .command_line_only = true,
     .sentence =
         "eval: verdicts of assay replay on the same questions; names that their answers use confirm uncertain links"},
    {"follow", 0, FLAG_ARG, AT(link.follow), "false", .command_line_only = true,
     .sentence = "judge: with --from-topic, keep reading new records until a signal"},
    END};

static const struct option_row train_rows[] = {
    {"out", 'o', OPT_TEXT, "FILE", AT(train.out), .command_line_only = true, .sentence = "model file to write"},
    {"kind", 0, OPT_CHOICE, "KIND", AT(train.kind), "logistic", "logistic|trees", .sentence = "kind of classifier"},
    {"weak", 0, FLAG_ARG, AT(train.weak), "false",
     .sentence = "train the classifier on the label model's probabilities instead of labels"},
    {"recipe", 0, OPT_TEXT, "FILE", AT(train.recipe), .command_line_only = true,
     .sentence =
         "training parameters as YAML: a file, or {KEY: VALUE, ...} itself; docs/configuration.md lists the keys"},
    {"seed", 0, OPT_INT, "N", AT(train.seed), "1", .min = 0, .max = 1e15, .sentence = "random seed"},
    {"cross", 0, FLAG_ARG, AT(train.cross), "false",
     .sentence = "verifier: only print the results on held-out databases, write no model"},
    {"scores", 0, OPT_TEXT, "FILE", AT(train.scores), .command_line_only = true,
     .sentence = "verifier: write each candidate's held-out score to this file, tab-separated"},
    {"verifier", 0, OPT_TEXT, "FILE", AT(train.verifier),
     .sentence = "calibration: verifier file to complete; not set: the file of --out"},
    END};

/* Keys of a training recipe. */
static const struct option_row recipe_rows[] = {
    {"mutants", 0, OPT_INT, "N", AT(train.mutants), "4", .min = 0, .max = 64,
     .sentence = "mutants of the gold query used as candidates where a line has none"},
    {"prior", 0, OPT_REAL, "P", AT(train.prior), "-1", .min = -1, .max = 1,
     .sentence = "share of correct candidates assumed by the label model; -1: as labelled in the logs"},
    {"trust", 0, OPT_REAL, "WEIGHT", AT(train.trust), "10", .min = 0, .max = 100,
     .sentence =
         "weight of the prior belief that a signal is right more often than not, against the evidence of the logs"},
    {"target-prior", 0, OPT_REAL, "P", AT(train.target_prior), "-1", .min = -1, .max = 1,
     .sentence = "share of correct candidates where the model will be used, if the training logs (mutants) differ; -1: "
                 "the same"},
    {"unsolved", 0, OPT_REAL, "SHARE", AT(train.unsolved), "0", .min = 0, .max = 1,
     .sentence = "share of questions whose correct candidates are left out, for logs of a generator that was trained "
                 "on these questions"},
    {"views", 0, FLAG_ARG, AT(train.views), "true",
     .sentence = "also learn from the other candidates of a request: rank, votes, agreement; no: for training logs "
                 "with synthetic candidates"},
    {"doubles", 0, OPT_INT, "N", AT(train.doubles), "3", .min = 0, .max = 64,
     .sentence = "verifier: mutants of mutants per question"},
    {"favourites", 0, OPT_INT, "N", AT(train.favourites), "0", .min = 0, .max = 64,
     .sentence = "verifier: wrong mutants per question and round that score highest with a verifier not trained on the "
                 "database"},
    {"favourite-rounds", 0, OPT_INT, "N", AT(train.favourite_rounds), "1", .min = 1, .max = 10,
     .sentence = "verifier: searches for favourites, each with a verifier trained on the previous ones"},
    {"pool", 0, OPT_INT, "N", AT(train.pool), "16", .min = 1, .max = 256,
     .sentence = "verifier: mutants, and mutants of mutants, per question to search for favourites"},
    {"siblings", 0, OPT_INT, "N", AT(train.siblings), "5", .min = 0, .max = 16,
     .sentence = "verifier: gold queries per question from the most similar other questions on the database"},
    {"rounds", 0, OPT_INT, "N", AT(train.rounds), "300", .min = 1, .max = 10000,
     .sentence = "verifier: number of trees"},
    {"depth", 0, OPT_INT, "N", AT(train.depth), "6", .min = 1, .max = 16, .sentence = "verifier: depth of a tree"},
    {"rank", 0, OPT_REAL, "WEIGHT", AT(train.rank), "3", .min = 0, .max = 1000,
     .sentence = "verifier: weight of the loss that ranks correct candidates above wrong ones of the same question"},
    {"focal-gamma", 0, OPT_REAL, "GAMMA", AT(train.focal_gamma), "0", .min = 0, .max = 10,
     .sentence = "verifier: gamma of the focal loss, how fast easy candidates lose weight; 0: log loss"},
    {"focal-alpha", 0, OPT_REAL, "ALPHA", AT(train.focal_alpha), "0.5", .min = 0, .max = 1,
     .sentence = "verifier: alpha of the focal loss, the weight of correct candidates against wrong ones"},
    {"right-share", 0, OPT_REAL, "SHARE", AT(train.right_share), "0.5", .min = 0.01, .max = 0.99,
     .sentence = "verifier: share of the total weight given to correct candidates"},
    {"hard", 0, OPT_REAL, "WEIGHT", AT(train.hard), "0", .min = 0, .max = 100,
     .sentence = "verifier: extra weight of wrong candidates that a first model scored as correct"},
    {"by-chance", 0, OPT_REAL, "WEIGHT", AT(train.by_chance), "0.2", .min = 0, .max = 1,
     .sentence = "verifier: weight of mutants and siblings with the correct result, possibly by chance"},
    {"without", 0, OPT_LIST, "GROUP", AT(train.without), NULL,
     "shape|schema|values|operators|result|alignment|joins|links|components|signals",
     .sentence = "verifier: group of features to leave out (repeat the flag)"},
    END};

static const struct option_row mutate_rows[] = {
    {"db", 'd', OPT_TEXT, "DB", AT(mutate.db), .command_line_only = true, .sentence = "database of the SQL to mutate"},
    {"count", 'n', OPT_INT, "N", AT(mutate.n), "8", .min = 1, .max = 1000, .command_line_only = true,
     .sentence = "mutants per query"},
    {"seed", 0, OPT_INT, "N", AT(mutate.seed), "1", .min = 0, .max = 1e15, .command_line_only = true,
     .sentence = "random seed"},
    END};

static const struct option_row doctor_rows[] = {
    {"db", 'd', OPT_TEXT, "FILE|DSN", AT(doctor.db), .command_line_only = true,
     .sentence = "database: a SQLite file, or a server's connection string"},
    {"catalogue", 0, FLAG_ARG, AT(doctor.catalogue), "false", .command_line_only = true,
     .sentence = "check every database of the configuration (section `databases`)"},
    END};

static const struct option_row config_rows[] = {{"origin", 0, FLAG_ARG, AT(config.origin), "false",
                                                 .command_line_only = true,
                                                 .sentence = "print where each value comes from"},
                                                END};

static const struct option_row kafka_rows[] = {
    {"servers", 0, OPT_TEXT, "HOST:PORT,...", AT(kafka.servers), .sentence = "first Kafka brokers (bootstrap.servers)"},
    {"connect-ms", 0, OPT_INT, "MS", AT(kafka.connect_ms), "10000", .min = 1, .max = 3600000,
     .sentence = "time to wait for a broker at the start"},
    {"property", 'X', OPT_PROPERTY, "NAME=VALUE", AT(kafka.properties),
     .sentence = "set a librdkafka property, such as sasl.username=me (repeat the flag); in a file a key of its own; "
                 "the value file:PATH is read from that file"},
    END};

static const struct option_row topics_rows[] = {
    {"partitions", 'p', OPT_INT, "N", AT(topics.partitions), "24", .min = 1, .max = 10000,
     .sentence = "partitions of requests, results and verdicts, the same for all"},
    {"task-partitions", 0, OPT_INT, "N", AT(topics.task_partitions), "24", .min = 1, .max = 10000,
     .sentence = "partitions of the tasks of each family: the maximum number of workers that share them"},
    {"replicas", 0, OPT_INT, "N", AT(topics.replicas), "0", .min = 0, .max = 100,
     .sentence = "replicas of each partition; 0: three, or the number of brokers if lower"},
    {"retention-hours", 0, OPT_INT, "HOURS", AT(topics.retention_hours), "72", .min = 1, .max = 876000,
     .sentence = "retention of requests, tasks and results: longer than the longest outage, shorter than the brokers "
                 "keep offsets"},
    {"verdict-retention-hours", 0, OPT_INT, "HOURS", AT(topics.verdict_retention_hours), "168", .min = 1, .max = 876000,
     .sentence = "retention of verdicts"},
    {"letter-retention-hours", 0, OPT_INT, "HOURS", AT(topics.letter_retention_hours), "720", .min = 1, .max = 876000,
     .sentence = "retention of dead letters"},
    {"feedback-retention-hours", 0, OPT_INT, "HOURS", AT(topics.feedback_retention_hours), "9600", .min = 1,
     .max = 876000, .sentence = "retention of feedback, which is small and arrives slowly"},
    END};

static const struct option_row coordinator_rows[] = {
    {"group", 0, OPT_TEXT, "NAME", AT(coordinator.group), "assay-coordinator",
     .sentence = "consumer group of the coordinators, which share the requests"},
    {"instance", 0, OPT_TEXT, "NAME", AT(coordinator.instance), "0",
     .sentence = "name of this process in its group: unique, and the same after a restart"},
    {"from", 0, OPT_TEXT, "WHERE", AT(coordinator.from), NULL,
     .sentence = "where a group without offsets begins: beginning or end; not set: it is refused"},
    {"max-open", 0, OPT_INT, "N", AT(coordinator.max_open), "64", .min = 1, .max = 16384,
     .sentence = "maximum open requests"},
    {"producers", 0, OPT_INT, "N", AT(coordinator.producers), "1", .min = 1, .max = 16,
     .sentence = "concurrent transactions of verdicts, each for its share of the partitions"},
    {"task-messages", 0, OPT_CHOICE, "WHAT", AT(coordinator.task_messages), "each", "each|family|request",
     .sentence = "tasks in one message to workers: one (each), a request's for one family (family), or all of a "
                 "request, in assay.tasks.all (request); upgrade workers first"},
    {"drain-ms", 0, OPT_INT, "MS", AT(coordinator.drain_ms), "30000", .min = 1, .max = 3600000,
     .sentence = "time to finish open requests after SIGTERM, before the process ends at once"},
    {"rows-later", 0, FLAG_ARG, AT(coordinator.rows_later), "false",
     .sentence = "explain only the answer's source rows, in another round, instead of those of each candidate"},
    END};

static const struct option_row serve_rows[] = {
    {"http", 0, OPT_TEXT, "HOST:PORT", AT(serve.http), .sentence = "address to listen on for callers"},
    {"runs", 0, OPT_TEXT, "DIR", AT(serve.runs),
     .sentence = "show the verdict files in this directory, and store an index beside each"},
    {"open", 0, FLAG_ARG, AT(serve.open), "false",
     .sentence = "without a fleet: accept callers from other machines too; put access control in front"},
    {"host", 0, OPT_LIST, "NAME", AT(serve.hosts),
     .sentence = "additional host name that callers use (repeat the flag); other Host headers are refused; not set: "
                 "any name, but only this machine's without fleet, --open and --tokens"},
    {"wait-ms", 0, OPT_INT, "MS", AT(serve.wait_ms), "30000", .min = 0, .max = 3600000,
     .sentence = "default time that a caller waits for the verdict"},
    {"max-wait-ms", 0, OPT_INT, "MS", AT(serve.max_wait_ms), "120000", .min = 0, .max = 3600000,
     .sentence = "maximum wait that a caller may request"},
    {"work-ms", 0, OPT_INT, "MS", AT(serve.work_ms), "10000", .min = 0, .max = 86400000,
     .sentence =
         "without a fleet: maximum time of workers for one request, all statements and a repair together; 0: no limit"},
    {"max-waiting", 0, OPT_INT, "N", AT(serve.max_waiting), "1000", .min = 1, .max = 100000,
     .sentence = "maximum waiting callers; further ones are told to retry"},
    {"per-address", 0, OPT_INT, "N", AT(serve.per_address), "64", .min = 0, .max = 100000,
     .sentence = "maximum connections of one address, not counting callers that wait; one more closes the oldest; 0: "
                 "no limit, for callers behind proxies"},
    {"per-tenant", 0, OPT_INT, "N", AT(serve.per_tenant), "64", .min = 0, .max = 100000,
     .sentence = "with --tokens: maximum requests of one tenant judged concurrently; further ones are told to retry, a "
                 "batch waits; 0: no limit"},
    {"max-kb", 0, OPT_INT, "KIB", AT(serve.max_kb), "1024", .min = 1, .max = 8192,
     .sentence = "maximum size of a request"},
    {"keep", 0, OPT_TEXT, "FILE", AT(serve.keep), NULL,
     .sentence =
         "also store verdicts in this SQLite file, to have them by id after a restart; not set: only in memory"},
    {"keep-mb", 0, OPT_INT, "MIB", AT(serve.keep_mb), "64", .min = 1, .max = 65536,
     .sentence = "space for the newest verdicts, available by id: in memory, and in the file"},
    {"tokens", 0, OPT_TEXT, "FILE", AT(serve.tokens), NULL,
     .sentence = "without a fleet: file of bearer token hashes with what each may do; reloaded when it changes"},
    {"tls-cert", 0, OPT_TEXT, "FILE", AT(serve.tls_cert), NULL,
     .sentence = "serve TLS with this certificate and its chain (PEM); reloaded when it changes"},
    {"tls-key", 0, OPT_TEXT, "FILE", AT(serve.tls_key), NULL, .sentence = "private key of the certificate (PEM)"},
    {"look-back-ms", 0, OPT_INT, "MS", AT(serve.look_back_ms), "300000", .min = 0, .max = 86400000,
     .sentence = "age of the verdicts read at the start, for callers of a replica that died"},
    {"group", 0, OPT_TEXT, "NAME", AT(serve.group), BUS_GROUP,
     .sentence = "consumer group of the coordinators whose verdicts are served"},
    {"requests", 0, OPT_TEXT, "TOPIC", AT(serve.requests), BUS_REQUESTS, .sentence = "topic of requests"},
    {"verdicts", 0, OPT_TEXT, "TOPIC", AT(serve.verdicts), BUS_VERDICTS, .sentence = "topic of verdicts"},
    {"letters", 0, OPT_TEXT, "TOPIC", AT(serve.letters), BUS_DLQ, .sentence = "dead-letter topic of invalid requests"},
    {"drain-ms", 0, OPT_INT, "MS", AT(serve.drain_ms), "30000", .min = 1, .max = 3600000,
     .sentence = "time to answer waiting callers after SIGTERM, before the process ends at once"},
    END};

static const struct option_row mcp_rows[] = {
    {"db", 'd', OPT_TEXT, "FILE|DSN", AT(mcp.db), .command_line_only = true,
     .sentence =
         "serve only this database: a name in the configuration, a SQLite file, or a PostgreSQL connection string"},
    END};

static const struct option_row dlq_rows[] = {
    {"topic", 0, OPT_LIST, "TOPIC", AT(dlq.topics), .command_line_only = true,
     .sentence = "dead-letter topic (repeat the flag); not set: assay.dlq and assay.tasks.dlq"},
    {"code", 0, OPT_TEXT, "CODE", AT(dlq.code), .command_line_only = true,
     .sentence = "only dead letters with this code, such as malformed or rejected"},
    {"from-offset", 0, OPT_INT, "N", AT(dlq.from_offset), "-1", .min = -1, .max = 1LL << 47, .command_line_only = true,
     .sentence = "list: first offset in each partition; -1: the oldest"},
    {"from-time", 0, OPT_TEXT, "TIME", AT(dlq.from_time), .command_line_only = true,
     .sentence = "list: only dead letters since this time, such as 2026-01-31T12:00:00Z"},
    {"limit", 'n', OPT_INT, "N", AT(dlq.limit), "0", .min = 0, .max = 1e15, .command_line_only = true,
     .sentence = "maximum dead letters; 0: all that exist now"},
    {"values", 0, FLAG_ARG, AT(dlq.values), "false", .command_line_only = true,
     .sentence = "list: also show the messages, and what their error texts quote: questions, SQL and its literals"},
    {"dry-run", 0, FLAG_ARG, AT(dlq.dry_run), "false", .command_line_only = true,
     .sentence = "redrive: print what would be sent, and send nothing"},
    END};

static const struct option_row worker_rows[] = {
    {"group", 0, OPT_TEXT, "NAME", AT(worker.group), "assay-worker",
     .sentence = "consumer group of the workers, which share the tasks"},
    {"threads", 'j', OPT_INT, "N", AT(worker.threads), "0", .min = 0, .max = 256,
     .sentence = "threads that judge; 0: one per processor"},
    {"processes", 0, OPT_INT, "N", AT(worker.processes), "8", .min = 1, .max = 100000,
     .sentence = "number of worker processes in the fleet, for dividing max_statements without Redis"},
    {"executor", 0, OPT_CHOICE, "WHERE", AT(worker.executor), "child", "child|inline",
     .sentence = "where statements on SQLite run: in a child process per thread, which is killed if one exceeds its "
                 "limit or crashes (child), or in the worker (inline)"},
    {"slow-ms", 0, OPT_INT, "MS", AT(worker.slow_ms), "20", .min = 1, .max = 3600000,
     .sentence = "a candidate that takes longer moves to an extra thread, so that the next ones do not wait"},
    {"slow-threads", 0, OPT_INT, "N", AT(worker.slow_threads), "2", .min = 0, .max = 64,
     .sentence = "such candidates at a time, for each thread of --threads; 0: the next ones wait"},
    {"drain-ms", 0, OPT_INT, "MS", AT(worker.drain_ms), "30000", .min = 1, .max = 3600000,
     .sentence = "time to finish running tasks after SIGTERM, before the process ends at once"},
    END};

static const struct option_row observe_rows[] = {
    {"listen", 0, OPT_TEXT, "HOST:PORT", AT(observe.listen),
     .sentence = "address of GET /metrics, /healthz and /readyz, without access control; not set: none"},
    {"stall-ms", 0, OPT_INT, "MS", AT(observe.stall_ms), "120000", .min = 1000, .max = 86400000,
     .sentence = "time without progress after which a loop is stuck and /healthz fails"},
    {"log-level", 0, OPT_CHOICE, "LEVEL", AT(observe.log_level), "info", "error|warn|info|debug",
     .sentence = "log level on standard error; only debug shows SQL literals and external text"},
    {"log-form", 0, OPT_CHOICE, "FORM", AT(observe.log_form), "auto", "auto|text|json",
     .sentence = "log format; auto: text on a terminal, JSON lines elsewhere"},
    {"otlp", 0, OPT_TEXT, "URL|env", AT(observe.otlp),
     .sentence = "OpenTelemetry collector for traces (OTLP over HTTP), as base URL without /v1/traces; env: from "
                 "OTEL_EXPORTER_OTLP_ENDPOINT; not set: none (docs/tracing.md)"},
    {"otlp-headers-file", 0, OPT_TEXT, "FILE", AT(observe.otlp_headers_file),
     .sentence = "file of headers for the collector, such as an API key, in lines \"Name: value\""},
    {"otlp-ca-file", 0, OPT_TEXT, "FILE", AT(observe.otlp_ca_file),
     .sentence = "CA certificates to trust instead of the system's"},
    {"otlp-proxy", 0, OPT_TEXT, "URL", AT(observe.otlp_proxy),
     .sentence = "proxy to the collector; not set: none, even if the environment names one"},
    {"otlp-ratio", 0, OPT_REAL, "SHARE", AT(observe.otlp_ratio), "1", .min = 0, .max = 1,
     .sentence = "share of the requests without a traceparent to trace; a traceparent decides for its own request"},
    END};

const struct option_group options_general = {"general", "General", general_rows};
const struct option_group options_output = {"output", "Output", output_rows};
const struct option_group options_judge = {"judge", "Judging", judge_rows};
const struct option_group options_verifier = {"verifier", "Remote verifier", verifier_rows};
const struct option_group options_repair = {"repair", "Repair", repair_rows};
const struct option_group options_encoder = {"encoder", "Embedding model for examples", encoder_rows};
const struct option_group options_llm = {"llm", "Language models", llm_rows};
const struct option_group options_consult = {"consult", "Use of language models", consult_rows};
const struct option_group options_corrector = {"corrector", "Corrector", corrector_rows};
const struct option_group options_polish = {"polish", "Rewritten explanation", polish_rows};
const struct option_group options_database = {"database", "Databases", database_rows};
const struct option_group options_schema = {"schema", "Schema index", schema_rows};
const struct option_group options_redis = {"redis", "Redis cache of a fleet", redis_rows};
const struct option_group options_verdicts = {"verdicts", "Verdict cache", verdicts_rows};
const struct option_group options_signals = {"signals", "Signals", signals_rows};
const struct option_group options_log = {"log", "Query log", log_rows};
const struct option_group options_check = {"check", "Question", check_rows};
const struct option_group options_ddl = {"ddl", "Schema without a database", ddl_rows};
const struct option_group options_answer = {"check", "Answers and files", answer_rows};
const struct option_group options_fix = {"fix", "Repair", fix_rows};
const struct option_group options_explain = {"explain", "Explanation", explain_rows};
const struct option_group options_replay = {"replay", "Replay", replay_rows};
const struct option_group options_past = {"past", "Topics and fleets", past_rows};
const struct option_group options_range = {"stretch", "Topic range", range_rows};
const struct option_group options_diff = {"diff", "Comparison", diff_rows};
const struct option_group options_report = {"report", "Report", report_rows};
const struct option_group options_eval = {"eval", "Evaluation", eval_rows};
const struct option_group options_calibrate = {"calibrate", "Calibration", calibrate_rows};
const struct option_group options_feedback = {"feedback", "Feedback", feedback_rows};
const struct option_group options_examples = {"examples", "Examples", examples_rows};
const struct option_group options_predictor = {"linker", "Schema linker errors", predictor_rows};
const struct option_group options_link = {"link", "Linking", link_rows};
const struct option_group options_train = {"train", "Training", train_rows};
const struct option_group options_recipe = {"train", "Training recipe", recipe_rows, .recipe = true};
const struct option_group options_mutate = {"mutate", "Mutation", mutate_rows};
const struct option_group options_doctor = {"doctor", "Database check", doctor_rows};
const struct option_group options_config = {"config", "Configuration", config_rows};
const struct option_group options_kafka = {"kafka", "Kafka", kafka_rows};
const struct option_group options_topics = {"topics", "Topics", topics_rows};

const struct option_group options_coordinator = {"coordinator", "Coordinator", coordinator_rows};
const struct option_group options_serve = {"serve", "HTTP server", serve_rows};
const struct option_group options_mcp = {"mcp", "Agents", mcp_rows};
const struct option_group options_dlq = {"dlq", "Dead letters", dlq_rows};
const struct option_group options_worker = {"worker", "Worker", worker_rows};
const struct option_group options_observe = {"observe", "Monitoring", observe_rows};

const struct option_group *const option_groups[] = {&options_general,     &options_output,
                                                    &options_judge,       &options_verifier,
                                                    &options_repair,      &options_encoder,
                                                    &options_llm,         &options_consult,
                                                    &options_corrector,   &options_polish,
                                                    &options_database,    &options_schema,
                                                    &options_redis,       &options_signals,
                                                    &options_log,         &options_check,
                                                    &options_ddl,         &options_answer,
                                                    &options_fix,         &options_explain,
                                                    &options_replay,      &options_eval,
                                                    &options_calibrate,   &options_feedback,
                                                    &options_examples,    &options_predictor,
                                                    &options_link,        &options_train,
                                                    &options_recipe,      &options_mutate,
                                                    &options_doctor,      &options_config,
                                                    &options_kafka,       &options_topics,
                                                    &options_coordinator, &options_worker,
                                                    &options_diff,        &options_range,
                                                    &options_past,        &options_observe,
                                                    &options_dlq,         &options_serve,
                                                    &options_mcp,         &options_report,
                                                    &options_verdicts,    NULL};

const struct option_group *option_group_find(const char *section)
{
    for (const struct option_group *const *g = option_groups; *g; g++)
        if (g_ascii_strcasecmp((*g)->section, section) == 0) return *g;
    return NULL;
}

void option_key(const struct option_row *row, char *out, size_t size)
{
    g_strlcpy(out, row->name, size);
    g_strdelimit(out, "-", '_');
}

void option_variable(const struct option_group *group, const struct option_row *row, char *out, size_t size)
{
    snprintf(out, size, "ASSAY_%s_%s", group->section, row->name);
    for (char *c = out; *c; c++) *c = *c == '-' ? '_' : g_ascii_toupper(*c);
}

static const struct option_row *find_key(const struct option_group *group, const char *key)
{
    for (const struct option_row *row = group->rows; row->name; row++) {
        char own[64];
        option_key(row, own, sizeof own);
        if (g_ascii_strcasecmp(own, key) == 0) return row;
    }
    return NULL;
}

const struct option_row *option_find(const char *section, const char *key)
{
    for (const struct option_group *const *g = option_groups; *g; g++) {
        if (g_ascii_strcasecmp((*g)->section, section) != 0) continue;
        const struct option_row *row = find_key(*g, key);
        if (row) return row;
    }
    return NULL;
}

bool option_parse_bool(const char *text, bool *out)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};
    for (unsigned i = 0; i < G_N_ELEMENTS(words); i++) {
        if (g_ascii_strcasecmp(text, words[i]) != 0) continue;
        *out = i % 2 == 1;
        return true;
    }
    return false;
}

/* The fields, typed. The offset comes from a row whose type was written next to it. */
static void *field(const struct option_row *row, void *settings)
{
    return (char *)settings + row->offset;
}

static bool is_choice(const char *choices, const char *text)
{
    gchar **words = g_strsplit(choices, "|", -1);
    bool found = g_strv_contains((const gchar *const *)words, text);
    g_strfreev(words);
    return found;
}

static enum err_code set_number(const struct option_row *row, const char *text, void *settings, struct err *err)
{
    char *end = NULL;
    errno = 0;
    double real = strtod(text, &end);
    bool whole = row->type == OPT_REAL || real == floor(real);
    if (end == text || *end || errno || !isfinite(real) || !whole || real < row->min || real > row->max)
        return err_set(err, ERR_CONFIG, "%s expects %s from %g to %g, got '%.80s'", row->name,
                       row->type == OPT_INT ? "a whole number" : "a number", row->min, row->max, text);
    if (row->type == OPT_INT)
        *(int64_t *)field(row, settings) = (int64_t)real;
    else
        *(double *)field(row, settings) = real;
    return ERR_OK;
}

static enum err_code list_add(struct arena *arena, struct string_list *list, const char *item, bool append)
{
    unsigned n = append ? list->n : 0;
    const char **items = arena_new_array(arena, n + 1, const char *);
    if (!items || !item) return ERR_NOMEM;
    if (n) memcpy(items, list->items, n * sizeof *items);
    items[n] = item;
    *list = (struct string_list){items, n + 1};
    return ERR_OK;
}

enum { MAX_PROPERTIES = 200 };

/* NAME=VALUE: in the place of an earlier one of that name, else at the end. The list itself is copied, since defaults
 * and copies of the settings may share it. */
static enum err_code set_property(struct arena *arena, const struct option_row *row, const char *text,
                                  struct string_list *list, struct err *err)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text) return err_set(err, ERR_CONFIG, "%s expects NAME=VALUE", row->name);
    size_t len = (size_t)(equals - text) + 1;
    unsigned at = 0;
    while (at < list->n && strncmp(list->items[at], text, len) != 0) at++;
    if (at == MAX_PROPERTIES) return err_set(err, ERR_CONFIG, "more than %d properties", MAX_PROPERTIES);
    const char *copy = arena_strdup(arena, text);
    if (at == list->n) return list_add(arena, list, copy, true);
    if (!copy) return ERR_NOMEM;
    list->items[at] = copy;
    return ERR_OK;
}

enum err_code option_set(struct arena *arena, const struct option_row *row, const char *text, bool append,
                         void *settings, struct err *err)
{
    if ((row->type == OPT_CHOICE || (row->type == OPT_LIST && row->choices)) && !is_choice(row->choices, text))
        return err_set(err, ERR_CONFIG, "%s must be one of %s, got '%.80s'", row->name, row->choices, text);
    if (row->check && row->check(text, err)) return err->code = ERR_CONFIG;
    switch (row->type) {
    case OPT_FLAG:
        if (option_parse_bool(text, field(row, settings))) return ERR_OK;
        return err_set(err, ERR_CONFIG, "%s must be yes or no, got '%.80s'", row->name, text);
    case OPT_INT:
    case OPT_REAL: return set_number(row, text, settings, err);
    case OPT_LIST:
        if (list_add(arena, field(row, settings), arena_strdup(arena, text), append) == ERR_OK) return ERR_OK;
        return err_set(err, ERR_NOMEM, "too many settings");
    case OPT_PROPERTY: return set_property(arena, row, text, field(row, settings), err);
    default: break;
    }
    const char *copy = arena_strdup(arena, text);
    if (!copy) return err_set(err, ERR_NOMEM, "too many settings");
    *(const char **)field(row, settings) = copy;
    return ERR_OK;
}

/* An item as YAML reads it back in a list; g_free. */
static char *item_text(const char *item)
{
    size_t len = strlen(item);
    bool plain = len && !strpbrk(item, "\"'`[]{},") && item[0] != ' ' && item[len - 1] != ' ';
    if (plain) return g_strdup(item);
    char **parts = g_strsplit(item, "'", 0), *doubled = g_strjoinv("''", parts);
    char *text = g_strconcat("'", doubled, "'", NULL);
    g_strfreev(parts);
    g_free(doubled);
    return text;
}

static char *list_text(struct arena *arena, const struct string_list *list)
{
    char *text = arena_strdup(arena, "[");
    for (unsigned i = 0; text && i < list->n; i++) {
        char *item = item_text(list->items[i]);
        text = arena_printf(arena, "%s%s%s", text, i ? ", " : "", item);
        g_free(item);
    }
    return text ? arena_printf(arena, "%s]", text) : NULL;
}

char *option_value_text(struct arena *arena, const struct option_row *row, const void *settings)
{
    const void *value = (const char *)settings + row->offset;
    switch (row->type) {
    case OPT_FLAG: return arena_strdup(arena, *(const bool *)value ? "true" : "false");
    case OPT_INT: return arena_printf(arena, "%lld", (long long)*(const int64_t *)value);
    case OPT_REAL: return arena_printf(arena, "%g", *(const double *)value);
    case OPT_LIST: return list_text(arena, value);
    case OPT_SIGNAL:
    case OPT_PROPERTY: return arena_strdup(arena, ""); /* printed by their own names */
    default: break;
    }
    const char *text = *(const char *const *)value;
    return arena_strdup(arena, text ? text : "");
}

bool option_is_recipe(const struct option_row *row)
{
    for (const struct option_row *own = recipe_rows; own->name; own++)
        if (own == row) return true;
    return false;
}
