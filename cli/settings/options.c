/* Defines the tables of all options (options.h). Each group is one array of rows, in the order of the documentation.
 * --help, the man pages and docs/configuration.md print the texts of the rows. The functions at the end of the file
 * convert between text and field, by the type of the row. A new option is one row here and one field in settings.h. */
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
     .sentence = "configuration file that overrides the files of the system and the user"},
    {"color", 0, OPT_CHOICE, "WHEN", AT(general.color), "auto", "auto|always|never",
     .sentence = "when to colour standard output; auto: on a terminal, if NO_COLOR is not set"},
    {"quiet", 'q', FLAG_ARG, AT(general.quiet), "false",
     .sentence = "print only errors on standard error: no progress, no summary"},
    END};

static const struct option_row output_rows[] = {
    {"format", 'f', OPT_CHOICE, "FORMAT", AT(output.format), "auto", "auto|text|jsonl|json|csv|sarif|junit|github",
     .sentence = "output format; auto: text on a terminal, jsonl elsewhere"},
    END};

#define CHOICE(id, name, more)              "|" #name
#define CHOICE_SENTENCE(id, name, sentence) #name ": " sentence "; "

static const struct option_row judge_rows[] = {
    {"strategy", 0, OPT_CHOICE, "NAME", AT(judge.strategy), "auto", "auto" MSG_STRATEGIES(CHOICE),
     .sentence = "how to choose the answer. " MSG_STRATEGIES(
         CHOICE_SENTENCE) "auto: the strategy that measured best (docs/results.md)"},
    {"policy", 0, OPT_CHOICE, "NAME", AT(judge.policy), "best_effort", &MSG_POLICIES(CHOICE)[1],
     .sentence = "if no candidate validates, return the best one, none (abstain), or a question to the user (ask)"},
    {"order", 0, OPT_CHOICE, "NAME", AT(judge.order), "auto", "auto" MSG_ORDERS(CHOICE),
     .sentence = "how the generator ordered the candidates, if the request does not say so. " MSG_ORDERS(
         CHOICE_SENTENCE) "auto: as feedback on the generator records it, otherwise unknown"},
    {"repair", 0, OPT_CHOICE, "WHAT", AT(judge.repair), "off", &MSG_REPAIRS(CHOICE)[1],
     .sentence = "what to do with a similar query that is more likely correct than the answer. " MSG_REPAIRS(
         CHOICE_SENTENCE) "see docs/correction.md"},
    {"repair-margin", 0, OPT_REAL, "P", AT(judge.repair_margin), "0", .min = 0, .max = 1,
     .sentence = "minimum gain in P(correct) for a repair; 0: the default of the model"},
    {"ask-gain", 0, OPT_REAL, "P", AT(judge.ask_gain), "0.05", .min = 0.001, .max = 1,
     .sentence = "with policy ask: minimum expected gain in P(correct) for asking the user a question (docs/ask.md)"},
    {"threshold", 0, OPT_REAL, "P", AT(judge.threshold), "0", .min = 0, .max = 1,
     .sentence = "minimum P(correct) to validate; 0: model default"},
    {"alpha", 0, OPT_REAL, "SHARE", AT(judge.alpha), "0", .min = 0, .max = 1,
     .sentence = "maximum share of wrong answers among validated ones; replaces --threshold. A --calibration file "
                 "guarantees this share; without the file, the threshold is 1 - alpha"},
    {"delta", 0, OPT_REAL, "SHARE", AT(judge.delta), "0.1", .min = 0.000001, .max = 0.5,
     .sentence = "probability that the guarantee of --alpha fails; the confidence of the guarantee is 1 - delta"},
    {"calibration", 0, OPT_TEXT, "FILE", AT(judge.calibration),
     .sentence = "file written by `assay calibrate`, needed for the guarantee of --alpha"},
    {"watch-drift", 0, FLAG_ARG, AT(judge.watch_drift), "true",
     .sentence = "withdraw the guarantee of --alpha when requests differ from the calibration data; set no for a log "
                 "that is sorted by database"},
    {"deadline-ms", 0, OPT_INT, "MS", AT(judge.deadline_ms), "0", .min = -1, .max = 86400000,
     .sentence =
         "time limit of a request, from its arrival; 0 means no limit, but 10 s in `assay serve` without --servers; "
         "-1: no limit. Servers and coordinators allow ten minutes at most"},
    {"max-iterations", 0, OPT_INT, "N", AT(judge.max_iterations), "0", .min = 0, .max = 10000,
     .sentence = "maximum number of candidates to judge; 0: all"},
    {"speculate", 0, OPT_INT, "N", AT(judge.speculate), "0", .min = 0, .max = 64,
     .sentence = "number of candidates to judge concurrently; it does not change the verdict. With 0, one candidate is "
                 "judged at a time, or more while the workers of a fleet are idle"},
    {"family", 0, OPT_LIST, "NAME", AT(judge.families), NULL, "structure|join|execution|value|question|explain|llm",
     .sentence = "run only signals of this family (repeat the flag for more families)"},
    {"label-model", 0, OPT_TEXT, "FILE", AT(judge.label_model),
     .sentence = "label model file to use instead of the installed one; none: no label model"},
    {"classifier", 0, OPT_TEXT, "FILE", AT(judge.classifier),
     .sentence = "classifier file to use instead of the installed one; none: no classifier"},
    {"verifier", 0, OPT_TEXT, "FILE", AT(judge.verifier),
     .sentence = "file of the built-in verifier, instead of the installed one; none: no built-in verifier"},
    {"explain", 0, FLAG_ARG, AT(judge.explain), "true",
     .sentence =
         "explain each candidate in words, and let the verifier judge whether the explanation answers the question"},
    {"models", 0, OPT_TEXT, "DIR", AT(judge.models),
     .sentence = "directory of the model files; without it, the installed models are used"},
    {"expose", 0, OPT_CHOICE, "WHAT", AT(judge.expose), "values", "none|values|rows",
     .sentence = "data that findings, reports and verdicts may show"},
    {"deny-column", 0, OPT_LIST, "COLUMN", AT(judge.deny_columns),
     .sentence = "never run a statement that reads this column: column, table.column or table.* (repeat the flag)",
     .check = deny_name_check},
    {"deny-mode", 0, OPT_CHOICE, "MODE", AT(judge.deny_mode), "refuse", "refuse|hide",
     .sentence = "refuse: do not run statements that read a denied column; hide: run the statements and hide the "
                 "values of the column (no security boundary)"},
    END};

static const struct option_row verifier_rows[] = {
    {"verifier-backend", 0, OPT_CHOICE, "NAME", AT(verifier.backend), "none", "none|tei|chat",
     .sentence = "remote verifier to ask as well: a text-embeddings-inference server (tei) or a chat model (chat); if "
                 "it fails, the built-in verifier decides"},
    {"verifier-endpoint", 0, OPT_TEXT, "URL", AT(verifier.endpoint),
     .sentence = "base URL of the remote verifier; for a chat model, including /v1"},
    {"verifier-model", 0, OPT_TEXT, "NAME", AT(verifier.model), .sentence = "name of the chat model"},
    {"verifier-key-file", 0, OPT_TEXT, "FILE", AT(verifier.key_file),
     .sentence = "file whose first line is the API key of the remote verifier"},
    {"verifier-key-variable", 0, OPT_TEXT, "NAME", AT(verifier.key_variable),
     .sentence = "environment variable that holds the API key of the remote verifier"},
    {"verifier-ca-file", 0, OPT_TEXT, "FILE", AT(verifier.ca_file),
     .sentence = "file of CA certificates to trust instead of those of the system"},
    {"verifier-proxy", 0, OPT_TEXT, "URL", AT(verifier.proxy),
     .sentence = "proxy for connections to the remote verifier; without it, connections are direct, and proxy "
                 "variables of the environment are ignored"},
    {"verifier-prompt", 0, OPT_TEXT, "FILE", AT(verifier.prompt),
     .sentence =
         "file with your instructions for the chat model, instead of prompts/judge.txt; the first line is a version"},
    {"verifier-label", 0, OPT_TEXT, "NAME", AT(verifier.label),
     .sentence = "label of the tei model that means \"entailed\"; without it, Assay recognizes the label by its name"},
    {"verifier-timeout-ms", 0, OPT_INT, "MS", AT(verifier.timeout_ms), "10000", .min = 1, .max = 600000,
     .sentence = "timeout of one attempt to reach the remote verifier"},
    {"verifier-attempts", 0, OPT_INT, "N", AT(verifier.attempts), "3", .min = 1, .max = 10,
     .sentence = "maximum attempts for each question to the remote verifier"},
    {"verifier-threads", 0, OPT_INT, "N", AT(verifier.threads), "4", .min = 1, .max = 64,
     .sentence = "maximum concurrent questions to the remote verifier"},
    END};

