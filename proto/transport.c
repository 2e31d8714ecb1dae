#include "proto/transport.h"

#include "lib/base/clock.h"

#include <string.h>

static const struct bus_transport *const transports[] = {&bus_local};
enum { N_TRANSPORTS = sizeof transports / sizeof *transports };

const struct bus_transport *bus_transport_find(const char *name, struct err *err)
{
    char known[200] = "";
    for (unsigned i = 0; i < N_TRANSPORTS; i++) {
        if (strcmp(transports[i]->name, name) == 0) return transports[i];
        strncat(known, i ? ", " : "", sizeof known - strlen(known) - 1);
        strncat(known, transports[i]->name, sizeof known - strlen(known) - 1);
    }
    err_set(err, ERR_CONFIG, "there is no transport '%.40s'; known are: %s", name, known);
    return NULL;
}

enum err_code bus_open(const char *transport, const struct bus_config *config, struct bus **out, struct err *err)
{
    static const struct bus_config defaults;
    const struct bus_transport *found = bus_transport_find(transport, err);
    *out = NULL;
    return found ? found->open(config ? config : &defaults, out, err) : ERR_CONFIG;
}

int64_t bus_now_ns(struct bus *bus) { return bus->transport->now_ns ? bus->transport->now_ns(bus) : clock_now_ns(); }

const char *bus_header_get(const struct bus_message *message, const char *name)
{
    for (uint32_t i = 0; i < message->n_headers; i++)
        if (strcmp(message->headers[i].name, name) == 0) return message->headers[i].value;
    return NULL;
}
