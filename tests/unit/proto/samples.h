/* One message of each kind with every field set. Tests use them for round trips and for the sample frames in
 * tests/data/frames. */
#ifndef ASSAY_TESTS_UNIT_PROTO_SAMPLES_H
#define ASSAY_TESTS_UNIT_PROTO_SAMPLES_H

#include "proto/message/msg.h"

#include <math.h>

#define TEXT(literal)                                                                                                  \
    {                                                                                                                  \
        (literal), sizeof(literal) - 1                                                                                 \
    }

static const char *const sample_generators[] = {"codes-1b", "chatgpt"};
static const char *const sample_families[] = {"structure", "join"};
static const char *const sample_denied[] = {"people.salary"};

static struct msg_candidate sample_candidates[] = {
    {.sql = TEXT("SELECT name FROM singer"),
     .count = 3,
     .score = -0.25,
     .generators = sample_generators,
     .n_generators = 2},
    {.sql = TEXT("SELECT nam FROM singer"), .score = NAN},
};

static struct msg_answer sample_answers[] = {{"00c0ffee00c0ffee", "none"}, {"0123456789abcdef", "fedcba9876543210"}};
static const char *const sample_linked_tables[] = {"singer", "concert"}, *const sample_linked_columns[] = {
                                                                             "singer.name"};
static struct msg_uncertain sample_uncertain[] = {{"tables", "concert", 0.625}, {"columns", NULL, NAN}};
static struct msg_linking sample_linking = {sample_linked_tables, sample_linked_columns, 2, 1, sample_uncertain, 2};
static const struct msg_request sample_request = {
    .id = "q-1",
    .db = "concert_singer",
    .question = "What are the names of all singers? \xc3\xa9",
    .evidence = "name is singer.name",
    .candidates = sample_candidates,
    .n_candidates = 2,
    .gold = "SELECT name FROM singer",
    .meta = "{\"level\":3}",
    .tag = UINT64_MAX,
    .options = {.deadline_ms = 1500,
                .max_iterations = 4,
                .speculate = 2,
                .strategy = MSG_DETECT_THEN_RERANK,
                .policy = MSG_ASK,
                .expose = MSG_EXPOSE_ROWS,
                .threshold = 0.75,
                .alpha = 0.05,
                .families = sample_families,
                .n_families = 2,
                .deny_columns = sample_denied,
                .n_deny_columns = 1,
                .order = MSG_ORDER_SAMPLED,
                .repair = MSG_REPAIR_PROPOSE,
                .repair_margin = 0.25,
                .delta = 0.125,
                .ask_gain = 0.0625,
                .no_cache = true,
                .explain = MSG_EXPLAIN_FULL},
    .traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    .answers = sample_answers,
    .n_answers = 2,
    .linking = &sample_linking,
    .schema = "CREATE TABLE singer (name TEXT)",
};

static struct msg_clause sample_clauses[] = {{"WHERE", "WHERE age > 200", 24, 39}};
static struct msg_fact sample_facts[] = {{"near", "age"}, {"near", "aged"}, {"max", "61"}};
static struct msg_finding sample_findings[] = {
    {.signal = 12,
     .name = "empty_predicate",
     .severity = MSG_ERROR,
     .message = "no row of singer has age > 200",
     .clauses = sample_clauses,
     .n_clauses = 1,
     .facts = sample_facts,
     .n_facts = 3},
    {.signal = MSG_INVALID_SQL, .name = "invalid_sql", .message = "no such column"},
};
static const struct msg_task sample_task = {
    .key = {3, INT64_C(1) << 40},
    .hash = {UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210)},
    .candidate = 7,
    .family = "execution",
    .db = "concert_singer",
    .question = "How many?",
    .evidence = "all of them",
    .sql = TEXT("SELECT count(*)\0FROM singer"),
    .deadline_ns = -5,
    .expose = MSG_EXPOSE_NONE,
    .deny_columns = sample_denied,
    .n_deny_columns = 1,
    .traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    .proposes = true,
    .findings = sample_findings,
    .n_findings = 2,
    .describes = true,
    .readings = sample_candidates,
    .n_readings = 2,
    .linking = &sample_linking,
    .schema = "CREATE TABLE singer (name TEXT)",
    .joins = true,
    .part = MSG_PART_STATEMENT,
};

static struct msg_signal sample_signals[] = {
    {.id = 12, .name = "empty_predicate", .state = MSG_FIRED, .ns = 1234},
    {.id = 13, .name = "abnormal_result", .state = MSG_UNAVAILABLE, .reason = "limit_time", .ns = 99},
    {.id = 14, .name = "limit_tie", .state = MSG_SILENT},
};
static const char *const sample_columns[] = {"name", "age"};
static const char *const sample_row[] = {"Tribal King", NULL};
static struct msg_row sample_rows[] = {{sample_row, 2}, {NULL, 0}};
static struct msg_execution sample_execution = {
    .code = "ok",
    .message = "",
    .error_offset = -1,
    .rows = 6,
    .columns = 2,
    .ns = 250000,
    .digest = {1, 2},
    .ordered_digest = {3, 4},
    .names = sample_columns,
    .n_names = 2,
    .sample = sample_rows,
    .n_sample = 2,
};

static struct msg_number sample_numbers[] = {{1, 0.5F}, {2, -3}, {300, 1e-20F}};
static struct msg_explanation sample_explanation = {
    .prose = "It counts the singers.",
    .premise = "count singers | 6 | It counts the singers.",
    .components = UINT64_C(1) << 63 | 5,
    .digest = {1, 2},
    .numbers = sample_numbers,
    .n_numbers = 3,
};

