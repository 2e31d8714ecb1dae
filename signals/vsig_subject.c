/* Prepares a subject: one candidate, parsed and bound, with all facts that signals may read. */
#include "lib/question/question.h"
#include "signals/vsig.h"

static enum err_code prepare(struct vsig_subject *subject)
{
    struct sql_stmt *stmt = NULL;
    enum err_code code = sql_parse(subject->arena, subject->sql, subject->sql_len, NULL, &stmt);
    subject->stmt = stmt;
    if (code != ERR_OK) return code;
    struct sql_bound *bound = NULL;
    code = sql_bind(subject->arena, stmt, &subject->schema->catalog, &bound);
    subject->bound = bound;
    return code;
}

enum err_code vsig_subject_init(struct vsig_subject *subject, struct arena *arena, const struct schema_index *schema,
                                struct db *db, const char *sql, size_t sql_len, const char *question,
                                const char *evidence, const struct question *analysis)
{
    *subject = (struct vsig_subject){
        .arena = arena,
        .sql = sql,
        .sql_len = sql_len,
        .schema = schema,
        .db = db,
        .embedder = text_builtin_embedder(),
        .question = question,
        .evidence = evidence,
        .analysis = analysis,
    };
    subject->code = prepare(subject);
    if (subject->code == ERR_OK && question && !analysis)
        subject->analysis = question_read(arena, schema, question, evidence);
    if (subject->analysis) subject->evidence = subject->analysis->evidence_text; /* includes the team's definitions */
    return subject->code;
}

void vsig_refuse(struct vsig_subject *subject, enum err_code why)
{
    subject->refused = why;
    subject->result_known = true;
    subject->result_code = err_set(&subject->result_err, why, "%s", err_meaning(why));
}

const struct db_result *vsig_result(struct vsig_subject *subject)
{
    if (!subject->result_known) {
        subject->result_known = true;
        subject->result_code = subject->db ? db_query(subject->db, subject->arena, subject->sql, subject->sql_len, NULL,
                                                      0, 0, &subject->result, &subject->result_err)
                                           : err_set(&subject->result_err, ERR_DB_MISSING, "no database was given");
    }
    return subject->result_code == ERR_OK ? &subject->result : NULL;
}
