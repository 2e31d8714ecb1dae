/* DESIGN: bounded queues between the threads of one process.
 *
 * A topic is a list of messages, each in one block of memory. Topics that are read together belong to one *group*, with
 * one mutex, one condition for readers and one for writers. A writer of five tasks for the five task topics therefore
 * takes one lock and wakes one reader. The reader takes all five at once. No other lock is taken while messages flow.
 * The table of topics only grows and is read without a lock. A consumer owns the messages that it holds.
 *
 * A topic without subscribers has its own group, and accepts messages up to its bound. Subscribing moves topics into
 * the requested group. A thread that looked up the old group sees, under its lock, that the topic has left, and
 * retries.
 *
 * Bounds: a topic accepts messages until it holds queue_messages or queue_bytes. Writers then wait or get ERR_FULL.
 * Readers bound the messages that they hold by the number that they poll. Redelivery ignores the bounds, because it
 * must not fail.
 *
 * Sharing: while a group has several members, a poll returns one run of messages of one key (from each requested
 * topic). One thread then judges the signal families of a candidate, and other threads handle other keys. If a group
 * has only one member, a poll returns all available messages. If a reader leaves messages in the queue, it wakes the
 * next reader. Many messages at once thus wake no more threads than can get messages.
 *
 * Fair topics (bus_config.fair) hold their messages in a fair queue instead of a list. A poll returns at most one
 * message of a fair topic, after all messages of other topics. While the reader handles that message, the order of the
 * others may change. A message in flight counts against the limits of its flows until its reader acks or nacks it,
 * under the group's lock. A waiting reader is woken when this may have freed a limit.
 *
 * Rejected: a lock-free ring. At about 10,000 messages per second the lock does not appear in a profile. A ring
 * supports neither keys, nor redelivery, nor a bound in bytes.
 */
#include "proto/bus/transport.h"

#include "lib/base/clock.h"
#include "proto/bus/fair_queue.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_TOPICS = 64, DEFAULT_MESSAGES = 1024 };
static const uint64_t DEFAULT_BYTES = 64UL << 20;

struct message {
    struct bus_message public;
    struct message *previous, *next;
    struct topic *topic;
    uint64_t bytes;
    int64_t due_ns;        /* earliest time of delivery; 0: at once */
    struct fair_item item; /* used if the topic is fair */
    uint64_t flow[BUS_FLOW_LEVELS];
    char block[]; /* memory for headers, key and value */
};

struct list {
    struct message *first, *last;
};

struct group {
    pthread_mutex_t lock;
    pthread_cond_t readable, writable;
    char *name; /* NULL if the group is that of a topic without subscribers */
    struct topic *topics[BUS_MAX_TOPICS];
    uint32_t n_topics;
    uint32_t members, waiting_writers;
    uint32_t waiting_readers, choosy_readers; /* `choosy_readers` counts the readers waiting for some of the topics
                                               * only */
    struct list delayed;                      /* messages that were nacked with a delay, ordered by due_ns */
    struct group *next;                       /* list of all groups of the bus */
};

struct topic {
    char *name;
    _Atomic(struct group *) group;
    uint32_t index; /* index of the topic in its group */
    /* The fields below are guarded by the group's lock. */
    struct fair_queue *fair; /* NULL if the topic is not fair; its messages are then in `messages` */
    struct list messages;
    uint32_t n;
    uint64_t bytes;
    int64_t next_offset;
};

struct local {
    struct bus bus;
    uint32_t max_messages;
    uint64_t max_bytes;
    struct bus_fair *fair;
    uint32_t n_fair;
    pthread_mutex_t lock; /* guards the fields below; reading topics[0 .. n_topics) needs no lock */
    struct topic *topics[MAX_TOPICS];
    atomic_uint n_topics;
    struct group *groups;
};

struct consumer {
    struct bus_consumer consumer;
    struct group *group;
    struct list held; /* messages that were polled and neither acked nor nacked, in order */
    bool drained;     /* guarded by the group's lock */
};