static const struct option_row repair_rows[] = {
    {"examples", 0, OPT_TEXT, "FILE|DSN", AT(shots.path),
     .sentence = "store of corrected queries (`assay examples`): a file or a PostgreSQL connection string. Repairs "
                 "reuse similar examples and show them to the corrector"},
    {"examples-shots", 0, OPT_INT, "N", AT(shots.n), "3", .min = 1, .max = 10,
     .sentence = "number of examples shown to the corrector"},
    {"examples-key", 0, OPT_CHOICE, "KEY", AT(shots.key), "hybrid", &EXAMPLES_KEYS(CHOICE)[1],
     .sentence = "similarity measure that selects the examples"},
    END};

static const struct option_row encoder_rows[] = {
    {"encoder-endpoint", 0, OPT_TEXT, "URL", AT(encoder.endpoint),
     .sentence = "base URL, including /v1, of a model that computes embeddings of examples; without it, the built-in "
                 "model is used"},
    {"encoder-model", 0, OPT_TEXT, "NAME", AT(encoder.model), .sentence = "name of the embedding model"},
    {"encoder-key-file", 0, OPT_TEXT, "FILE", AT(encoder.key_file),
     .sentence = "file whose first line is the API key of the embedding model"},
    {"encoder-key-variable", 0, OPT_TEXT, "NAME", AT(encoder.key_variable),
     .sentence = "environment variable that holds the API key of the embedding model"},
    {"encoder-ca-file", 0, OPT_TEXT, "FILE", AT(encoder.ca_file),
     .sentence = "file of CA certificates to trust instead of those of the system"},
    {"encoder-proxy", 0, OPT_TEXT, "URL", AT(encoder.proxy),
     .sentence = "proxy for connections to the embedding model; without it, connections are direct, and proxy "
                 "variables of the environment are ignored"},
    {"encoder-timeout-ms", 0, OPT_INT, "MS", AT(encoder.timeout_ms), "2000", .min = 1, .max = 600000,
     .sentence = "timeout of one attempt to reach the embedding model"},
    {"encoder-attempts", 0, OPT_INT, "N", AT(encoder.attempts), "2", .min = 1, .max = 10,
     .sentence = "maximum attempts for each example or query"},
    END};

static const struct option_row llm_rows[] = {
    {"llm-endpoint", 0, OPT_LIST, "URL", AT(llm.endpoints),
     .sentence = "base URL, including /v1, of a language model that judges doubtful answers (family llm). Repeat the "
                 "flag for more endpoints; the prefix 3* triples an endpoint's share of the calls"},
    {"llm-model", 0, OPT_TEXT, "NAME", AT(llm.model.model),
     .sentence = "name of the language model, the same at all endpoints"},
    {"llm-key-file", 0, OPT_TEXT, "FILE", AT(llm.model.key_file),
     .sentence = "file whose first line is the API key of the language model"},
    {"llm-key-variable", 0, OPT_TEXT, "NAME", AT(llm.model.key_variable),
     .sentence = "environment variable that holds the API key of the language model"},
    {"llm-ca-file", 0, OPT_TEXT, "FILE", AT(llm.model.ca_file),
     .sentence = "file of CA certificates to trust instead of those of the system"},
    {"llm-proxy", 0, OPT_TEXT, "URL", AT(llm.model.proxy),
     .sentence = "proxy for connections to the endpoints; without it, connections are direct, and proxy variables of "
                 "the environment are ignored"},
    {"llm-prompts", 0, OPT_TEXT, "DIR", AT(llm.prompts),
     .sentence = "directory with your instructions, instead of prompts/signals.txt and prompts/signals/; the first "
                 "line of each file is its version"},
    {"llm-calls", 0, OPT_CHOICE, "HOW", AT(llm.calls), "combined", "combined|single",
     .sentence = "combined: one call for all signals of the family llm; single: one call for each signal"},
    {"llm-timeout-ms", 0, OPT_INT, "MS", AT(llm.model.timeout_ms), "30000", .min = 1, .max = 600000,
     .sentence = "timeout of one attempt to call the language model"},
    {"llm-attempts", 0, OPT_INT, "N", AT(llm.model.attempts), "2", .min = 1, .max = 10,
     .sentence = "maximum attempts at each endpoint"},
    {"llm-answer-tokens", 0, OPT_INT, "N", AT(llm.answer_tokens), "2048", .min = 64, .max = 100000,
     .sentence = "maximum tokens of one response"},
    {"llm-threads", 0, OPT_INT, "N", AT(llm.model.threads), "4", .min = 1, .max = 64,
     .sentence = "maximum concurrent calls of a process that judges without separate workers"},
    {"llm-requests-per-minute", 0, OPT_INT, "N", AT(llm.requests), "0", .min = 0, .max = 100000000,
     .sentence = "maximum calls per minute of all processes together, counted in Redis; without Redis, each process "
                 "counts alone, and a worker uses a share (--processes); 0 means no limit"},
    {"llm-tokens-per-minute", 0, OPT_INT, "N", AT(llm.tokens), "0", .min = 0, .max = 1000000000000,
     .sentence =
         "maximum tokens per minute, read and written, counted like --llm-requests-per-minute; 0 means no limit"},
    {"llm-money-per-minute", 0, OPT_REAL, "AMOUNT", AT(llm.money), "0", .min = 0, .max = 1e9,
     .sentence = "maximum cost per minute, at --llm-price-in and --llm-price-out, counted like "
                 "--llm-requests-per-minute; 0 means no limit"},
    {"llm-price-in", 0, OPT_REAL, "AMOUNT", AT(llm.price_in), "0", .min = 0, .max = 1e9,
     .sentence = "price of a million tokens that the model reads"},
    {"llm-price-out", 0, OPT_REAL, "AMOUNT", AT(llm.price_out), "0", .min = 0, .max = 1e9,
     .sentence = "price of a million tokens that the model writes"},
    {"llm-cache-entries", 0, OPT_INT, "N", AT(llm.entries), "4096", .min = 1, .max = 10000000,
     .sentence = "maximum number of responses cached in memory"},
    {"llm-cache-ttl-s", 0, OPT_INT, "S", AT(llm.ttl_s), "86400", .min = 1, .max = 31536000,
     .sentence = "lifetime of cached responses, in memory and in Redis"},
    END};

