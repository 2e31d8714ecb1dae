/* Declarations shared by the files of worker/. */
#ifndef ASSAY_WORKER_INTERNAL_H
#define ASSAY_WORKER_INTERNAL_H

#include "lib/base/tracing.h"
#include "lib/question/question.h"
#include "proto/message/msg.h"
#include "worker/cache_verdicts.h"
#include "worker/worker.h"

#include <pthread.h>
#include <stdatomic.h>

/* --- handles.c: open databases of one thread --- */

struct handle {
    char *name, *path;
    struct db *db;
    struct db_memo *memo; /* result cache */
    char memo_of[33];     /* fingerprint of the database for the result cache */
    uint64_t used;        /* tick of the last use */
};

struct handles {
    struct handle *items;
    uint32_t n, max;
    uint64_t tick;
    struct executor *executor;    /* NULL: statements run in this process */
    _Atomic(struct db *) current; /* last one handed out, for handles_interrupt */
    pthread_mutex_t closing;      /* held while one is closed or interrupted */
};

enum err_code handles_init(struct handles *handles, const struct worker_config *config);
void handles_free(struct handles *handles);
/* Returns the open handle of a database, and opens it if needed. Evicts the least recently used one if the table is
 * full. */
enum err_code handles_get(struct handles *handles, const struct worker_config *config, const char *name,
                          struct handle **out, struct err *err);
/* Returns the handle of a schema without data. Its name differs from any database's and depends only on the text.
 * Returns ERR_SCHEMA for an invalid text. */
enum err_code handles_get_schema(struct handles *handles, const struct worker_config *config, const char *text,
                                 struct handle **out, struct err *err);
/* Closes the handle of a failed file. */
void handles_drop(struct handles *handles, struct handle *handle);

/* Stops the running statement of the database handed out last. Thread: any. */
void handles_interrupt(struct handles *handles);

/* Sets the result cache (db_set_memo) for the current index. `again` is true for the same question as before. A
 * server's index may be older than its rows, so for a server nothing is cached across questions. */
void handles_remember(struct handle *handle, const char fingerprint[33], bool again);

/* --- workspace.c: the current candidate, its question, and data shared by tasks --- */

/* Data shared by the candidates of a request. */
struct reading {
    struct arena arena; /* owns the pointers below */
    uint64_t used;      /* turn of the last use; 0 if empty */
    struct msg_key key;
    struct schema_index *schema; /* owned reference */
    char state[STATE_TEXT];      /* of the database of that index; "" if unknown */
    char *question, *evidence;
    struct vsig_uncertain *uncertain; /* of the request's linking */
    uint32_t n_uncertain;
    const struct question *analysis; /* NULL without a question */
    struct schema_gate gate;         /* applied to its statements; names are in the arena; refuses nothing if n is 0 */
};

enum { KEPT_READINGS = 8 }; /* requests alternate, one candidate each */

struct workspace {
    const struct worker_config *config;
    struct handles *handles; /* of the thread */
    struct worker_stats *stats;
    struct trace_context trace; /* of the current task */

    struct reading readings[KEPT_READINGS];
    struct reading *reading; /* current one, among `readings` */
    uint64_t turns;

    struct arena arena; /* of the candidate */
    bool has_candidate;
    uint64_t hash[2];
    char *sql;
    struct vsig_subject subject;
    bool denied;         /* uses a column whose values are never shown */
    bool refused;        /* reads such a column, and is therefore not run */
    bool reaches_denied; /* reads a table with such a column: an engine error about a value may quote it */

    /* Whether the engine accepts it. */
    bool checked, ran;          /* prepared; run */
    enum err_code invalid_code; /* ERR_OK, or why it is invalid */
    struct err engine_err;      /* engine's error */
    bool failed_running;        /* the engine accepted the statement and failed while running it */
    int offset;
};

/* Initializes a workspace. `handles` must outlive it. Cannot fail. */
void workspace_init(struct workspace *workspace, const struct worker_config *config, struct handles *handles,
                    struct worker_stats *stats);
void workspace_free(struct workspace *workspace);

/* Makes the task's candidate the current one, reusing data of the last task. Errors concern the task: an invalid
 * candidate is ERR_OK. `deadline_ns` is on clock_now_ns; 0 means no deadline. */