/* --- lists --- */

static void list_append(struct list *list, struct message *message)
{
    message->next = NULL;
    message->previous = list->last;
    *(list->last ? &list->last->next : &list->first) = message;
    list->last = message;
}

/* Inserts a message before `next`. Appends it if `next` is NULL. */
static void list_insert(struct list *list, struct message *next, struct message *message)
{
    if (!next) {
        list_append(list, message);
        return;
    }
    message->next = next;
    message->previous = next->previous;
    *(next->previous ? &next->previous->next : &list->first) = message;
    next->previous = message;
}

static void list_remove(struct list *list, struct message *message)
{
    *(message->previous ? &message->previous->next : &list->first) = message->next;
    *(message->next ? &message->next->previous : &list->last) = message->previous;
}

static void list_free(struct list *list)
{
    for (struct message *message = list->first, *next; message; message = next) {
        next = message->next;
        free(message);
    }
    *list = (struct list){0};
}

/* --- messages --- */

static struct message *message_new(struct topic *topic, const struct bus_out *out, int64_t now)
{
    size_t headers = out->n_headers * sizeof(struct bus_header);
    struct message *message = malloc(sizeof *message + headers + bus_out_room(out));
    if (!message) return NULL;
    struct bus_out copy;
    bus_out_copy(out, message->block + headers, (struct bus_header *)(void *)message->block, &copy);
    message->topic = topic;
    message->bytes = bus_out_bytes(out);
    message->due_ns = 0;
    bool flows = topic->fair && out->flow;
    memset(message->flow, 0, sizeof message->flow);
    if (flows) memcpy(message->flow, out->flow, sizeof message->flow);
    message->public = (struct bus_message){
        .topic = topic->name,
        .key = copy.key,
        .key_len = copy.key ? copy.key_len : 0,
        .value = copy.value,
        .len = copy.len,
        .headers = copy.headers,
        .n_headers = copy.n_headers,
        .flow = flows ? message->flow : NULL,
        .time_ns = now,
    };
    return message;
}

static bool same_key(const struct bus_message *a, const struct bus_message *b)
{
    if (!a->key || !b->key) return !a->key && !b->key;
    return a->key_len == b->key_len && memcmp(a->key, b->key, a->key_len) == 0;
}

/* --- waiting --- */

/* Waits for the condition until limit_ns on the clock of clock_now_ns; below 0 waits without limit. Returns false if
 * the limit has passed. May return true early. */
static bool wait_for(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t limit_ns)
{
    if (limit_ns < 0) return pthread_cond_wait(condition, lock), true;
    int64_t left = limit_ns - clock_now_ns();
    if (left <= 0) return false;
    struct timespec until = clock_after_ns(left);
    pthread_cond_timedwait(condition, lock, &until);
    return true;
}

static int64_t limit_of(int64_t timeout_ms)
{
    return timeout_ms < 0 ? -1 : clock_now_ns() + timeout_ms * 1000000;
}

/* --- groups and topics --- */

static struct group *group_new(struct local *local, const char *name)
{
    struct group *group = calloc(1, sizeof *group);
    if (!group) return NULL;
    if (name && !(group->name = strdup(name))) {
        free(group);
        return NULL;
    }
    pthread_mutex_init(&group->lock, NULL);
    clock_cond_init(&group->readable);
    clock_cond_init(&group->writable);
    group->next = local->groups;
    local->groups = group;
    return group;
}

static void group_free(struct group *group)
{
    list_free(&group->delayed);
    pthread_cond_destroy(&group->readable);
    pthread_cond_destroy(&group->writable);
    pthread_mutex_destroy(&group->lock);
    free(group->name);
    free(group);
}

static struct topic *topic_look_up(struct local *local, const char *name)
{
    unsigned n = atomic_load_explicit(&local->n_topics, memory_order_acquire);
    for (unsigned i = 0; i < n; i++)
        if (strcmp(local->topics[i]->name, name) == 0) return local->topics[i];
    return NULL;
}

