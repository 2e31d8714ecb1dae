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
    char memo_of[33];     /* fingerprint of the database to which the result cache belongs */
    uint64_t used;        /* value of handles.tick at the last use */
};

struct handles {
    struct handle *items;
    uint32_t n, max;
    uint64_t tick;
    struct executor *executor;    /* NULL: statements run in this process */
    _Atomic(struct db *) current; /* database handed out last, for handles_interrupt */
    pthread_mutex_t closing;      /* held while a database is closed or interrupted */
};

enum err_code handles_init(struct handles *handles, const struct worker_config *config);
void handles_free(struct handles *handles);
/* Returns the open handle of a database. Opens the database if needed. Closes the least recently used handle if the
 * table is full. */
enum err_code handles_get(struct handles *handles, const struct worker_config *config, const char *name,
                          struct handle **out, struct err *err);
/* Returns the handle of a schema without data. The name of the handle depends only on the text and equals no database's
 * name. Returns ERR_SCHEMA for an invalid text. */
enum err_code handles_get_schema(struct handles *handles, const struct worker_config *config, const char *text,
                                 struct handle **out, struct err *err);
/* Closes a handle whose file has failed. */
void handles_drop(struct handles *handles, struct handle *handle);

/* Stops the running statement of the database handed out last. Thread: any. */
void handles_interrupt(struct handles *handles);

/* Sets the result cache (db_set_memo) for the current index. `again` is true if the question is the same as before. A
 * server's index may be older than its rows, so results of a server are not cached across questions. */
void handles_remember(struct handle *handle, const char fingerprint[33], bool again);

/* --- workspace.c: the current candidate, its question, and data that tasks share --- */

/* Data shared by the candidates of a request. */
struct reading {
    struct arena arena; /* owns the pointers below */
    uint64_t used;      /* value of workspace.turns at the last use; 0 if empty */
    struct msg_key key;
    struct schema_index *schema; /* index of the database; the reading owns a reference */
    char state[STATE_TEXT];      /* state of the database that the index describes; "" if unknown */
    char *question, *evidence;
    struct vsig_uncertain *uncertain; /* names that the request's schema linker was unsure of */
    uint32_t n_uncertain;
    const struct question *analysis; /* NULL if there is no question */
    struct schema_gate gate;         /* gate for statements on the database; its names are in the arena; it refuses
                                      * nothing if n is 0 */
};

enum { KEPT_READINGS = 8 }; /* number of cached readings, because requests alternate, one candidate each */

struct workspace {
    const struct worker_config *config;
    struct handles *handles; /* handles of the same thread */
    struct worker_stats *stats;
    struct trace_context trace; /* trace context of the current task */

    struct reading readings[KEPT_READINGS];
    struct reading *reading; /* the current reading, one of `readings` */
    uint64_t turns;

    struct arena arena; /* memory of the candidate */
    bool has_candidate;
    uint64_t hash[2];
    char *sql;
    struct vsig_subject subject;
    bool denied;         /* uses a column whose values are never shown */
    bool refused;        /* reads such a column, and is therefore not executed */
    bool reaches_denied; /* reads a table with such a column, so an engine error may quote a denied value */

    /* Whether the engine accepts the candidate. */
    bool checked, ran;          /* the candidate was prepared; it was executed */
    enum err_code invalid_code; /* ERR_OK, or why the candidate is invalid */
    struct err engine_err;      /* error that the engine reported */
    bool failed_running;        /* the engine accepted the statement and failed while running it */
    int offset;
};

/* Initializes a workspace. `handles` must outlive it. */
void workspace_init(struct workspace *workspace, const struct worker_config *config, struct handles *handles,
                    struct worker_stats *stats);
void workspace_free(struct workspace *workspace);

/* Makes the task's candidate the current one, and reuses data of the last task. Returns only errors of the task; for an
 * invalid candidate it returns ERR_OK. `deadline_ns` is on clock_now_ns; 0 means no deadline. */
enum err_code workspace_take(struct workspace *workspace, const struct msg_task *task, int64_t deadline_ns,
                             struct err *err);
/* Checks the current candidate in the engine: executes it if `run`, otherwise only prepares it. Sets checked,
 * invalid_code, engine_err and offset. Returns errors that the candidate did not cause (a lock, a lost file). */
