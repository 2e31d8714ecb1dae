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
     .sentence = "read this configuration file too; it outranks the user's and the system's"},
    {"color", 0, OPT_CHOICE, "WHEN", AT(general.color), "auto", "auto|always|never",
     .sentence = "colour text on standard output; auto means: on a terminal, unless NO_COLOR is set"},
    {"quiet", 'q', FLAG_ARG, AT(general.quiet), "false",
     .sentence = "no progress and no summary on standard error; errors still show"},
    END};

static const struct option_row output_rows[] = {
    {"format", 'f', OPT_CHOICE, "FORMAT", AT(output.format), "auto", "auto|text|jsonl|json|csv|sarif|junit|github",
     .sentence = "how results are written; auto means text on a terminal and jsonl elsewhere"},
    END};

#define CHOICE(id, name, more)              "|" #name
#define CHOICE_SENTENCE(id, name, sentence) #name " " sentence "; "

static const struct option_row judge_rows[] = {
    {"strategy", 0, OPT_CHOICE, "NAME", AT(judge.strategy), "auto", "auto" MSG_STRATEGIES(CHOICE),
     .sentence = MSG_STRATEGIES(CHOICE_SENTENCE) "auto is the one that measured best (docs/results.md)"},
    {"policy", 0, OPT_CHOICE, "NAME", AT(judge.policy), "best_effort", &MSG_POLICIES(CHOICE)[1],
     .sentence = "what to answer when nothing validates"},
    {"order", 0, OPT_CHOICE, "NAME", AT(judge.order), "auto", "auto" MSG_ORDERS(CHOICE),
     .sentence = "how the candidates came about, where a request does not say: " MSG_ORDERS(
         CHOICE_SENTENCE) "auto: as feedback on their generator has it, else unknown"},
    {"repair", 0, OPT_CHOICE, "WHAT", AT(judge.repair), "off", &MSG_REPAIRS(CHOICE)[1],
     .sentence = "is a query looked for that is near the answer and surer to be right: " MSG_REPAIRS(
         CHOICE_SENTENCE) "docs/correction.md"},
    {"repair-margin", 0, OPT_REAL, "P", AT(judge.repair_margin), "0", .min = 0, .max = 1,
     .sentence = "by how much surer it must be; 0 takes the model's own"},
    {"ask-gain", 0, OPT_REAL, "P", AT(judge.ask_gain), "0.05", .min = 0.001, .max = 1,
     .sentence = "policy ask: by how much an answer must raise P(correct), on average, to be asked for (docs/ask.md)"},
    {"threshold", 0, OPT_REAL, "P", AT(judge.threshold), "0", .min = 0, .max = 1,
     .sentence = "P(correct) from which a candidate validates; 0 takes the model's own"},
    {"alpha", 0, OPT_REAL, "SHARE", AT(judge.alpha), "0", .min = 0, .max = 1,
     .sentence =
         "instead of a threshold: the share of wrong answers among the validated ones that is put up with; a promise "
         "where there is a calibration, else a threshold of 1 less it"},
    {"delta", 0, OPT_REAL, "SHARE", AT(judge.delta), "0.1", .min = 0.000001, .max = 0.5,
     .sentence = "how often a promise about alpha may fail: its confidence is 1 less it"},
    {"calibration", 0, OPT_TEXT, "FILE", AT(judge.calibration),
     .sentence = "of assay calibrate: what may be promised about alpha"},
    {"watch-drift", 0, FLAG_ARG, AT(judge.watch_drift), "true",
     .sentence = "withdraw the promise when the traffic is no longer like the calibration's; a log that is sorted by "
                 "database never is"},
    {"deadline-ms", 0, OPT_INT, "MS", AT(judge.deadline_ms), "0", .min = -1, .max = 86400000,
     .sentence =
         "time for one question from its arrival; 0: none, but 10 s in assay serve without a fleet; -1: none; in "
         "both a fleet and assay serve ten minutes at most"},
    {"max-iterations", 0, OPT_INT, "N", AT(judge.max_iterations), "0", .min = 0, .max = 10000,
     .sentence = "candidates to judge at most; 0: all"},
    {"speculate", 0, OPT_INT, "N", AT(judge.speculate), "0", .min = 0, .max = 64,
     .sentence =
         "candidates to judge at a time; the verdict stays the same; 0: one, in a fleet more while workers are idle"},
    {"family", 0, OPT_LIST, "NAME", AT(judge.families), NULL, "structure|join|execution|value|question|explain|llm",
     .sentence = "run only these families of signals (repeat the flag)"},
    {"label-model", 0, OPT_TEXT, "FILE", AT(judge.label_model),
     .sentence = "label model in place of the shipped one; none: do without"},
    {"classifier", 0, OPT_TEXT, "FILE", AT(judge.classifier),
     .sentence = "classifier in place of the shipped one; none: do without"},
    {"verifier", 0, OPT_TEXT, "FILE", AT(judge.verifier),
     .sentence = "built-in verifier in place of the shipped one; none: do without"},
    {"explain", 0, FLAG_ARG, AT(judge.explain), "true",
     .sentence = "explain each candidate from the data and ask a verifier whether that answers the question"},
    {"models", 0, OPT_TEXT, "DIR", AT(judge.models),
     .sentence = "folder of the model files; not set: the installed ones"},
    {"expose", 0, OPT_CHOICE, "WHAT", AT(judge.expose), "values", "none|values|rows",
     .sentence = "what of the data may appear in findings, reports and verdicts"},
    {"deny-column", 0, OPT_LIST, "COLUMN", AT(judge.deny_columns),
     .sentence = "run no statement that reads column, table.column or table.* (repeat the flag)",
     .check = deny_name_check},
    {"deny-mode", 0, OPT_CHOICE, "MODE", AT(judge.deny_mode), "refuse", "refuse|hide",
     .sentence =
         "statements that read a denied column are not run, or run with its values hidden, which is no boundary"},
    END};

static const struct option_row verifier_rows[] = {
    {"verifier-backend", 0, OPT_CHOICE, "NAME", AT(verifier.backend), "none", "none|tei|chat",
     .sentence =
         "ask a remote verifier too: a text-embeddings-inference server, or a chat model as judge; the built-in "
         "one stands in when it does not answer"},
    {"verifier-endpoint", 0, OPT_TEXT, "URL", AT(verifier.endpoint),
     .sentence = "base address of the remote verifier; of a chat model with its /v1"},
    {"verifier-model", 0, OPT_TEXT, "NAME", AT(verifier.model), .sentence = "name of the chat model"},
    {"verifier-key-file", 0, OPT_TEXT, "FILE", AT(verifier.key_file),
     .sentence = "its first line is the key of the remote verifier"},
    {"verifier-key-variable", 0, OPT_TEXT, "NAME", AT(verifier.key_variable),
     .sentence = "environment variable that holds the key of the remote verifier"},
    {"verifier-ca-file", 0, OPT_TEXT, "FILE", AT(verifier.ca_file),
     .sentence = "certificates to trust instead of the system's"},
    {"verifier-proxy", 0, OPT_TEXT, "URL", AT(verifier.proxy),
     .sentence = "proxy to the remote verifier; not set: none, whatever the environment says"},
    {"verifier-prompt", 0, OPT_TEXT, "FILE", AT(verifier.prompt),
     .sentence =
         "instructions of your own for the chat model in place of prompts/judge.txt; the first line is their version"},
    {"verifier-label", 0, OPT_TEXT, "NAME", AT(verifier.label),
     .sentence = "label of the tei model that means entailed; not set: found by its name"},
    {"verifier-timeout-ms", 0, OPT_INT, "MS", AT(verifier.timeout_ms), "10000", .min = 1, .max = 600000,
     .sentence = "time for one attempt to reach the remote verifier"},
    {"verifier-attempts", 0, OPT_INT, "N", AT(verifier.attempts), "3", .min = 1, .max = 10,
     .sentence = "attempts for one question to the remote verifier"},
    {"verifier-threads", 0, OPT_INT, "N", AT(verifier.threads), "4", .min = 1, .max = 64,
     .sentence = "questions to the remote verifier at a time"},
    END};

