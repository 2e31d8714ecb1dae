/* What the files of worker/ share. */
#ifndef ASSAY_WORKER_INTERNAL_H
#define ASSAY_WORKER_INTERNAL_H

#include "lib/base/tracing.h"
#include "lib/question/question.h"
#include "proto/message/msg.h"
#include "worker/cache_verdicts.h"
#include "worker/worker.h"

#include <pthread.h>
#include <stdatomic.h>

/* --- handles.c: a few open databases of one thread --- */

struct handle {
    char *name, *path;
    struct db *db;
    struct db_memo *memo; /* of what it gave */
    char memo_of[33];     /* fingerprint of the database then */
    uint64_t used;        /* tick of the last use */
};

struct handles {
    struct handle *items;
    uint32_t n, max;
    uint64_t tick;
    struct executor *executor;    /* NULL: statements run here */
    _Atomic(struct db *) current; /* handed out last, for handles_interrupt */
    pthread_mutex_t closing;      /* held while one is closed or interrupted */
};

enum err_code handles_init(struct handles *handles, const struct worker_config *config);
void handles_free(struct handles *handles);
/* The open handle of a database, opened if need be; the one unused for longest makes room. */
enum err_code handles_get(struct handles *handles, const struct worker_config *config, const char *name,
                          struct handle **out, struct err *err);
/* The same of a schema without data. Its name is no database's, and is the same for the same text. ERR_SCHEMA. */
enum err_code handles_get_schema(struct handles *handles, const struct worker_config *config, const char *text,
                                 struct handle **out, struct err *err);
/* Forget one whose file has failed. */
void handles_drop(struct handles *handles, struct handle *handle);

/* Stops the statement that runs on the database handed out last, if one runs. Thread: any. */
void handles_interrupt(struct handles *handles);

/* What is remembered of it (db_set_memo), for the index that it has now; `again`: for the question that it was asked for last. The index of
 * a server may be older than its rows, so of a server nothing is remembered from question to question. */
void handles_remember(struct handle *handle, const char fingerprint[33], bool again);

/* --- workspace.c: the candidate in hand, its question, and what tasks share of them --- */

/* What the candidates of a request share. */
struct reading {
    struct arena arena; /* of what follows */
    uint64_t used;      /* when, in turns of the workspace; 0: it holds nothing */
    struct msg_key key;
    struct schema_index *schema; /* a reference */
    char state[STATE_TEXT];      /* of the database of that index; "": it cannot be told */
    char *question, *evidence;
    struct vsig_uncertain *uncertain; /* of the request's linking */
    uint32_t n_uncertain;
    const struct question *analysis; /* NULL: there is no question */
    struct schema_gate gate;         /* what its statements pass; names are the arena's. n 0: nothing is refused */
};

enum { KEPT_READINGS = 8 }; /* requests take turns, a candidate each */

struct workspace {
    const struct worker_config *config;
    struct handles *handles; /* of the thread */
    struct worker_stats *stats;
    struct trace_context trace; /* of the task in hand */

    struct reading readings[KEPT_READINGS];
    struct reading *reading; /* in hand: one of them */
    uint64_t turns;

    struct arena arena; /* of the candidate */
    bool has_candidate;
    uint64_t hash[2];
    char *sql;
    struct vsig_subject subject;
    bool denied;         /* uses a column whose values are never shown */
    bool refused;        /* reads such a column, and is not run for that */
    bool reaches_denied; /* reads a table that has one: what the engine says of a value may quote it */

    /* Does the engine take it? */
    bool checked, ran;          /* by preparing it; by running it */
    enum err_code invalid_code; /* ERR_OK, or why it is invalid */
    struct err engine_err;      /* what it said */
    bool failed_running;        /* it took the statement and failed while running it */
    int offset;
};

/* `handles` outlives it. No errors. */
void workspace_init(struct workspace *workspace, const struct worker_config *config, struct handles *handles,
                    struct worker_stats *stats);
void workspace_free(struct workspace *workspace);

/* Make the task's candidate the one in hand, sharing whatever the last task has left. The result is about the task: an
 * invalid candidate is ERR_OK here. `deadline_ns` is on clock_now_ns's clock, 0: none. */