enum err_code workspace_check(struct workspace *workspace, bool run, struct err *err);

/* --- answer.c: from verdicts of signals to a result message --- */

/* Writes the result of a family. The result shares texts with the subject, so encode it before the next task. */
enum err_code answer_family(struct workspace *workspace, struct arena *arena, const struct msg_task *task,
                            enum vsig_family family, struct msg_result *out, struct err *err);
/* Writes the result of an unavailable family: each of its signals is unavailable for the reason in `why`. */
enum err_code answer_unavailable(struct arena *arena, const struct worker_config *config, const struct msg_task *task,
                                 int family, const struct err *why, struct msg_result *out);

/* --- opinion.c: the result of the family llm --- */

/* Calls a language model about the current candidate, runs the family's signals on its reply, and records the usage. A
 * failure of the model makes signals unavailable. Returns false if the arena is full. */
bool opinion_run(struct workspace *workspace, struct arena *arena, const struct msg_task *task,
                 struct vsig_verdict *verdicts, struct msg_result *out);

/* --- explain.c: the result of the explain family --- */

/* Explains the current candidate, which the engine must have accepted. `open` is true if the task allows its data to be
 * exposed. Returns ERR_DEADLINE if the task's deadline has passed, or ERR_LIMIT_MEMORY. */
enum err_code answer_explain(struct workspace *workspace, struct arena *arena, const struct msg_task *task, bool open,
                             struct msg_explanation **out, struct err *err);

/* --- output --- */

#define WORKER_GROUP "assay-worker" /* consumer group if the configuration names none */

enum { OUTBOX = MSG_MAX_JOINED };

struct polled_task;

/* Outgoing results, and the tasks that are done once these results are sent. */
struct outbox {
    struct msg_buffer buffers[OUTBOX];
    char keys[OUTBOX][MSG_KEY_TEXT];
    struct bus_out out[OUTBOX]; /* each message has results of one request */
    struct polled_task *done[OUTBOX];
    uint32_t with[OUTBOX]; /* index in `out` of the message with the result of the same entry of `done` */
    uint32_t n_out, n;     /* number of messages; number of tasks (at least n_out) */
};

/* A message that this worker nacked, and how often. All further deliveries of the message went to other workers. */
enum { NACKED = 256 };
struct nacked {
    uint32_t topic_index, n; /* number of nacks; 0 if the entry is free */
    uint32_t answered;       /* bit i: the result of its task i was sent, so the task is not judged again */
    int32_t partition;
    int64_t offset, time_ns; /* `time_ns` is also compared, because offsets restart in a recreated topic */
};

/* --- lanes.c: the threads of a worker, and the lock between them --- */

enum { BATCH = 12 * VSIG_FAMILY_COUNT };

/* A polled message with one or more tasks of a request. It is acked when all tasks have ended, or nacked if a task must
 * be redelivered. */
struct delivery {
    struct bus_message *message;
    enum err_code code; /* if it is not ERR_OK, the message cannot be read; see `err` */
    struct err err;
    struct msg_key key;     /* key of the request */
    const char *db;         /* database of the request */
    uint32_t request_tasks; /* number of the request's tasks in the batch */
    uint32_t turn;          /* number of tasks of the database in the batch, up to the last one of the request */
    uint32_t left;          /* number of tasks that have not ended */
    uint32_t answered;      /* bit i: the result of task i was sent */
    bool returns;           /* a task must be redelivered after delay_ms */
    int64_t delay_ms;
};

struct polled_task {
    struct delivery *delivery;
    uint32_t index;        /* index in the message */
    struct msg_task *task; /* NULL if the message cannot be read */
    const char *bytes;     /* encoded task */
    size_t len;
    int family;
};

/* The tasks of one poll, sorted. */
struct batch {
    struct arena arena; /* memory of the decoded tasks */
    struct delivery deliveries[BATCH];
    uint32_t n_deliveries;
    struct polled_task tasks[BATCH * MSG_MAX_JOINED];
    uint32_t n, next; /* lanes have taken the tasks before `next` */
    uint32_t users;   /* number of lanes with a candidate of this batch */
};

#define IN_HAND_NONE     (-1LL)
#define IN_HAND_STOPPING INT64_MIN

