/* The fields of each message. To add one, append a row with a new id and raise MSG_MINOR. proto/FORMAT.md has the same
 * list. */
#include "proto/message/fields.h"

#define END                                                                                                            \
    {                                                                                                                  \
        0                                                                                                              \
    }
#define PLAIN(id_, struct_, field_, type_)                                                                             \
    {                                                                                                                  \
        .id = (id_), .type = (type_), .name = #field_, .at = offsetof(struct struct_, field_)                          \
    }
#define BOUND(id_, struct_, field_, type_, max_)                                                                       \
    {                                                                                                                  \
        .id = (id_), .type = (type_), .name = #field_, .at = offsetof(struct struct_, field_), .max = (max_)           \
    }
#define MANY(id_, struct_, field_, type_, max_, record_)                                                               \
    {                                                                                                                  \
        .id = (id_), .type = (type_), .name = #field_, .at = offsetof(struct struct_, field_),                         \
        .count_at = offsetof(struct struct_, n_##field_), .max = (max_), .record = (record_)                           \
    }
#define PART(id_, struct_, field_, type_, record_)                                                                     \
    {                                                                                                                  \
        .id = (id_), .type = (type_), .name = #field_, .at = offsetof(struct struct_, field_), .record = (record_)     \
    }
#define RECORD(struct_, rows_)                                                                                         \
    {                                                                                                                  \
        .name = #struct_ + 4, .size = sizeof(struct struct_), .fields = (rows_)                                        \
    }

enum { PROSE = 1 << 20 }; /* maximum bytes of a message text, a value or an explanation */

static const struct field key_fields[] = {
    PLAIN(1, msg_key, partition, FIELD_I32),
    PLAIN(2, msg_key, offset, FIELD_I64),
    END,
};
static const struct record key_record = RECORD(msg_key, key_fields);

/* --- request --- */

static const struct field candidate_fields[] = {
    BOUND(1, msg_candidate, sql, FIELD_TEXT, MSG_MAX_SQL),
    PLAIN(2, msg_candidate, count, FIELD_U32),
    PLAIN(3, msg_candidate, score, FIELD_REAL),
    MANY(4, msg_candidate, generators, FIELD_STRINGS, MSG_MAX_LIST, NULL),
    END,
};
static const struct record candidate_record = RECORD(msg_candidate, candidate_fields);

static const struct field options_fields[] = {
    PLAIN(1, msg_options, deadline_ms, FIELD_I64),
    PLAIN(2, msg_options, max_iterations, FIELD_U32),
    PLAIN(3, msg_options, speculate, FIELD_U32),
    BOUND(4, msg_options, strategy, FIELD_ENUM, MSG_STRATEGY_COUNT),
    BOUND(5, msg_options, policy, FIELD_ENUM, MSG_POLICY_COUNT),
    BOUND(6, msg_options, expose, FIELD_ENUM, MSG_EXPOSE_COUNT),
    PLAIN(7, msg_options, threshold, FIELD_SETTING),
    PLAIN(8, msg_options, alpha, FIELD_SETTING),
    MANY(9, msg_options, families, FIELD_STRINGS, MSG_MAX_LIST, NULL),
    MANY(10, msg_options, deny_columns, FIELD_STRINGS, MSG_MAX_LIST, NULL),
    BOUND(11, msg_options, explain, FIELD_ENUM, MSG_EXPLAIN_COUNT),
    BOUND(12, msg_options, order, FIELD_ENUM, MSG_ORDER_COUNT),
    BOUND(13, msg_options, repair, FIELD_ENUM, MSG_REPAIR_COUNT),
    PLAIN(14, msg_options, repair_margin, FIELD_SETTING),
    PLAIN(15, msg_options, delta, FIELD_SETTING),
    PLAIN(16, msg_options, ask_gain, FIELD_SETTING),
    PLAIN(17, msg_options, no_cache, FIELD_BOOL),
    END,
};
static const struct record options_record = RECORD(msg_options, options_fields);

static const struct field answer_fields[] = {
    BOUND(1, msg_answer, question, FIELD_UTF8, MSG_MAX_NAME),
    BOUND(2, msg_answer, choice, FIELD_UTF8, MSG_MAX_NAME),
    END,
};
static const struct record answer_record = RECORD(msg_answer, answer_fields);

static const struct field uncertain_fields[] = {
    BOUND(1, msg_uncertain, stage, FIELD_UTF8, MSG_MAX_NAME),
    BOUND(2, msg_uncertain, name, FIELD_UTF8, MSG_MAX_NAME),
    PLAIN(3, msg_uncertain, p, FIELD_REAL),
    END,
};
static const struct record uncertain_record = RECORD(msg_uncertain, uncertain_fields);

static const struct field linking_fields[] = {
    MANY(1, msg_linking, tables, FIELD_STRINGS, MSG_MAX_LIST, NULL),
    MANY(2, msg_linking, columns, FIELD_STRINGS, MSG_MAX_LIST, NULL),
    MANY(3, msg_linking, uncertain, FIELD_LIST, MSG_MAX_UNCERTAIN, &uncertain_record),
    END,
};
static const struct record linking_record = RECORD(msg_linking, linking_fields);

static const struct field request_fields[] = {
    BOUND(1, msg_request, id, FIELD_UTF8, MSG_MAX_NAME),
    BOUND(2, msg_request, db, FIELD_UTF8, MSG_MAX_NAME),
    BOUND(3, msg_request, question, FIELD_UTF8, MSG_MAX_QUESTION),
    BOUND(4, msg_request, evidence, FIELD_UTF8, MSG_MAX_QUESTION),
    MANY(5, msg_request, candidates, FIELD_LIST, MSG_MAX_CANDIDATES, &candidate_record),
    BOUND(6, msg_request, gold, FIELD_UTF8, MSG_MAX_SQL),
    BOUND(7, msg_request, meta, FIELD_UTF8, MSG_MAX_META),
    PLAIN(8, msg_request, tag, FIELD_U64),
    PART(9, msg_request, options, FIELD_STRUCT, &options_record),
    BOUND(10, msg_request, traceparent, FIELD_UTF8, MSG_MAX_NAME),
    MANY(11, msg_request, answers, FIELD_LIST, MSG_MAX_ANSWERS, &answer_record),
    PART(12, msg_request, linking, FIELD_OPTIONAL, &linking_record),
    BOUND(13, msg_request, schema, FIELD_UTF8, MSG_MAX_SCHEMA),
    END,
};
const struct record msg_request_record = RECORD(msg_request, request_fields);

/* --- task and result --- */

static const struct field clause_fields[] = {
    BOUND(1, msg_clause, label, FIELD_CSTR, MSG_MAX_NAME),
    BOUND(2, msg_clause, text, FIELD_CSTR, MSG_MAX_SQL),
    PLAIN(3, msg_clause, start, FIELD_U32),
    PLAIN(4, msg_clause, end, FIELD_U32),
    END,
};
static const struct record clause_record = RECORD(msg_clause, clause_fields);

static const struct field fact_fields[] = {
    BOUND(1, msg_fact, key, FIELD_CSTR, MSG_MAX_NAME),
    BOUND(2, msg_fact, value, FIELD_CSTR, PROSE),
    END,
};
static const struct record fact_record = RECORD(msg_fact, fact_fields);

static const struct field finding_fields[] = {
    PLAIN(1, msg_finding, signal, FIELD_U32),
    BOUND(2, msg_finding, name, FIELD_CSTR, MSG_MAX_NAME),
    BOUND(3, msg_finding, severity, FIELD_ENUM, MSG_SEVERITY_COUNT),
    BOUND(4, msg_finding, message, FIELD_CSTR, PROSE),
    MANY(5, msg_finding, clauses, FIELD_LIST, MSG_MAX_LIST, &clause_record),
    MANY(6, msg_finding, facts, FIELD_LIST, MSG_MAX_LIST, &fact_record),
    END,
};
static const struct record finding_record = RECORD(msg_finding, finding_fields);

static const struct field task_fields[] = {
    PART(1, msg_task, key, FIELD_STRUCT, &key_record),
    PLAIN(2, msg_task, hash, FIELD_PAIR),
    PLAIN(3, msg_task, candidate, FIELD_U32),
    BOUND(4, msg_task, family, FIELD_UTF8, MSG_MAX_NAME),
    BOUND(5, msg_task, db, FIELD_UTF8, MSG_MAX_NAME),
    BOUND(6, msg_task, question, FIELD_UTF8, MSG_MAX_QUESTION),
    BOUND(7, msg_task, evidence, FIELD_UTF8, MSG_MAX_QUESTION),
    BOUND(8, msg_task, sql, FIELD_TEXT, MSG_MAX_SQL),
    PLAIN(9, msg_task, deadline_ns, FIELD_I64),
    BOUND(10, msg_task, expose, FIELD_ENUM, MSG_EXPOSE_COUNT),
    MANY(11, msg_task, deny_columns, FIELD_STRINGS, MSG_MAX_LIST, NULL),
    BOUND(12, msg_task, traceparent, FIELD_UTF8, MSG_MAX_NAME),
    PLAIN(13, msg_task, proposes, FIELD_BOOL),
    MANY(14, msg_task, findings, FIELD_LIST, MSG_MAX_LIST, &finding_record),
    PLAIN(15, msg_task, describes, FIELD_BOOL),
    MANY(16, msg_task, readings, FIELD_LIST, MSG_MAX_LIST, &candidate_record),
    PART(17, msg_task, linking, FIELD_OPTIONAL, &linking_record),
    BOUND(18, msg_task, schema, FIELD_UTF8, MSG_MAX_SCHEMA),
    PLAIN(19, msg_task, joins, FIELD_BOOL),
    BOUND(20, msg_task, part, FIELD_ENUM, MSG_PART_COUNT),
    END,
};
const struct record msg_task_record = RECORD(msg_task, task_fields);

static const struct field signal_fields[] = {
    PLAIN(1, msg_signal, id, FIELD_U32),
    BOUND(2, msg_signal, name, FIELD_CSTR, MSG_MAX_NAME),
    BOUND(3, msg_signal, state, FIELD_ENUM, MSG_STATE_COUNT),
    BOUND(4, msg_signal, reason, FIELD_CSTR, PROSE),
    PLAIN(5, msg_signal, ns, FIELD_I64),
    END,
};
static const struct record signal_record = RECORD(msg_signal, signal_fields);

static const struct field row_fields[] = {
    MANY(1, msg_row, values, FIELD_VALUES, MSG_MAX_CANDIDATES, NULL),
    END,
};
static const struct record row_record = RECORD(msg_row, row_fields);

static const struct field execution_fields[] = {
    BOUND(1, msg_execution, code, FIELD_CSTR, MSG_MAX_NAME),
    BOUND(2, msg_execution, message, FIELD_CSTR, PROSE),
    PLAIN(3, msg_execution, error_offset, FIELD_I32),
    PLAIN(4, msg_execution, rows, FIELD_U32),
    PLAIN(5, msg_execution, columns, FIELD_U32),
    PLAIN(6, msg_execution, ns, FIELD_I64),
    PLAIN(7, msg_execution, digest, FIELD_PAIR),
    PLAIN(8, msg_execution, ordered_digest, FIELD_PAIR),
    MANY(9, msg_execution, names, FIELD_STRINGS, MSG_MAX_CANDIDATES, NULL),
    MANY(10, msg_execution, sample, FIELD_LIST, MSG_MAX_LIST, &row_record),
    PLAIN(11, msg_execution, withheld, FIELD_BOOL),
    END,
};
static const struct record execution_record = RECORD(msg_execution, execution_fields);

static const struct field explanation_fields[] = {
    BOUND(1, msg_explanation, prose, FIELD_CSTR, MSG_MAX_PREMISE),
    BOUND(2, msg_explanation, premise, FIELD_CSTR, MSG_MAX_PREMISE),
    PLAIN(3, msg_explanation, components, FIELD_U64),
    PLAIN(4, msg_explanation, digest, FIELD_PAIR),
    MANY(5, msg_explanation, numbers, FIELD_NUMBERS, MSG_MAX_LIST, NULL),
    END,
};
static const struct record explanation_record = RECORD(msg_explanation, explanation_fields);

static const struct field proposal_fields[] = {
    BOUND(1, msg_proposal, sql, FIELD_TEXT, MSG_MAX_SQL),
    BOUND(2, msg_proposal, reason, FIELD_CSTR, PROSE),
    BOUND(3, msg_proposal, source, FIELD_CSTR, MSG_MAX_NAME),
    END,
};
static const struct record proposal_record = RECORD(msg_proposal, proposal_fields);

static const struct field usage_fields[] = {
    PLAIN(1, msg_usage, calls, FIELD_U32),
    PLAIN(2, msg_usage, cached, FIELD_U32),
    PLAIN(3, msg_usage, tokens_in, FIELD_U64),
    PLAIN(4, msg_usage, tokens_out, FIELD_U64),
    PLAIN(5, msg_usage, cost, FIELD_REAL),
    BOUND(6, msg_usage, source, FIELD_CSTR, PROSE),
    END,
};
static const struct record usage_record = RECORD(msg_usage, usage_fields);

static const struct field choice_fields[] = {
    BOUND(1, msg_choice, id, FIELD_CSTR, MSG_MAX_NAME),
    BOUND(2, msg_choice, text, FIELD_CSTR, PROSE),
    PLAIN(3, msg_choice, candidate, FIELD_U32),
    PART(4, msg_choice, returns, FIELD_OPTIONAL, &execution_record),
    END,
};
static const struct record choice_record = RECORD(msg_choice, choice_fields);

static const struct field clarification_fields[] = {
    BOUND(1, msg_clarification, id, FIELD_CSTR, MSG_MAX_NAME),
    BOUND(2, msg_clarification, text, FIELD_CSTR, PROSE),
    MANY(3, msg_clarification, choices, FIELD_LIST, MSG_MAX_LIST, &choice_record),
    PLAIN(4, msg_clarification, gain, FIELD_REAL),
    BOUND(5, msg_clarification, request, FIELD_CSTR, MSG_MAX_META),
    END,
};
static const struct record clarification_record = RECORD(msg_clarification, clarification_fields);

static const struct field result_fields[] = {
    PART(1, msg_result, key, FIELD_STRUCT, &key_record),
    PLAIN(2, msg_result, hash, FIELD_PAIR),
    PLAIN(3, msg_result, candidate, FIELD_U32),
    BOUND(4, msg_result, family, FIELD_UTF8, MSG_MAX_NAME),
    BOUND(5, msg_result, code, FIELD_CSTR, MSG_MAX_NAME),
    BOUND(6, msg_result, message, FIELD_CSTR, PROSE),
    PLAIN(7, msg_result, invalid, FIELD_BOOL),
    MANY(8, msg_result, signals, FIELD_LIST, MSG_MAX_LIST, &signal_record),
    MANY(9, msg_result, findings, FIELD_LIST, MSG_MAX_LIST, &finding_record),
    PART(10, msg_result, execution, FIELD_OPTIONAL, &execution_record),
    PLAIN(11, msg_result, ns, FIELD_I64),
    PART(12, msg_result, explanation, FIELD_OPTIONAL, &explanation_record),
    PLAIN(13, msg_result, p, FIELD_SETTING),
    PLAIN(14, msg_result, proposes, FIELD_BOOL),
    MANY(15, msg_result, proposals, FIELD_LIST, MSG_MAX_LIST, &proposal_record),
    BOUND(16, msg_result, schema, FIELD_CSTR, PROSE),
    PART(17, msg_result, usage, FIELD_OPTIONAL, &usage_record),
    PLAIN(18, msg_result, asks, FIELD_BOOL),
    PART(19, msg_result, clarification, FIELD_OPTIONAL, &clarification_record),
    BOUND(20, msg_result, part, FIELD_ENUM, MSG_PART_COUNT),
    BOUND(21, msg_result, state, FIELD_CSTR, MSG_MAX_NAME),
    END,
};
const struct record msg_result_record = RECORD(msg_result, result_fields);

/* --- verdict --- */

static const struct field polished_fields[] = {
    BOUND(1, msg_polished, text, FIELD_CSTR, MSG_MAX_PREMISE),
    BOUND(2, msg_polished, source, FIELD_CSTR, MSG_MAX_NAME),
    END,
};
static const struct record polished_record = RECORD(msg_polished, polished_fields);

static const struct field judged_fields[] = {
    BOUND(1, msg_judged, sql, FIELD_TEXT, MSG_MAX_SQL),
    PLAIN(2, msg_judged, count, FIELD_U32),
    PLAIN(3, msg_judged, score, FIELD_REAL),
    PLAIN(4, msg_judged, judged, FIELD_BOOL),
    PLAIN(5, msg_judged, invalid, FIELD_BOOL),
    PLAIN(6, msg_judged, p_correct, FIELD_REAL),
    PLAIN(7, msg_judged, label_model_p, FIELD_REAL),
    PLAIN(8, msg_judged, entailment, FIELD_REAL),
    MANY(9, msg_judged, signals, FIELD_LIST, MSG_MAX_LIST, &signal_record),
    MANY(10, msg_judged, findings, FIELD_LIST, MSG_MAX_LIST, &finding_record),
    PART(11, msg_judged, execution, FIELD_OPTIONAL, &execution_record),
    BOUND(12, msg_judged, explanation, FIELD_CSTR, PROSE),
    PLAIN(13, msg_judged, same_as, FIELD_U32),
    BOUND(14, msg_judged, why, FIELD_CSTR, PROSE),
    PART(15, msg_judged, explained, FIELD_OPTIONAL, &explanation_record),
    BOUND(16, msg_judged, verifier, FIELD_CSTR, MSG_MAX_NAME),
    PART(17, msg_judged, polished, FIELD_OPTIONAL, &polished_record),
    END,
};
static const struct record judged_record = RECORD(msg_judged, judged_fields);

static const struct field report_clause_fields[] = {
    BOUND(1, msg_report_clause, label, FIELD_CSTR, MSG_MAX_NAME),
    MANY(2, msg_report_clause, texts, FIELD_STRINGS, MSG_MAX_LIST, NULL),
    END,
};
static const struct record report_clause_record = RECORD(msg_report_clause, report_clause_fields);

static const struct field report_fields[] = {
    BOUND(1, msg_report, signal, FIELD_CSTR, MSG_MAX_NAME),
    BOUND(2, msg_report, cause, FIELD_CSTR, MSG_MAX_NAME),
    BOUND(3, msg_report, description, FIELD_CSTR, PROSE),
    BOUND(4, msg_report, example, FIELD_CSTR, PROSE),
    BOUND(5, msg_report, instruction, FIELD_CSTR, PROSE),
    MANY(6, msg_report, clauses, FIELD_LIST, MSG_MAX_LIST, &report_clause_record),
    END,
};
static const struct record report_record = RECORD(msg_report, report_fields);

static const struct field version_fields[] = {
    BOUND(1, msg_version, name, FIELD_CSTR, MSG_MAX_NAME),
    BOUND(2, msg_version, value, FIELD_CSTR, PROSE),
    END,
};
static const struct record version_record = RECORD(msg_version, version_fields);

static const struct field step_fields[] = {
    BOUND(1, msg_step, clause, FIELD_CSTR, MSG_MAX_NAME),
    BOUND(2, msg_step, was, FIELD_CSTR, MSG_MAX_SQL),
    BOUND(3, msg_step, now, FIELD_CSTR, MSG_MAX_SQL),
    END,
};
static const struct record step_record = RECORD(msg_step, step_fields);

static const struct field repaired_fields[] = {
    PLAIN(1, msg_repaired, applied, FIELD_BOOL),
    BOUND(2, msg_repaired, sql, FIELD_CSTR, MSG_MAX_SQL),
    BOUND(3, msg_repaired, old_sql, FIELD_CSTR, MSG_MAX_SQL),
    PLAIN(4, msg_repaired, of, FIELD_U32),
    PLAIN(5, msg_repaired, p_old, FIELD_REAL),
    PLAIN(6, msg_repaired, p_correct, FIELD_REAL),
    BOUND(7, msg_repaired, reason, FIELD_CSTR, PROSE),
    MANY(8, msg_repaired, steps, FIELD_LIST, MSG_MAX_LIST, &step_record),
    PLAIN(9, msg_repaired, n_proposals, FIELD_U32),
    BOUND(10, msg_repaired, source, FIELD_CSTR, MSG_MAX_NAME),
    END,
};
static const struct record repaired_record = RECORD(msg_repaired, repaired_fields);

static const struct field guarantee_fields[] = {
    PLAIN(1, msg_guarantee, alpha, FIELD_REAL),
    PLAIN(2, msg_guarantee, delta, FIELD_REAL),
    BOUND(3, msg_guarantee, group, FIELD_CSTR, MSG_MAX_NAME),
    PLAIN(4, msg_guarantee, records, FIELD_U32),
    BOUND(5, msg_guarantee, status, FIELD_ENUM, MSG_PROMISE_COUNT),
    PLAIN(6, msg_guarantee, p_value, FIELD_REAL),
    BOUND(7, msg_guarantee, why, FIELD_CSTR, PROSE),
    END,
};
static const struct record guarantee_record = RECORD(msg_guarantee, guarantee_fields);

static const struct field verdict_fields[] = {
    BOUND(1, msg_verdict, id, FIELD_CSTR, MSG_MAX_NAME),
    BOUND(2, msg_verdict, db, FIELD_CSTR, MSG_MAX_NAME),
    PLAIN(3, msg_verdict, tag, FIELD_U64),
    PART(4, msg_verdict, key, FIELD_STRUCT, &key_record),
    BOUND(5, msg_verdict, status, FIELD_ENUM, MSG_STATUS_COUNT),
    BOUND(6, msg_verdict, reason, FIELD_CSTR, MSG_MAX_NAME),
    BOUND(7, msg_verdict, message, FIELD_CSTR, PROSE),
    BOUND(8, msg_verdict, sql, FIELD_CSTR, MSG_MAX_SQL),
    PLAIN(9, msg_verdict, chosen, FIELD_U32),
    PLAIN(10, msg_verdict, p_correct, FIELD_REAL),
    PLAIN(11, msg_verdict, threshold, FIELD_REAL),
    MANY(12, msg_verdict, candidates, FIELD_LIST, MSG_MAX_CANDIDATES, &judged_record),
    MANY(13, msg_verdict, report, FIELD_LIST, MSG_MAX_LIST, &report_record),
    MANY(14, msg_verdict, questions, FIELD_STRINGS, MSG_MAX_LIST, NULL),
    MANY(15, msg_verdict, unavailable, FIELD_STRINGS, MSG_MAX_LIST, NULL),
    PLAIN(16, msg_verdict, iterations, FIELD_U32),
    PLAIN(17, msg_verdict, total_ns, FIELD_I64),
    PLAIN(18, msg_verdict, worker_ns, FIELD_I64),
    MANY(19, msg_verdict, versions, FIELD_LIST, MSG_MAX_LIST, &version_record),
    BOUND(20, msg_verdict, gold, FIELD_CSTR, MSG_MAX_SQL),
    BOUND(21, msg_verdict, meta, FIELD_CSTR, MSG_MAX_META),
    PLAIN(22, msg_verdict, entailment_threshold, FIELD_REAL),
    MANY(23, msg_verdict, notes, FIELD_STRINGS, MSG_MAX_LIST, NULL),
    PLAIN(24, msg_verdict, request_digest, FIELD_PAIR),
    PART(25, msg_verdict, repair, FIELD_OPTIONAL, &repaired_record),
    PART(26, msg_verdict, guarantee, FIELD_OPTIONAL, &guarantee_record),
    BOUND(27, msg_verdict, cause, FIELD_CSTR, MSG_MAX_NAME),
    PART(28, msg_verdict, usage, FIELD_OPTIONAL, &usage_record),
    PART(29, msg_verdict, clarification, FIELD_OPTIONAL, &clarification_record),
    MANY(30, msg_verdict, answers, FIELD_LIST, MSG_MAX_ANSWERS, &answer_record),
    PLAIN(31, msg_verdict, cached, FIELD_BOOL),
    END,
};
const struct record msg_verdict_record = RECORD(msg_verdict, verdict_fields);
