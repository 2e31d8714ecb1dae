/* Checks that each request is settled exactly once, on a real broker and with processes that die. A *judge* is a child
 * process that settles the requests that it reads, late and out of order. A *tally* reads the committed verdicts and
 * counts them. It shares only headers with the code under test. */
#include "lib/base/clock.h"
#include "proto/bus/topics.h"
#include "tests/live/broker.h"
#include "tests/support/leak.h"
#include "tests/support/wait.h"

#include <criterion/criterion.h>
#include <librdkafka/rdkafka.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT_MS = 60000, MAX_PARTITIONS = 8, MAX_REQUESTS = 20000 };

TestSuite(once, .timeout = 180);
TestSuite(once_faults, .timeout = 240);

static char requests[BROKER_NAME], results[BROKER_NAME], verdicts[BROKER_NAME], letters[BROKER_NAME],
    group[BROKER_NAME];
static int32_t partitions;
static int64_t commit_ms;  /* 0 means the default */
static uint32_t producers; /* 0 means the default */
static bool is_judge;      /* true in a process that judge_child started */

static void names(const char *test, int32_t n)
{
    const struct broker_topic all[] = {
        {"requests", requests}, {"results", results}, {"verdicts", verdicts}, {"dlq", letters}, {NULL, NULL}};
    partitions = n;
    broker_scene(test, n, all, group);
}

static struct bus_once how(const char *instance)
{
    return (struct bus_once){.group = group,
                             .instance = instance,
                             .results = results,
                             .requests = requests,
                             .verdicts = verdicts,
                             .letters = letters,
                             .from = "beginning",
                             .commit_ms = commit_ms,
                             .producers = producers};
}

/* Asserts a condition in the test's own process. In a judge, which cannot report an assertion, exits instead. */
static void must(bool good, const char *what)
{
    if (good) return;
    if (!is_judge) cr_assert_fail("%s", what);
    fprintf(stderr, "judge: %s\n", what);
    _exit(4);
}

static struct bus_consumer *join(struct bus *bus, const char *instance)
{
    struct bus_once once = how(instance);
    struct bus_consumer *consumer;
    struct err err = {0};
    must(bus_subscribe_once(bus, &once, &consumer, &err) == ERR_OK, err.text);
    return consumer;
}

static void put(struct bus *bus, const char *topic, int32_t partition, const char *value)
{
    struct bus_out out = {.topic = topic, .partition = partition, .value = value, .len = strlen(value)};
    cr_assert_eq(bus_produce(bus, &out, 1, LIMIT_MS, NULL), ERR_OK);
}

static void put_requests(struct bus *bus, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        char value[16];
        snprintf(value, sizeof value, "%u", i);
        put(bus, requests, (int32_t)(i % (unsigned)partitions), value);
    }
    cr_assert_eq(bus_flush(bus, LIMIT_MS), ERR_OK);
}

/* Opens a client with which an operator changes topics. */
static rd_kafka_t *operator_open(rd_kafka_queue_t **queue)
{
    char reason[200];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", getenv("ASSAY_TEST_KAFKA"), reason, sizeof reason);
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof reason);
    cr_assert_not_null(client, "%s", reason);
    *queue = rd_kafka_queue_new(client);
    return client;
}

static void operator_done(rd_kafka_t *client, rd_kafka_queue_t *queue)
{
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, LIMIT_MS);
    cr_assert(event && !rd_kafka_event_error(event));
    rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    rd_kafka_destroy(client);
}

/* Sets the largest message size of a topic. Keeps the topic's other settings, although the brokers' call replaces all
 * of them. */
static void set_largest(const char *topic, const char *bytes)
{
    rd_kafka_queue_t *queue;
    rd_kafka_t *client = operator_open(&queue);
    rd_kafka_ConfigResource_t *resource = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic);
    rd_kafka_ConfigResource_set_config(resource, "message.timestamp.type", "LogAppendTime");
    rd_kafka_ConfigResource_set_config(resource, "max.message.bytes", bytes);
    rd_kafka_AlterConfigs(client, &resource, 1, NULL, queue);
    rd_kafka_ConfigResource_destroy(resource);
    operator_done(client, queue);
}

static bool has_partitions(rd_kafka_t *client, const char *topic, size_t n)
{
    const struct rd_kafka_metadata *metadata;
    rd_kafka_topic_t *handle = rd_kafka_topic_new(client, topic, NULL);
    size_t ready = 0;
    if (rd_kafka_metadata(client, 0, handle, &metadata, 5000) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        for (int i = 0; i < metadata->topics[0].partition_cnt; i++)
            ready += metadata->topics[0].partitions[i].leader >= 0;
        rd_kafka_metadata_destroy(metadata);
    }
    rd_kafka_topic_destroy(handle);
    return ready == n;
}