/* A thread of a worker, with all data that it needs to judge alone. */
struct lane {
    struct worker *worker;
    pthread_t thread;
    struct handles handles;
    struct workspace workspace;
    struct workspace rows; /* for tasks about the source rows of an answer, which arrive between tasks of other
                            * requests */
    struct arena answers;
    struct permit *permit; /* permit for permit_db; kept for a short time so that the next tasks can use it */
    const struct worker_database *permit_db;
    int64_t permit_since_ns;
    struct worker_stats stats;     /* counts of this thread */
    struct worker_stats published; /* guarded by the worker's lock */
    atomic_llong heartbeat_ns;     /* 0 while the lane waits to become the leader */

    /* The current candidate; guarded by the worker's turn. */
    struct batch *batch; /* NULL if the lane has no candidate */
    uint32_t next, end;  /* range of its tasks that have not been started */
    int64_t since_ns;    /* time when the lane took the candidate */

    /* The request of the current candidate, for worker_stop_request. Not guarded by the turn. */
    atomic_llong in_hand; /* offset of the request, IN_HAND_NONE, or the offset combined with IN_HAND_STOPPING while it
                           * is being stopped */
    atomic_bool stopped;  /* the result of the request is no longer needed */
};

struct worker {
    struct worker_config config;
    struct bus_consumer *consumer;
    atomic_bool stopping;
    atomic_uint in_flight;
    int families[VSIG_FAMILY_COUNT]; /* family of each topic, by topic index */
    uint32_t n_families;
    bool asks_models; /* the worker serves only the family llm */
    struct lane *lanes;
    uint32_t n_lanes;
    atomic_uint slow_running; /* number of lanes that judge a slow candidate while another lane leads */

    pthread_mutex_t turn;    /* guards the fields below and the consumer */
    pthread_cond_t followed; /* signalled when the leader has a candidate, or when all lanes must end */
    pthread_cond_t returned; /* signalled when no lane waits to take the turn back, or when a slow candidate is done */
    uint32_t idle;           /* number of lanes waiting for a leader with a candidate */
    atomic_uint returning;   /* number of lanes waiting to take the turn back, to send a result */
    const struct lane *leader;
    struct batch *batches; /* n_lanes + 1 batches, because each lane may still need one */
    struct batch *batch;   /* batch of the leader; NULL if the leader must poll next */
    uint32_t at_a_time;    /* maximum messages of the next poll */
    bool ended;
    enum err_code code; /* first error of class fatal */
    struct err err;
    struct outbox outbox;
    struct nacked nacked[NACKED]; /* indexed by offset modulo NACKED; a new entry replaces the old one */

    pthread_mutex_t lock; /* guards `published` of all lanes */
};

/* Creates a worker that has not joined a consumer group. Free with worker_free. */
enum err_code worker_make(const struct worker_config *config, uint32_t n_lanes, struct worker **out);
/* Runs all lanes, the first one on the calling thread. Returns as worker_run does. */
enum err_code lanes_run(struct worker *worker, struct err *err);
/* lanes_give_turn releases the turn while the lane judges. lanes_take_turn takes it back before the leader polls
 * again. */
void lanes_give_turn(struct lane *lane);
void lanes_take_turn(struct lane *lane);

/* --- dispatch.c: the outcome of a task. The caller's lane must have the turn --- */

/* Handles one task, or an unreadable message. Releases the turn while the task is judged. Returns ERR_OK, or a code of
 * class fatal. */
enum err_code dispatch(struct lane *lane, struct polled_task *polled, struct err *err);
/* Runs the family's signals on a task. Needs no turn. `deadline_ns` is on clock_now_ns; 0 means no deadline. */
enum err_code dispatch_evaluate(struct lane *lane, const struct msg_task *task, int64_t deadline_ns,
                                struct msg_result *result, struct err *err);
/* Marks a task for redelivery. Its message is nacked once its other tasks have ended. */
void dispatch_return(struct lane *lane, struct polled_task *polled, int64_t delay_ms);
/* Returns which tasks of a message were answered before this worker nacked it: bit i for task i. */
uint32_t dispatch_answered(const struct worker *worker, const struct bus_message *message);
/* Releases the lane's permit, if it has one. */
void dispatch_give_permit(struct lane *lane);
/* Sends the results in the outbox, then acks their tasks. */
enum err_code dispatch_flush(struct lane *lane, struct err *err);

#endif