static const struct option_row repair_rows[] = {
    {"examples", 0, OPT_TEXT, "FILE|DSN", AT(shots.path),
     .sentence = "where a repair is looked for, try what set the likest wrong queries of this store right (assay "
                 "examples), and show them to the corrector; a connection string means one in PostgreSQL"},
    {"examples-shots", 0, OPT_INT, "N", AT(shots.n), "3", .min = 1, .max = 10,
     .sentence = "how many the corrector is shown"},
    {"examples-key", 0, OPT_CHOICE, "KEY", AT(shots.key), "hybrid", &EXAMPLES_KEYS(CHOICE)[1],
     .sentence = "by which likeness those are chosen"},
    END};

static const struct option_row encoder_rows[] = {
    {"encoder-endpoint", 0, OPT_TEXT, "URL", AT(encoder.endpoint),
     .sentence = "have the vectors of examples made by this embedding model; base address with its /v1; not set: by "
                 "the built-in embedder"},
    {"encoder-model", 0, OPT_TEXT, "NAME", AT(encoder.model), .sentence = "its name"},
    {"encoder-key-file", 0, OPT_TEXT, "FILE", AT(encoder.key_file), .sentence = "its first line is the key"},
    {"encoder-key-variable", 0, OPT_TEXT, "NAME", AT(encoder.key_variable),
     .sentence = "environment variable that holds the key"},
    {"encoder-ca-file", 0, OPT_TEXT, "FILE", AT(encoder.ca_file),
     .sentence = "certificates to trust instead of the system's"},
    {"encoder-proxy", 0, OPT_TEXT, "URL", AT(encoder.proxy),
     .sentence = "proxy to it; not set: none, whatever the environment says"},
    {"encoder-timeout-ms", 0, OPT_INT, "MS", AT(encoder.timeout_ms), "2000", .min = 1, .max = 600000,
     .sentence = "time for one attempt"},
    {"encoder-attempts", 0, OPT_INT, "N", AT(encoder.attempts), "2", .min = 1, .max = 10,
     .sentence = "attempts for one example or query"},
    END};

static const struct option_row llm_rows[] = {
    {"llm-endpoint", 0, OPT_LIST, "URL", AT(llm.endpoints),
     .sentence = "ask this language model about answers in doubt (family llm); base address with its /v1; repeat the "
                 "flag for more, with 3* "
                 "before one that takes three times as much; not set: none is asked"},
    {"llm-model", 0, OPT_TEXT, "NAME", AT(llm.model.model), .sentence = "its name, at all endpoints"},
    {"llm-key-file", 0, OPT_TEXT, "FILE", AT(llm.model.key_file), .sentence = "its first line is the key"},
    {"llm-key-variable", 0, OPT_TEXT, "NAME", AT(llm.model.key_variable),
     .sentence = "environment variable that holds the key"},
    {"llm-ca-file", 0, OPT_TEXT, "FILE", AT(llm.model.ca_file),
     .sentence = "certificates to trust instead of the system's"},
    {"llm-proxy", 0, OPT_TEXT, "URL", AT(llm.model.proxy),
     .sentence = "proxy to it; not set: none, whatever the environment says"},
    {"llm-prompts", 0, OPT_TEXT, "DIR", AT(llm.prompts),
     .sentence = "folder with instructions of your own in place of prompts/signals.txt and prompts/signals/, the first "
                 "line of each its version"},
    {"llm-calls", 0, OPT_CHOICE, "HOW", AT(llm.calls), "combined", "combined|single",
     .sentence = "one call for all signals of the family, or one for each"},
    {"llm-timeout-ms", 0, OPT_INT, "MS", AT(llm.model.timeout_ms), "30000", .min = 1, .max = 600000,
     .sentence = "time for one attempt"},
    {"llm-attempts", 0, OPT_INT, "N", AT(llm.model.attempts), "2", .min = 1, .max = 10,
     .sentence = "attempts at each endpoint"},
    {"llm-answer-tokens", 0, OPT_INT, "N", AT(llm.answer_tokens), "2048", .min = 64, .max = 100000,
     .sentence = "room for an answer"},
    {"llm-threads", 0, OPT_INT, "N", AT(llm.model.threads), "4", .min = 1, .max = 64,
     .sentence = "calls at a time, where judge and workers are one process"},
    {"llm-requests-per-minute", 0, OPT_INT, "N", AT(llm.requests), "0", .min = 0, .max = 100000000,
     .sentence = "budget of the whole fleet, counted in Redis (without one: of this process); 0: no bound"},
    {"llm-tokens-per-minute", 0, OPT_INT, "N", AT(llm.tokens), "0", .min = 0, .max = 1000000000000,
     .sentence = "likewise, read and written"},
    {"llm-money-per-minute", 0, OPT_REAL, "AMOUNT", AT(llm.money), "0", .min = 0, .max = 1e9,
     .sentence = "likewise, at the prices below"},
    {"llm-price-in", 0, OPT_REAL, "AMOUNT", AT(llm.price_in), "0", .min = 0, .max = 1e9,
     .sentence = "price of a million tokens that the model reads"},
    {"llm-price-out", 0, OPT_REAL, "AMOUNT", AT(llm.price_out), "0", .min = 0, .max = 1e9,
     .sentence = "and of a million that it writes"},
    {"llm-cache-entries", 0, OPT_INT, "N", AT(llm.entries), "4096", .min = 1, .max = 10000000,
     .sentence = "answers remembered in memory"},
    {"llm-cache-ttl-s", 0, OPT_INT, "S", AT(llm.ttl_s), "86400", .min = 1, .max = 31536000,
     .sentence = "time for which they are, and those in Redis"},
    END};

static const struct option_row consult_rows[] = {
    {"llm-when", 0, OPT_TEXT, "WHEN", AT(llm.when),
     .sentence = "when a language model is asked about the answer: never, always, or LOW:HIGH, where its P lies "
                 "between these; with ,disagree "
                 "behind it also where signals and verifier disagree; not set: 0.1:0.95,disagree where endpoints are "
                 "given, else never"},
    {"llm-hit-rate", 0, OPT_REAL, "SHARE", AT(llm.hit_rate), "0.7", .min = 0.5, .max = 0.99,
     .sentence = "share of the queries about which the model is taken to be right: what its word weighs"},
    {"llm-candidates", 0, OPT_INT, "N", AT(llm.candidates), "3", .min = 1, .max = 64,
     .sentence = "candidates of a request that it is asked about at most"},
    {"llm-wait-ms", 0, OPT_INT, "MS", AT(llm.wait_ms), "60000", .min = 1, .max = 3600000,
     .sentence = "time that a verdict waits for one opinion; then it goes on without"},
    {"llm-request-tokens", 0, OPT_INT, "N", AT(llm.request_tokens), "0", .min = 0, .max = 1000000000,
     .sentence = "tokens after which it is asked about no other candidate of a request; 0: no bound"},
    END};