/* Adds partitions, and waits until the brokers report them. */
static void grow(const char *topic, size_t n)
{
    char reason[200];
    rd_kafka_queue_t *queue;
    rd_kafka_t *client = operator_open(&queue);
    rd_kafka_NewPartitions_t *wanted = rd_kafka_NewPartitions_new(topic, n, reason, sizeof reason);
    cr_assert_not_null(wanted, "%s", reason);
    rd_kafka_CreatePartitions(client, &wanted, 1, NULL, queue);
    rd_kafka_NewPartitions_destroy(wanted);
    operator_done(client, queue);
    client = operator_open(&queue);
    int64_t start = clock_now_ns();
    while (!has_partitions(client, topic, n)) cr_assert_lt(clock_now_ns() - start, LIMIT_MS * INT64_C(1000000));
    rd_kafka_queue_destroy(queue);
    rd_kafka_destroy(client);
}

/* --- the tally --- */

struct tally {
    rd_kafka_t *client;
    const char *topic;
    uint32_t counts[MAX_PARTITIONS][MAX_REQUESTS]; /* verdicts of each request, by its partition and offset */
    uint32_t distinct, again, strangers;
    int64_t first_at[MAX_PARTITIONS];
};

static void set(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char reason[200];
    cr_assert_eq(rd_kafka_conf_set(conf, name, value, reason, sizeof reason), RD_KAFKA_CONF_OK, "%s", reason);
}

static struct tally *tally_open(const char *topic)
{
    struct tally *tally = calloc(1, sizeof *tally);
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char reason[200];
    tally->topic = topic;
    set(conf, "bootstrap.servers", getenv("ASSAY_TEST_KAFKA"));
    set(conf, "group.id", "tally");
    set(conf, "enable.auto.commit", "false");
    set(conf, "fetch.wait.max.ms", "20");
    set(conf, "isolation.level", "read_committed");
    tally->client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, reason, sizeof reason);
    cr_assert_not_null(tally->client, "%s", reason);
    rd_kafka_poll_set_consumer(tally->client);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(partitions);
    for (int32_t i = 0; i < partitions; i++) rd_kafka_topic_partition_list_add(list, topic, i)->offset = 0;
    cr_assert_eq(rd_kafka_assign(tally->client, list), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_topic_partition_list_destroy(list);
    return tally;
}

static long long header(const rd_kafka_message_t *raw, const char *name)
{
    rd_kafka_headers_t *headers;
    const void *value;
    size_t len;
    if (rd_kafka_message_headers(raw, &headers) || rd_kafka_header_get_last(headers, name, &value, &len)) return -1;
    return atoll(value);
}

static void tally_one(struct tally *tally, const rd_kafka_message_t *raw)
{
    long long partition = header(raw, "request-partition"), offset = header(raw, "request-offset");
    if (partition != raw->partition || offset < 0 || offset >= MAX_REQUESTS) {
        tally->strangers++;
        return;
    }
    if (tally->counts[partition][offset]++)
        tally->again++;
    else
        tally->distinct++;
}

static void tally_for(struct tally *tally, unsigned wanted, int64_t ms)
{
    for (int64_t start = clock_now_ns(); tally->distinct < wanted && clock_now_ns() - start < ms * 1000000;) {
        rd_kafka_message_t *raw = rd_kafka_consumer_poll(tally->client, 100);
        if (raw && !raw->err) tally_one(tally, raw);
        if (raw) rd_kafka_message_destroy(raw);
    }
}

/* Asserts that all expected verdicts arrive, and that no others arrive for a while afterwards. */
static void tally_ends(struct tally *tally, unsigned wanted)
{
    tally_for(tally, wanted, LIMIT_MS);
    cr_assert_eq(tally->distinct, wanted, "%u of %u are settled", tally->distinct, wanted);
    tally_for(tally, wanted + 1, 1500);
    cr_assert_eq(tally->distinct, wanted);
    cr_assert_eq(tally->again, 0, "%u are settled twice", tally->again);
    cr_assert_eq(tally->strangers, 0);
}

static void tally_close(struct tally *tally)
{
    rd_kafka_consumer_close(tally->client);
    rd_kafka_destroy(tally->client);
    free(tally);
}

/* --- a judge --- */

enum { OPEN_MAX = 200, SLOW_MS = 400 };

struct judge {
    struct bus *bus;
    struct bus_consumer *consumer;
    struct bus_message *open[OPEN_MAX];
    int64_t since_ns[OPEN_MAX]; /* delivery time of the request */
    uint32_t n_open;
    uint64_t random;
    unsigned history, handed;
};

static unsigned draw(struct judge *judge, unsigned n)
{
    judge->random = judge->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(judge->random >> 33) % n;
}

static struct bus_message *take_open(struct judge *judge, uint32_t index)
{
    struct bus_message *message = judge->open[index];
    judge->open[index] = judge->open[--judge->n_open];
    judge->since_ns[index] = judge->since_ns[judge->n_open];
    return message;
}

static void judge_settle(struct judge *judge, uint32_t index)
{
    struct bus_message *message = take_open(judge, index);
    struct bus_out out = {.topic = verdicts,
                          .key = message->key,
                          .key_len = message->key_len,
                          .value = message->value,
                          .len = message->len};
    must(bus_settle(judge->consumer, judge->bus, message, &out) == ERR_OK, "a request cannot be settled");
}