/* Returns the limits of a topic that is delivered round robin (struct bus_fair), or NULL if it is not such a topic. */
static const struct bus_fair *find_fair(const struct local *local, const char *topic)
{
    for (uint32_t i = 0; i < local->n_fair; i++)
        if (strcmp(local->fair[i].topic, topic) == 0) return &local->fair[i];
    return NULL;
}

/* Creates a topic with its own group. Returns NULL if there are too many topics or memory is short. The caller holds
 * the lock of the bus. */
static struct topic *topic_new(struct local *local, const char *name)
{
    unsigned n = atomic_load(&local->n_topics);
    struct topic *topic = n < MAX_TOPICS ? calloc(1, sizeof *topic) : NULL;
    if (!topic) return NULL;
    struct group *group = group_new(local, NULL);
    topic->name = strdup(name);
    if (!group || !topic->name) {
        free(topic->name);
        free(topic);
        return NULL;
    }
    const struct bus_fair *fair = find_fair(local, name);
    if (fair) topic->fair = fair_queue_new(fair->limits);
    group->topics[group->n_topics++] = topic;
    atomic_init(&topic->group, group);
    local->topics[n] = topic;
    atomic_store_explicit(&local->n_topics, n + 1, memory_order_release);
    return topic;
}

static struct topic *topic_get(struct local *local, const char *name)
{
    struct topic *topic = topic_look_up(local, name);
    if (topic) return topic;
    pthread_mutex_lock(&local->lock);
    topic = topic_look_up(local, name);
    if (!topic) topic = topic_new(local, name);
    pthread_mutex_unlock(&local->lock);
    return topic;
}

/* Returns the topic's group, locked. A topic leaves a group only under the lock of that group. */
static struct group *group_lock(struct topic *topic)
{
    for (;;) {
        struct group *group = atomic_load(&topic->group);
        pthread_mutex_lock(&group->lock);
        if (group == atomic_load(&topic->group)) return group;
        pthread_mutex_unlock(&group->lock);
    }
}

/* --- open, close --- */

static struct message *message_of(struct fair_item *item)
{
    return (struct message *)(void *)((char *)item - offsetof(struct message, item));
}

static void free_item(struct fair_item *item)
{
    free(message_of(item));
}

static void local_close(struct bus *bus)
{
    struct local *local = (struct local *)bus;
    for (unsigned i = 0; i < atomic_load(&local->n_topics); i++) {
        list_free(&local->topics[i]->messages);
        if (local->topics[i]->fair) fair_queue_free(local->topics[i]->fair, free_item);
        free(local->topics[i]->name);
        free(local->topics[i]);
    }
    for (struct group *group = local->groups, *next; group; group = next) {
        next = group->next;
        group_free(group);
    }
    for (uint32_t i = 0; i < local->n_fair; i++) free((char *)local->fair[i].topic);
    free(local->fair);
    pthread_mutex_destroy(&local->lock);
    free(local);
}

static enum err_code local_open(const struct bus_config *config, struct bus **out, struct err *err)
{
    struct local *local = calloc(1, sizeof *local);
    if (!local) return err_set(err, ERR_NOMEM, "no memory for the queues");
    local->bus.transport = &bus_local;
    local->max_messages = config->queue_messages ? config->queue_messages : DEFAULT_MESSAGES;
    local->max_bytes = config->queue_bytes ? config->queue_bytes : DEFAULT_BYTES;
    local->fair = calloc(config->n_fair + 1, sizeof *local->fair);
    bool whole = local->fair != NULL;
    for (; whole && local->n_fair < config->n_fair; local->n_fair++) {
        local->fair[local->n_fair] = config->fair[local->n_fair];
        whole = (local->fair[local->n_fair].topic = strdup(config->fair[local->n_fair].topic)) != NULL;
    }
    pthread_mutex_init(&local->lock, NULL);
    *out = &local->bus;
    if (whole) return ERR_OK;
    local_close(*out);
    *out = NULL;
    return err_set(err, ERR_NOMEM, "no memory for the queues");
}