static const struct option_row corrector_rows[] = {
    {"corrector-endpoint", 0, OPT_TEXT, "URL", AT(corrector.endpoint),
     .sentence =
         "where a repair is looked for, ask this chat model for a query too; base address with its /v1; not set: no "
         "model is asked"},
    {"corrector-model", 0, OPT_TEXT, "NAME", AT(corrector.model), .sentence = "its name"},
    {"corrector-key-file", 0, OPT_TEXT, "FILE", AT(corrector.key_file), .sentence = "its first line is the key"},
    {"corrector-key-variable", 0, OPT_TEXT, "NAME", AT(corrector.key_variable),
     .sentence = "environment variable that holds the key"},
    {"corrector-ca-file", 0, OPT_TEXT, "FILE", AT(corrector.ca_file),
     .sentence = "certificates to trust instead of the system's"},
    {"corrector-proxy", 0, OPT_TEXT, "URL", AT(corrector.proxy),
     .sentence = "proxy to it; not set: none, whatever the environment says"},
    {"corrector-prompt", 0, OPT_TEXT, "FILE", AT(corrector.prompt),
     .sentence = "instructions of your own in place of prompts/correct.txt; the first line is their version"},
    {"corrector-timeout-ms", 0, OPT_INT, "MS", AT(corrector.timeout_ms), "30000", .min = 1, .max = 600000,
     .sentence = "time for one attempt"},
    {"corrector-attempts", 0, OPT_INT, "N", AT(corrector.attempts), "2", .min = 1, .max = 10,
     .sentence = "attempts for one query"},
    {"corrector-threads", 0, OPT_INT, "N", AT(corrector.threads), "4", .min = 1, .max = 64,
     .sentence = "queries that it is asked for at a time"},
    {"corrector-per-minute", 0, OPT_INT, "N", AT(corrector.per_minute), "0", .min = 0, .max = 1000000,
     .sentence = "times that each process asks it at most; past that answers are repaired without it; 0: no bound"},
    {"corrector-rounds", 0, OPT_INT, "N", AT(corrector.rounds), "3", .min = 1, .max = 8,
     .sentence =
         "times that it is asked about one answer at most, each about another finding, until a repair can be applied"},
    END};

static const struct option_row polish_rows[] = {
    {"polish-endpoint", 0, OPT_TEXT, "URL", AT(polish.endpoint),
     .sentence =
         "have this chat model say the answer's explanation in better English; base address with its /v1; not set: no "
         "model is asked"},
    {"polish-model", 0, OPT_TEXT, "NAME", AT(polish.model), .sentence = "its name"},
    {"polish-key-file", 0, OPT_TEXT, "FILE", AT(polish.key_file), .sentence = "its first line is the key"},
    {"polish-key-variable", 0, OPT_TEXT, "NAME", AT(polish.key_variable),
     .sentence = "environment variable that holds the key"},
    {"polish-ca-file", 0, OPT_TEXT, "FILE", AT(polish.ca_file),
     .sentence = "certificates to trust instead of the system's"},
    {"polish-proxy", 0, OPT_TEXT, "URL", AT(polish.proxy),
     .sentence = "proxy to it; not set: none, whatever the environment says"},
    {"polish-prompt", 0, OPT_TEXT, "FILE", AT(polish.prompt),
     .sentence = "instructions of your own in place of prompts/polish.txt; the first line is their version"},
    {"polish-timeout-ms", 0, OPT_INT, "MS", AT(polish.timeout_ms), "10000", .min = 1, .max = 600000,
     .sentence = "time that a verdict waits for it, all attempts together"},
    {"polish-attempts", 0, OPT_INT, "N", AT(polish.attempts), "2", .min = 1, .max = 10,
     .sentence = "attempts for one explanation"},
    {"polish-threads", 0, OPT_INT, "N", AT(polish.threads), "4", .min = 1, .max = 64,
     .sentence = "explanations that it is asked for at a time"},
    END};

static const struct option_row database_rows[] = {
    {"db-root", 0, OPT_LIST, "DIR", AT(database.root),
     .sentence = "folder with databases as DB/DB.sqlite (repeat the flag; the first that has it counts)"},
    {"time-ms", 0, OPT_INT, "MS", AT(database.time_ms), "3000", .min = 1, .max = 3600000,
     .sentence = "time for one statement"},
    {"max-rows", 0, OPT_INT, "N", AT(database.max_rows), "100000", .min = 1, .max = 10000000,
     .sentence = "rows fetched from one statement at most"},
    {"max-bytes", 0, OPT_INT, "BYTES", AT(database.max_bytes), "16777216", .min = 1024, .max = 4294967296.0,
     .sentence = "bytes fetched from one statement at most"},
    END};

static const struct option_row schema_rows[] = {
    {"index-bytes", 0, OPT_INT, "BYTES", AT(schema.max_bytes), "268435456", .min = 1048576, .max = 68719476736.0,
     .sentence = "memory for the index of one database"},
    {"index-values", 0, OPT_INT, "N", AT(schema.max_values), "200000", .min = 100, .max = 100000000,
     .sentence = "distinct values of a column kept in the index; a column with more is sampled"},
    {"index-ms", 0, OPT_INT, "MS", AT(schema.time_ms), "60000", .min = 10, .max = 3600000,
     .sentence = "time for reading the rows of a database's tables and views; the rest is left out, with a note"},
    {"inferred-joins", 0, FLAG_ARG, AT(schema.inferred_joins), "true",
     .sentence = "also use joins that no key declares, found by names and values"},
    {"descriptions", 0, OPT_TEXT, "DIR", AT(schema.descriptions),
     .sentence = "folder with TABLE.csv descriptions; not set: database_description beside the database"},
    END};

static const struct option_row redis_rows[] = {
    {"redis", 0, OPT_TEXT, "HOST:PORT", AT(redis.address),
     .sentence =
         "keep schema indexes in this Redis, for all processes that judge (or unix:/path); not set: each builds "
         "its own"},
    {"redis-tls", 0, FLAG_ARG, AT(redis.tls), "false",
     .sentence = "refused: this build speaks no TLS to Redis, and will not go without it in silence; run a tunnel"},
    {"redis-user", 0, OPT_TEXT, "NAME", AT(redis.user), .sentence = "user of the Redis; not set: its default user"},
    {"redis-password-file", 0, OPT_TEXT, "FILE", AT(redis.password_file),
     .sentence = "its first line is the password of the Redis"},
    {"redis-password-variable", 0, OPT_TEXT, "NAME", AT(redis.password_variable),
     .sentence = "environment variable that holds the password of the Redis"},
    {"redis-database", 0, OPT_INT, "N", AT(redis.database), "0", .min = 0, .max = 1e6,
     .sentence = "number of the database in the Redis"},
    {"redis-prefix", 0, OPT_TEXT, "TEXT", AT(redis.prefix), "assay", .sentence = "first part of all keys in the Redis"},
    {"redis-ttl-s", 0, OPT_INT, "SECONDS", AT(redis.ttl_s), "604800", .min = 1, .max = 1e9,
     .sentence = "how long an index stays in the Redis after it was last asked for"},
    {"redis-timeout-ms", 0, OPT_INT, "MS", AT(redis.timeout_ms), "500", .min = 1, .max = 60000,
     .sentence = "how long the Redis may be silent before the index is built here instead"},
    {"redis-wait-ms", 0, OPT_INT, "MS", AT(redis.wait_ms), "30000", .min = 1, .max = 3600000,
     .sentence = "how long to wait for an index that another process is building, before building it here too"},
    {"redis-retry-ms", 0, OPT_INT, "MS", AT(redis.retry_ms), "1000", .min = 1, .max = 3600000,
     .sentence = "how long the Redis is left alone after a failure; doubles up to 30 times as much"},
    {"redis-max-bytes", 0, OPT_INT, "BYTES", AT(redis.max_bytes), "268435456", .min = 1024, .max = 512000000,
     .sentence = "longest index that is put into the Redis or taken from it"},
    END};

static const struct option_row verdicts_rows[] = {
    {"verdict-cache", 0, FLAG_ARG, AT(verdicts.on), "false",
     .sentence = "keep verdicts in the Redis for equal requests; of all coordinators and workers, or of none"},
    {"verdict-cache-s", 0, OPT_INT, "SECONDS", AT(verdicts.ttl_s), "3600", .min = 1, .max = 1e9,
     .sentence = "how long a verdict is kept"},
    {"verdict-cache-bytes", 0, OPT_INT, "BYTES", AT(verdicts.max_bytes), "65536", .min = 1, .max = 262144,
     .sentence = "a longer verdict is not kept"},
    END};