enum err_code workspace_take(struct workspace *workspace, const struct msg_task *task, int64_t deadline_ns,
                             struct err *err);
/* Ask the engine about the candidate in hand: by running it if `run`, else by preparing it. Sets checked,
 * invalid_code, engine_err, offset. What says nothing about the candidate (a lock, a lost file) is returned. */
enum err_code workspace_check(struct workspace *workspace, bool run, struct err *err);

/* --- answer.c: from what signals said to a result message --- */

/* The answer of a family that looked. Texts are shared with the subject: encode before the next task. */
enum err_code answer_family(struct workspace *workspace, struct arena *arena, const struct msg_task *task,
                            enum vsig_family family, struct msg_result *out, struct err *err);
/* The answer of a family that could not look: all its signals unavailable for that reason. */
enum err_code answer_unavailable(struct arena *arena, const struct worker_config *config, const struct msg_task *task,
                                 int family, const struct err *why, struct msg_result *out);

/* --- opinion.c: the answer of the family llm --- */

/* Ask a language model about the candidate in hand, let the family's signals read what it says, and tell what it cost. What goes wrong with the
 * model makes signals unavailable. False: the arena is full. */
bool opinion_run(struct workspace *workspace, struct arena *arena, const struct msg_task *task,
                 struct vsig_verdict *verdicts, struct msg_result *out);

/* --- explain.c: the answer of the explain family --- */

/* Explain the candidate in hand, which the engine takes. `open`: its data may be shown, as far as the task says.
 * ERR_DEADLINE: the task's own; ERR_LIMIT_MEMORY. */
enum err_code answer_explain(struct workspace *workspace, struct arena *arena, const struct msg_task *task, bool open,
                             struct msg_explanation **out, struct err *err);

/* --- on the way out --- */

#define WORKER_GROUP "assay-worker" /* where the configuration names none */

enum { OUTBOX = MSG_MAX_JOINED };

struct polled_task;

/* Results on their way out, and the tasks that are done once they are out. */
struct outbox {
    struct msg_buffer buffers[OUTBOX];
    char keys[OUTBOX][MSG_KEY_TEXT];
    struct bus_out out[OUTBOX]; /* each with results of one request */
    struct polled_task *done[OUTBOX];
    uint32_t with[OUTBOX]; /* which of `out` has the result of `done` */
    uint32_t n_out, n;     /* n_out <= n */
};

/* Which message was handed back here and how often: what its attempts count beside that, others have done. */
enum { NACKED = 256 };
struct nacked {
    uint32_t topic_index, n; /* n 0: free */
    uint32_t answered;       /* bit i: its task i was, and is not judged again */
    int32_t partition;
    int64_t offset, time_ns; /* that time too: offsets begin anew where a topic is made anew */
};

/* --- lanes.c: the threads of a worker, and whose turn it is --- */

enum { BATCH = 12 * VSIG_FAMILY_COUNT };

/* A polled message, with one task of a request or several. It is acked when all of them have ended, or handed back if one is to come again. */
struct delivery {
    struct bus_message *message;
    enum err_code code; /* not ERR_OK: it cannot be read, as a whole, for the reason in `err` */
    struct err err;
    struct msg_key key;     /* of the request */
    const char *db;         /* of the request */
    uint32_t request_tasks; /* of it in the batch */
    uint32_t turn;          /* tasks of its database in the batch up to the request's last */
    uint32_t left;          /* tasks that have not ended */
    uint32_t answered;      /* bit i: the result of its task i is out */
    bool returns;           /* a task is to come again, after delay_ms */
    int64_t delay_ms;
};

struct polled_task {
    struct delivery *delivery;
    uint32_t index;        /* in its message */
    struct msg_task *task; /* NULL: the message cannot be read */
    const char *bytes;     /* it, as it came */
    size_t len;
    int family;
};

/* What one poll gave, sorted. */
struct batch {
    struct arena arena; /* decoded tasks */
    struct delivery deliveries[BATCH];
    uint32_t n_deliveries;
    struct polled_task tasks[BATCH * MSG_MAX_JOINED];
    uint32_t n, next; /* up to `next` lanes have them */
    uint32_t users;   /* lanes whose candidate is one of it */
};

