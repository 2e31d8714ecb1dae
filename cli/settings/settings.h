/* Holds the resolved settings of one run. Each field belongs to a row of cli/settings/options.c, which also has its
 * default. */
#ifndef ASSAY_CLI_SETTINGS_SETTINGS_H
#define ASSAY_CLI_SETTINGS_SETTINGS_H

#include "lib/base/arena.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct string_list {
    const char **items;
    unsigned n;
};

/* A remote model: the remote verifier, the corrector, the polisher. */
struct remote_model {
    const char *backend, *label; /* settings of the verifier only */
    const char *prompt;          /* settings of chat models only */
    const char *endpoint, *model;
    const char *key_file, *key_variable, *ca_file, *proxy;
    int64_t timeout_ms, attempts, threads;
    int64_t rounds, per_minute; /* settings of the corrector only */
};

struct settings {
    struct {
        const char *config;
        const char *color;
        bool quiet;
    } general;
    struct {
        const char *format;
    } output;
    struct {
        const char *strategy;
        const char *policy;
        const char *order;
        const char *repair;
        double repair_margin;
        double ask_gain;
        double threshold;
        double alpha;
        double delta;
        int64_t deadline_ms;
        int64_t max_iterations;
        int64_t speculate;
        struct string_list families;
        const char *label_model;
        const char *classifier;
        const char *calibration;
        bool watch_drift;
        const char *verifier;
        const char *models;
        bool explain;
        const char *expose;
        struct string_list deny_columns;
        const char *deny_mode;
    } judge;
    struct remote_model verifier, corrector, polish, encoder;
    struct {
        const char *path, *key;
        int64_t n;
    } shots;
    struct {
        struct remote_model model; /* its field `endpoint` is unused; `endpoints` replaces it */
        struct string_list endpoints;
        const char *prompts, *calls, *when;
        double hit_rate, price_in, price_out, money;
        int64_t tokens, requests, candidates, request_tokens, answer_tokens, wait_ms;
        int64_t entries, ttl_s;
    } llm;
    struct {
        struct string_list root;
        int64_t time_ms;
        int64_t max_rows;
        int64_t max_bytes;
    } database;
    struct {
        int64_t max_bytes;
        int64_t max_values;
        int64_t time_ms;
        bool inferred_joins;
        const char *descriptions;
    } schema;
    struct {
        const char *address;
        bool tls;
        const char *user;
        const char *password_file;
        const char *password_variable;
        int64_t database;
        const char *prefix;
        int64_t ttl_s;
        int64_t timeout_ms;
        int64_t wait_ms;
        int64_t retry_ms;
        int64_t max_bytes;
    } redis;
    struct {
        bool on;
        int64_t ttl_s;
        int64_t max_bytes;
    } verdicts;
    struct {
        const char *db;
        const char *question;
        const char *evidence;
        const char *schema;
        struct string_list answers;
    } check;
    struct {
        bool pairs, strict;
    } pairs;
    struct {
        bool apply;
    } fix;
    struct {
        bool meaning, premise, words;
    } explain;
    struct {
        int64_t workers;
        int64_t window;
        int64_t cache_bytes;
        bool unordered;
        const char *out;
        bool resume;
        bool force;
        bool strict;
    } replay;
    struct {
        const char *from_topic;
        int64_t from_offset;
        const char *from_time;
        int64_t to_offset;
        const char *to_time;
        const char *to_topic;
        const char *group;
        const char *feed;
        const char *answers;
        int64_t wait_ms;
        double rate;
        double speed;
    } past;
    struct {
        double tolerance;
        bool explanations;
        bool gold;
        const char *log;
        int64_t list;
    } diff;
    struct {
        const char *html, *log;
        bool gold;
        int64_t rows;
    } report;
    struct {
        int64_t limit;
    } log;
    struct {
        bool profile;
        bool gold;
        bool folds;
        bool triggering;
        bool schema_only;
        int64_t bootstrap;
        const char *labels;
        const char *plots;
    } eval;
    struct {
        const char *out;
    } calibrate;
    struct {
        int64_t n;
    } feedback;
    struct {
        const char *out, *question, *sql, *error, *source, *key;
        int64_t n;
        double likeness;
    } examples;
    struct {
        const char *recipe;
        const char *out;
        const char *kind;
        bool weak;
        int64_t mutants;
        int64_t seed;
        double prior, target_prior, unsolved, trust;
        bool views;
        int64_t doubles, siblings, rounds, depth;
        double rank, focal_gamma, focal_alpha, right_share, hard, by_chance, wording;
        struct string_list without;
        bool cross;
        const char *verifier, *scores, *blind;
        double cost;
        int64_t bits;
        int64_t favourites, favourite_rounds, pool;
    } train;
    struct {
        const char *db;
        int64_t n;
        int64_t seed;
    } mutate;
    struct {
        const char *out, *predictor, *merge, *surrogate;
        struct string_list calibrate;
        int64_t layers, near, units, epochs, seed;
        double alpha, tau, temperature;
        bool marginal, ablation, follow;
    } link;
    struct {
        const char *db;
        bool catalogue;
    } doctor;
    struct {
        bool origin;
    } config;
    struct {
        const char *servers;
        int64_t connect_ms;
        struct string_list properties;
    } kafka;
    struct {
        int64_t partitions;
        int64_t task_partitions;
        int64_t replicas;
        int64_t retention_hours;
        int64_t verdict_retention_hours;
        int64_t letter_retention_hours;
        int64_t feedback_retention_hours;
    } topics;
    struct {
        struct string_list topics;
        const char *code;
        const char *from_time;
        int64_t from_offset;
        int64_t limit;
        bool values;
        bool dry_run;
    } dlq;
    struct {
        const char *db;
    } mcp;
    struct {
        const char *group, *instance, *from, *task_messages;
        int64_t max_open, producers;
        int64_t drain_ms;
        bool rows_later;
    } coordinator;
    struct {
        const char *http, *group, *requests, *verdicts, *letters;
        const char *runs, *keep, *tokens, *tls_cert, *tls_key;
        struct string_list hosts;
        int64_t wait_ms, max_wait_ms;
        int64_t work_ms;
        int64_t max_waiting;
        int64_t per_address, per_tenant;
        int64_t max_kb, keep_mb;
        int64_t look_back_ms;
        int64_t drain_ms;
        bool open;
    } serve;
    struct {
        const char *group;
        int64_t threads;
        int64_t processes;
        const char *executor;
        int64_t slow_ms, slow_threads;
        int64_t drain_ms;
    } worker;
    struct {
        const char *listen;
        int64_t stall_ms;
        const char *log_level;
        const char *log_form;
        const char *otlp, *otlp_headers_file, *otlp_ca_file, *otlp_proxy;
        double otlp_ratio;
    } observe;
};

#endif