static const struct option_row consult_rows[] = {
    {"llm-when", 0, OPT_TEXT, "WHEN", AT(llm.when),
     .sentence = "when a language model judges the answer: never, always, or LOW:HIGH if P(correct) is in that range; "
                 "LOW:HIGH,disagree: also if signals and verifier disagree; default: 0.1:0.95,disagree with "
                 "--llm-endpoint, otherwise never"},
    {"llm-hit-rate", 0, OPT_REAL, "SHARE", AT(llm.hit_rate), "0.7", .min = 0.5, .max = 0.99,
     .sentence = "assumed share of queries that the language model judges correctly; a higher share gives its opinion "
                 "more weight"},
    {"llm-candidates", 0, OPT_INT, "N", AT(llm.candidates), "3", .min = 1, .max = 64,
     .sentence = "maximum candidates of a request that a language model judges"},
    {"llm-wait-ms", 0, OPT_INT, "MS", AT(llm.wait_ms), "60000", .min = 1, .max = 3600000,
     .sentence = "maximum wait for one opinion; after it, the verdict is made without the opinion"},
    {"llm-request-tokens", 0, OPT_INT, "N", AT(llm.request_tokens), "0", .min = 0, .max = 1000000000,
     .sentence =
         "number of tokens after which the language model judges no further candidate of a request; 0 means no limit"},
    END};

static const struct option_row corrector_rows[] = {
    {"corrector-endpoint", 0, OPT_TEXT, "URL", AT(corrector.endpoint),
     .sentence = "base URL, including /v1, of a chat model that proposes corrected queries for repairs; without it, no "
                 "model proposes queries"},
    {"corrector-model", 0, OPT_TEXT, "NAME", AT(corrector.model), .sentence = "name of the chat model"},
    {"corrector-key-file", 0, OPT_TEXT, "FILE", AT(corrector.key_file),
     .sentence = "file whose first line is the API key of the chat model"},
    {"corrector-key-variable", 0, OPT_TEXT, "NAME", AT(corrector.key_variable),
     .sentence = "environment variable that holds the API key of the chat model"},
    {"corrector-ca-file", 0, OPT_TEXT, "FILE", AT(corrector.ca_file),
     .sentence = "file of CA certificates to trust instead of those of the system"},
    {"corrector-proxy", 0, OPT_TEXT, "URL", AT(corrector.proxy),
     .sentence = "proxy for connections to the chat model; without it, connections are direct, and proxy variables of "
                 "the environment are ignored"},
    {"corrector-prompt", 0, OPT_TEXT, "FILE", AT(corrector.prompt),
     .sentence =
         "file with your instructions for the chat model, instead of prompts/correct.txt; the first line is a version"},
    {"corrector-timeout-ms", 0, OPT_INT, "MS", AT(corrector.timeout_ms), "30000", .min = 1, .max = 600000,
     .sentence = "timeout of one attempt to call the chat model"},
    {"corrector-attempts", 0, OPT_INT, "N", AT(corrector.attempts), "2", .min = 1, .max = 10,
     .sentence = "maximum attempts for each query"},
    {"corrector-threads", 0, OPT_INT, "N", AT(corrector.threads), "4", .min = 1, .max = 64,
     .sentence = "maximum concurrent calls of the chat model"},
    {"corrector-per-minute", 0, OPT_INT, "N", AT(corrector.per_minute), "0", .min = 0, .max = 1000000,
     .sentence = "maximum calls of the chat model per minute and process; further answers are repaired without the "
                 "model; 0 means no limit"},
    {"corrector-rounds", 0, OPT_INT, "N", AT(corrector.rounds), "3", .min = 1, .max = 8,
     .sentence = "maximum calls of the chat model for one answer, each about a different finding; a repair that can be "
                 "applied ends them"},
    END};

static const struct option_row polish_rows[] = {
    {"polish-endpoint", 0, OPT_TEXT, "URL", AT(polish.endpoint),
     .sentence = "base URL, including /v1, of a chat model that rewrites the answer's explanation in better English; "
                 "without it, explanations are not rewritten"},
    {"polish-model", 0, OPT_TEXT, "NAME", AT(polish.model), .sentence = "name of the chat model"},
    {"polish-key-file", 0, OPT_TEXT, "FILE", AT(polish.key_file),
     .sentence = "file whose first line is the API key of the chat model"},
    {"polish-key-variable", 0, OPT_TEXT, "NAME", AT(polish.key_variable),
     .sentence = "environment variable that holds the API key of the chat model"},
    {"polish-ca-file", 0, OPT_TEXT, "FILE", AT(polish.ca_file),
     .sentence = "file of CA certificates to trust instead of those of the system"},
    {"polish-proxy", 0, OPT_TEXT, "URL", AT(polish.proxy),
     .sentence = "proxy for connections to the chat model; without it, connections are direct, and proxy variables of "
                 "the environment are ignored"},
    {"polish-prompt", 0, OPT_TEXT, "FILE", AT(polish.prompt),
     .sentence =
         "file with your instructions for the chat model, instead of prompts/polish.txt; the first line is a version"},
    {"polish-timeout-ms", 0, OPT_INT, "MS", AT(polish.timeout_ms), "10000", .min = 1, .max = 600000,
     .sentence = "maximum time that a verdict waits for the rewritten explanation, over all attempts"},
    {"polish-attempts", 0, OPT_INT, "N", AT(polish.attempts), "2", .min = 1, .max = 10,
     .sentence = "maximum attempts for each explanation"},
    {"polish-threads", 0, OPT_INT, "N", AT(polish.threads), "4", .min = 1, .max = 64,
     .sentence = "maximum number of explanations rewritten concurrently"},
    END};

static const struct option_row database_rows[] = {
    {"db-root", 0, OPT_LIST, "DIR", AT(database.root),
     .sentence = "directory with databases as DB/DB.sqlite (repeat the flag; the first match is used)"},
    {"time-ms", 0, OPT_INT, "MS", AT(database.time_ms), "3000", .min = 1, .max = 3600000,
     .sentence = "time limit of one statement"},
    {"max-rows", 0, OPT_INT, "N", AT(database.max_rows), "100000", .min = 1, .max = 10000000,
     .sentence = "maximum rows fetched from one statement"},
    {"max-bytes", 0, OPT_INT, "BYTES", AT(database.max_bytes), "16777216", .min = 1024, .max = 4294967296.0,
     .sentence = "maximum bytes fetched from one statement"},
    END};

static const struct option_row schema_rows[] = {
    {"index-bytes", 0, OPT_INT, "BYTES", AT(schema.max_bytes), "268435456", .min = 1048576, .max = 68719476736.0,
     .sentence = "maximum memory for the schema index of one database"},
    {"index-values", 0, OPT_INT, "N", AT(schema.max_values), "200000", .min = 100, .max = 100000000,
     .sentence = "maximum distinct values of a column in the schema index; a column with more values is sampled"},
    {"index-ms", 0, OPT_INT, "MS", AT(schema.time_ms), "60000", .min = 10, .max = 3600000,
     .sentence = "time limit for reading the tables and views of a database; what was not read is missing from the "
                 "schema index, with a note"},
    {"inferred-joins", 0, FLAG_ARG, AT(schema.inferred_joins), "true",
     .sentence = "also use joins that no key declares, inferred from names and values"},
    {"descriptions", 0, OPT_TEXT, "DIR", AT(schema.descriptions),
     .sentence = "directory with a TABLE.csv file of descriptions for each table; without it, the directory "
                 "database_description beside the database"},
    END};