static void judge_forget(struct judge *judge)
{
    for (int32_t partition; bus_taken_away(judge->consumer, &partition);)
        for (uint32_t i = judge->n_open; i-- > 0;) {
            if (judge->open[i]->partition != partition) continue;
            bus_nack(judge->consumer, take_open(judge, i), 0);
        }
}

/* Runs one step. A fatal error ends the judge, as it ends a coordinator. */
static enum err_code judge_step(struct judge *judge, int64_t timeout_ms)
{
    struct bus_message *got[16];
    uint32_t n, room = OPEN_MAX - judge->n_open;
    uint32_t want = room ? 3 : 1U << BUS_ONCE_RESULTS;
    enum err_code code = bus_poll(judge->consumer, want, got, room && room < 16 ? room : 16, timeout_ms, &n);
    judge_forget(judge);
    for (uint32_t i = 0; i < n; i++) {
        bool deadly = got[i]->topic_index == BUS_ONCE_REQUESTS && got[i]->len == 6 && !got[i]->history;
        if (deadly && memcmp(got[i]->value, "poison", 6) == 0) raise(SIGKILL);
        if (got[i]->topic_index == BUS_ONCE_REQUESTS && !got[i]->history) {
            judge->since_ns[judge->n_open] = clock_now_ns();
            judge->open[judge->n_open++] = got[i];
            judge->handed++;
            continue;
        }
        judge->history += got[i]->history;
        bus_ack(judge->consumer, got[i]);
    }
    if (!code) code = bus_commit(judge->consumer);
    return code;
}

static void judge_open(struct judge *judge, const char *instance)
{
    struct broker_properties properties = broker_properties(NULL);
    const struct bus_config config = {.properties = properties.list, .n_properties = properties.n};
    struct err err = {0};
    must(bus_open("kafka", &config, &judge->bus, &err) == ERR_OK, err.text);
    judge->consumer = join(judge->bus, instance);
    judge->random = (uint64_t)getpid();
}

static void nap(int64_t ms)
{
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

/* True if the request may be settled. One of the requests is slow. */
static bool is_ready(const struct judge *judge, uint32_t index)
{
    const struct bus_message *message = judge->open[index];
    bool slow = message->len == 4 && memcmp(message->value, "slow", 4) == 0;
    return !slow || clock_now_ns() - judge->since_ns[index] > SLOW_MS * INT64_C(1000000);
}

/* Judges until it is killed. The oldest request is usually settled last. */
_Noreturn static void judge_for_ever(const char *instance)
{
    struct judge judge = {0};
    judge_open(&judge, instance);
    for (;;) {
        if (judge_step(&judge, 2)) _exit(3);
        nap(3); /* slow enough that each process makes several transactions */
        for (uint32_t i = 0; i < 3 && judge.n_open; i++) {
            uint32_t index = draw(&judge, 20) ? draw(&judge, judge.n_open) : 0;
            if (is_ready(&judge, index)) judge_settle(&judge, index);
        }
    }
}

/* A judge is this program, executed again. After a mere fork, the child could inherit a lock that another thread held,
 * in the library or the sanitizer. No thread of the child would release it. */
#define JUDGE_ARGS "assay-judge", (char *)instance, requests, results, verdicts, letters, group, number, NULL
enum { N_JUDGE_ARGS = 8 };

static pid_t judge_child(const char *instance)
{
    pid_t child;
    char number[16];
    snprintf(number, sizeof number, "%u", producers);
    char *const argv[] = {JUDGE_ARGS};
    cr_assert_eq(posix_spawn(&child, "/proc/self/exe", NULL, NULL, argv, environ), 0);
    return child;
}

/* Runs before main, because Criterion provides main. */
__attribute__((constructor)) static void be_a_judge(int argc, char **argv)
{
    char *const names[] = {requests, results, verdicts, letters, group};
    if (argc != N_JUDGE_ARGS || strcmp(argv[0], "assay-judge") != 0) return;
    is_judge = true;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves no process behind */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) snprintf(names[i], sizeof requests, "%s", argv[2 + i]);
    producers = (uint32_t)strtoul(argv[N_JUDGE_ARGS - 1], NULL, 10);
    judge_for_ever(argv[1]);
}

static void kill_child(pid_t child)
{
    int status;
    cr_assert_eq(kill(child, SIGKILL), 0);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFSIGNALED(status), "the judge ended by itself, with %d", WEXITSTATUS(status));
}

/* Begins most of the tests: makes a topic of requests, and a tally of their verdicts. */
static struct tally *begin(const char *test, int32_t n, struct bus **bus)
{
    names(test, n);
    *bus = broker_open(NULL, 0);
    return tally_open(verdicts);
}

static void end(struct tally *tally, struct bus *bus)
{
    tally_close(tally);
    bus_close(bus);
}

static bool is_past(int64_t start_ns)
{
    return clock_now_ns() - start_ns > LIMIT_MS * INT64_C(1000000);
}

/* Waits until the judge has n requests in progress. */
static void judge_opens(struct judge *judge, unsigned n)
{
    for (int64_t start = clock_now_ns(); judge->n_open < n && !is_past(start);)
        cr_assert_eq(judge_step(judge, 100), ERR_OK);
    cr_assert_eq(judge->n_open, n);
}