#define IN_HAND_NONE     (-1LL)
#define IN_HAND_STOPPING INT64_MIN

/* A thread of a worker, and what it needs to judge alone. */
struct lane {
    struct worker *worker;
    pthread_t thread;
    struct handles handles;
    struct workspace workspace;
    struct workspace rows; /* of tasks for the rows behind an answer, which come between those of other requests */
    struct arena answers;
    struct permit *permit; /* of permit_db, kept from task to task for a moment */
    const struct worker_database *permit_db;
    int64_t permit_since_ns;
    struct worker_stats stats;     /* of this thread's own */
    struct worker_stats published; /* under the worker's lock */
    atomic_llong heartbeat_ns;     /* 0: it waits to lead */

    /* The candidate in hand; in the worker's turn. */
    struct batch *batch; /* NULL: none */
    uint32_t next, end;  /* its tasks that were not begun */
    int64_t since_ns;    /* when it was taken */

    /* The request of the candidate in hand, for worker_stop_request. Without the turn. */
    atomic_llong in_hand; /* its offset; IN_HAND_NONE; or, while it is being stopped, IN_HAND_STOPPING beside it */
    atomic_bool stopped;  /* nobody waits for it any more */
};

struct worker {
    struct worker_config config;
    struct bus_consumer *consumer;
    atomic_bool stopping;
    atomic_uint in_flight;
    int families[VSIG_FAMILY_COUNT]; /* by topic index */
    uint32_t n_families;
    bool asks_models; /* serves the family llm alone */
    struct lane *lanes;
    uint32_t n_lanes;
    atomic_uint slow_running; /* lanes with a candidate that do not lead */

    pthread_mutex_t turn;    /* of what follows, and of the consumer */
    pthread_cond_t followed; /* the leader has something in hand, or all is over */
    pthread_cond_t returned; /* nobody wants the turn back, or a slow candidate is done */
    uint32_t idle;           /* lanes that wait for a leader with something in hand */
    atomic_uint returning;   /* lanes that want the turn back for an answer */
    const struct lane *leader;
    struct batch *batches; /* n_lanes + 1: each lane may still need one */
    struct batch *batch;   /* the leader's; NULL: to be polled */
    uint32_t at_a_time;    /* messages that the next poll takes at most */
    bool ended;
    enum err_code code; /* the first of class fatal */
    struct err err;
    struct outbox outbox;
    struct nacked nacked[NACKED]; /* by offset; one replaces another */

    pthread_mutex_t lock; /* of the lanes' published */
};

/* A worker that is in no group yet. The caller owes worker_free. */
enum err_code worker_make(const struct worker_config *config, uint32_t n_lanes, struct worker **out);
/* Run all lanes, the first on the calling thread. As worker_run. */
enum err_code lanes_run(struct worker *worker, struct err *err);
/* Let others answer, and judge meanwhile; have the turn back, before the leader polls again. */
void lanes_give_turn(struct lane *lane);
void lanes_take_turn(struct lane *lane);

/* --- dispatch.c: what becomes of a task. The lane has the turn --- */

/* One task, or a message that cannot be read. Gives the turn up while the task is judged. Returns ERR_OK, or a code of class fatal. */
enum err_code dispatch(struct lane *lane, struct polled_task *polled, struct err *err);
/* Run the family's signals on a task; needs no turn. `deadline_ns` is on clock_now_ns's clock, 0: none. */
enum err_code dispatch_evaluate(struct lane *lane, const struct msg_task *task, int64_t deadline_ns,
                                struct msg_result *result, struct err *err);
/* A task is to come again: its message is handed back once its other tasks have ended. */
void dispatch_return(struct lane *lane, struct polled_task *polled, int64_t delay_ms);
/* Which tasks of a message were answered before it was handed back here: bit i, task i. */
uint32_t dispatch_answered(const struct worker *worker, const struct bus_message *message);
/* Give back the permit that is kept, if any. */
void dispatch_give_permit(struct lane *lane);
/* Send the results that wait, then ack their tasks. */
enum err_code dispatch_flush(struct lane *lane, struct err *err);

#endif