static const struct option_row signals_rows[] = {
    {"signal", 0, OPT_SIGNAL, "NAME.KEY=VALUE", .command_line_only = true,
     .sentence = "set a signal's option, or NAME.enabled=no to switch it off (repeat the flag); `assay signals` lists "
                 "them"},
    END};

static const struct option_row log_rows[] = {{"limit", 'n', OPT_INT, "N", AT(log.limit), "0", .min = 0, .max = 1e15,
                                              .command_line_only = true,
                                              .sentence = "stop after this many lines of the log; 0: all"},
                                             END};

static const struct option_row check_rows[] = {
    {"db", 'd', OPT_TEXT, "FILE|DSN", AT(check.db), .command_line_only = true,
     .sentence = "the database: a name of the catalogue, a SQLite file, or a server's connection string"},
    {"question", 'Q', OPT_TEXT, "TEXT", AT(check.question), .command_line_only = true,
     .sentence = "the question that the SQL should answer"},
    {"evidence", 'e', OPT_TEXT, "TEXT", AT(check.evidence), .command_line_only = true,
     .sentence = "what else is known about the question"},
    END};

static const struct option_row ddl_rows[] = {{"schema", 0, OPT_TEXT, "FILE.sql", AT(check.schema),
                                              .command_line_only = true,
                                              .sentence = "judge from this DDL alone, without any data"},
                                             END};

static const struct option_row answer_rows[] = {
    {"answer", 0, OPT_LIST, "QUESTION=CHOICE", AT(check.answers), .command_line_only = true,
     .sentence = "what you chose of a question asked, by the verdict's ids (repeat the flag, in order)"},
    {"pairs", 0, FLAG_ARG, AT(pairs.pairs), "false", .command_line_only = true,
     .sentence = "the arguments are files or folders of pairs"},
    {"strict", 0, FLAG_ARG, AT(pairs.strict), "false", .command_line_only = true,
     .sentence = "with --pairs: a file without question is an error"},
    END};

static const struct option_row fix_rows[] = {{"apply", 0, FLAG_ARG, AT(fix.apply), "false", .command_line_only = true,
                                              .sentence = "print the SQL alone: the repaired one, or else the old one"},
                                             END};

static const struct option_row explain_rows[] = {
    {"premise", 'p', FLAG_ARG, AT(explain.premise), "false", .command_line_only = true,
     .sentence = "print what a verifier is given, instead of prose"},
    {"words", 'w', FLAG_ARG, AT(explain.words), "false", .command_line_only = true,
     .sentence = "print what each word of the question stands for in the statement, instead of prose"},
    END};

static const struct option_row replay_rows[] = {
    {"workers", 'j', OPT_INT, "N", AT(replay.workers), "0", .min = 0, .max = 256,
     .sentence = "threads that judge; 0: one a processor"},
    {"window", 0, OPT_INT, "N", AT(replay.window), "0", .min = 0, .max = 65536,
     .sentence = "questions in flight at most, and so verdicts waiting for their turn; 0: eight a worker"},
    {"unordered", 'u', FLAG_ARG, AT(replay.unordered), "false",
     .sentence = "write each verdict as it comes, not in the order of the log"},
    {"index-cache-bytes", 0, OPT_INT, "BYTES", AT(replay.cache_bytes), "0", .min = 0, .max = 1e12,
     .sentence = "memory for schema indexes kept between questions; 0: 96 MiB"},
    {"strict", 0, FLAG_ARG, AT(replay.strict), "false",
     .sentence = "stop at the first line that is no request, with exit status 2"},
    {"out", 'o', OPT_TEXT, "FILE", AT(replay.out), .command_line_only = true,
     .sentence = "write verdicts to this file"},
    {"resume", 'r', FLAG_ARG, AT(replay.resume), "false", .command_line_only = true,
     .sentence = "continue FILE of --out: drop its torn last line and judge what it lacks"},
    {"force", 0, FLAG_ARG, AT(replay.force), "false", .command_line_only = true, .sentence = "overwrite FILE of --out"},
    END};

static const struct option_row range_rows[] = {
    {"from-topic", 0, OPT_TEXT, "TOPIC", AT(past.from_topic), .command_line_only = true,
     .sentence = "read the records of this topic: replay judges them, in place of a log, train calibration takes "
                 "feedback from it, link judge traces"},
    {"from-offset", 0, OPT_INT, "N", AT(past.from_offset), "-1", .min = -1, .max = 1LL << 47, .command_line_only = true,
     .sentence = "first offset, in every partition; not set: the oldest record"},
    {"from-time", 0, OPT_TEXT, "TIME", AT(past.from_time), .command_line_only = true,
     .sentence = "first time: 2026-03-01T12:00:00Z (RFC 3339), or milliseconds since 1970"},
    {"to-offset", 0, OPT_INT, "N", AT(past.to_offset), "-1", .min = -1, .max = 1LL << 47, .command_line_only = true,
     .sentence = "offset at which to stop, itself not read; not set: where the topic ends at the start"},
    {"to-time", 0, OPT_TEXT, "TIME", AT(past.to_time), .command_line_only = true,
     .sentence = "time at which to stop, itself not read"},
    END};

static const struct option_row past_rows[] = {
    {"to-topic", 0, OPT_TEXT, "TOPIC", AT(past.to_topic), .command_line_only = true,
     .sentence = "write verdicts to this topic, in place of a file"},
    {"group", 0, OPT_TEXT, "NAME", AT(past.group), "assay-replay", .command_line_only = true,
     .sentence = "consumer group whose offsets say how far a replay into a topic has come"},
    {"feed", 0, OPT_TEXT, "TOPIC", AT(past.feed), .command_line_only = true,
     .sentence = "judge nothing: send the log's requests to this topic of a fleet"},
    {"answers", 0, OPT_TEXT, "TOPIC", AT(past.answers), BUS_VERDICTS, .command_line_only = true,
     .sentence = "where the fleet's verdicts appear, for --feed with --out"},
    {"wait-ms", 0, OPT_INT, "MS", AT(past.wait_ms), "60000", .min = 0, .max = 86400000,
     .sentence = "with --feed and --out: how long to wait after the last verdict for the next one"},
    {"rate", 0, OPT_REAL, "N", AT(past.rate), "0", .min = 0, .max = 1e6,
     .sentence = "requests a second at most; 0: any"},
    {"speed", 0, OPT_REAL, "X", AT(past.speed), "0", .min = 0, .max = 1e9,
     .sentence = "keep the distances in time of the original, divided by X; a log has them as `time` of each line; "
                 "0: no distances"},
    END};

static const struct option_row diff_rows[] = {
    {"tolerance", 0, OPT_REAL, "P", AT(diff.tolerance), "1e-6", .min = 0, .max = 1,
     .sentence = "how far p_correct may move and still be the same; verdicts are written with six digits"},
    {"explanations", 0, FLAG_ARG, AT(diff.explanations), "false", .sentence = "compare explanations too"},
    {"gold", 0, FLAG_ARG, AT(diff.gold), "false", .command_line_only = true,
     .sentence = "run the gold queries and both answers on the databases of --db-root"},
    {"log", 0, OPT_TEXT, "LOG", AT(diff.log), .command_line_only = true,
     .sentence = "take gold from this query log, by id, in place of the verdicts'"},
    {"list", 0, OPT_INT, "N", AT(diff.list), "50", .min = 0, .max = 1e15,
     .sentence = "changes listed as text; 0: all. Other formats list all"},
    END};