/* --- produce --- */

enum { RUN = 64 }; /* maximum number of messages that are added under one lock */

/* Returns true if the topic has capacity for these messages. An empty topic accepts any batch, because a batch larger
 * than the bound could otherwise never be added. */
static bool has_room(const struct local *local, const struct topic *topic, uint32_t n, uint64_t bytes)
{
    return topic->n == 0 || (topic->n + n <= local->max_messages && topic->bytes + bytes <= local->max_bytes);
}

static bool run_has_room(const struct local *local, struct message *const *run, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t messages = 0;
        uint64_t bytes = 0;
        for (uint32_t k = 0; k < n; k++) {
            if (run[k]->topic != run[i]->topic) continue;
            messages++;
            bytes += run[k]->bytes;
        }
        if (!has_room(local, run[i]->topic, messages, bytes)) return false;
    }
    return true;
}

static void enqueue(struct message *message)
{
    struct topic *topic = message->topic;
    message->public.offset = topic->next_offset++;
    message->public.topic_index = topic->index;
    message->item.order = message->public.offset;
    if (topic->fair)
        fair_queue_add(topic->fair, &message->item, message->flow);
    else
        list_append(&topic->messages, message);
    topic->n++;
    topic->bytes += message->bytes;
}

/* Wakes one reader. Wakes all readers if one of them waits only for some of the topics, because it might not want the
 * message. */
static void wake_reader(struct group *group)
{
    if (group->choosy_readers)
        pthread_cond_broadcast(&group->readable);
    else if (group->waiting_readers)
        pthread_cond_signal(&group->readable);
}

/* Returns the number of leading messages in the run whose topics are in this group. */
static uint32_t still_together(const struct group *group, struct message *const *run, uint32_t n)
{
    uint32_t together = 0;
    while (together < n && atomic_load(&run[together]->topic->group) == group) together++;
    return together;
}

/* Adds the leading messages whose topics share a group, all or none of them. Returns their number, or 0 if the queue is
 * full. */
static uint32_t hand_over(const struct local *local, struct message **run, uint32_t n, int64_t limit)
{
    struct group *group = group_lock(run[0]->topic);
    uint32_t together;
    while ((together = still_together(group, run, n)) == 0 || !run_has_room(local, run, together)) {
        if (together == 0) { /* the first topic was moved to another group while this thread waited */
            pthread_mutex_unlock(&group->lock);
            group = group_lock(run[0]->topic);
            continue;
        }
        group->waiting_writers++;
        bool waited = limit != 0 && wait_for(&group->writable, &group->lock, limit);
        group->waiting_writers--;
        if (waited) continue;
        pthread_mutex_unlock(&group->lock);
        return 0;
    }
    for (uint32_t i = 0; i < together; i++) enqueue(run[i]);
    wake_reader(group);
    pthread_mutex_unlock(&group->lock);
    return together;
}

/* Copies the leading messages, at most RUN of them. */
static enum err_code copy_run(struct local *local, const struct bus_out *messages, uint32_t n, struct message **run,
                              uint32_t *length)
{
    int64_t now = clock_now_ns();
    for (*length = 0; *length < n && *length < RUN; ++*length) {
        struct topic *topic = topic_get(local, messages[*length].topic);
        run[*length] = topic ? message_new(topic, &messages[*length], now) : NULL;
        if (!run[*length]) return ERR_NOMEM;
    }
    return ERR_OK;
}

static enum err_code local_produce(struct bus *bus, const struct bus_out *messages, uint32_t n, int64_t timeout_ms,
                                   uint32_t *taken)
{
    struct local *local = (struct local *)bus;
    struct message *run[RUN];
    int64_t limit = timeout_ms ? limit_of(timeout_ms) : 0;
    uint32_t done = 0;
    enum err_code code = ERR_OK;
    while (done < n && !code) {
        uint32_t length, handed = 0;
        code = copy_run(local, messages + done, n - done, run, &length);
        while (!code && handed < length) {
            uint32_t more = hand_over(local, run + handed, length - handed, limit);
            handed += more;
            if (!more) code = ERR_FULL;
        }
        for (uint32_t i = handed; i < length; i++) free(run[i]);
        done += handed;
    }
    if (taken) *taken = done;
    return code;
}

