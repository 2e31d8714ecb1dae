/* Spans and the tracer's queue (tracing.h). The ids of a request's span are hashes of its identity. Other ids are
 * hashes of a counter and a random seed. The sampling decision compares bits of the trace id with the ratio, so all
 * processes with the same ratio make the same decision. Finished spans are copied into a ring buffer under one lock. */
#include "lib/base/tracing.h"

#include "lib/base/clock.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { DEFAULT_SPANS = 4096 };

struct tracer {
    uint64_t below;             /* a trace is recorded if the low 63 bits of its id are below this */
    uint64_t seed;              /* seed of random ids */
    atomic_uint_fast64_t drawn; /* number of random ids drawn so far */
    pthread_mutex_t lock;       /* protects all members below */
    pthread_cond_t half_full;
    bool woken;
    uint64_t dropped;
    uint32_t first, n, max; /* index of the oldest span in `ring`; number of spans; capacity */
    struct trace_span ring[];
};

/* --- traceparent --- */

static int digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads `digits` lower-case hexadecimal digits. Returns false if there is any other character. */
static bool read_hex(const char *text, unsigned digits, uint64_t *out)
{
    *out = 0;
    for (unsigned i = 0; i < digits; i++) {
        int value = digit(text[i]);
        if (value < 0) return false;
        *out = *out << 4 | (uint64_t)value;
    }
    return true;
}

bool trace_context_parse(const char *traceparent, struct trace_context *out)
{
    enum { VERSION = 0, TRACE = 3, SPAN = 36, FLAGS = 53, END = 55, UNKNOWN = 0xff };
    struct trace_context read = {0};
    uint64_t version, flags;
    *out = (struct trace_context){0};
    if (!traceparent || strnlen(traceparent, END) < END) return false;
    bool dashes = traceparent[TRACE - 1] == '-' && traceparent[SPAN - 1] == '-' && traceparent[FLAGS - 1] == '-';
    if (!dashes || !read_hex(traceparent + VERSION, 2, &version) ||
        !read_hex(traceparent + TRACE, 16, &read.trace[0]) || !read_hex(traceparent + TRACE + 16, 16, &read.trace[1]) ||
        !read_hex(traceparent + SPAN, 16, &read.span) || !read_hex(traceparent + FLAGS, 2, &flags))
        return false;
    char after = traceparent[END];
    if (version == UNKNOWN || (after && (version == 0 || after != '-'))) return false;
    if (!(read.trace[0] | read.trace[1]) || !read.span) return false;
    read.sampled = flags & 1;
    *out = read;
    return true;
}

void trace_context_write(const struct trace_context *context, char out[TRACEPARENT_ROOM])
{
    snprintf(out, TRACEPARENT_ROOM, "00-%016" PRIx64 "%016" PRIx64 "-%016" PRIx64 "-%02x", context->trace[0],
             context->trace[1], context->span, context->sampled ? 1U : 0U);
}

/* --- ids --- */

/* Maps nearby numbers to unrelated ones, without collisions (the finalizer of splitmix64). */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
    x = (x ^ x >> 27) * 0x94d049bb133111ebU;
    return x ^ x >> 31;
}

static uint64_t mix_all(const uint64_t *numbers, unsigned n, uint64_t seed)
{
    uint64_t out = seed;
    for (unsigned i = 0; i < n; i++) out = mix(out ^ mix(numbers[i] + 0x9e3779b97f4a7c15U * (i + 1)));
    return out ? out : 1; /* an id of 0 means that there is none */
}

static uint64_t draw_id(struct tracer *tracer)
{
    const uint64_t number = atomic_fetch_add_explicit(&tracer->drawn, 1, memory_order_relaxed);
    return mix_all(&number, 1, tracer->seed);
}

/* --- recording --- */

enum err_code tracer_new(const struct tracer_config *config, struct tracer **out, struct err *err)
{
    uint32_t max = config->max_spans ? config->max_spans : DEFAULT_SPANS;
    struct tracer *tracer = calloc(1, sizeof *tracer + max * sizeof *tracer->ring);
    *out = tracer;
    if (!tracer) return err_set(err, ERR_NOMEM, "out of memory for traces");
    tracer->max = max;
    tracer->below = (uint64_t)ldexp(fmin(fmax(config->ratio, 0), 1), 63);
    if (getrandom(&tracer->seed, sizeof tracer->seed, 0) != sizeof tracer->seed)
        tracer->seed = (uint64_t)tracer_now_ns() ^ (uintptr_t)tracer;
    pthread_mutex_init(&tracer->lock, NULL);
    clock_cond_init(&tracer->half_full);
    return ERR_OK;
}

void tracer_free(struct tracer *tracer)
{
    if (!tracer) return;
    pthread_cond_destroy(&tracer->half_full);
    pthread_mutex_destroy(&tracer->lock);
    free(tracer);
}