static const struct option_row redis_rows[] = {
    {"redis", 0, OPT_TEXT, "HOST:PORT", AT(redis.address),
     .sentence = "Redis server (or unix:/path) in which processes share schema indexes; without it, each process "
                 "builds its own indexes"},
    {"redis-tls", 0, FLAG_ARG, AT(redis.tls), "false",
     .sentence = "not supported: yes is an error; connect through a TLS tunnel instead"},
    {"redis-user", 0, OPT_TEXT, "NAME", AT(redis.user), .sentence = "Redis user; without it, the default user"},
    {"redis-password-file", 0, OPT_TEXT, "FILE", AT(redis.password_file),
     .sentence = "file whose first line is the Redis password"},
    {"redis-password-variable", 0, OPT_TEXT, "NAME", AT(redis.password_variable),
     .sentence = "environment variable that holds the Redis password"},
    {"redis-database", 0, OPT_INT, "N", AT(redis.database), "0", .min = 0, .max = 1e6,
     .sentence = "number of the Redis database"},
    {"redis-prefix", 0, OPT_TEXT, "TEXT", AT(redis.prefix), "assay", .sentence = "prefix of all keys in Redis"},
    {"redis-ttl-s", 0, OPT_INT, "SECONDS", AT(redis.ttl_s), "604800", .min = 1, .max = 1e9,
     .sentence = "lifetime of a schema index in Redis after its last use"},
    {"redis-timeout-ms", 0, OPT_INT, "MS", AT(redis.timeout_ms), "500", .min = 1, .max = 60000,
     .sentence = "time limit for a reply of Redis; after it, this process builds the schema index"},
    {"redis-wait-ms", 0, OPT_INT, "MS", AT(redis.wait_ms), "30000", .min = 1, .max = 3600000,
     .sentence = "maximum wait for a schema index that another process is building; after it, this process builds the "
                 "index too"},
    {"redis-retry-ms", 0, OPT_INT, "MS", AT(redis.retry_ms), "1000", .min = 1, .max = 3600000,
     .sentence = "pause without calls to Redis after a failure; each further failure doubles the pause, up to 30 times "
                 "this value"},
    {"redis-max-bytes", 0, OPT_INT, "BYTES", AT(redis.max_bytes), "268435456", .min = 1024, .max = 512000000,
     .sentence = "maximum size of a schema index that is written to Redis or read from Redis"},
    END};

static const struct option_row verdicts_rows[] = {
    {"verdict-cache", 0, FLAG_ARG, AT(verdicts.on), "false",
     .sentence = "cache verdicts of equal requests in Redis; set the same value for all coordinators and workers"},
    {"verdict-cache-s", 0, OPT_INT, "SECONDS", AT(verdicts.ttl_s), "3600", .min = 1, .max = 1e9,
     .sentence = "lifetime of a cached verdict"},
    {"verdict-cache-bytes", 0, OPT_INT, "BYTES", AT(verdicts.max_bytes), "65536", .min = 1, .max = 262144,
     .sentence = "maximum size of a cached verdict"},
    END};

static const struct option_row signals_rows[] = {
    {"signal", 0, OPT_SIGNAL, "NAME.KEY=VALUE", .command_line_only = true,
     .sentence =
         "set an option of a signal; NAME.enabled=no disables the signal (repeat the flag); `assay signals` lists all"},
    END};

static const struct option_row log_rows[] = {{"limit", 'n', OPT_INT, "N", AT(log.limit), "0", .min = 0, .max = 1e15,
                                              .command_line_only = true,
                                              .sentence = "maximum lines of the log to read; 0: all lines"},
                                             END};

static const struct option_row check_rows[] = {
    {"db", 'd', OPT_TEXT, "FILE|DSN", AT(check.db), .command_line_only = true,
     .sentence = "name of a database in the configuration, SQLite file, or connection string"},
    {"question", 'Q', OPT_TEXT, "TEXT", AT(check.question), .command_line_only = true,
     .sentence = "question that the SQL should answer"},
    {"evidence", 'e', OPT_TEXT, "TEXT", AT(check.evidence), .command_line_only = true,
     .sentence = "background knowledge for the question"},
    END};

static const struct option_row ddl_rows[] = {{"schema", 0, OPT_TEXT, "FILE.sql", AT(check.schema),
                                              .command_line_only = true,
                                              .sentence = "file of DDL to judge from, without a database"},
                                             END};

static const struct option_row answer_rows[] = {
    {"answer", 0, OPT_LIST, "QUESTION=CHOICE", AT(check.answers), .command_line_only = true,
     .sentence = "ids of a clarification question and of your choice (repeat the flag in order)"},
    {"pairs", 0, FLAG_ARG, AT(pairs.pairs), "false", .command_line_only = true,
     .sentence = "the arguments are files or directories of queries"},
    {"strict", 0, FLAG_ARG, AT(pairs.strict), "false", .command_line_only = true,
     .sentence = "with --pairs: a file without a question is an error"},
    END};

static const struct option_row fix_rows[] = {
    {"apply", 0, FLAG_ARG, AT(fix.apply), "false", .command_line_only = true,
     .sentence = "print only SQL: the repaired query, or the original query if there is no repair"},
    END};

static const struct option_row explain_rows[] = {
    {"meaning", 'm', FLAG_ARG, AT(explain.meaning), "false", .command_line_only = true,
     .sentence = "print the meaning of the statement, a line for each part, instead of prose"},
    {"premise", 'p', FLAG_ARG, AT(explain.premise), "false", .command_line_only = true,
     .sentence = "print the text that the verifier reads, instead of the explanation"},
    {"words", 'w', FLAG_ARG, AT(explain.words), "false", .command_line_only = true,
     .sentence =
         "print the part of the statement to which each word of the question refers, instead of the explanation"},
    END};

static const struct option_row replay_rows[] = {
    {"workers", 'j', OPT_INT, "N", AT(replay.workers), "0", .min = 0, .max = 256,
     .sentence = "threads that judge; 0: one per processor"},
    {"window", 0, OPT_INT, "N", AT(replay.window), "0", .min = 0, .max = 65536,
     .sentence = "maximum number of questions in flight, including verdicts that wait to be written in order; 0: eight "
                 "per worker"},
    {"unordered", 'u', FLAG_ARG, AT(replay.unordered), "false",
     .sentence = "write each verdict as soon as it is ready, not in the order of the log"},
    {"index-cache-bytes", 0, OPT_INT, "BYTES", AT(replay.cache_bytes), "0", .min = 0, .max = 1e12,
     .sentence = "memory for cached schema indexes; 0: 96 MiB"},
    {"strict", 0, FLAG_ARG, AT(replay.strict), "false",
     .sentence = "stop at the first line that is not a valid request, with exit status 2"},
    {"out", 'o', OPT_TEXT, "FILE", AT(replay.out), .command_line_only = true, .sentence = "file to write verdicts to"},
    {"resume", 'r', FLAG_ARG, AT(replay.resume), "false", .command_line_only = true,
     .sentence = "continue the file of --out: drop an incomplete last line and judge the missing requests"},
    {"force", 0, FLAG_ARG, AT(replay.force), "false", .command_line_only = true,
     .sentence = "overwrite the file of --out"},
    END};

static const struct option_row range_rows[] = {
    {"from-topic", 0, OPT_TEXT, "TOPIC", AT(past.from_topic), .command_line_only = true,
     .sentence = "topic to read: requests to judge (replay), feedback (train calibration), or traces (link judge)"},
    {"from-offset", 0, OPT_INT, "N", AT(past.from_offset), "-1", .min = -1, .max = 1LL << 47, .command_line_only = true,
     .sentence = "first offset to read in every partition; without it, reading starts at the oldest record"},
    {"from-time", 0, OPT_TEXT, "TIME", AT(past.from_time), .command_line_only = true,
     .sentence = "time of the first record to read, as 2026-03-01T12:00:00Z (RFC 3339) or milliseconds since 1970"},
    {"to-offset", 0, OPT_INT, "N", AT(past.to_offset), "-1", .min = -1, .max = 1LL << 47, .command_line_only = true,
     .sentence = "offset to stop before; without it, reading stops at the end that the topic had at the start"},
    {"to-time", 0, OPT_TEXT, "TIME", AT(past.to_time), .command_line_only = true, .sentence = "time to stop before"},
    END};