enum err_code workspace_take(struct workspace *workspace, const struct msg_task *task, int64_t deadline_ns,
                             struct err *err);
/* Checks the current candidate in the engine: runs it if `run`, and otherwise prepares it. Sets checked, invalid_code,
 * engine_err, offset. Returns errors that do not concern the candidate (a lock, a lost file). */
enum err_code workspace_check(struct workspace *workspace, bool run, struct err *err);

/* --- answer.c: from verdicts of signals to a result message --- */

/* Writes the result of a family. Texts are shared with the subject, so encode it before the next task. */
enum err_code answer_family(struct workspace *workspace, struct arena *arena, const struct msg_task *task,
                            enum vsig_family family, struct msg_result *out, struct err *err);
/* Writes the result of an unavailable family: all its signals are unavailable for that reason. */
enum err_code answer_unavailable(struct arena *arena, const struct worker_config *config, const struct msg_task *task,
                                 int family, const struct err *why, struct msg_result *out);

/* --- opinion.c: the result of the family llm --- */

/* Calls a language model about the current candidate, runs the family's signals on its reply, and records the usage. A
 * failure of the model makes signals unavailable. Returns false if the arena is full. */
bool opinion_run(struct workspace *workspace, struct arena *arena, const struct msg_task *task,
                 struct vsig_verdict *verdicts, struct msg_result *out);

/* --- explain.c: the result of the explain family --- */

/* Explains the current candidate, which the engine accepts. `open`: its data may be exposed according to the task.
 * Returns ERR_DEADLINE for the task's own deadline, or ERR_LIMIT_MEMORY. */
enum err_code answer_explain(struct workspace *workspace, struct arena *arena, const struct msg_task *task, bool open,
                             struct msg_explanation **out, struct err *err);

/* --- output --- */

#define WORKER_GROUP "assay-worker" /* used if the configuration names none */

enum { OUTBOX = MSG_MAX_JOINED };

struct polled_task;

/* Outgoing results, and the tasks that are done once they are sent. */
struct outbox {
    struct msg_buffer buffers[OUTBOX];
    char keys[OUTBOX][MSG_KEY_TEXT];
    struct bus_out out[OUTBOX]; /* each with results of one request */
    struct polled_task *done[OUTBOX];
    uint32_t with[OUTBOX]; /* index in `out` of the result of `done` */
    uint32_t n_out, n;     /* n_out <= n */
};

/* Messages that this worker nacked, and how often. Their remaining attempts were deliveries to other workers. */
enum { NACKED = 256 };
struct nacked {
    uint32_t topic_index, n; /* n 0: free */
    uint32_t answered;       /* bit i: its task i is answered, and not judged again */
    int32_t partition;
    int64_t offset, time_ns; /* also compared, because offsets restart in a recreated topic */
};

/* --- lanes.c: the threads of a worker, and the lock between them --- */

enum { BATCH = 12 * VSIG_FAMILY_COUNT };

/* A polled message with one or more tasks of a request. It is acked when all of them have ended, or nacked if one must
 * be redelivered. */
struct delivery {
    struct bus_message *message;
    enum err_code code; /* not ERR_OK: the message cannot be read, see `err` */
    struct err err;
    struct msg_key key;     /* of the request */
    const char *db;         /* of the request */
    uint32_t request_tasks; /* tasks of the request in the batch */
    uint32_t turn;          /* tasks of its database in the batch, up to the request's last */
    uint32_t left;          /* tasks that have not ended */
    uint32_t answered;      /* bit i: the result of its task i is sent */
    bool returns;           /* a task must be redelivered, after delay_ms */
    int64_t delay_ms;
};

struct polled_task {
    struct delivery *delivery;
    uint32_t index;        /* in its message */
    struct msg_task *task; /* NULL: the message cannot be read */
    const char *bytes;     /* encoded task */
    size_t len;
    int family;
};

/* The tasks of one poll, sorted. */
struct batch {
    struct arena arena; /* of the decoded tasks */
    struct delivery deliveries[BATCH];
    uint32_t n_deliveries;
    struct polled_task tasks[BATCH * MSG_MAX_JOINED];
    uint32_t n, next; /* tasks before `next` are taken by lanes */
    uint32_t users;   /* lanes with a candidate of this batch */
};