static const struct option_row report_rows[] = {
    {"html", 0, OPT_TEXT, "FILE", AT(report.html), .command_line_only = true,
     .sentence = "write one page that needs no server, with charts and a table of verdicts"},
    {"gold", 0, FLAG_ARG, AT(report.gold), "false", .command_line_only = true,
     .sentence = "run the gold queries and the answers on the databases of --db-root, and keep in the index which are "
                 "right"},
    {"log", 0, OPT_TEXT, "LOG", AT(report.log), .command_line_only = true,
     .sentence = "the query log that was judged, for questions, and for gold where the verdicts have none"},
    {"rows", 0, OPT_INT, "N", AT(report.rows), "1000", .min = 1, .max = 1000,
     .sentence = "verdicts in the table of --html: all of a run that has no more, else the most telling ones"},
    END};

static const struct option_row eval_rows[] = {
    {"profile", 0, FLAG_ARG, AT(eval.profile), "false", .sentence = "share of the time spent by each signal"},
    {"gold", 0, FLAG_ARG, AT(eval.gold), "false", .command_line_only = true,
     .sentence = "instead: how often each signal fires on the log's gold queries"},
    {"folds", 0, FLAG_ARG, AT(eval.folds), "false",
     .sentence = "also fit the models five-fold by database, beside a majority vote and the best single signal"},
    {"bootstrap", 0, OPT_INT, "N", AT(eval.bootstrap), "1000", .min = 0, .max = 100000,
     .sentence = "resamples behind each 95 % interval; 0: no intervals"},
    {"labels", 0, OPT_TEXT, "FILE", AT(eval.labels), .command_line_only = true,
     .sentence = "write each candidate's label, as JSON: one array a line of the log"},
    {"plots", 0, OPT_TEXT, "DIR", AT(eval.plots), .command_line_only = true,
     .sentence = "draw calibration, precision over coverage and ROC as SVG files into this folder"},
    {"schema-only", 0, FLAG_ARG, AT(eval.schema_only), "false", .command_line_only = true,
     .sentence = "judge from the DDL of each database (a SQLite file) alone, as requests with a schema are; labels are "
                 "by execution as ever"},
    {"triggering", 0, FLAG_ARG, AT(eval.triggering), "false", .command_line_only = true,
     .sentence = "also: when to answer and when to ask a person, by P, label model, verifier, findings, votes and the "
                 "generator's own score"},
    END};

static const struct option_row calibrate_rows[] = {
    {"out", 'o', OPT_TEXT, "FILE", AT(calibrate.out), .command_line_only = true, .sentence = "the file to write"}, END};

static const struct option_row feedback_rows[] = {{"labels-wanted", 'n', OPT_INT, "N", AT(feedback.n), "200", .min = 1,
                                                   .max = 1000000, .command_line_only = true,
                                                   .sentence = "sample: verdicts to pick at most"},
                                                  END};

static const struct option_row examples_rows[] = {
    {"out", 'o', OPT_TEXT, "FILE|DSN", AT(examples.out), .command_line_only = true,
     .sentence = "build, add: the store to write, a file or a connection string of PostgreSQL"},
    {"question", 'Q', OPT_TEXT, "TEXT", AT(examples.question), .command_line_only = true,
     .sentence = "search: the question"},
    {"sql", 0, OPT_TEXT, "SQL", AT(examples.sql), .command_line_only = true, .sentence = "search: the wrong query"},
    {"error", 0, OPT_TEXT, "TEXT", AT(examples.error), .command_line_only = true,
     .sentence = "search: what is said against it"},
    {"source", 0, OPT_TEXT, "ID", AT(examples.source), .command_line_only = true,
     .sentence = "search: leave out what came of this request"},
    {"key", 0, OPT_CHOICE, "KEY", AT(examples.key), "hybrid", &EXAMPLES_KEYS(CHOICE)[1], .command_line_only = true,
     .sentence = "search: by which likeness"},
    {"nearest", 'k', OPT_INT, "N", AT(examples.n), "3", .min = 1, .max = 100, .command_line_only = true,
     .sentence = "search: how many"},
    {"likeness", 0, OPT_REAL, "SHARE", AT(examples.likeness), "0.98", .min = 0, .max = 1, .command_line_only = true,
     .sentence = "prune: from which likeness on two are one"},
    END};

static const struct option_row predictor_rows[] = {
    {"predictor", 0, OPT_TEXT, "FILE", AT(link.predictor),
     .sentence = "predictors of where a schema linker goes wrong, as `assay link train` wrote them"},
    {"link-alpha", 0, OPT_REAL, "SHARE", AT(link.alpha), "0.1", .min = 0.001, .max = 0.5,
     .sentence = "share of the tokens, or of the branching points, that the set of one layer may be wrong about"},
    {"layers", 'k', OPT_INT, "N", AT(link.layers), "3", .min = 1, .max = 64,
     .sentence = "layers whose sets are merged: those with the highest AUC on the calibration recording"},
    {"merge", 0, OPT_CHOICE, "HOW", AT(link.merge), "permuted", "majority|permuted",
     .sentence = "how sets of several layers become one: what --tau of them hold, or Algorithm 1"},
    {"tau", 0, OPT_REAL, "SHARE", AT(link.tau), "0.5", .min = 0.01, .max = 0.99, .sentence = "of --merge majority"},
    {"marginal", 0, FLAG_ARG, AT(link.marginal), "false",
     .sentence = "one threshold for all tokens, as in the paper; else one for branching points and one for the others"},
    {"near", 0, OPT_INT, "N", AT(link.near), "0", .min = 0, .max = 1000000,
     .sentence =
         "weigh the N nearest calibration points by likeness, where new questions are unlike the old; 0: all alike"},
    {"temperature", 0, OPT_REAL, "X", AT(link.temperature), "1", .min = 1e-6, .max = 1e6,
     .sentence = "of these weights: how fast they fall with the distance"},
    END};

static const struct option_row link_rows[] = {
    {"out", 'o', OPT_TEXT, "FILE", AT(link.out), .command_line_only = true,
     .sentence = "export, train: the file to write; - is standard output for export"},
    {"calibrate-on", 0, OPT_LIST, "RECORDING", AT(link.calibrate), .command_line_only = true,
     .sentence =
         "train: calibrate on this recording, of databases that neither the linker nor the predictors learned from"},
    {"units", 0, OPT_INT, "N", AT(link.units), "32", .min = 1, .max = 1024,
     .sentence = "train: hidden units of a perceptron"},
    {"epochs", 0, OPT_INT, "N", AT(link.epochs), "20", .min = 1, .max = 10000,
     .sentence = "train: times that a perceptron sees each token"},
    {"link-seed", 0, OPT_INT, "N", AT(link.seed), "1", .min = 0, .max = 1e15,
     .sentence = "train: of first weights and order"},
    {"ablation", 0, FLAG_ARG, AT(link.ablation), "false", .command_line_only = true,
     .sentence = "eval: also by alpha, number of layers, merge and form of calibration"},
    {"surrogate", 0, OPT_TEXT, "VERDICTS", AT(link.surrogate), .command_line_only = true,
     .sentence = "eval: verdicts of assay replay on the same questions; what their answers use confirms what the "
                 "linker wavers at"},
    {"follow", 0, FLAG_ARG, AT(link.follow), "false", .command_line_only = true,
     .sentence = "judge: with --from-topic, go on with what comes, until a signal"},
    END};