static const struct option_row past_rows[] = {
    {"to-topic", 0, OPT_TEXT, "TOPIC", AT(past.to_topic), .command_line_only = true,
     .sentence = "topic to write verdicts to, instead of a file"},
    {"group", 0, OPT_TEXT, "NAME", AT(past.group), "assay-replay", .command_line_only = true,
     .sentence = "consumer group whose offsets record the progress of a replay into a topic"},
    {"feed", 0, OPT_TEXT, "TOPIC", AT(past.feed), .command_line_only = true,
     .sentence = "topic to send the log's requests to; coordinators judge them, not this process"},
    {"answers", 0, OPT_TEXT, "TOPIC", AT(past.answers), BUS_VERDICTS, .command_line_only = true,
     .sentence = "with --feed and --out: topic of the verdicts"},
    {"wait-ms", 0, OPT_INT, "MS", AT(past.wait_ms), "60000", .min = 0, .max = 86400000,
     .sentence = "with --feed and --out: maximum wait for the next verdict"},
    {"rate", 0, OPT_REAL, "N", AT(past.rate), "0", .min = 0, .max = 1e6,
     .sentence = "maximum requests per second; 0 means no limit"},
    {"speed", 0, OPT_REAL, "X", AT(past.speed), "0", .min = 0, .max = 1e9,
     .sentence = "keep the recorded intervals between requests, divided by X; a log records the `time` of each line; "
                 "0: no intervals"},
    END};

static const struct option_row diff_rows[] = {
    {"tolerance", 0, OPT_REAL, "P", AT(diff.tolerance), "1e-6", .min = 0, .max = 1,
     .sentence = "maximum change of p_correct that counts as equal; p_correct has six digits in verdicts"},
    {"explanations", 0, FLAG_ARG, AT(diff.explanations), "false", .sentence = "compare explanations too"},
    {"gold", 0, FLAG_ARG, AT(diff.gold), "false", .command_line_only = true,
     .sentence = "run the reference (gold) queries and both answers on the databases of --db-root"},
    {"log", 0, OPT_TEXT, "LOG", AT(diff.log), .command_line_only = true,
     .sentence = "log with the reference (gold) queries by id, used instead of those in the verdicts"},
    {"list", 0, OPT_INT, "N", AT(diff.list), "50", .min = 0, .max = 1e15,
     .sentence = "maximum changes listed as text; 0: all changes; other formats list all changes"},
    END};

static const struct option_row report_rows[] = {
    {"html", 0, OPT_TEXT, "FILE", AT(report.html), .command_line_only = true,
     .sentence = "self-contained page to write, with charts and a table of verdicts"},
    {"gold", 0, FLAG_ARG, AT(report.gold), "false", .command_line_only = true,
     .sentence = "run the reference (gold) queries and the answers on --db-root, and store which answers are correct"},
    {"log", 0, OPT_TEXT, "LOG", AT(report.log), .command_line_only = true,
     .sentence = "query log that was judged, for questions, and for reference (gold) queries that the verdicts lack"},
    {"rows", 0, OPT_INT, "N", AT(report.rows), "1000", .min = 1, .max = 1000,
     .sentence = "maximum verdicts in the table of --html; if there are more, the most informative ones are shown"},
    END};

static const struct option_row eval_rows[] = {
    {"profile", 0, FLAG_ARG, AT(eval.profile), "false", .sentence = "print the share of time that each signal takes"},
    {"gold", 0, FLAG_ARG, AT(eval.gold), "false", .command_line_only = true,
     .sentence = "only measure how often each signal fires on the reference (gold) queries of the log"},
    {"folds", 0, FLAG_ARG, AT(eval.folds), "false",
     .sentence = "also cross-validate the models over five folds of databases, against a majority vote and the best "
                 "single signal"},
    {"bootstrap", 0, OPT_INT, "N", AT(eval.bootstrap), "1000", .min = 0, .max = 100000,
     .sentence = "number of resamples for each 95 % interval; 0: no intervals"},
    {"labels", 0, OPT_TEXT, "FILE", AT(eval.labels), .command_line_only = true,
     .sentence = "file to write the label of each candidate to, as one JSON array for each line of the log"},
    {"plots", 0, OPT_TEXT, "DIR", AT(eval.plots), .command_line_only = true,
     .sentence = "directory to write SVG plots to: calibration, precision over coverage, ROC"},
    {"schema-only", 0, FLAG_ARG, AT(eval.schema_only), "false", .command_line_only = true,
     .sentence = "judge from the DDL of each SQLite file without data; labels still come from execution"},
    {"triggering", 0, FLAG_ARG, AT(eval.triggering), "false", .command_line_only = true,
     .sentence = "also compare scores for deciding between an answer and a question to the user. The scores are "
                 "P(correct), label model, verifier, findings, votes and the generator's score"},
    END};

static const struct option_row calibrate_rows[] = {{"out", 'o', OPT_TEXT, "FILE", AT(calibrate.out),
                                                    .command_line_only = true, .sentence = "calibration file to write"},
                                                   END};

static const struct option_row feedback_rows[] = {{"labels-wanted", 'n', OPT_INT, "N", AT(feedback.n), "200", .min = 1,
                                                   .max = 1000000, .command_line_only = true,
                                                   .sentence = "sample: maximum number of verdicts to select"},
                                                  END};

static const struct option_row examples_rows[] = {
    {"out", 'o', OPT_TEXT, "FILE|DSN", AT(examples.out), .command_line_only = true,
     .sentence = "build, add: store to write, as a file or a PostgreSQL connection string"},
    {"question", 'Q', OPT_TEXT, "TEXT", AT(examples.question), .command_line_only = true,
     .sentence = "search: the question"},
    {"sql", 0, OPT_TEXT, "SQL", AT(examples.sql), .command_line_only = true, .sentence = "search: the wrong query"},
    {"error", 0, OPT_TEXT, "TEXT", AT(examples.error), .command_line_only = true,
     .sentence = "search: the error or finding about the wrong query"},
    {"source", 0, OPT_TEXT, "ID", AT(examples.source), .command_line_only = true,
     .sentence = "search: id of a request whose examples are excluded"},
    {"key", 0, OPT_CHOICE, "KEY", AT(examples.key), "hybrid", &EXAMPLES_KEYS(CHOICE)[1], .command_line_only = true,
     .sentence = "search: similarity measure"},
    {"nearest", 'k', OPT_INT, "N", AT(examples.n), "3", .min = 1, .max = 100, .command_line_only = true,
     .sentence = "search: number of examples to print"},
    {"likeness", 0, OPT_REAL, "SHARE", AT(examples.likeness), "0.98", .min = 0, .max = 1, .command_line_only = true,
     .sentence = "prune: minimum similarity of two examples that counts as duplicate"},
    END};

static const struct option_row predictor_rows[] = {
    {"predictor", 0, OPT_TEXT, "FILE", AT(link.predictor),
     .sentence = "file that predicts the errors of a schema linker, written by `assay link train`"},
    {"link-alpha", 0, OPT_REAL, "SHARE", AT(link.alpha), "0.1", .min = 0.001, .max = 0.5,
     .sentence = "maximum share of tokens, or of branching points, whose true label the set of one layer misses"},
    {"layers", 'k', OPT_INT, "N", AT(link.layers), "3", .min = 1, .max = 64,
     .sentence = "number of layers to merge: those with the highest AUC on the calibration recording"},
    {"merge", 0, OPT_CHOICE, "HOW", AT(link.merge), "permuted", "majority|permuted",
     .sentence = "how to merge the sets of several layers; majority: keep what a share --tau of the sets contains; "
                 "permuted: Algorithm 1 of the paper (docs/linking.md)"},
    {"tau", 0, OPT_REAL, "SHARE", AT(link.tau), "0.5", .min = 0.01, .max = 0.99,
     .sentence = "share of the layers for --merge majority"},
    {"marginal", 0, FLAG_ARG, AT(link.marginal), "false",
     .sentence = "use one threshold for all tokens, as in the paper; by default, branching points have a threshold of "
                 "their own"},
    {"near", 0, OPT_INT, "N", AT(link.near), "0", .min = 0, .max = 1000000,
     .sentence = "number of nearest calibration points to weight by similarity, for questions unlike those of the "
                 "calibration; 0: all points weigh the same"},
    {"temperature", 0, OPT_REAL, "X", AT(link.temperature), "1", .min = 1e-6, .max = 1e6,
     .sentence = "with --near: how slowly weights fall with distance; weight = exp(-distance / X)"},
    END};