/* Starts judges one after another, each after the death of the previous one. Ends when the given numbers of requests
 * are settled and dead-lettered, and kills the last judge. Returns the number of judges that a request killed. */
static unsigned judges_in_a_row(struct tally *tally, unsigned settled, struct tally *aside, unsigned letters_wanted)
{
    enum { MOST_DEATHS = 10 };
    unsigned deaths = 0;
    int status;
    pid_t child = judge_child("a");
    for (int64_t start = clock_now_ns();
         (tally->distinct < settled || aside->distinct < letters_wanted) && !is_past(start);) {
        tally_for(tally, settled, 200);
        tally_for(aside, letters_wanted, 200);
        if (waitpid(child, &status, WNOHANG) != child) continue;
        cr_assert(WIFSIGNALED(status));
        cr_assert_leq(++deaths, MOST_DEATHS);
        child = judge_child("a");
    }
    tally_ends(tally, settled);
    tally_ends(aside, letters_wanted);
    kill_child(child);
    return deaths;
}

/* --- tests --- */

Test(once, each_request_is_settled_with_its_position)
{
    names("once", 2);
    struct judge judge = {0};
    judge_open(&judge, "a");
    put_requests(judge.bus, 0, 50);
    struct tally *tally = tally_open(verdicts);
    judge_opens(&judge, 50);
    while (judge.n_open) judge_settle(&judge, judge.n_open / 2);
    struct bus_once_stats stats = {.waiting = 50};
    for (int64_t start = clock_now_ns(); (tally->distinct < 50 || stats.waiting) && !is_past(start);) {
        cr_assert_eq(judge_step(&judge, 10), ERR_OK);
        tally_for(tally, 50, 10);
        bus_once_stats(judge.consumer, &stats);
    }
    cr_assert_geq(stats.committed, 2, "a claim and the verdicts");
    cr_assert_leq(stats.committed, 5, "verdicts share a transaction");
    cr_assert_eq(stats.aborted, 0);
    cr_assert_eq(stats.open, 0);
    cr_assert_eq(stats.takeovers, 2);
    bus_unsubscribe(judge.consumer);
    tally_ends(tally, 50);
    tally_close(tally);
    bus_close(judge.bus);
    leak_check();
}

Test(once_faults, repeatedly_killed_judge_settles_each_request_once)
{
    enum { N = 3000, KILLS = 6 };
    struct bus *bus;
    producers = 2;
    struct tally *tally = begin("kill", 2, &bus);
    put_requests(bus, 0, N);
    for (unsigned i = 0; i < KILLS; i++) {
        pid_t child = judge_child("a");
        unsigned before = tally->distinct;
        tally_for(tally, before + 250 + 40 * i, LIMIT_MS);
        nap(7 * i);
        kill_child(child);
    }
    pid_t last = judge_child("a");
    tally_ends(tally, N);
    kill_child(last);
    end(tally, bus);
}

/* Two judges share four partitions. In each round one, the other or both die, and restart under their old names. */
Test(once_faults, take_overs_settle_each_request_once)
{
    enum { N = 6000, ROUNDS = 5 };
    static const char *const instances[] = {"a", "b"};
    struct bus *bus;
    producers = 3;
    struct tally *tally = begin("pair", 4, &bus);
    pid_t children[2];
    for (unsigned i = 0; i < 2; i++) children[i] = judge_child(instances[i]);
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned victim = round % 2, before = tally->distinct;
        put_requests(bus, round * (N / ROUNDS), (round + 1) * (N / ROUNDS));
        tally_for(tally, before + 300 + 100 * round, LIMIT_MS);
        kill_child(children[victim]);
        if (round == 2) kill_child(children[1 - victim]);
        if (round % 2) tally_for(tally, before + N / ROUNDS, 4000); /* long enough for the other one to take over */
        if (round == 2) children[1 - victim] = judge_child(instances[1 - victim]);
        children[victim] = judge_child(instances[victim]);
    }
    tally_ends(tally, N);
    for (unsigned i = 0; i < 2; i++) kill_child(children[i]);
    end(tally, bus);
}

/* A judge is stopped with SIGSTOP while another takes over, and then continues. */
Test(once_faults, resumed_judge_after_take_over_commits_nothing)
{
    enum { N = 2000, SLEEPS = 3 };
    struct bus *bus;
    producers = 2;
    struct tally *tally = begin("zombie", 2, &bus);
    put_requests(bus, 0, N);
    pid_t sleeper = judge_child("a"), other = 0;
    for (unsigned i = 0; i < SLEEPS; i++) {
        tally_for(tally, tally->distinct + 100, LIMIT_MS);
        nap(13 * i);
        kill(sleeper, SIGSTOP);
        if (!other) other = judge_child("b");
        tally_for(tally, tally->distinct + 300, 12000); /* session.timeout.ms is 2 s; a transaction's timeout is 10 s */
        kill(sleeper, SIGCONT);
        nap(300);
        int status;
        if (waitpid(sleeper, &status, WNOHANG) == sleeper) { /* fenced: the judge may end, but not commit */
            cr_assert(WIFEXITED(status) && (WEXITSTATUS(status) == 3 || WEXITSTATUS(status) == 70), "%d", status);
            sleeper = judge_child("a");
        }
    }
    tally_ends(tally, N);
    kill(sleeper, SIGKILL);
    waitpid(sleeper, NULL, 0);
    kill_child(other);
    end(tally, bus);
}