static const struct option_row train_rows[] = {
    {"out", 'o', OPT_TEXT, "FILE", AT(train.out), .command_line_only = true, .sentence = "the model file to write"},
    {"kind", 0, OPT_CHOICE, "KIND", AT(train.kind), "logistic", "logistic|trees", .sentence = "kind of classifier"},
    {"weak", 0, FLAG_ARG, AT(train.weak), "false",
     .sentence = "train the classifier on the label model's probabilities, not on labels"},
    {"recipe", 0, OPT_TEXT, "FILE", AT(train.recipe), .command_line_only = true,
     .sentence =
         "what the fit is made of, as YAML: a file, or {KEY: VALUE, ...} itself; docs/configuration.md has the keys"},
    {"seed", 0, OPT_INT, "N", AT(train.seed), "1", .min = 0, .max = 1e15, .sentence = "seed of all that is drawn"},
    {"cross", 0, FLAG_ARG, AT(train.cross), "false",
     .sentence = "verifier: only print what held-out databases give, write no model"},
    {"scores", 0, OPT_TEXT, "FILE", AT(train.scores), .command_line_only = true,
     .sentence = "verifier: write each candidate's held-out score to this file, tab-separated"},
    {"verifier", 0, OPT_TEXT, "FILE", AT(train.verifier),
     .sentence = "calibration: the verifier's file that is completed; not set: the one of --out"},
    END};

/* Keys of a training recipe. */
static const struct option_row recipe_rows[] = {
    {"mutants", 0, OPT_INT, "N", AT(train.mutants), "4", .min = 0, .max = 64,
     .sentence = "mutants of the gold query that serve as candidates where a line has none"},
    {"prior", 0, OPT_REAL, "P", AT(train.prior), "-1", .min = -1, .max = 1,
     .sentence = "share of correct candidates that anchors the label model; -1: as labelled in the logs"},
    {"trust", 0, OPT_REAL, "WEIGHT", AT(train.trust), "10", .min = 0, .max = 100,
     .sentence = "weight of the belief that a signal is more often right than not, against the evidence of the logs"},
    {"target-prior", 0, OPT_REAL, "P", AT(train.target_prior), "-1", .min = -1, .max = 1,
     .sentence =
         "share of correct candidates where the model will serve, when the training logs (mutants) have another; "
         "-1: the same"},
    {"unsolved", 0, OPT_REAL, "SHARE", AT(train.unsolved), "0", .min = 0, .max = 1,
     .sentence = "in this share of the questions leave the right candidates out: for logs of a generator that was "
                 "trained on them"},
    {"views", 0, FLAG_ARG, AT(train.views), "true",
     .sentence = "learn also from what the other candidates of a request say: rank, votes, agreement; no where the "
                 "training logs have made-up candidates"},
    {"doubles", 0, OPT_INT, "N", AT(train.doubles), "3", .min = 0, .max = 64,
     .sentence = "verifier: mutants of mutants a question"},
    {"favourites", 0, OPT_INT, "N", AT(train.favourites), "0", .min = 0, .max = 64,
     .sentence =
         "verifier: wrong mutants a question that a verifier which has not seen the database likes best, a round"},
    {"favourite-rounds", 0, OPT_INT, "N", AT(train.favourite_rounds), "1", .min = 1, .max = 10,
     .sentence = "verifier: searches for favourites, each with a verifier that has learned from the last"},
    {"pool", 0, OPT_INT, "N", AT(train.pool), "16", .min = 1, .max = 256,
     .sentence = "verifier: mutants, and mutants of mutants, a question among which favourites are searched"},
    {"siblings", 0, OPT_INT, "N", AT(train.siblings), "5", .min = 0, .max = 16,
     .sentence = "verifier: gold queries of the likest other questions on the database, a question"},
    {"rounds", 0, OPT_INT, "N", AT(train.rounds), "300", .min = 1, .max = 10000, .sentence = "verifier: trees"},
    {"depth", 0, OPT_INT, "N", AT(train.depth), "6", .min = 1, .max = 16, .sentence = "verifier: depth of a tree"},
    {"rank", 0, OPT_REAL, "WEIGHT", AT(train.rank), "3", .min = 0, .max = 1000,
     .sentence = "verifier: weight of the loss that sets wrong candidates against the right ones of their question"},
    {"focal-gamma", 0, OPT_REAL, "GAMMA", AT(train.focal_gamma), "0", .min = 0, .max = 10,
     .sentence = "verifier: focal loss, how fast easy candidates lose weight; 0: log loss"},
    {"focal-alpha", 0, OPT_REAL, "ALPHA", AT(train.focal_alpha), "0.5", .min = 0, .max = 1,
     .sentence = "verifier: focal loss, the weight of right candidates against wrong ones"},
    {"right-share", 0, OPT_REAL, "SHARE", AT(train.right_share), "0.5", .min = 0.01, .max = 0.99,
     .sentence = "verifier: of all weight, that of right candidates"},
    {"hard", 0, OPT_REAL, "WEIGHT", AT(train.hard), "0", .min = 0, .max = 100,
     .sentence = "verifier: extra weight of wrong candidates that looked right to a first model"},
    {"by-chance", 0, OPT_REAL, "WEIGHT", AT(train.by_chance), "0.2", .min = 0, .max = 1,
     .sentence = "verifier: weight of mutants and siblings with the right result, which may have it by chance"},
    {"without", 0, OPT_LIST, "GROUP", AT(train.without), NULL,
     "shape|schema|values|operators|result|alignment|joins|links|components|signals",
     .sentence = "verifier: leave this group of features out (repeat the flag)"},
    END};

static const struct option_row mutate_rows[] = {{"db", 'd', OPT_TEXT, "DB", AT(mutate.db), .command_line_only = true,
                                                 .sentence = "mutate the SQL given, against this database"},
                                                {"count", 'n', OPT_INT, "N", AT(mutate.n), "8", .min = 1, .max = 1000,
                                                 .command_line_only = true, .sentence = "mutants a query"},
                                                {"seed", 0, OPT_INT, "N", AT(mutate.seed), "1", .min = 0, .max = 1e15,
                                                 .command_line_only = true, .sentence = "seed of the choice"},
                                                END};

static const struct option_row doctor_rows[] = {
    {"db", 'd', OPT_TEXT, "FILE|DSN", AT(doctor.db), .command_line_only = true,
     .sentence = "the database: a SQLite file, or a server's connection string"},
    {"catalogue", 0, FLAG_ARG, AT(doctor.catalogue), "false", .command_line_only = true,
     .sentence = "look at every database of the configuration (section `databases`)"},
    END};

static const struct option_row config_rows[] = {{"origin", 0, FLAG_ARG, AT(config.origin), "false",
                                                 .command_line_only = true,
                                                 .sentence = "say for each value where it comes from"},
                                                END};

static const struct option_row kafka_rows[] = {
    {"servers", 0, OPT_TEXT, "HOST:PORT,...", AT(kafka.servers),
     .sentence = "brokers to ask first (bootstrap.servers)"},
    {"connect-ms", 0, OPT_INT, "MS", AT(kafka.connect_ms), "10000", .min = 1, .max = 3600000,
     .sentence = "how long to wait for a broker at the start"},
    {"property", 'X', OPT_PROPERTY, "NAME=VALUE", AT(kafka.properties),
     .sentence =
         "set any property of librdkafka, as sasl.username=me (repeat the flag); in a file as a key of its own; "
         "a value file:PATH is read from there"},
    END};

static const struct option_row topics_rows[] = {
    {"partitions", 'p', OPT_INT, "N", AT(topics.partitions), "24", .min = 1, .max = 10000,
     .sentence = "partitions of requests, results and verdicts, which go together"},
    {"task-partitions", 0, OPT_INT, "N", AT(topics.task_partitions), "24", .min = 1, .max = 10000,
     .sentence = "partitions of the tasks of each family: as many workers can share them"},
    {"replicas", 0, OPT_INT, "N", AT(topics.replicas), "0", .min = 0, .max = 100,
     .sentence = "copies of each partition; 0: three, or as many as there are brokers"},
    {"retention-hours", 0, OPT_INT, "HOURS", AT(topics.retention_hours), "72", .min = 1, .max = 876000,
     .sentence = "how long requests, tasks and results are kept: the longest outage to survive, and less than the "
                 "brokers keep offsets"},
    {"verdict-retention-hours", 0, OPT_INT, "HOURS", AT(topics.verdict_retention_hours), "168", .min = 1, .max = 876000,
     .sentence = "how long verdicts are kept"},
    {"letter-retention-hours", 0, OPT_INT, "HOURS", AT(topics.letter_retention_hours), "720", .min = 1, .max = 876000,
     .sentence = "how long dead letters are kept"},
    {"feedback-retention-hours", 0, OPT_INT, "HOURS", AT(topics.feedback_retention_hours), "9600", .min = 1,
     .max = 876000, .sentence = "how long feedback is kept: it is little, and comes in slowly"},
    END};