static void local_forget(struct bus *bus, const char *name, const uint64_t flow[BUS_FLOW_LEVELS])
{
    struct topic *topic = topic_look_up((struct local *)bus, name);
    struct fair_item *item;
    if (!topic || !topic->fair) return;
    struct group *group = group_lock(topic);
    while ((item = fair_queue_remove(topic->fair, flow))) {
        struct message *message = message_of(item);
        topic->n--;
        topic->bytes -= message->bytes;
        free(message);
    }
    if (group->waiting_writers) pthread_cond_broadcast(&group->writable);
    pthread_mutex_unlock(&group->lock);
}

/* --- subscribe --- */

/* Moves a topic and its messages from its own group into `group`. The caller holds the lock of the bus. */
static void adopt(struct group *group, struct topic *topic)
{
    struct group *old = group_lock(topic);
    pthread_mutex_lock(&group->lock);
    topic->index = group->n_topics;
    group->topics[group->n_topics++] = topic;
    for (struct message *message = topic->messages.first; message; message = message->next)
        message->public.topic_index = topic->index;
    old->n_topics = 0;
    atomic_store(&topic->group, group);
    wake_reader(group);
    pthread_cond_broadcast(&old->writable);
    pthread_mutex_unlock(&group->lock);
    pthread_mutex_unlock(&old->lock);
}

static bool has_topics(const struct group *group, struct topic *const *topics, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (i >= group->n_topics || group->topics[i] != topics[i]) return false;
    return group->n_topics == n;
}

/* Finds or creates the group and adds the topics to it. The caller holds the lock of the bus. */
static enum err_code join(struct local *local, const char *name, struct topic *const *topics, uint32_t n,
                          struct group **out, struct err *err)
{
    struct group *group = atomic_load(&topics[0]->group);
    for (uint32_t i = 0; i < n; i++) {
        const struct group *other = atomic_load(&topics[i]->group);
        if (other->name && (strcmp(other->name, name) != 0 || !has_topics(other, topics, n)))
            return err_set(err, ERR_CONFIG, "topic %s is already read by group %s with other topics", topics[i]->name,
                           other->name);
    }
    if (!group->name) {
        group = group_new(local, name);
        if (!group) return err_set(err, ERR_NOMEM, "no memory for a group");
        for (uint32_t i = 0; i < n; i++) adopt(group, topics[i]);
    }
    *out = group;
    return ERR_OK;
}

static enum err_code local_subscribe(struct bus *bus, const char *name, const char *const *topics, uint32_t n,
                                     struct bus_consumer **out, struct err *err)
{
    struct local *local = (struct local *)bus;
    struct topic *found[BUS_MAX_TOPICS];
    *out = NULL;
    if (n == 0 || n > BUS_MAX_TOPICS)
        return err_set(err, ERR_CONFIG, "a subscription takes 1 to %d topics", BUS_MAX_TOPICS);
    for (uint32_t i = 0; i < n; i++)
        if (!(found[i] = topic_get(local, topics[i]))) return err_set(err, ERR_NOMEM, "cannot create another topic");
    struct consumer *consumer = calloc(1, sizeof *consumer);
    if (!consumer) return err_set(err, ERR_NOMEM, "no memory for a consumer");

    pthread_mutex_lock(&local->lock);
    enum err_code code = join(local, name, found, n, &consumer->group, err);
    pthread_mutex_unlock(&local->lock);
    if (code) {
        free(consumer);
        return code;
    }
    consumer->consumer.transport = &bus_local;
    pthread_mutex_lock(&consumer->group->lock); // NOLINT(clang-analyzer-core.NonNullParamChecker): join gave it
    consumer->group->members++;
    pthread_mutex_unlock(&consumer->group->lock);
    *out = &consumer->consumer;
    return ERR_OK;
}