/* Two processes have the same name. The newer one continues. */
Test(once_faults, second_process_of_same_name_replaces_first)
{
    enum { N = 1500 };
    struct bus *bus;
    producers = 2;
    struct tally *tally = begin("twin", 2, &bus);
    int status = 0;
    put_requests(bus, 0, N);
    pid_t first = judge_child("a");
    tally_for(tally, 200, LIMIT_MS);
    pid_t second = judge_child("a");
    tally_ends(tally, N);
    for (int64_t start = clock_now_ns(); !is_past(start);)
        if (waitpid(first, &status, WNOHANG) == first) break;
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 3, "the first was told that it is replaced: %d", status);
    kill_child(second);
    end(tally, bus);
}

/* Returns true if both members of the judges' group have partitions assigned. */
static bool are_two(void *client)
{
    const struct rd_kafka_group_list *found;
    if (rd_kafka_list_groups(client, group, &found, 5000)) return false;
    const struct rd_kafka_group_info *judges = found->groups;
    bool two = found->group_cnt == 1 && judges->member_cnt == 2 && strcmp(judges->state, "Stable") == 0;
    rd_kafka_group_list_destroy(found);
    return two;
}

/* The producers of two members never have the same name, whatever the names of the members. */
Test(once_faults, members_of_similar_names_fence_no_other)
{
    enum { N = 2000 };
    struct bus *bus;
    int status;
    producers = 2;
    struct tally *tally = begin("like", 4, &bus);
    pid_t first = judge_child("a");
    put_requests(bus, 0, N / 2);
    tally_for(tally, N / 4, LIMIT_MS);
    pid_t second = judge_child("a.1");
    tally_for(tally, N / 2, LIMIT_MS);
    cr_assert(wait_until(are_two, tally->client, LIMIT_MS), "the second has no share");
    put_requests(bus, N / 2, N);
    tally_for(tally, N, LIMIT_MS);
    cr_expect_eq(waitpid(first, &status, WNOHANG), 0, "the first was fenced");
    kill_child(second);
    kill_child(first);
    tally_ends(tally, N);
    end(tally, bus);
}

/* A request kills every process that opens it. It becomes a dead letter once, without a verdict. The other requests are
 * judged. */
Test(once_faults, poison_request_is_dead_lettered_once)
{
    enum { N = 300 };
    struct bus *bus;
    struct tally *tally = begin("poison", 1, &bus), *aside = tally_open(letters);
    put_requests(bus, 0, N / 2);
    put(bus, requests, 0, "poison");
    put_requests(bus, N / 2, N);
    unsigned deaths = judges_in_a_row(tally, N, aside, 1);
    cr_assert_eq(aside->counts[0][N / 2], 1);
    cr_assert_eq(tally->counts[0][N / 2], 0, "no verdict beside the letter");
    cr_assert(deaths >= 3 && deaths <= 5, "%u died", deaths);
    tally_close(aside);
    end(tally, bus);
}

/* A request of another partition was open each time a poison message killed the process. It is not blamed. */
Test(once_faults, request_open_beside_poison_is_not_blamed)
{
    struct bus *bus;
    producers = 2;
    struct tally *tally = begin("beside", 2, &bus), *aside = tally_open(letters);
    put(bus, requests, 0, "poison");
    put(bus, requests, 1, "slow");
    cr_assert_eq(bus_flush(bus, LIMIT_MS), ERR_OK);
    judges_in_a_row(tally, 1, aside, 1);
    cr_assert_eq(aside->counts[0][0], 1);
    cr_assert_eq(tally->counts[1][0], 1);
    tally_close(aside);
    end(tally, bus);
}