static const struct option_row coordinator_rows[] = {
    {"group", 0, OPT_TEXT, "NAME", AT(coordinator.group), "assay-coordinator",
     .sentence = "the coordinators that share the requests"},
    {"instance", 0, OPT_TEXT, "NAME", AT(coordinator.instance), "0",
     .sentence = "which of the group this is: one name for each process, the same after a restart"},
    {"from", 0, OPT_TEXT, "WHERE", AT(coordinator.from), NULL,
     .sentence = "where a group begins that has never read: beginning or end; without, it is refused"},
    {"max-open", 0, OPT_INT, "N", AT(coordinator.max_open), "64", .min = 1, .max = 16384,
     .sentence = "requests open at a time"},
    {"producers", 0, OPT_INT, "N", AT(coordinator.producers), "1", .min = 1, .max = 16,
     .sentence = "transactions of verdicts beside each other, each of its share of the partitions"},
    {"task-messages", 0, OPT_CHOICE, "WHAT", AT(coordinator.task_messages), "each", "each|family|request",
     .sentence = "what shares a message to the workers: each task has its own; those of a request for one family; all "
                 "of a request, in assay.tasks.all, which workers of all families read; upgrade workers before"},
    {"drain-ms", 0, OPT_INT, "MS", AT(coordinator.drain_ms), "30000", .min = 1, .max = 3600000,
     .sentence = "time to finish what is open after SIGTERM, before the process ends at once"},
    {"rows-later", 0, FLAG_ARG, AT(coordinator.rows_later), "false",
     .sentence = "explain the rows behind the answer alone, in another round, in place of those behind each candidate"},
    END};

static const struct option_row serve_rows[] = {
    {"http", 0, OPT_TEXT, "HOST:PORT", AT(serve.http), .sentence = "where callers are answered"},
    {"runs", 0, OPT_TEXT, "DIR", AT(serve.runs),
     .sentence = "show the files of verdicts in this folder, and keep an index beside each"},
    {"open", 0, FLAG_ARG, AT(serve.open), "false",
     .sentence = "without a fleet: answer callers of other machines too; something in front of it knows who may ask"},
    {"host", 0, OPT_LIST, "NAME", AT(serve.hosts),
     .sentence = "a name that callers ask by, beside those of this machine (repeat the flag): any other Host is "
                 "refused; not set: where neither a fleet nor --open nor --tokens is, this machine's alone, else any"},
    {"wait-ms", 0, OPT_INT, "MS", AT(serve.wait_ms), "30000", .min = 0, .max = 3600000,
     .sentence = "how long a caller waits for the verdict who does not say"},
    {"max-wait-ms", 0, OPT_INT, "MS", AT(serve.max_wait_ms), "120000", .min = 0, .max = 3600000,
     .sentence = "how long one may ask to wait"},
    {"work-ms", 0, OPT_INT, "MS", AT(serve.work_ms), "10000", .min = 0, .max = 86400000,
     .sentence =
         "without a fleet: time that workers spend on one request, all statements and a repair together; 0: any"},
    {"max-waiting", 0, OPT_INT, "N", AT(serve.max_waiting), "1000", .min = 1, .max = 100000,
     .sentence = "callers who may wait at a time; the next is told to come again"},
    {"per-address", 0, OPT_INT, "N", AT(serve.per_address), "64", .min = 0, .max = 100000,
     .sentence =
         "connections of one address that come in or are answered, not those that wait; one more ends the oldest; "
         "0: any, for callers behind proxies"},
    {"per-tenant", 0, OPT_INT, "N", AT(serve.per_tenant), "64", .min = 0, .max = 100000,
     .sentence =
         "with --tokens: requests of one tenant that are judged at a time; the next is told to come again, a batch "
         "waits; 0: any"},
    {"max-kb", 0, OPT_INT, "KIB", AT(serve.max_kb), "1024", .min = 1, .max = 8192, .sentence = "size of a request"},
    {"keep", 0, OPT_TEXT, "FILE", AT(serve.keep), NULL,
     .sentence = "keep verdicts in this file (SQLite) too, so that they are there by id after a restart; not set: in "
                 "memory alone"},
    {"keep-mb", 0, OPT_INT, "MIB", AT(serve.keep_mb), "64", .min = 1, .max = 65536,
     .sentence = "for the newest verdicts, to be asked for by id: in memory, and of the file"},
    {"tokens", 0, OPT_TEXT, "FILE", AT(serve.tokens), NULL,
     .sentence = "without a fleet: who may ask what, by hashes of bearer tokens; read again when it changes"},
    {"tls-cert", 0, OPT_TEXT, "FILE", AT(serve.tls_cert), NULL,
     .sentence = "speak TLS with this certificate and those that vouch for it (PEM); read again when it changes"},
    {"tls-key", 0, OPT_TEXT, "FILE", AT(serve.tls_key), NULL, .sentence = "the certificate's key (PEM)"},
    {"look-back-ms", 0, OPT_INT, "MS", AT(serve.look_back_ms), "300000", .min = 0, .max = 86400000,
     .sentence = "how old verdicts are read at the start, for callers whose replica died"},
    {"group", 0, OPT_TEXT, "NAME", AT(serve.group), BUS_GROUP, .sentence = "the coordinators whose verdicts count"},
    {"requests", 0, OPT_TEXT, "TOPIC", AT(serve.requests), BUS_REQUESTS, .sentence = "where requests go"},
    {"verdicts", 0, OPT_TEXT, "TOPIC", AT(serve.verdicts), BUS_VERDICTS, .sentence = "where verdicts come from"},
    {"letters", 0, OPT_TEXT, "TOPIC", AT(serve.letters), BUS_DLQ, .sentence = "where requests end that are none"},
    {"drain-ms", 0, OPT_INT, "MS", AT(serve.drain_ms), "30000", .min = 1, .max = 3600000,
     .sentence = "time to answer those who wait after SIGTERM, before the process ends at once"},
    END};

static const struct option_row mcp_rows[] = {
    {"db", 'd', OPT_TEXT, "FILE|DSN", AT(mcp.db), .command_line_only = true,
     .sentence = "only this database: a name of the catalogue, a SQLite file, or a connection string of PostgreSQL"},
    END};

static const struct option_row dlq_rows[] = {
    {"topic", 0, OPT_LIST, "TOPIC", AT(dlq.topics), .command_line_only = true,
     .sentence = "topic of dead letters (repeat the flag); not set: assay.dlq and assay.tasks.dlq"},
    {"code", 0, OPT_TEXT, "CODE", AT(dlq.code), .command_line_only = true,
     .sentence = "only letters with this code, as malformed or rejected"},
    {"from-offset", 0, OPT_INT, "N", AT(dlq.from_offset), "-1", .min = -1, .max = 1LL << 47, .command_line_only = true,
     .sentence = "list: from this offset of each partition on; -1: from the oldest"},
    {"from-time", 0, OPT_TEXT, "TIME", AT(dlq.from_time), .command_line_only = true,
     .sentence = "list: letters since then, as 2026-01-31T12:00:00Z"},
    {"limit", 'n', OPT_INT, "N", AT(dlq.limit), "0", .min = 0, .max = 1e15, .command_line_only = true,
     .sentence = "this many letters at most; 0: all there are now"},
    {"values", 0, FLAG_ARG, AT(dlq.values), "false", .command_line_only = true,
     .sentence = "list: show the messages too, and what their texts quote: questions, SQL and its literals"},
    {"dry-run", 0, FLAG_ARG, AT(dlq.dry_run), "false", .command_line_only = true,
     .sentence = "redrive: say what would be sent, and send nothing"},
    END};