/* --- poll; all functions run under the group's lock --- */

static bool wanted(uint32_t want, const struct topic *topic)
{
    return !want || (want >> topic->index & 1);
}

/* Returns a message to its topic, before all messages that were produced after it. */
static void put_back(struct message *message)
{
    struct topic *topic = message->topic;
    topic->n++;
    topic->bytes += message->bytes;
    if (topic->fair) {
        fair_queue_add(topic->fair, &message->item, message->flow);
        return;
    }
    struct message *next = topic->messages.first;
    while (next && next->public.offset < message->public.offset) next = next->next;
    list_insert(&topic->messages, next, message);
}

static void release_due(struct group *group)
{
    while (group->delayed.first && group->delayed.first->due_ns <= clock_now_ns()) {
        struct message *message = group->delayed.first;
        list_remove(&group->delayed, message);
        put_back(message);
    }
}

static struct message *first_of(const struct topic *topic)
{
    if (!topic->fair) return topic->messages.first;
    struct fair_item *item = fair_queue_first(topic->fair);
    return item ? message_of(item) : NULL;
}

static struct message *first_wanted(const struct group *group, uint32_t want)
{
    struct message *first = NULL;
    for (uint32_t i = 0; i < group->n_topics && !first; i++)
        if (wanted(want, group->topics[i])) first = first_of(group->topics[i]);
    return first;
}

/* Takes the first message of a topic if it has the same key as `like`. */
static bool take_one(struct topic *topic, const struct bus_message *like, struct list *held, struct bus_message **out)
{
    struct message *message = first_of(topic);
    if (!message || !same_key(&message->public, like)) return false;
    if (topic->fair) {
        fair_queue_take(&message->item);
        message->public.topic_index = topic->index;
    } else {
        list_remove(&topic->messages, message);
    }
    topic->n--;
    topic->bytes -= message->bytes;
    list_append(held, message);
    *out = &message->public;
    return true;
}

/* Takes the leading messages with the key of `first`, one from each topic in turn. Messages that were produced together
 * thus stay together if `max` ends the taking. */
static uint32_t take_key(struct consumer *consumer, uint32_t want, const struct message *first,
                         struct bus_message **out, uint32_t max)
{
    struct group *group = consumer->group;
    uint32_t n = 0, before;
    do {
        before = n;
        for (uint32_t i = 0; i < group->n_topics && n < max; i++)
            if (wanted(want, group->topics[i]) && !group->topics[i]->fair)
                n += take_one(group->topics[i], &first->public, &consumer->held, out + n);
    } while (n > before && n < max);
    return n;
}

static uint32_t take_wanted(struct consumer *consumer, uint32_t want, const struct message *first,
                            struct bus_message **out, uint32_t max)
{
    struct group *group = consumer->group;
    uint32_t n = 0;
    bool fair = false;
    do {
        fair = first->topic->fair != NULL;
        n += fair ? take_one(first->topic, &first->public, &consumer->held, out + n)
                  : take_key(consumer, want, first, out + n, max - n);
    } while (!fair && group->members == 1 && n < max && (first = first_wanted(group, want)));
    if (group->waiting_writers) pthread_cond_broadcast(&group->writable);
    if (first_wanted(group, 0)) wake_reader(group);
    return n;
}

/* Returns the earlier of two times: the caller's limit, and the due time of the next delayed message. */
static int64_t next_limit(const struct group *group, int64_t limit)
{
    if (!group->delayed.first) return limit;
    int64_t due = group->delayed.first->due_ns;
    return limit < 0 || due < limit ? due : limit;
}