#define IN_HAND_NONE     (-1LL)
#define IN_HAND_STOPPING INT64_MIN

/* A thread of a worker, with all it needs to judge alone. */
struct lane {
    struct worker *worker;
    pthread_t thread;
    struct handles handles;
    struct workspace workspace;
    struct workspace rows; /* for tasks about the rows behind an answer, which arrive between those of other requests */
    struct arena answers;
    struct permit *permit; /* of permit_db, reused briefly across tasks */
    const struct worker_database *permit_db;
    int64_t permit_since_ns;
    struct worker_stats stats;     /* of this thread */
    struct worker_stats published; /* guarded by the worker's lock */
    atomic_llong heartbeat_ns;     /* 0: waiting to lead */

    /* The current candidate; guarded by the worker's turn. */
    struct batch *batch; /* NULL without a candidate */
    uint32_t next, end;  /* its tasks that were not begun */
    int64_t since_ns;    /* time when it was taken */

    /* The request of the current candidate, for worker_stop_request. Not guarded by the turn. */
    atomic_llong in_hand; /* its offset, IN_HAND_NONE, or the offset with IN_HAND_STOPPING while it is being stopped */
    atomic_bool stopped;  /* its result is no longer needed */
};

struct worker {
    struct worker_config config;
    struct bus_consumer *consumer;
    atomic_bool stopping;
    atomic_uint in_flight;
    int families[VSIG_FAMILY_COUNT]; /* by topic index */
    uint32_t n_families;
    bool asks_models; /* serves only the family llm */
    struct lane *lanes;
    uint32_t n_lanes;
    atomic_uint slow_running; /* lanes that judge a candidate without leading */

    pthread_mutex_t turn;    /* guards the fields below and the consumer */
    pthread_cond_t followed; /* the leader has a candidate, or all lanes end */
    pthread_cond_t returned; /* no lane wants the turn back, or a slow candidate is done */
    uint32_t idle;           /* lanes waiting for a leader with a candidate */
    atomic_uint returning;   /* lanes that want the turn back for a result */
    const struct lane *leader;
    struct batch *batches; /* n_lanes + 1: each lane may still need one */
    struct batch *batch;   /* the leader's; NULL: poll next */
    uint32_t at_a_time;    /* most messages of the next poll */
    bool ended;
    enum err_code code; /* first one of class fatal */
    struct err err;
    struct outbox outbox;
    struct nacked nacked[NACKED]; /* by offset; a new entry replaces the old one */

    pthread_mutex_t lock; /* guards the lanes' `published` */
};

/* Creates a worker that is in no group. Free with worker_free. */
enum err_code worker_make(const struct worker_config *config, uint32_t n_lanes, struct worker **out);
/* Runs all lanes, the first on the calling thread. Returns as worker_run does. */
enum err_code lanes_run(struct worker *worker, struct err *err);
/* Release the turn while judging, and take it back before the leader polls again. */
void lanes_give_turn(struct lane *lane);
void lanes_take_turn(struct lane *lane);

/* --- dispatch.c: the outcome of a task. The lane has the turn --- */

/* Handles one task, or an unreadable message. Releases the turn while the task is judged. Returns ERR_OK, or a code of
 * class fatal. */
enum err_code dispatch(struct lane *lane, struct polled_task *polled, struct err *err);
/* Runs the family's signals on a task; needs no turn. `deadline_ns` is on clock_now_ns; 0 means no deadline. */
enum err_code dispatch_evaluate(struct lane *lane, const struct msg_task *task, int64_t deadline_ns,
                                struct msg_result *result, struct err *err);
/* Marks a task for redelivery: its message is nacked once its other tasks have ended. */
void dispatch_return(struct lane *lane, struct polled_task *polled, int64_t delay_ms);
/* Returns the tasks of a message that were answered before it was nacked here: bit i, task i. */
uint32_t dispatch_answered(const struct worker *worker, const struct bus_message *message);
/* Gives the lane's permit back, if it has one. */
void dispatch_give_permit(struct lane *lane);
/* Sends the results in the outbox, then acks their tasks. */
enum err_code dispatch_flush(struct lane *lane, struct err *err);

#endif
