/* Measures the overhead of the fleet for each message, against the raw client in the same run.
 *
 *   bench_fleet_messages ASSAY HOST:PORT [--requests N] [--runs N] [--partitions N] [--listen ADDRESS]
 *                        [--encoding json|msgpack] [--broker PID] [--log-dir DIRECTORY] [--max-open N]
 *                        [-X NAME=VALUE]...
 *
 * The fleet is `assay coordinator` as a process, without models, and a worker in this process that computes nothing.
 * The worker answers every task of the family `structure` at once. N requests of one candidate are sent. The clock runs
 * from the first produce to the last verdict that a read_committed reader receives. So 4N messages travel: requests,
 * tasks, results, verdicts. Runs alternate between JSON and msgpack unless --encoding names one. A verdict has the
 * encoding of its request.
 *
 * The peer is librdkafka alone. It produces and consumes 4N messages, with one producer thread and one consumer thread
 * at the same time. Keys and values are those recorded from the fleet's topics, with headers counted as bytes of the
 * value. The peer's topics have the same settings. Its own settings are the defaults, except for those of the fleet's
 * producers: acks=all, idempotent, lz4, linger 5 ms. Unlike a fleet, it has all its messages at once, and so its
 * batches are full. The two take turns. Claim: the fleet does at least half the peer's messages a second.
 *
 * With the broker's process and its log.dirs, the bench also measures the effect of the batches. The sizes of the
 * fleet's batches are read from the log. The peer then runs with batches of one size, for several sizes. These runs
 * give the curve cost = a + b / size, fitted to all points. Finally it runs with the fleet's sizes, one for each topic.
 * This shows what the fleet would cost if nothing but the library worked.
 *
 * Seconds depend on the other load of the machine. CPU microseconds a request depend less on it, and are printed for
 * each process. */
#include "lib/base/clock.h"
#include "proto/bus/topics.h"
#include "proto/message/edge.h"
#include "proto/message/msg.h"

#include <glib.h>
#include <librdkafka/rdkafka.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STAGES = 4, BATCH = 256, POLL_MS = 100, PATIENCE_S = 120, MAX_RUNS = 20, SAMPLES = 4096 };
static const char *const stages[STAGES] = {BUS_REQUESTS, BUS_TASKS_PREFIX "structure", BUS_RESULTS, BUS_VERDICTS};

/* An encoding of requests and verdicts. */
static void write_json(struct msg_buffer *out, const char *id);
static void write_msgpack(struct msg_buffer *out, const char *id);
static bool is_json(const void *bytes, size_t len);
static bool is_msgpack(const void *bytes, size_t len);
static const struct encoding {
    const char *name, *content_type;
    void (*write)(struct msg_buffer *out, const char *id); /* writes a request */
    bool (*is_verdict)(const void *bytes, size_t len);
} encodings[] = {{"json", EDGE_JSON, write_json, is_json}, {"msgpack", EDGE_MSGPACK, write_msgpack, is_msgpack}};
enum { ENCODINGS = sizeof encodings / sizeof *encodings };

static const char *assay, *servers, *log_dir, *listen_at = "127.0.0.1:0";
static long n_requests = 100000, runs = 3, partitions = 4;
static pid_t coordinator, broker;
enum { MAX_SET = 16 };
static struct bus_property properties[1 + MAX_SET];
static const char *extra[1 + MAX_SET], *open_most = "4096", *only; /* `only` is the encoding to measure; NULL: both */
static uint32_t n_properties = 1;

static void die(const char *what)
{
    fprintf(stderr, "bench_fleet_messages: %s\n", what);
    if (coordinator > 0) kill(coordinator, SIGKILL);
    exit(2);
}