int64_t tracer_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void begin(struct trace_span *span, const char *name, enum trace_kind kind)
{
    span->name = name;
    span->kind = kind;
    span->start_ns = tracer_now_ns();
    span->failed = false;
    span->n_attributes = 0;
}

void tracer_begin_request(struct tracer *tracer, const char *traceparent, const uint64_t identity[2], const char *name,
                          enum trace_kind kind, struct trace_span *out)
{
    struct trace_context parent;
    uint64_t drawn[2];
    out->context = (struct trace_context){0};
    if (!tracer) return;
    if (!identity) {
        drawn[0] = draw_id(tracer);
        drawn[1] = draw_id(tracer);
        identity = drawn;
    }
    if (!trace_context_parse(traceparent, &parent)) {
        parent.trace[0] = mix_all(identity, 2, 1);
        parent.trace[1] = mix_all(identity, 2, 2);
        parent.sampled = (parent.trace[1] & INT64_MAX) < tracer->below;
    }
    out->context = parent;
    out->context.span = mix_all(identity, 2, parent.trace[0] ^ parent.trace[1] ^ parent.span);
    out->parent = parent.span;
    if (parent.sampled) begin(out, name, kind);
}

void tracer_begin(struct tracer *tracer, const struct trace_context *parent, const char *name, enum trace_kind kind,
                  struct trace_span *out)
{
    out->context = (struct trace_context){0};
    if (!tracer || !parent->sampled) return;
    out->context = *parent;
    out->context.span = draw_id(tracer);
    out->parent = parent->span;
    begin(out, name, kind);
}

static struct trace_attribute *add(struct trace_span *span, const char *name)
{
    if (!span->context.sampled || span->n_attributes == TRACE_ATTRIBUTES) return NULL;
    struct trace_attribute *attribute = &span->attributes[span->n_attributes++];
    attribute->name = name;
    attribute->text[0] = '\0';
    return attribute;
}

/* Cuts a long text between two characters, so valid UTF-8 stays valid. */
void trace_text(struct trace_span *span, const char *name, const char *text)
{
    struct trace_attribute *attribute = text && *text ? add(span, name) : NULL;
    if (!attribute) return;
    size_t len = strnlen(text, TRACE_TEXT);
    if (len == TRACE_TEXT)
        for (len--; len && ((unsigned char)text[len] & 0xC0) == 0x80; len--) continue;
    memcpy(attribute->text, text, len);
    attribute->text[len] = '\0';
}

void trace_number(struct trace_span *span, const char *name, int64_t number)
{
    struct trace_attribute *attribute = add(span, name);
    if (attribute) attribute->number = number;
}

void trace_failed(struct trace_span *span, const char *why)
{
    span->failed = true;
    trace_text(span, "error.type", why);
}

void tracer_end(struct tracer *tracer, struct trace_span *span, enum err_code code)
{
    if (!span->context.sampled) return;
    int64_t now = tracer_now_ns();
    span->end_ns = now > span->start_ns ? now : span->start_ns; /* the system clock may have been set back */
    if (code) trace_failed(span, err_name(code));
    pthread_mutex_lock(&tracer->lock);
    if (tracer->n == tracer->max)
        tracer->dropped++;
    else
        tracer->ring[(tracer->first + tracer->n++) % tracer->max] = *span;
    if (tracer->n == tracer->max / 2 + 1) pthread_cond_signal(&tracer->half_full);
    pthread_mutex_unlock(&tracer->lock);
}

/* --- export --- */

uint32_t tracer_take(struct tracer *tracer, struct trace_span *out, uint32_t most, int64_t wait_ms)
{
    struct timespec until = clock_after_ms(wait_ms);
    bool late = wait_ms <= 0;
    uint32_t taken = 0;
    pthread_mutex_lock(&tracer->lock);
    while (tracer->n <= tracer->max / 2 && !tracer->woken && !late)
        late = pthread_cond_timedwait(&tracer->half_full, &tracer->lock, &until) != 0;
    for (; taken < most && tracer->n; taken++) {
        out[taken] = tracer->ring[tracer->first];
        tracer->first = (tracer->first + 1) % tracer->max;
        tracer->n--;
    }
    pthread_mutex_unlock(&tracer->lock);
    return taken;
}

void tracer_wake(struct tracer *tracer)
{
    pthread_mutex_lock(&tracer->lock);
    tracer->woken = true;
    pthread_cond_signal(&tracer->half_full);
    pthread_mutex_unlock(&tracer->lock);
}

uint64_t tracer_dropped(struct tracer *tracer)
{
    pthread_mutex_lock(&tracer->lock);
    uint64_t dropped = tracer->dropped;
    pthread_mutex_unlock(&tracer->lock);
    return dropped;
}