static const struct option_row link_rows[] = {
    {"out", 'o', OPT_TEXT, "FILE", AT(link.out), .command_line_only = true,
     .sentence = "export, train: file to write; for export, `-` is standard output"},
    {"calibrate-on", 0, OPT_LIST, "RECORDING", AT(link.calibrate), .command_line_only = true,
     .sentence = "train: calibration recording, of databases that neither the linker nor the predictors have seen"},
    {"units", 0, OPT_INT, "N", AT(link.units), "32", .min = 1, .max = 1024,
     .sentence = "train: number of hidden units of a perceptron"},
    {"epochs", 0, OPT_INT, "N", AT(link.epochs), "20", .min = 1, .max = 10000,
     .sentence = "train: number of passes over the tokens when a perceptron is trained"},
    {"link-seed", 0, OPT_INT, "N", AT(link.seed), "1", .min = 0, .max = 1e15,
     .sentence = "train: random seed for the initial weights and the order"},
    {"ablation", 0, FLAG_ARG, AT(link.ablation), "false", .command_line_only = true,
     .sentence = "eval: also vary alpha, the number of layers, the merge and the form of calibration"},
    {"surrogate", 0, OPT_TEXT, "VERDICTS", AT(link.surrogate), .command_line_only = true,
     .sentence = "eval: file of `assay replay` verdicts on the same questions; names used by their answers confirm "
                 "uncertain links"},
    {"follow", 0, FLAG_ARG, AT(link.follow), "false", .command_line_only = true,
     .sentence = "judge: with --from-topic, keep reading new records until a signal such as SIGINT arrives"},
    END};

static const struct option_row train_rows[] = {
    {"out", 'o', OPT_TEXT, "FILE", AT(train.out), .command_line_only = true, .sentence = "model file to write"},
    {"kind", 0, OPT_CHOICE, "KIND", AT(train.kind), "logistic", "logistic|trees", .sentence = "kind of classifier"},
    {"weak", 0, FLAG_ARG, AT(train.weak), "false",
     .sentence = "train the classifier on the probabilities of the label model instead of on labels"},
    {"recipe", 0, OPT_TEXT, "FILE", AT(train.recipe), .command_line_only = true,
     .sentence =
         "training parameters: a YAML file, or {KEY: VALUE, ...} as text; docs/configuration.md lists the keys"},
    {"seed", 0, OPT_INT, "N", AT(train.seed), "1", .min = 0, .max = 1e15, .sentence = "random seed"},
    {"cross", 0, FLAG_ARG, AT(train.cross), "false",
     .sentence = "verifier: only print the results on held-out databases, and write no model"},
    {"scores", 0, OPT_TEXT, "FILE", AT(train.scores), .command_line_only = true,
     .sentence = "verifier: file to write the held-out score of each candidate to, tab-separated"},
    {"blind", 0, OPT_TEXT, "DIR", AT(train.blind), .command_line_only = true,
     .sentence = "folder with a wording model for each database, which has not seen its questions; wording: write it; "
                 "verifier: read it"},
    {"verifier", 0, OPT_TEXT, "FILE", AT(train.verifier),
     .sentence = "calibration: verifier file to add to; without it, the file of --out"},
    END};

/* Keys of a training recipe. */
static const struct option_row recipe_rows[] = {
    {"mutants", 0, OPT_INT, "N", AT(train.mutants), "4", .min = 0, .max = 64,
     .sentence = "number of mutants to use as candidates of a line without candidates; a mutant is the reference query "
                 "with one seeded error"},
    {"prior", 0, OPT_REAL, "P", AT(train.prior), "-1", .min = -1, .max = 1,
     .sentence = "share of correct candidates that the label model assumes; -1: the share labelled in the logs"},
    {"trust", 0, OPT_REAL, "WEIGHT", AT(train.trust), "10", .min = 0, .max = 100,
     .sentence =
         "weight of the prior belief that a signal is right more often than wrong, against the evidence of the logs"},
    {"target-prior", 0, OPT_REAL, "P", AT(train.target_prior), "-1", .min = -1, .max = 1,
     .sentence = "share of correct candidates where the model will be used, if it differs from the training logs; -1: "
                 "the same share"},
    {"unsolved", 0, OPT_REAL, "SHARE", AT(train.unsolved), "0", .min = 0, .max = 1,
     .sentence = "share of questions to use without their correct candidates; for logs of a generator that was trained "
                 "on these questions"},
    {"views", 0, FLAG_ARG, AT(train.views), "true",
     .sentence = "also learn from the other candidates of a request: rank, votes and agreement; no: for logs with "
                 "synthetic candidates"},
    {"cost", 0, OPT_REAL, "C", AT(train.cost), "15", .min = 0.001, .max = 1e6,
     .sentence = "wording: cost of an error, as in liblinear; higher values fit the pairs more closely"},
    {"bits", 0, OPT_INT, "N", AT(train.bits), "20", .min = 8, .max = 22,
     .sentence = "wording: the model has 2^N weights of one byte"},
    {"doubles", 0, OPT_INT, "N", AT(train.doubles), "3", .min = 0, .max = 64,
     .sentence = "verifier: number of mutants with two seeded errors, per question"},
    {"favourites", 0, OPT_INT, "N", AT(train.favourites), "0", .min = 0, .max = 64,
     .sentence = "verifier: number of favourites to add, per question and round; favourites are wrong mutants that a "
                 "verifier not trained on the database scores highest"},
    {"favourite-rounds", 0, OPT_INT, "N", AT(train.favourite_rounds), "1", .min = 1, .max = 10,
     .sentence =
         "verifier: number of searches for favourites, each with a verifier trained on the favourites found before"},
    {"pool", 0, OPT_INT, "N", AT(train.pool), "16", .min = 1, .max = 256,
     .sentence = "verifier: number of mutants per question, with one or two seeded errors, to search for favourites"},
    {"siblings", 0, OPT_INT, "N", AT(train.siblings), "5", .min = 0, .max = 16,
     .sentence = "verifier: number of reference queries to add per question; they belong to the most similar other "
                 "questions on the same database"},
    {"rounds", 0, OPT_INT, "N", AT(train.rounds), "300", .min = 1, .max = 10000,
     .sentence = "verifier: number of trees"},
    {"depth", 0, OPT_INT, "N", AT(train.depth), "6", .min = 1, .max = 16, .sentence = "verifier: depth of a tree"},
    {"rank", 0, OPT_REAL, "WEIGHT", AT(train.rank), "3", .min = 0, .max = 1000,
     .sentence =
         "verifier: weight of the loss that ranks correct candidates above wrong candidates of the same question"},
    {"focal-gamma", 0, OPT_REAL, "GAMMA", AT(train.focal_gamma), "0", .min = 0, .max = 10,
     .sentence = "verifier: gamma of the focal loss; a higher value gives easy candidates less weight; 0: log loss"},
    {"focal-alpha", 0, OPT_REAL, "ALPHA", AT(train.focal_alpha), "0.5", .min = 0, .max = 1,
     .sentence = "verifier: alpha of the focal loss; it weights correct candidates against wrong ones"},
    {"right-share", 0, OPT_REAL, "SHARE", AT(train.right_share), "0.5", .min = 0.01, .max = 0.99,
     .sentence = "verifier: share of the total weight that correct candidates receive"},
    {"hard", 0, OPT_REAL, "WEIGHT", AT(train.hard), "0", .min = 0, .max = 100,
     .sentence = "verifier: extra weight of wrong candidates that a first model scored as correct"},
    {"wording", 0, OPT_REAL, "WEIGHT", AT(train.wording), "0.006", .min = 0, .max = 10,
     .sentence = "verifier: weight of the learned score of the question's words, in log-odds, beside the trees"},
    {"by-chance", 0, OPT_REAL, "WEIGHT", AT(train.by_chance), "0.2", .min = 0, .max = 1,
     .sentence = "verifier: weight of mutants and siblings whose result is correct, possibly by chance"},
    {"without", 0, OPT_LIST, "GROUP", AT(train.without), NULL,
     "shape|schema|values|operators|result|alignment|joins|links|components|signals",
     .sentence = "verifier: group of features to leave out (repeat the flag)"},
    END};