/* The next owner receives settled requests as history. It receives all other requests, and only those, as new. */
Test(once_faults, next_owner_gets_history_and_needed_results)
{
    enum { N = 40, ANSWERS = 30 };
    names("history", 1);
    struct judge first = {0}, second = {0};
    judge_open(&first, "a");
    put_requests(first.bus, 0, N);
    judge_opens(&first, N);
    while (first.n_open > 1) judge_settle(&first, 1); /* all requests except offset 0 */
    for (unsigned i = 0; i < ANSWERS; i++) put(first.bus, results, 0, "answer");
    for (int64_t start = clock_now_ns(); clock_now_ns() - start < 1000 * INT64_C(1000000);) judge_step(&first, 50);
    bus_nack(first.consumer, first.open[0], 0);
    bus_unsubscribe(first.consumer);

    judge_open(&second, "b");
    cr_assert(bus_catching_up(second.consumer, 0) == false, "it has nothing yet");
    struct bus_message *got[64];
    uint32_t n, answers = 0, history = 0, open = 0;
    bool opened_first = true, caught_up_late = false;
    for (int64_t start = clock_now_ns(); answers < ANSWERS && !is_past(start);) {
        cr_assert_eq(bus_poll(second.consumer, 0, got, 64, 100, &n), ERR_OK);
        for (uint32_t i = 0; i < n; i++) {
            bool answer = got[i]->topic_index == BUS_ONCE_RESULTS;
            answers += answer;
            history += !answer && got[i]->history;
            open += !answer && !got[i]->history;
            if (answer && !open) opened_first = false;
            if (answer && answers < ANSWERS) caught_up_late |= bus_catching_up(second.consumer, 0);
            if (answer || got[i]->history) bus_ack(second.consumer, got[i]);
        }
    }
    cr_assert_eq(answers, ANSWERS, "results are read from where the open request was opened");
    cr_assert_eq(open, 1);
    cr_assert(opened_first, "I8: a request is open before its answers are read");
    cr_assert(!bus_catching_up(second.consumer, 0));
    for (int64_t start = clock_now_ns(); history < N - 1 && !is_past(start);) {
        cr_assert_eq(bus_poll(second.consumer, 0, got, 64, 100, &n), ERR_OK);
        for (uint32_t i = 0; i < n; i++) history += got[i]->history, bus_ack(second.consumer, got[i]);
    }
    cr_assert_eq(history, N - 1);
    (void)caught_up_late;
    bus_unsubscribe(second.consumer);
    bus_close(first.bus);
    bus_close(second.bus);
    leak_check();
}

/* Invariant I7: a verdict was committed without its offset, as a delayed "commit" can cause. The next owner finds it in
 * the log. */
/* Reads until `wanted` verdicts count as committed. Returns the elapsed ms. */
static int64_t seen_after(struct judge *judge, struct tally *tally, unsigned wanted)
{
    int64_t start = clock_now_ns();
    while (tally->distinct < wanted && !is_past(start)) {
        cr_assert_eq(judge_step(judge, 10), ERR_OK);
        tally_for(tally, wanted, 5);
    }
    cr_assert_eq(tally->distinct, wanted);
    return (clock_now_ns() - start) / 1000000;
}

Test(once, idle_judge_commits_verdict_at_once)
{
    enum { LATER_MS = 45000 };
    names("idle", 1);
    struct judge judge = {0};
    commit_ms = LATER_MS;
    judge_open(&judge, "a");
    struct tally *tally = tally_open(verdicts);
    for (unsigned i = 0; i < 3; i++) {
        put_requests(judge.bus, i, i + 1);
        judge_opens(&judge, 1);
        judge_settle(&judge, 0);
        cr_expect_lt(seen_after(&judge, tally, i + 1), LATER_MS / 3);
    }
    bus_unsubscribe(judge.consumer);
    tally_ends(tally, 3);
    tally_close(tally);
    bus_close(judge.bus);
    leak_check();
}

Test(once, verdict_missing_from_commit_is_found)
{
    names("torn", 1);
    struct bus *bus = broker_open(NULL, 0);
    put_requests(bus, 0, 3);
    const struct bus_header headers[] = {
        {"request-group", group, (uint32_t)strlen(group)}, {"request-partition", "0", 1}, {"request-offset", "1", 1}};
    struct judge judge = {0};
    judge_open(&judge, "a");
    judge_step(&judge, 5000); /* commits only the claim of the partition; no request is settled */
    judge_opens(&judge, 3);
    while (judge.n_open) bus_nack(judge.consumer, judge.open[--judge.n_open], 0);
    bus_unsubscribe(judge.consumer);
    struct bus_out out = {
        .topic = verdicts, .partition = 0, .value = "1", .len = 1, .headers = headers, .n_headers = 3};
    cr_assert_eq(bus_produce(bus, &out, 1, LIMIT_MS, NULL), ERR_OK);
    cr_assert_eq(bus_flush(bus, LIMIT_MS), ERR_OK);
    bus_close(judge.bus);

    judge_open(&judge, "b");
    judge.handed = 0;
    struct tally *tally = tally_open(verdicts);
    for (int64_t start = clock_now_ns(); tally->distinct < 3 && !is_past(start);) {
        judge_step(&judge, 20);
        while (judge.n_open) judge_settle(&judge, 0);
        tally_for(tally, 3, 20);
    }
    tally_ends(tally, 3);
    cr_assert_eq(judge.handed, 2, "offset 1 has its verdict");
    bus_unsubscribe(judge.consumer);
    tally_close(tally);
    bus_close(judge.bus);
    bus_close(bus);
    leak_check();
}