/* Returns the CPU microseconds that a process and its threads have used so far. */
static double cpu_of(pid_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    text[n] = '\0';
    const char *at = strrchr(text, ')');
    unsigned long user = 0, system = 0;
    if (!at || sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2) return 0;
    return 1e6 * (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static double seconds_since(int64_t began)
{
    return (double)(clock_now_ns() - began) / 1e9;
}

/* CPU microseconds of each process: in total, or for each request. */
struct cost {
    double coordinator, here, broker;
};

static struct cost cost_now(void)
{
    return (struct cost){coordinator > 0 ? cpu_of(coordinator) : 0, cpu_of(getpid()), broker > 0 ? cpu_of(broker) : 0};
}

static struct cost cost_since(struct cost before, long requests)
{
    struct cost now = cost_now();
    double n = (double)requests;
    return (struct cost){(now.coordinator - before.coordinator) / n, (now.here - before.here) / n,
                         (now.broker - before.broker) / n};
}

/* --- clients of the library alone --------------------------------------------------------------------------------- */

static rd_kafka_t *client(rd_kafka_type_t type, const char *const *settings)
{
    char text[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", servers, NULL, 0);
    for (; *settings; settings += 2)
        if (rd_kafka_conf_set(conf, settings[0], settings[1], text, sizeof text)) die(text);
    rd_kafka_t *made = rd_kafka_new(type, conf, text, sizeof text);
    if (!made) die(text);
    return made;
}

enum { FULL_BATCH = 10000 }; /* default of librdkafka */

/* Returns a producer whose batches have at most this many messages. */
static rd_kafka_t *producer(long batch)
{
    char most[24];
    snprintf(most, sizeof most, "%ld", batch);
    return client(RD_KAFKA_PRODUCER,
                  (const char *const[]){"acks", "all", "linger.ms", "5", "enable.idempotence", "true",
                                        "compression.type", "lz4", "queue.buffering.max.messages", "1000000",
                                        "batch.num.messages", most, NULL});
}

/* Returns a reader of these topics from their current ends. */
static rd_kafka_t *reader(const char *const *topics, int n)
{
    rd_kafka_t *made = client(RD_KAFKA_CONSUMER, (const char *const[]){"group.id", "bench", "enable.auto.commit",
                                                                       "false", "isolation.level", "read_committed",
                                                                       "fetch.wait.max.ms", "20", NULL});
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(n * (int)partitions);
    for (int t = 0; t < n; t++)
        for (int32_t p = 0; p < partitions; p++) {
            int64_t low, high;
            if (rd_kafka_query_watermark_offsets(made, topics[t], p, &low, &high, 20000)) die("no end of a topic");
            rd_kafka_topic_partition_list_add(list, topics[t], p)->offset = high;
        }
    rd_kafka_assign(made, list);
    rd_kafka_topic_partition_list_destroy(list);
    return made;
}

static void reader_free(rd_kafka_t *made)
{
    rd_kafka_consumer_close(made);
    rd_kafka_destroy(made);
}

/* A message that the peer sends. */
struct sample {
    char *bytes; /* key, then value */
    size_t key_len, len;
};
static struct sample samples[ENCODINGS][STAGES][SAMPLES];

static long n_samples(void)
{
    return n_requests < SAMPLES ? n_requests : SAMPLES;
}

static void sample_take(struct sample *sample, const rd_kafka_message_t *message)
{
    rd_kafka_headers_t *headers = NULL;
    const char *name;
    const void *value;
    size_t size;
    GString *all = g_string_new_len(message->key, (gssize)message->key_len);
    g_string_append_len(all, message->payload, (gssize)message->len);
    rd_kafka_message_headers(message, &headers);
    for (size_t i = 0; headers && !rd_kafka_header_get_all(headers, i, &name, &value, &size); i++) {
        g_string_append(all, name);
        g_string_append_len(all, value, (gssize)size);
    }
    sample->key_len = message->key_len;
    sample->len = all->len - message->key_len;
    g_free(sample->bytes);
    sample->bytes = g_string_free(all, FALSE);
}

static bool is_json(const void *bytes, size_t len)
{
    return len && *(const char *)bytes == '{';
}

static bool is_msgpack(const void *bytes, size_t len)
{
    struct msg_verdict *verdict;
    struct err err = {0};
    if (msg_decode_verdict_own(bytes, len, &verdict, &err)) return false;
    msg_verdict_free(verdict);
    return true;
}

/* Checks that a verdict has the encoding of its request, in its content-type and in its value. */
static void check_verdict(const rd_kafka_message_t *message, const struct encoding *as)
{
    rd_kafka_headers_t *headers = NULL;
    const void *type;
    size_t size;
    if (rd_kafka_message_headers(message, &headers) || rd_kafka_header_get_last(headers, EDGE_HEADER, &type, &size) ||
        size != strlen(as->content_type) || memcmp(type, as->content_type, size) != 0)
        die("a verdict has another content-type than its request");
    if (!as->is_verdict(message->payload, message->len)) die("a verdict is not what its content-type says");
}

/* Reads `n` messages and returns the sum of their bytes. Records some of them in `into`, unless it is NULL. Checks that
 * each is a verdict in the encoding `as`, unless that is NULL. */
static uint64_t read_all(rd_kafka_t *from, long n, struct sample *into, const struct encoding *as)
{
    uint64_t bytes = 0;
    int64_t heard = clock_now_ns();
    while (n > 0) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(from, POLL_MS);
        if (message && !message->err) {
            bytes += message->len;
            if (into) sample_take(&into[n % n_samples()], message);
            if (as) check_verdict(message, as);
            n--;
            heard = clock_now_ns();
        } else if (seconds_since(heard) > PATIENCE_S) {
            die("messages are missing");
        }
        if (message) rd_kafka_message_destroy(message);
    }
    return bytes;
}

/* A message to send; content_type may be NULL. */
struct item {
    const char *topic;
    const void *key, *value;
    size_t key_len, len;
    const char *content_type;
};

static void put(rd_kafka_t *out, const struct item *item)
{
    const char *type = item->content_type;
    rd_kafka_headers_t *headers = type ? rd_kafka_headers_new(1) : NULL;
    if (headers) rd_kafka_header_add(headers, EDGE_HEADER, -1, type, -1);
    while (rd_kafka_producev(out, RD_KAFKA_V_TOPIC(item->topic), RD_KAFKA_V_KEY(item->key, item->key_len),
                             RD_KAFKA_V_VALUE((void *)(uintptr_t)item->value, item->len),
                             RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END))
        rd_kafka_poll(out, 10);
}

/* --- the peer ----------------------------------------------------------------------------------------------------- */

static void peer_topic(char out[64], int stage)
{
    snprintf(out, 64, "bench.raw.%d", stage);
}

static void make_peer_topics(void)
{
    static struct topic_plan plans[TOPICS_MAX];
    struct topic_report reports[STAGES];
    struct bus_property property = {"bootstrap.servers", servers};
    struct bus_config config = {.properties = &property, .n_properties = 1};
    struct topics_config wanted = {.partitions = (int32_t)partitions, .replicas = 1};
    struct bus *bus;
    struct err err = {0};
    if (topics_plan(&wanted, plans) < STAGES || bus_open("kafka", &config, &bus, &err)) die(err.text);
    for (int i = 0; i < STAGES; i++) peer_topic(plans[i].name, i);
    if (topics_create(bus, plans, STAGES, reports, &err)) die(err.text);
    bus_close(bus);
}

/* The load of the peer: number of requests, and largest number of messages in a batch. */
struct load {
    const struct encoding *as; /* encoding of the messages */
    long requests;
    long batch[STAGES]; /* largest batch of each stage; if all are equal, one producer sends all */
};

static bool is_even(const struct load *load)
{
    bool even = true;
    for (int stage = 1; stage < STAGES; stage++) even &= load->batch[stage] == load->batch[0];
    return even;
}

static void *flood(void *arg)
{
    const struct load *load = arg;
    rd_kafka_t *out[STAGES];
    char topics[STAGES][64];
    for (int stage = 0; stage < STAGES; stage++) {
        out[stage] = stage && is_even(load) ? out[0] : producer(load->batch[stage]);
        peer_topic(topics[stage], stage);
    }
    for (long i = 0; i < load->requests; i++)
        for (int stage = 0; stage < STAGES; stage++) {
            const struct sample *sample = &samples[load->as - encodings][stage][i % n_samples()];
            const struct item item = {.topic = topics[stage],
                                      .key = sample->bytes,
                                      .key_len = sample->key_len,
                                      .value = sample->bytes + sample->key_len,
                                      .len = sample->len};
            put(out[stage], &item);
        }
    for (int stage = 0; stage < (is_even(load) ? 1 : STAGES); stage++) {
        rd_kafka_flush(out[stage], PATIENCE_S * 1000);
        rd_kafka_destroy(out[stage]);
    }
    return NULL;
}

/* Runs the peer. Returns its messages a second. */
static double run_peer(struct load load, struct cost *cost)
{
    char names[STAGES][64];
    const char *topics[STAGES];
    pthread_t thread;
    for (int i = 0; i < STAGES; i++) {
        peer_topic(names[i], i);
        topics[i] = names[i];
    }
    rd_kafka_t *in = reader(topics, STAGES);
    struct cost before = cost_now();
    int64_t began = clock_now_ns();
    pthread_create(&thread, NULL, flood, &load);
    read_all(in, STAGES * load.requests, NULL, NULL);
    double seconds = seconds_since(began);
    *cost = cost_since(before, load.requests);
    pthread_join(thread, NULL);
    reader_free(in);
    return STAGES * (double)load.requests / seconds;
}

/* --- the fleet ---------------------------------------------------------------------------------------------------- */

static void start(const char *const *arguments, bool wait)
{
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (wait && !freopen("/dev/null", "w", stdout)) _exit(126);
        execv(assay, (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    int status = 0;
    if (!wait)
        coordinator = child;
    else if (waitpid(child, &status, 0) != child || status != 0)
        die("the topics cannot be made");
}

struct idle_worker {
    struct bus *bus;
    struct bus_consumer *in;
    atomic_bool stop;
};

/* Answers a task as a signal family that found nothing to check. */
static void answer(struct idle_worker *own, struct arena *arena, struct msg_buffer *buffer, struct bus_message *message)
{
    struct msg_task *task;
    struct err err = {0};
    arena_reset(arena);
    if (msg_decode_task(arena, message->value, message->len, &task, &err)) die(err.text);
    struct msg_result result = {.key = task->key,
                                .hash = {task->hash[0], task->hash[1]},
                                .candidate = task->candidate,
                                .family = task->family,
                                .code = "ok"};
    msg_encode_result(buffer, &result);
    struct bus_out out = {.topic = BUS_RESULTS,
                          .partition = task->key.partition,
                          .key = message->key,
                          .key_len = message->key_len,
                          .value = buffer->bytes,
                          .len = buffer->len};
    if (bus_produce(own->bus, &out, 1, -1, NULL)) die("a result cannot be sent");
    bus_ack(own->in, message);
}

static void *work(void *arg)
{
    struct idle_worker *own = arg;
    struct bus_message *messages[BATCH];
    struct msg_buffer buffer = {0};
    struct arena arena;
    arena_init(&arena, 0);
    while (!atomic_load(&own->stop)) {
        uint32_t n = 0;
        if (bus_poll(own->in, 0, messages, BATCH, POLL_MS, &n)) break;
        for (uint32_t i = 0; i < n; i++) answer(own, &arena, &buffer, messages[i]);
    }
    msg_buffer_free(&buffer);
    arena_free(&arena);
    return NULL;
}

#define QUESTION "How many are there?"
#define SQL      "SELECT count(*) FROM t"

static void write_json(struct msg_buffer *out, const char *id)
{
    enum { ROOM = 256 };
    if (!out->bytes) *out = (struct msg_buffer){.bytes = malloc(ROOM), .room = ROOM};
    if (!out->bytes) die("no memory");
    out->len = (size_t)snprintf(
        out->bytes, ROOM, "{\"id\":\"%s\",\"db\":\"none\",\"question\":\"" QUESTION "\",\"candidates\":[\"" SQL "\"]}",
        id);
}

static void write_msgpack(struct msg_buffer *out, const char *id)
{
    struct msg_candidate candidate = {.sql = {SQL, sizeof SQL - 1}, .score = NAN};
    const struct msg_request request = {
        .id = id, .db = "none", .question = QUESTION, .candidates = &candidate, .n_candidates = 1};
    if (msg_encode_request(out, &request)) die("a request cannot be written");
}

static void *feed(void *arg)
{
    const struct encoding *as = arg;
    rd_kafka_t *out = producer(FULL_BATCH);
    struct msg_buffer buffer = {0};
    for (long i = 0; i < n_requests; i++) {
        char id[64], key[24];
        snprintf(id, sizeof id, "%ld-%lld", i, (long long)clock_now_ns());
        as->write(&buffer, id);
        const struct item item = {.topic = BUS_REQUESTS,
                                  .key = key,
                                  .key_len = (size_t)snprintf(key, sizeof key, "%ld", i),
                                  .value = buffer.bytes,
                                  .len = buffer.len,
                                  .content_type = as->content_type};
        put(out, &item);
    }
    rd_kafka_flush(out, PATIENCE_S * 1000);
    rd_kafka_destroy(out);
    msg_buffer_free(&buffer);
    return NULL;
}

/* Runs the fleet. Returns its messages a second. With `sampling`, the topics of tasks and results are also read.
 * Measured runs do not read them, because the additional readers would compete for the broker. */
static double run_fleet(const struct encoding *as, bool sampling, struct cost *cost)
{
    enum { LAST = STAGES - 1 };
    pthread_t thread;
    rd_kafka_t *between[LAST] = {NULL}, *verdicts = reader(&stages[LAST], 1);
    struct sample(*into)[SAMPLES] = samples[as - encodings];
    for (int i = 0; sampling && i < LAST; i++) between[i] = reader(&stages[i], 1);
    struct cost before = cost_now();
    int64_t began = clock_now_ns();
    pthread_create(&thread, NULL, feed, (void *)(uintptr_t)as);
    uint64_t bytes = read_all(verdicts, n_requests, sampling ? into[LAST] : NULL, sampling ? as : NULL);
    double seconds = seconds_since(began);
    *cost = cost_since(before, n_requests);
    pthread_join(thread, NULL);
    reader_free(verdicts);
    for (int i = 0; sampling && i < LAST; i++) {
        printf("%s: %s: %.0f bytes a message\n", as->name, stages[i],
               (double)read_all(between[i], n_requests, into[i], NULL) / (double)n_requests);
        reader_free(between[i]);
    }
    if (sampling) printf("%s: %s: %.0f bytes a message\n", as->name, stages[LAST], (double)bytes / (double)n_requests);
    return STAGES * (double)n_requests / seconds;
}

static void open_fleet(struct idle_worker *own, pthread_t *thread)
{
    static const char *const topics[] = {BUS_TASKS_PREFIX "structure"};
    char count[16];
    struct bus_config config = {.properties = properties, .n_properties = n_properties};
    struct err err = {0};
    properties[0] = (struct bus_property){"bootstrap.servers", servers};
    snprintf(count, sizeof count, "%ld", partitions);
    start((const char *const[]){assay, "topics", "create", "--servers", servers, "--partitions", count,
                                "--task-partitions", count, NULL},
          true);
    if (bus_open("kafka", &config, &own->bus, &err)) die(err.text);
    if (bus_subscribe(own->bus, "assay-worker", topics, 1, &own->in, &err)) die(err.text);
    pthread_create(thread, NULL, work, own);
    const char *arguments[40 + 2 * MAX_SET] = {
        assay,          "coordinator", "--servers",     servers, "--family",      "structure",
        "--max-open",   open_most,     "--deadline-ms", "-1",    "--label-model", "none",
        "--classifier", "none",        "--verifier",    "none",  "--listen",      listen_at};
    uint32_t n = 18;
    for (uint32_t i = 1; i < n_properties; i++) {
        arguments[n++] = "-X";
        arguments[n++] = extra[i];
    }
    start(arguments, false);
}

static void close_fleet(struct idle_worker *own, pthread_t thread)
{
    kill(coordinator, SIGTERM);
    waitpid(coordinator, NULL, 0);
    atomic_store(&own->stop, true);
    pthread_join(thread, NULL);
    bus_unsubscribe(own->in);
    bus_close(own->bus);
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

static double median(double *values, long n)
{
    qsort(values, (size_t)n, sizeof *values, by_value);
    return values[n / 2];
}

static struct load full_load(const struct encoding *as)
{
    return (struct load){as, n_requests, {FULL_BATCH, FULL_BATCH, FULL_BATCH, FULL_BATCH}};
}

static bool is_wanted(const struct encoding *as)
{
    return !only || strcmp(only, as->name) == 0;
}

/* Measurements of one encoding, with one element for each run. */
struct measured {
    double fleet[MAX_RUNS], peer[MAX_RUNS], ratio[MAX_RUNS];
    double coordinator[MAX_RUNS], here[MAX_RUNS], broker[MAX_RUNS], peer_here[MAX_RUNS], peer_broker[MAX_RUNS];
};

static void measure(const struct encoding *as, long run, struct measured *out)
{
    struct cost ours, theirs;
    double fleet = run_fleet(as, run < 0, &ours), peer = run_peer(full_load(as), &theirs);
    if (run < 0) return;
    out->fleet[run] = fleet;
    out->peer[run] = peer;
    out->ratio[run] = fleet / peer;
    out->coordinator[run] = ours.coordinator;
    out->here[run] = ours.here;
    out->broker[run] = ours.broker;
    out->peer_here[run] = theirs.here;
    out->peer_broker[run] = theirs.broker;
    printf("%s, run %ld: fleet %.0f messages/s, librdkafka %.0f, ratio %.2f; coordinator %.1f us a request\n", as->name,
           run + 1, fleet, peer, fleet / peer, ours.coordinator);
}

static void compare(void)
{
    static struct measured measured[ENCODINGS];
    for (long r = -1; r < runs; r++) /* the first run warms up both */
        for (int i = 0; i < ENCODINGS; i++)
            if (is_wanted(&encodings[i])) measure(&encodings[i], r, &measured[i]);
    printf(
        "medians of %ld runs; CPU in us a request, or for four messages of librdkafka\n\n"
        "| requests | fleet, messages/s | requests/s | librdkafka, messages/s | ratio | coordinator | worker and "
        "driver | "
        "broker | librdkafka: client | its broker |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        runs);
    for (int i = 0; i < ENCODINGS; i++) {
        struct measured *of = &measured[i];
        if (!is_wanted(&encodings[i])) continue;
        double fleet = median(of->fleet, runs);
        printf("| %s | %.0f | %.0f | %.0f | %.2f | %.1f | %.1f | %.1f | %.1f | %.1f |\n", encodings[i].name, fleet,
               fleet / STAGES, median(of->peer, runs), median(of->ratio, runs), median(of->coordinator, runs),
               median(of->here, runs), median(of->broker, runs), median(of->peer_here, runs),
               median(of->peer_broker, runs));
    }
    printf("\n");
}

/* --- batches ------------------------------------------------------------------------------------------------------ */

struct batches {
    double batches, messages;
};

/* Counts the batches and messages of a log segment, which consists of record batches of magic 2. The head of a batch
 * has the length of the rest at byte 8. The attributes are at byte 21, the number of records at 57. Transaction markers
 * are not counted. */
static void read_segment(const char *path, struct batches *out)
{
    enum { HEAD = 61, BEFORE_LENGTH_ENDS = 12, CONTROL = 0x20 };
    unsigned char head[HEAD];
    FILE *file = fopen(path, "rb");
    long at = 0;
    while (file && fseek(file, at, SEEK_SET) == 0 && fread(head, 1, HEAD, file) == HEAD) {
        uint32_t length, records;
        memcpy(&length, head + 8, sizeof length);
        memcpy(&records, head + 57, sizeof records);
        if (!length) break; /* the rest is preallocated space */
        at += BEFORE_LENGTH_ENDS + (long)GUINT32_FROM_BE(length);
        if (head[22] & CONTROL) continue;
        out->batches++;
        out->messages += GUINT32_FROM_BE(records);
    }
    if (file) fclose(file);
}

/* Returns the mean number of messages in a batch of the topic. */
static double batch_of(const char *topic)
{
    struct batches found = {0, 0};
    for (long p = 0; p < partitions; p++) {
        char *name = g_strdup_printf("%s/%s-%ld", log_dir, topic, p);
        GDir *segments = g_dir_open(name, 0, NULL);
        for (const char *segment; segments && (segment = g_dir_read_name(segments));) {
            char *path = g_build_filename(name, segment, NULL);
            if (g_str_has_suffix(segment, ".log")) read_segment(path, &found);
            g_free(path);
        }
        if (segments) g_dir_close(segments);
        g_free(name);
    }
    if (found.batches == 0) die("--log-dir holds no batch of the fleet's");
    return found.messages / found.batches;
}

/* Returns the sum of the CPU microseconds of all processes. */
static double total(struct cost cost)
{
    return cost.coordinator + cost.here + cost.broker;
}

/* Fits cost = a + b / size by least squares. Errors are relative, because small batches cost fifty times as much as
 * large ones. */
static void fit(const double *sizes, const double *costs, int n, double *a, double *b)
{
    double w = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (int i = 0; i < n; i++) {
        double weight = 1 / (costs[i] * costs[i]), at = 1 / sizes[i];
        w += weight;
        x += weight * at;
        y += weight * costs[i];
        xx += weight * at * at;
        xy += weight * at * costs[i];
    }
    *b = (w * xy - x * y) / (w * xx - x * x);
    *a = (y - *b * x) / w;
}

/* Runs the peer with several batch sizes, and prints the measured and the fitted costs. */
static void show_curve(const struct encoding *as)
{
    static const long sizes[] = {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048};
    enum { POINTS = sizeof sizes / sizeof *sizes, BATCHES = 4000 };
    double at[POINTS], costs[POINTS], rates[POINTS], a, b;
    for (int i = 0; i < POINTS; i++) {
        struct load load = {as, MIN(n_requests, BATCHES * sizes[i]), {sizes[i], sizes[i], sizes[i], sizes[i]}};
        struct cost cost;
        at[i] = (double)sizes[i];
        rates[i] = run_peer(load, &cost);
        costs[i] = total(cost);
    }
    fit(at, costs, POINTS, &a, &b);
    for (int i = 0; i < POINTS; i++)
        printf("librdkafka, %4ld messages a batch: %8.0f messages/s, CPU us of 4 messages %6.1f, by the fit %6.1f\n",
               sizes[i], rates[i], costs[i], a + b / at[i]);
    printf("fit of %d points: CPU us of 4 messages = %.1f + %.0f / messages a batch\n", POINTS, a, b);
}

/* Alternates three runs: the fleet, the peer with the fleet's batch sizes, and the peer with full batches. Prints the
 * medians. */
static void explain_by_batches(const struct encoding *as)
{
    struct load load = {as, n_requests, {0}};
    double fleet[MAX_RUNS], same[MAX_RUNS], full[MAX_RUNS], ratio[MAX_RUNS];
    printf("messages a batch of the fleet:");
    for (int stage = 0; stage < STAGES; stage++) {
        double size = batch_of(stages[stage]);
        load.batch[stage] = MAX(1, lround(size));
        printf(" %s %.0f%s", stages[stage], size, stage < STAGES - 1 ? "," : "\n");
    }
    show_curve(as);
    for (long r = 0; r < runs; r++) {
        struct cost cost;
        run_fleet(as, false, &cost);
        fleet[r] = total(cost);
        double rate = run_peer(load, &cost);
        same[r] = total(cost);
        ratio[r] = rate / run_peer(full_load(as), &cost);
        full[r] = total(cost);
    }
    double ours = median(fleet, runs), with_ours = median(same, runs), with_full = median(full, runs);
    printf("librdkafka with the fleet's batches does %.2f of what it does with full ones\n", median(ratio, runs));
    printf(
        "CPU us of all processes a request, or for its four messages: fleet %.1f, librdkafka with the fleet's batches "
        "%.1f, with full ones %.1f: batches are %.0f %% of the difference\n",
        ours, with_ours, with_full, 100 * (with_ours - with_full) / (ours - with_full));
}

static void set(const char *setting)
{
    char *name = strdup(setting), *value = strchr(name, '=');
    if (!value || n_properties > MAX_SET) die("-X takes NAME=VALUE");
    *value++ = 0;
    extra[n_properties] = setting;
    properties[n_properties++] = (struct bus_property){name, value};
}

int main(int argc, char **argv)
{
    if (argc < 3) die("usage: bench_fleet_messages ASSAY HOST:PORT [--requests N] [--runs N] [--partitions N]");
    assay = argv[1];
    servers = argv[2];
    for (int i = 3; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--listen") == 0) listen_at = argv[i + 1];
        if (strcmp(argv[i], "--max-open") == 0) open_most = argv[i + 1];
        if (strcmp(argv[i], "--log-dir") == 0) log_dir = argv[i + 1];
        if (strcmp(argv[i], "--encoding") == 0) only = argv[i + 1];
        if (strcmp(argv[i], "-X") == 0) set(argv[i + 1]);
        long value = strtol(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--requests") == 0) n_requests = value;
        if (strcmp(argv[i], "--runs") == 0) runs = value;
        if (strcmp(argv[i], "--broker") == 0) broker = (pid_t)value;
        if (strcmp(argv[i], "--partitions") == 0) partitions = value;
    }
    if (!is_wanted(&encodings[0]) && !is_wanted(&encodings[1])) die("--encoding takes json or msgpack");
    if (n_requests < 1 || runs < 1 || runs > MAX_RUNS || partitions < 1) die("these numbers make no run");
    struct idle_worker own = {0};
    pthread_t thread;
    open_fleet(&own, &thread);
    make_peer_topics();
    compare();
    if (broker > 0 && log_dir) explain_by_batches(is_wanted(&encodings[0]) ? &encodings[0] : &encodings[1]);
    close_fleet(&own, thread);
    return 0;
}