static const struct option_row mutate_rows[] = {
    {"db", 'd', OPT_TEXT, "DB", AT(mutate.db), .command_line_only = true, .sentence = "database of the SQL to mutate"},
    {"count", 'n', OPT_INT, "N", AT(mutate.n), "8", .min = 1, .max = 1000, .command_line_only = true,
     .sentence = "number of mutants per query"},
    {"seed", 0, OPT_INT, "N", AT(mutate.seed), "1", .min = 0, .max = 1e15, .command_line_only = true,
     .sentence = "random seed"},
    END};

static const struct option_row doctor_rows[] = {
    {"db", 'd', OPT_TEXT, "FILE|DSN", AT(doctor.db), .command_line_only = true,
     .sentence = "database to check: a SQLite file, or a connection string"},
    {"catalogue", 0, FLAG_ARG, AT(doctor.catalogue), "false", .command_line_only = true,
     .sentence = "check every database of the configuration (section `databases`)"},
    END};

static const struct option_row config_rows[] = {{"origin", 0, FLAG_ARG, AT(config.origin), "false",
                                                 .command_line_only = true,
                                                 .sentence = "print where each value comes from"},
                                                END};

static const struct option_row kafka_rows[] = {
    {"servers", 0, OPT_TEXT, "HOST:PORT,...", AT(kafka.servers), .sentence = "Kafka bootstrap servers"},
    {"connect-ms", 0, OPT_INT, "MS", AT(kafka.connect_ms), "10000", .min = 1, .max = 3600000,
     .sentence = "maximum wait for a broker at the start"},
    {"property", 'X', OPT_PROPERTY, "NAME=VALUE", AT(kafka.properties),
     .sentence = "librdkafka property, such as sasl.username=me (repeat the flag); a value file:PATH is read from that "
                 "file. In a configuration file, each property is a key"},
    END};

static const struct option_row topics_rows[] = {
    {"partitions", 'p', OPT_INT, "N", AT(topics.partitions), "24", .min = 1, .max = 10000,
     .sentence = "number of partitions, the same for the topics of requests, results and verdicts"},
    {"task-partitions", 0, OPT_INT, "N", AT(topics.task_partitions), "24", .min = 1, .max = 10000,
     .sentence = "number of partitions of each family's tasks; at most so many workers share the tasks of a family"},
    {"replicas", 0, OPT_INT, "N", AT(topics.replicas), "0", .min = 0, .max = 100,
     .sentence = "number of replicas of each partition; 0: three, or the number of brokers if it is lower"},
    {"retention-hours", 0, OPT_INT, "HOURS", AT(topics.retention_hours), "72", .min = 1, .max = 876000,
     .sentence = "retention of requests, tasks and results; set more than the longest outage, and less than the time "
                 "that brokers keep offsets"},
    {"verdict-retention-hours", 0, OPT_INT, "HOURS", AT(topics.verdict_retention_hours), "168", .min = 1, .max = 876000,
     .sentence = "retention of verdicts"},
    {"letter-retention-hours", 0, OPT_INT, "HOURS", AT(topics.letter_retention_hours), "720", .min = 1, .max = 876000,
     .sentence = "retention of dead letters"},
    {"feedback-retention-hours", 0, OPT_INT, "HOURS", AT(topics.feedback_retention_hours), "9600", .min = 1,
     .max = 876000, .sentence = "retention of feedback; feedback is small and arrives slowly"},
    END};

static const struct option_row coordinator_rows[] = {
    {"group", 0, OPT_TEXT, "NAME", AT(coordinator.group), "assay-coordinator",
     .sentence = "consumer group in which coordinators share the requests"},
    {"instance", 0, OPT_TEXT, "NAME", AT(coordinator.instance), "0",
     .sentence = "unique name of this process in its group, the same after a restart"},
    {"from", 0, OPT_TEXT, "WHERE", AT(coordinator.from), NULL,
     .sentence =
         "where to start reading if the group has no offsets: beginning or end; without it, such a group is an error"},
    {"max-open", 0, OPT_INT, "N", AT(coordinator.max_open), "64", .min = 1, .max = 16384,
     .sentence = "maximum number of open requests"},
    {"producers", 0, OPT_INT, "N", AT(coordinator.producers), "1", .min = 1, .max = 16,
     .sentence = "number of concurrent transactions that write verdicts, each for a share of the partitions"},
    {"task-messages", 0, OPT_CHOICE, "WHAT", AT(coordinator.task_messages), "each", "each|family|request",
     .sentence = "tasks in one message to workers; each: one task; family: the tasks of a request for one family; "
                 "request: all tasks of a request, in assay.tasks.all. Upgrade workers first"},
    {"drain-ms", 0, OPT_INT, "MS", AT(coordinator.drain_ms), "30000", .min = 1, .max = 3600000,
     .sentence = "time to finish open requests after SIGTERM; after it, the process exits at once"},
    {"rows-later", 0, FLAG_ARG, AT(coordinator.rows_later), "false",
     .sentence = "explain source rows only for the answer, in a second round of tasks, instead of for each candidate"},
    END};

static const struct option_row serve_rows[] = {
    {"http", 0, OPT_TEXT, "HOST:PORT", AT(serve.http), .sentence = "address to listen on for HTTP requests"},
    {"runs", 0, OPT_TEXT, "DIR", AT(serve.runs),
     .sentence = "directory of verdict files to show as web pages; an index is stored beside each file"},
    {"open", 0, FLAG_ARG, AT(serve.open), "false",
     .sentence = "without --servers: accept callers from other machines; put access control in front of the server"},
    {"host", 0, OPT_LIST, "NAME", AT(serve.hosts),
     .sentence = "additional host name that callers use (repeat the flag). With it, or on loopback without --servers, "
                 "--open and --tokens, other Host headers are refused"},
    {"wait-ms", 0, OPT_INT, "MS", AT(serve.wait_ms), "30000", .min = 0, .max = 3600000,
     .sentence = "time that a caller waits for a verdict, unless the caller sets another time"},
    {"max-wait-ms", 0, OPT_INT, "MS", AT(serve.max_wait_ms), "120000", .min = 0, .max = 3600000,
     .sentence = "maximum wait that a caller may set"},
    {"work-ms", 0, OPT_INT, "MS", AT(serve.work_ms), "10000", .min = 0, .max = 86400000,
     .sentence = "without --servers: maximum total working time for one request, with all statements and a repair; 0: "
                 "no limit"},
    {"max-waiting", 0, OPT_INT, "N", AT(serve.max_waiting), "1000", .min = 1, .max = 100000,
     .sentence = "maximum number of waiting callers; further callers are told to retry"},
    {"per-address", 0, OPT_INT, "N", AT(serve.per_address), "64", .min = 0, .max = 100000,
     .sentence = "maximum connections from one address, without waiting callers; a further connection closes the "
                 "oldest one; 0 means no limit, for callers behind a proxy"},
    {"per-tenant", 0, OPT_INT, "N", AT(serve.per_tenant), "64", .min = 0, .max = 100000,
     .sentence = "with --tokens: maximum concurrent requests of one tenant; further requests are told to retry, and a "
                 "batch waits; 0 means no limit"},
    {"max-kb", 0, OPT_INT, "KIB", AT(serve.max_kb), "1024", .min = 1, .max = 8192,
     .sentence = "maximum size of a request"},
    {"keep", 0, OPT_TEXT, "FILE", AT(serve.keep), NULL,
     .sentence = "SQLite file that stores verdicts, so that callers can read them by id after a restart; without it, "
                 "verdicts are stored in memory only"},
    {"keep-mb", 0, OPT_INT, "MIB", AT(serve.keep_mb), "64", .min = 1, .max = 65536,
     .sentence = "space for the newest verdicts that callers can read by id, in memory and in the file of --keep"},
    {"tokens", 0, OPT_TEXT, "FILE", AT(serve.tokens), NULL,
     .sentence = "without --servers: file of bearer token hashes and their permissions; a changed file is reloaded"},
    {"tls-cert", 0, OPT_TEXT, "FILE", AT(serve.tls_cert), NULL,
     .sentence = "certificate and its chain (PEM) for TLS; a changed file is reloaded"},
    {"tls-key", 0, OPT_TEXT, "FILE", AT(serve.tls_key), NULL, .sentence = "private key of the certificate (PEM)"},
    {"look-back-ms", 0, OPT_INT, "MS", AT(serve.look_back_ms), "300000", .min = 0, .max = 86400000,
     .sentence = "maximum age of the verdicts read at the start, for callers of a replica that stopped"},
    {"group", 0, OPT_TEXT, "NAME", AT(serve.group), BUS_GROUP,
     .sentence = "consumer group of the coordinators whose verdicts are served"},
    {"requests", 0, OPT_TEXT, "TOPIC", AT(serve.requests), BUS_REQUESTS, .sentence = "topic of requests"},
    {"verdicts", 0, OPT_TEXT, "TOPIC", AT(serve.verdicts), BUS_VERDICTS, .sentence = "topic of verdicts"},
    {"letters", 0, OPT_TEXT, "TOPIC", AT(serve.letters), BUS_DLQ, .sentence = "dead-letter topic of invalid requests"},
    {"drain-ms", 0, OPT_INT, "MS", AT(serve.drain_ms), "30000", .min = 1, .max = 3600000,
     .sentence = "time to answer waiting callers after SIGTERM; after it, the process exits at once"},
    END};