/* Without a start offset of the group, no process chooses one. `topics create` sets it. */
Test(once, group_without_start_offset_is_refused)
{
    names("begin", 2);
    struct bus *bus = broker_open(NULL, 0);
    struct bus_once once = how("a");
    struct bus_consumer *consumer;
    struct bus_message *got;
    struct err err = {0};
    uint32_t n;
    bool made;
    once.from = "somewhere";
    cr_assert_eq(bus_subscribe_once(bus, &once, &consumer, &err), ERR_CONFIG);
    once.from = NULL;
    cr_assert_eq(bus_subscribe_once(bus, &once, &consumer, &err), ERR_OK, "%s", err.text);
    enum err_code code = ERR_OK;
    for (int64_t start = clock_now_ns(); !code && !is_past(start);) code = bus_poll(consumer, 0, &got, 1, 500, &n);
    cr_assert_eq(err_class(code), ERR_CLASS_FATAL);
    bus_health(bus, &err);
    cr_assert(strstr(err.text, "has no committed offset") && strstr(err.text, "topics create"), "%s", err.text);
    bus_unsubscribe(consumer);
    bus_close(bus);

    bus = broker_open(NULL, 0);
    for (int64_t start = clock_now_ns(); !is_past(start);) /* waits until the group notices the missing member */
        if ((code = topics_begin_group(bus, &once, &made, &err)) == ERR_OK) break;
    cr_assert_eq(code, ERR_OK, "%s", err.text);
    cr_assert(made);
    cr_assert_eq(topics_begin_group(bus, &once, &made, &err), ERR_OK);
    cr_assert(!made, "once is enough");
    put_requests(bus, 0, 2);
    cr_assert_eq(bus_subscribe_once(bus, &once, &consumer, &err), ERR_OK, "%s", err.text);
    n = 0;
    for (int64_t start = clock_now_ns(); !n && !is_past(start);)
        cr_assert_eq(bus_poll(consumer, 0, &got, 1, 500, &n), ERR_OK);
    cr_assert_eq(n, 1);
    bus_ack(consumer, got);
    bus_unsubscribe(consumer);
    bus_close(bus);
    leak_check();
}

/* One of two partitions moves to a new member. Open requests of the other one stay open and are not redelivered. */
Test(once, retained_partition_keeps_open_requests)
{
    enum { N = 40 };
    names("kept", 2);
    struct judge first = {0}, second = {0};
    struct bus_once_stats stats;
    judge_open(&first, "a");
    put_requests(first.bus, 0, N);
    judge_opens(&first, N);
    judge_open(&second, "b");
    for (int64_t start = clock_now_ns(); second.n_open < N / 2 && !is_past(start);) {
        cr_assert_eq(judge_step(&first, 20), ERR_OK);
        cr_assert_eq(judge_step(&second, 20), ERR_OK);
    }
    cr_assert_eq(second.n_open, N / 2);
    cr_assert_eq(first.n_open, N / 2, "half of it was taken away");
    cr_assert_eq(first.handed, N, "nothing was handed out twice");
    bus_once_stats(first.consumer, &stats);
    cr_assert_eq(stats.takeovers, 2, "the one that stayed was not taken over again");
    struct tally *tally = tally_open(verdicts);
    while (first.n_open) judge_settle(&first, 0);
    while (second.n_open) judge_settle(&second, 0);
    bus_unsubscribe(first.consumer); /* leaving commits */
    bus_unsubscribe(second.consumer);
    tally_ends(tally, N);
    tally_close(tally);
    bus_close(first.bus);
    bus_close(second.bus);
    leak_check();
}

/* Returns bytes that compression does not make smaller. */
static char *noise(size_t len)
{
    char *bytes = malloc(len);
    uint64_t random = 1;
    for (size_t i = 0; i < len; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (char)(random >> 56);
    }
    return bytes;
}

enum { LARGE = 2 << 20 };

static enum err_code settle_large(struct judge *judge, uint32_t index)
{
    char *bytes = noise(LARGE);
    struct bus_out out = {.topic = verdicts, .value = bytes, .len = LARGE};
    enum err_code code = bus_settle(judge->consumer, judge->bus, judge->open[index], &out);
    if (!code) take_open(judge, index);
    free(bytes);
    return code;
}

/* A topic with the brokers' default limit accepts 1 MiB, and its writers know that limit. */
Test(once, size_limit_of_topic_is_read_at_start)
{
    names("largest", 1);
    set_largest(verdicts, "1048588");
    struct judge judge = {0};
    struct err err = {0};
    judge_open(&judge, "a");
    cr_assert_leq(bus_max_bytes(judge.bus, verdicts), 1048588);
    cr_assert_geq(bus_max_bytes(judge.bus, verdicts), 900000);
    cr_assert_geq(bus_max_bytes(judge.bus, letters), 30 << 20);
    put_requests(judge.bus, 0, 2);
    judge_opens(&judge, 2);
    cr_assert_eq(settle_large(&judge, 0), ERR_LIMIT_BYTES, "it is still open");
    judge_settle(&judge, 0);
    judge_settle(&judge, 0);
    bus_unsubscribe(judge.consumer);
    struct tally *tally = tally_open(verdicts);
    tally_ends(tally, 2);
    tally_close(tally);

    set_largest(verdicts, "500000");
    struct bus_once once = how("a");
    cr_assert_eq(bus_subscribe_once(judge.bus, &once, &judge.consumer, &err), ERR_CONFIG, "less than a batch may have");
    cr_assert(strstr(err.text, "max.message.bytes") && strstr(err.text, verdicts), "%s", err.text);
    bus_close(judge.bus);
    leak_check();
}

/* Likewise without transactions. A message that its topic is known to refuse is not retried; other messages
 * continue. */