static struct msg_proposal sample_proposals[] = {
    {TEXT("SELECT name FROM singer WHERE age > 20"), "no row of singer has age > 200"},
    {TEXT("SELECT name FROM singer"), NULL, "mender-1, correct/1"}};

static struct msg_usage sample_usage = {.calls = 2,
                                        .cached = 1,
                                        .tokens_in = 1800,
                                        .tokens_out = 240,
                                        .cost = 0.125,
                                        .source = "judge-1, signals/1 self_check/1"};

static struct msg_choice sample_choices[] = {{.id = "0123456789abcdef",
                                              .text = "only those where the age is more than 200",
                                              .candidate = 1,
                                              .returns = &sample_execution},
                                             {.id = "none", .text = "none of these"}};
static struct msg_clarification sample_clarification = {.id = "00c0ffee00c0ffee",
                                                        .text = "Which of them do you mean?",
                                                        .choices = sample_choices,
                                                        .n_choices = 2,
                                                        .gain = 0.375,
                                                        .request = "{\"db\":\"d\"}"};

static const struct msg_result sample_result = {
    .key = {3, 42},
    .hash = {5, 6},
    .candidate = 7,
    .family = "execution",
    .code = "ok",
    .message = "fine",
    .invalid = true,
    .signals = sample_signals,
    .n_signals = 3,
    .findings = sample_findings,
    .n_findings = 2,
    .execution = &sample_execution,
    .ns = 777,
    .explanation = &sample_explanation,
    .p = 0.625,
    .proposes = true,
    .proposals = sample_proposals,
    .n_proposals = 2,
    .schema = "singer (6 rows)",
    .usage = &sample_usage,
    .asks = true,
    .clarification = &sample_clarification,
    .part = MSG_PART_ROWS,
    .state = "0123456789abcdef0123456789abcdef",
};

static struct msg_polished sample_polished = {"singers older than 200, by name", "editor-1, polish/1"};

static struct msg_judged sample_judged[] = {
    {.sql = TEXT("SELECT name FROM singer WHERE age > 200"),
     .count = 3,
     .score = 0.5,
     .judged = true,
     .p_correct = 0.125,
     .label_model_p = 0.25,
     .entailment = 0.5,
     .signals = sample_signals,
     .n_signals = 3,
     .findings = sample_findings,
     .n_findings = 2,
     .execution = &sample_execution,
     .explanation = "names of singers older than 200",
     .explained = &sample_explanation,
     .verifier = "builtin",
     .polished = &sample_polished},
    {.sql = TEXT("SELECT 1"),
     .count = 1,
     .score = NAN,
     .p_correct = NAN,
     .label_model_p = NAN,
     .entailment = NAN,
     .same_as = 1,
     .why = "repeats candidate 1"},
};
static const char *const sample_texts[] = {"WHERE age > 200"};
static struct msg_report_clause sample_report_clauses[] = {{"WHERE", sample_texts, 1}};
static struct msg_report sample_report[] = {{.signal = "empty_predicate",
                                             .cause = "data ambiguity",
                                             .description = "A condition selects nothing.",
                                             .example = "age > 200",
                                             .instruction = "Use a value that occurs.",
                                             .clauses = sample_report_clauses,
                                             .n_clauses = 1}};
static const char *const sample_questions[] = {"Is 200 an age?"};
static const char *const sample_unavailable[] = {"value"};
static const char *const sample_notes[] = {"the verifier could not be reached"};
static struct msg_version sample_versions[] = {{"assay", "0.1.0"}};

static struct msg_step sample_steps[] = {{"WHERE", "200", "20"}, {"LIMIT", NULL, "LIMIT 1"}};
static struct msg_repaired sample_repair = {.applied = true,
                                            .sql = "SELECT name FROM singer WHERE age > 20 LIMIT 1",
                                            .old_sql = "SELECT name FROM singer WHERE age > 200",
                                            .of = 1,
                                            .p_old = 0.125,
                                            .p_correct = 0.875,
                                            .reason = "no row of singer has age > 200",
                                            .source = "mender-1, correct/1",
                                            .steps = sample_steps,
                                            .n_steps = 2,
                                            .n_proposals = 17};

static struct msg_guarantee sample_guarantee = {.alpha = 0.05,
                                                .delta = 0.125,
                                                .group = "all",
                                                .records = 312,
                                                .status = MSG_PROMISE_WITHDRAWN,
                                                .p_value = 0.25,
                                                .why = "its traffic has changed"};

static const struct msg_verdict sample_verdict = {
    .id = "q-1",
    .db = "concert_singer",
    .tag = 9,
    .key = {3, 42},
    .status = MSG_STATUS_BEST_EFFORT,
    .reason = "deadline",
    .message = "the deadline passed",
    .sql = "SELECT name FROM singer WHERE age > 200",
    .chosen = 1,
    .p_correct = 0.125,
    .threshold = 0.5,
    .candidates = sample_judged,
    .n_candidates = 2,
    .report = sample_report,
    .n_report = 1,
    .questions = sample_questions,
    .n_questions = 1,
    .unavailable = sample_unavailable,
    .n_unavailable = 1,
    .iterations = 1,
    .total_ns = 2500000,
    .worker_ns = 1250000,
    .versions = sample_versions,
    .n_versions = 1,
    .gold = "SELECT name FROM singer",
    .meta = "{\"level\":3}",
    .entailment_threshold = 0.25,
    .notes = sample_notes,
    .n_notes = 1,
    .request_digest = {3, 4},
    .repair = &sample_repair,
    .guarantee = &sample_guarantee,
    .cause = "not enough evidence",
    .usage = &sample_usage,
    .clarification = &sample_clarification,
    .answers = sample_answers,
    .n_answers = 1,
    .cached = true,
};

#endif