static const struct option_row mcp_rows[] = {
    {"db", 'd', OPT_TEXT, "FILE|DSN", AT(mcp.db), .command_line_only = true,
     .sentence = "the only database to serve: a name in the configuration, a SQLite file, or a connection string"},
    END};

static const struct option_row dlq_rows[] = {
    {"topic", 0, OPT_LIST, "TOPIC", AT(dlq.topics), .command_line_only = true,
     .sentence = "dead-letter topic (repeat the flag); without it, assay.dlq and assay.tasks.dlq"},
    {"code", 0, OPT_TEXT, "CODE", AT(dlq.code), .command_line_only = true,
     .sentence = "only dead letters with this error code, such as malformed or rejected"},
    {"from-offset", 0, OPT_INT, "N", AT(dlq.from_offset), "-1", .min = -1, .max = 1LL << 47, .command_line_only = true,
     .sentence = "list: first offset to read in each partition; -1: the oldest"},
    {"from-time", 0, OPT_TEXT, "TIME", AT(dlq.from_time), .command_line_only = true,
     .sentence = "list: only dead letters since this time, such as 2026-01-31T12:00:00Z"},
    {"limit", 'n', OPT_INT, "N", AT(dlq.limit), "0", .min = 0, .max = 1e15, .command_line_only = true,
     .sentence = "maximum number of dead letters; 0: all that exist now"},
    {"values", 0, FLAG_ARG, AT(dlq.values), "false", .command_line_only = true,
     .sentence = "list: also show message contents and quotes in error texts, such as questions and SQL"},
    {"dry-run", 0, FLAG_ARG, AT(dlq.dry_run), "false", .command_line_only = true,
     .sentence = "redrive: print the dead letters to send, and send nothing"},
    END};

static const struct option_row worker_rows[] = {
    {"group", 0, OPT_TEXT, "NAME", AT(worker.group), "assay-worker",
     .sentence = "consumer group in which workers share the tasks"},
    {"threads", 'j', OPT_INT, "N", AT(worker.threads), "0", .min = 0, .max = 256,
     .sentence = "threads that judge; 0: one per processor"},
    {"processes", 0, OPT_INT, "N", AT(worker.processes), "8", .min = 1, .max = 100000,
     .sentence = "number of worker processes in total; without Redis, each process gets a share of max_statements"},
    {"executor", 0, OPT_CHOICE, "WHERE", AT(worker.executor), "child", "child|inline",
     .sentence = "where SQLite statements run; child: in a child process of each thread, so that an exceeded limit or "
                 "a crash ends only the child; inline: in the worker process"},
    {"slow-ms", 0, OPT_INT, "MS", AT(worker.slow_ms), "20", .min = 1, .max = 3600000,
     .sentence = "time after which a candidate moves to an extra thread, so that the next candidates do not wait"},
    {"slow-threads", 0, OPT_INT, "N", AT(worker.slow_threads), "2", .min = 0, .max = 64,
     .sentence = "number of extra threads for slow candidates, per thread of --threads; 0: the next candidates wait"},
    {"drain-ms", 0, OPT_INT, "MS", AT(worker.drain_ms), "30000", .min = 1, .max = 3600000,
     .sentence = "time to finish running tasks after SIGTERM; after it, the process exits at once"},
    END};

static const struct option_row observe_rows[] = {
    {"listen", 0, OPT_TEXT, "HOST:PORT", AT(observe.listen),
     .sentence = "address that serves GET /metrics, /healthz and /readyz without access control; without it, they are "
                 "not served"},
    {"stall-ms", 0, OPT_INT, "MS", AT(observe.stall_ms), "120000", .min = 1000, .max = 86400000,
     .sentence = "time without progress after which a loop counts as stuck, and /healthz fails"},
    {"log-level", 0, OPT_CHOICE, "LEVEL", AT(observe.log_level), "info", "error|warn|info|debug",
     .sentence = "log level on standard error; only debug shows SQL literals and external text"},
    {"log-form", 0, OPT_CHOICE, "FORM", AT(observe.log_form), "auto", "auto|text|json",
     .sentence = "log format; auto: text on a terminal, JSON lines elsewhere"},
    {"otlp", 0, OPT_TEXT, "URL|env", AT(observe.otlp),
     .sentence = "base URL, without /v1/traces, of an OpenTelemetry collector for traces (OTLP over HTTP); env: use "
                 "OTEL_EXPORTER_OTLP_ENDPOINT; without it, no traces are sent (docs/tracing.md)"},
    {"otlp-headers-file", 0, OPT_TEXT, "FILE", AT(observe.otlp_headers_file),
     .sentence = "file of headers to send to the collector, such as an API key, in lines \"Name: value\""},
    {"otlp-ca-file", 0, OPT_TEXT, "FILE", AT(observe.otlp_ca_file),
     .sentence = "file of CA certificates to trust instead of those of the system"},
    {"otlp-proxy", 0, OPT_TEXT, "URL", AT(observe.otlp_proxy),
     .sentence = "proxy for connections to the collector; without it, connections are direct, and proxy variables of "
                 "the environment are ignored"},
    {"otlp-ratio", 0, OPT_REAL, "SHARE", AT(observe.otlp_ratio), "1", .min = 0, .max = 1,
     .sentence = "share of requests to trace; a request with a traceparent header follows that header instead"},
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

/* Returns the row's field of `settings`. The row states the type of the field. */
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

/* Sets NAME=VALUE: replaces an earlier value of that name, otherwise appends. Copies the list, because defaults and
 * copies of the settings may share it. */
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

/* Returns an item as it must be written in a YAML list. Free with g_free. */
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
    case OPT_PROPERTY: return arena_strdup(arena, ""); /* properties are printed under their own names */
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