Test(once, refused_message_affects_no_other)
{
    names("plain", 1);
    struct bus *bus = broker_open(NULL, 0);
    struct err err = {0};
    const char *const topics[] = {results};
    char *bytes = noise(LARGE);
    struct bus_out out = {.topic = results, .partition = 0, .value = bytes, .len = LARGE};
    cr_assert_eq(bus_know_topics(bus, topics, 1, &err), ERR_OK, "%s", err.text);
    set_largest(results, "1048588");
    cr_assert_eq(bus_produce(bus, &out, 1, LIMIT_MS, NULL), ERR_OK, "nobody knows yet");
    cr_assert_eq(bus_flush(bus, LIMIT_MS), ERR_OK);
    cr_assert_eq(bus_health(bus, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(bus_produce(bus, &out, 1, LIMIT_MS, NULL), ERR_LIMIT_BYTES, "and now it is known");
    put(bus, results, 0, "small");
    cr_assert_eq(bus_flush(bus, LIMIT_MS), ERR_OK);
    free(bytes);
    bus_close(bus);
    leak_check();
}

/* One topic gets a partition before the others do. The new partition waits for its co-partitions; the other partitions
 * are served. */
Test(once, partition_without_copartitions_stays_closed)
{
    enum { N = 30 };
    names("twins", 2);
    grow(requests, 3);
    struct judge judge = {0};
    struct bus_once_stats stats;
    judge_open(&judge, "a");
    struct tally *tally = tally_open(verdicts);
    partitions = 3;
    put_requests(judge.bus, 0, N);
    judge_opens(&judge, N / 3 * 2);
    cr_assert_eq(judge_step(&judge, 300), ERR_OK);
    cr_assert_eq(judge.n_open, N / 3 * 2);
    bus_once_stats(judge.consumer, &stats);
    cr_assert_eq(stats.closed, 1);
    while (judge.n_open > 3) judge_settle(&judge, 0);
    while (tally->distinct < N / 3 * 2 - 3) {
        cr_assert_eq(judge_step(&judge, 10), ERR_OK);
        tally_for(tally, N, 10);
    }
    tally_close(tally);

    const char *const copartitions[] = {letters, results, verdicts};
    for (unsigned i = 0; i < 3; i++) grow(copartitions[i], 3);
    judge_opens(&judge, 3 + N / 3);
    bus_once_stats(judge.consumer, &stats);
    cr_assert_eq(stats.closed, 0);
    cr_assert_eq(judge.handed, N, "what was open before is not handed out again");
    while (judge.n_open) judge_settle(&judge, 0);
    bus_unsubscribe(judge.consumer);
    tally = tally_open(verdicts);
    tally_ends(tally, N);
    tally_close(tally);
    bus_close(judge.bus);
    leak_check();
}

/* A topic with the brokers' default limit accepts 1 MiB. It is made smaller after all writers have read that limit. A
 * verdict that the topic then refuses becomes a dead letter. The other records of its transaction are not delayed. */
Test(once, refused_verdict_becomes_dead_letter)
{
    enum { N = 20 };
    names("refused", 1);
    struct judge judge = {0};
    judge_open(&judge, "a");
    put_requests(judge.bus, 0, N);
    struct tally *tally = tally_open(verdicts), *aside = tally_open(letters);
    judge_opens(&judge, N);
    set_largest(verdicts, "1048588");
    cr_assert_eq(settle_large(&judge, 7), ERR_OK, "nobody knows yet");
    while (judge.n_open) judge_settle(&judge, 0);
    for (int64_t start = clock_now_ns();
         tally->distinct < N - 1 && clock_now_ns() - start < 20000 * INT64_C(1000000);) {
        cr_assert_eq(judge_step(&judge, 10), ERR_OK);
        tally_for(tally, N, 10);
    }
    bus_unsubscribe(judge.consumer);
    tally_ends(tally, N - 1);
    tally_ends(aside, 1);
    tally_close(tally);
    tally_close(aside);
    bus_close(judge.bus);
    leak_check();
}

/* The broker is killed during transactions and restarts. A judge that ends is restarted, as by a supervisor. */
Test(once_faults, killed_broker_is_only_interruption)
{
    enum { N = 4000, KILLS = 3, MOST_ENDS = 6 };
    struct bus *bus;
    struct tally *tally = begin("outage", 2, &bus);
    unsigned ends = 0;
    int status;
    put_requests(bus, 0, N);
    pid_t child = judge_child("a");
    for (unsigned i = 0; i < KILLS; i++) {
        tally_for(tally, tally->distinct + 400, LIMIT_MS);
        broker_command("kill", "kafka-1");
        nap(500);
        broker_command("up", "kafka-1");
    }
    for (int64_t start = clock_now_ns();
         tally->distinct < N && clock_now_ns() - start < 2 * LIMIT_MS * INT64_C(1000000);) {
        tally_for(tally, N, 200);
        if (waitpid(child, &status, WNOHANG) != child) continue;
        cr_assert(WIFEXITED(status) && (WEXITSTATUS(status) == 3 || WEXITSTATUS(status) == 70), "%d", status);
        cr_assert_leq(++ends, MOST_ENDS);
        child = judge_child("a");
    }
    tally_ends(tally, N);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    tally_close(tally);
    bus_close(bus);
}