static enum err_code local_poll(struct bus_consumer *base, uint32_t want, struct bus_message **out, uint32_t max,
                                int64_t timeout_ms, uint32_t *n)
{
    struct consumer *consumer = (struct consumer *)base;
    struct group *group = consumer->group;
    int64_t limit = limit_of(timeout_ms);
    const struct message *first = NULL;
    *n = 0;
    pthread_mutex_lock(&group->lock);
    while (!consumer->drained) {
        release_due(group);
        if ((first = first_wanted(group, want))) break;
        if (timeout_ms == 0 || (limit >= 0 && clock_now_ns() >= limit)) break;
        group->waiting_readers++;
        group->choosy_readers += want != 0;
        wait_for(&group->readable, &group->lock, next_limit(group, limit));
        group->waiting_readers--;
        group->choosy_readers -= want != 0;
    }
    if (first && !consumer->drained) *n = take_wanted(consumer, want, first, out, max);
    enum err_code code = consumer->drained ? ERR_CLOSED : ERR_OK;
    pthread_mutex_unlock(&group->lock);
    return code;
}

/* --- ack, nack, drain, unsubscribe --- */

static struct message *held(struct consumer *consumer, struct bus_message *public)
{
    struct message *message = (struct message *)public;
    list_remove(&consumer->held, message);
    return message;
}

/* Removes the message from the counts of its flows, because it is no longer in flight. Other messages of these flows
 * may then be polled. */
static void release(struct group *group, struct message *message)
{
    if (!message->topic->fair) return;
    fair_queue_release(&message->item);
    if (message->topic->n) wake_reader(group);
}

static void local_ack(struct bus_consumer *base, struct bus_message *public)
{
    struct consumer *consumer = (struct consumer *)base;
    struct message *message = held(consumer, public);
    if (message->topic->fair) {
        pthread_mutex_lock(&consumer->group->lock);
        release(consumer->group, message);
        pthread_mutex_unlock(&consumer->group->lock);
    }
    free(message);
}

static void delay(struct group *group, struct message *message)
{
    struct message *next = group->delayed.first;
    while (next && next->due_ns <= message->due_ns) next = next->next;
    list_insert(&group->delayed, next, message);
}

static void local_nack(struct bus_consumer *base, struct bus_message *public, int64_t delay_ms)
{
    struct consumer *consumer = (struct consumer *)base;
    struct message *message = held(consumer, public);
    message->public.attempts++;
    message->due_ns = delay_ms > 0 ? clock_now_ns() + delay_ms * 1000000 : 0;
    pthread_mutex_lock(&consumer->group->lock);
    release(consumer->group, message);
    if (message->due_ns)
        delay(consumer->group, message);
    else
        put_back(message);
    wake_reader(consumer->group);
    pthread_mutex_unlock(&consumer->group->lock);
}

static void local_drain(struct bus_consumer *base)
{
    struct consumer *consumer = (struct consumer *)base;
    pthread_mutex_lock(&consumer->group->lock);
    consumer->drained = true;
    pthread_cond_broadcast(&consumer->group->readable);
    pthread_mutex_unlock(&consumer->group->lock);
}

static void local_unsubscribe(struct bus_consumer *base)
{
    struct consumer *consumer = (struct consumer *)base;
    struct group *group = consumer->group;
    pthread_mutex_lock(&group->lock);
    while (consumer->held.first) {
        struct message *message = consumer->held.first;
        list_remove(&consumer->held, message);
        message->public.attempts++;
        release(group, message);
        put_back(message);
    }
    group->members--;
    if (group->waiting_readers) pthread_cond_broadcast(&group->readable);
    pthread_mutex_unlock(&group->lock);
    free(consumer);
}

const struct bus_transport bus_local = {
    .name = "local",
    .open = local_open,
    .close = local_close,
    .produce = local_produce,
    .forget = local_forget,
    .flush = NULL, /* messages are final once produce returns */
    .subscribe = local_subscribe,
    .poll = local_poll,
    .ack = local_ack,
    .nack = local_nack,
    .commit = NULL, /* each ack is final, because no state outlives the process */
    .drain = local_drain,
    .unsubscribe = local_unsubscribe,
    .now_ns = NULL, /* NULL means clock_now_ns */
};
