#include "proto/bus/transport.h"

#include "lib/base/clock.h"
#include "proto/message/msg.h"

#include <string.h>

enum { MAX_TRANSPORTS = 8 };
/* the list ends at the first NULL */
static const struct bus_transport *transports[MAX_TRANSPORTS] = {&bus_local, &bus_kafka};

static bool is_used(unsigned i)
{
    return i < MAX_TRANSPORTS && transports[i];
}

const struct bus_transport *bus_transport_find(const char *name, struct err *err)
{
    char known[200] = "";
    for (unsigned i = 0; is_used(i); i++) {
        if (strcmp(transports[i]->name, name) == 0) return transports[i];
        strncat(known, i ? ", " : "", sizeof known - strlen(known) - 1);
        strncat(known, transports[i]->name, sizeof known - strlen(known) - 1);
    }
    err_set(err, ERR_CONFIG, "unknown transport '%.40s'" ERR_HINT "use one of: %s", name, known);
    return NULL;
}

bool bus_transport_register(const struct bus_transport *transport)
{
    unsigned n = 0;
    for (; is_used(n); n++)
        if (strcmp(transports[n]->name, transport->name) == 0) return false;
    if (n < MAX_TRANSPORTS) transports[n] = transport;
    return n < MAX_TRANSPORTS;
}

enum err_code bus_open(const char *transport, const struct bus_config *config, struct bus **out, struct err *err)
{
    static const struct bus_config defaults;
    const struct bus_transport *found = bus_transport_find(transport, err);
    *out = NULL;
    return found ? found->open(config ? config : &defaults, out, err) : ERR_CONFIG;
}

enum err_code bus_subscribe_once(struct bus *bus, const struct bus_once *once, struct bus_consumer **out,
                                 struct err *err)
{
    if (bus->transport->subscribe_once) return bus->transport->subscribe_once(bus, once, out, err);
    const char *const topics[BUS_ONCE_TOPICS] = {
        [BUS_ONCE_RESULTS] = once->results ? once->results : BUS_RESULTS,
        [BUS_ONCE_REQUESTS] = once->requests ? once->requests : BUS_REQUESTS,
    };
    return bus_subscribe(bus, once->group ? once->group : BUS_GROUP, topics, BUS_ONCE_TOPICS, out, err);
}

int64_t bus_now_ns(struct bus *bus)
{
    return bus->transport->now_ns ? bus->transport->now_ns(bus) : clock_now_ns();
}

size_t bus_out_bytes(const struct bus_out *out)
{
    size_t bytes = out->key_len + out->len;
    for (uint32_t i = 0; i < out->n_headers; i++) bytes += out->headers[i].len + strlen(out->headers[i].name);
    return bytes;
}

size_t bus_max_bytes(struct bus *bus, const char *topic)
{
    if (bus->transport->max_bytes) return bus->transport->max_bytes(bus, topic);
    return bus->max_message ? bus->max_message : MSG_MAX_BYTES;
}

enum err_code bus_know_topics(struct bus *bus, const char *const *topics, uint32_t n, struct err *err)
{
    return bus->transport->know_topics ? bus->transport->know_topics(bus, topics, n, err) : ERR_OK;
}

size_t bus_out_room(const struct bus_out *out)
{
    return bus_out_bytes(out) + 2 + 2 * (size_t)out->n_headers; /* one more byte for the NUL of each text */
}

static const char *put(char **room, const void *bytes, size_t len)
{
    char *copy = *room;
    if (len) memcpy(copy, bytes, len);
    copy[len] = '\0';
    *room += len + 1;
    return copy;
}

void bus_out_copy(const struct bus_out *out, char *room, struct bus_header *headers, struct bus_out *copy)
{
    *copy = *out;
    copy->key = out->key ? put(&room, out->key, out->key_len) : NULL;
    copy->value = put(&room, out->value, out->len);
    copy->headers = headers;
    for (uint32_t i = 0; i < out->n_headers; i++) {
        const struct bus_header *from = &out->headers[i];
        headers[i].name = put(&room, from->name, strlen(from->name));
        headers[i].value = put(&room, from->value, from->len);
        headers[i].len = from->len;
    }
}

const char *bus_header_get(const struct bus_message *message, const char *name)
{
    for (uint32_t i = 0; i < message->n_headers; i++)
        if (strcmp(message->headers[i].name, name) == 0) return message->headers[i].value;
    return NULL;
}

bool bus_property_is_secret(const char *name)
{
    static const char *const parts[] = {"password", "secret", "pem", "token", "sasl.oauthbearer.config"};
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(name, parts[i])) return true;
    return false;
}