static const struct option_row worker_rows[] = {
    {"group", 0, OPT_TEXT, "NAME", AT(worker.group), "assay-worker", .sentence = "the workers that share the tasks"},
    {"threads", 'j', OPT_INT, "N", AT(worker.threads), "0", .min = 0, .max = 256,
     .sentence = "threads that judge; 0: one a processor"},
    {"processes", 0, OPT_INT, "N", AT(worker.processes), "8", .min = 1, .max = 100000,
     .sentence = "worker processes of the fleet, assumed for their shares of max_statements when no Redis counts"},
    {"executor", 0, OPT_CHOICE, "WHERE", AT(worker.executor), "child", "child|inline",
     .sentence =
         "where statements on SQLite run: in a child process of each thread, which is ended when one overruns its "
         "limit or crashes, or in the worker itself"},
    {"slow-ms", 0, OPT_INT, "MS", AT(worker.slow_ms), "20", .min = 1, .max = 3600000,
     .sentence = "a candidate that takes longer goes on in a thread beside, and those behind it are judged meanwhile"},
    {"slow-threads", 0, OPT_INT, "N", AT(worker.slow_threads), "2", .min = 0, .max = 64,
     .sentence = "such candidates at a time, of each thread of --threads; 0: those behind wait for them"},
    {"drain-ms", 0, OPT_INT, "MS", AT(worker.drain_ms), "30000", .min = 1, .max = 3600000,
     .sentence = "time to finish what is in hand after SIGTERM, before the process ends at once"},
    END};

static const struct option_row observe_rows[] = {
    {"listen", 0, OPT_TEXT, "HOST:PORT", AT(observe.listen),
     .sentence = "answer GET /metrics, /healthz and /readyz there, without access control; not set: nowhere"},
    {"stall-ms", 0, OPT_INT, "MS", AT(observe.stall_ms), "120000", .min = 1000, .max = 86400000,
     .sentence = "a loop that has not turned for so long is stuck, which /healthz then says"},
    {"log-level", 0, OPT_CHOICE, "LEVEL", AT(observe.log_level), "info", "error|warn|info|debug",
     .sentence = "what is logged on standard error; only debug shows literals of SQL and text from outside"},
    {"log-form", 0, OPT_CHOICE, "FORM", AT(observe.log_form), "auto", "auto|text|json",
     .sentence = "how it is logged; auto means text on a terminal and JSON lines elsewhere"},
    {"otlp", 0, OPT_TEXT, "URL|env", AT(observe.otlp),
     .sentence =
         "send traces to this OpenTelemetry collector, by OTLP over HTTP; its base address, without /v1/traces; env: "
         "as OTEL_EXPORTER_OTLP_ENDPOINT says; not set: none (docs/tracing.md)"},
    {"otlp-headers-file", 0, OPT_TEXT, "FILE", AT(observe.otlp_headers_file),
     .sentence = "lines \"Name: value\" that the collector is sent, as a key"},
    {"otlp-ca-file", 0, OPT_TEXT, "FILE", AT(observe.otlp_ca_file),
     .sentence = "certificates to trust instead of the system's"},
    {"otlp-proxy", 0, OPT_TEXT, "URL", AT(observe.otlp_proxy),
     .sentence = "proxy to the collector; not set: none, whatever the environment says"},
    {"otlp-ratio", 0, OPT_REAL, "SHARE", AT(observe.otlp_ratio), "1", .min = 0, .max = 1,
     .sentence = "share of the requests without a traceparent that are traced; where there is one, it says"},
    END};

const struct option_group options_general = {"general", "Everywhere", general_rows};
const struct option_group options_output = {"output", "Output", output_rows};
const struct option_group options_judge = {"judge", "Judging", judge_rows};
const struct option_group options_verifier = {"verifier", "Remote verifier", verifier_rows};
const struct option_group options_repair = {"repair", "Repair", repair_rows};
const struct option_group options_encoder = {"encoder", "Vectors of examples", encoder_rows};
const struct option_group options_llm = {"llm", "Language models", llm_rows};
const struct option_group options_consult = {"consult", "When language models are asked", consult_rows};
const struct option_group options_corrector = {"corrector", "Corrector", corrector_rows};
const struct option_group options_polish = {"polish", "Polished explanation", polish_rows};
const struct option_group options_database = {"database", "Databases", database_rows};
const struct option_group options_schema = {"schema", "Schema index", schema_rows};
const struct option_group options_redis = {"redis", "Index cache of a fleet", redis_rows};
const struct option_group options_verdicts = {"verdicts", "Verdicts that are kept", verdicts_rows};
const struct option_group options_signals = {"signals", "Signals", signals_rows};
const struct option_group options_log = {"log", "The log", log_rows};
const struct option_group options_check = {"check", "The question", check_rows};
const struct option_group options_ddl = {"ddl", "A schema in place of a database", ddl_rows};
const struct option_group options_answer = {"check", "Answers, and pairs in files", answer_rows};
const struct option_group options_fix = {"fix", "Repair", fix_rows};
const struct option_group options_explain = {"explain", "Explanation", explain_rows};
const struct option_group options_replay = {"replay", "Replay", replay_rows};
const struct option_group options_past = {"past", "Past traffic and fleets", past_rows};
const struct option_group options_range = {"stretch", "A range of a topic", range_rows};
const struct option_group options_diff = {"diff", "Comparison", diff_rows};
const struct option_group options_report = {"report", "Report", report_rows};
const struct option_group options_eval = {"eval", "Evaluation", eval_rows};
const struct option_group options_calibrate = {"calibrate", "Calibration", calibrate_rows};
const struct option_group options_feedback = {"feedback", "Feedback", feedback_rows};
const struct option_group options_examples = {"examples", "Examples", examples_rows};
const struct option_group options_predictor = {"linker", "Doubt in a schema linker", predictor_rows};
const struct option_group options_link = {"link", "Linking", link_rows};
const struct option_group options_train = {"train", "Training", train_rows};
const struct option_group options_recipe = {"train", "Training recipe", recipe_rows, .recipe = true};
const struct option_group options_mutate = {"mutate", "Mutation", mutate_rows};
const struct option_group options_doctor = {"doctor", "Examination", doctor_rows};
const struct option_group options_config = {"config", "Configuration", config_rows};
const struct option_group options_kafka = {"kafka", "Kafka", kafka_rows};
const struct option_group options_topics = {"topics", "Topics", topics_rows};

const struct option_group options_coordinator = {"coordinator", "Coordinator", coordinator_rows};
const struct option_group options_serve = {"serve", "HTTP callers", serve_rows};
const struct option_group options_mcp = {"mcp", "Agents", mcp_rows};
const struct option_group options_dlq = {"dlq", "Dead letters", dlq_rows};
const struct option_group options_worker = {"worker", "Worker", worker_rows};
const struct option_group options_observe = {"observe", "What an operator sees", observe_rows};

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
        return err_set(err, ERR_CONFIG, "%s takes %s from %g to %g, not '%.80s'", row->name,
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
    if (!equals || equals == text) return err_set(err, ERR_CONFIG, "%s is NAME=VALUE", row->name);
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
        return err_set(err, ERR_CONFIG, "%s is one of %s, not '%.80s'", row->name, row->choices, text);
    if (row->check && row->check(text, err)) return err->code = ERR_CONFIG;
    switch (row->type) {
    case OPT_FLAG:
        if (option_parse_bool(text, field(row, settings))) return ERR_OK;
        return err_set(err, ERR_CONFIG, "%s is yes or no, not '%.80s'", row->name, text);
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
