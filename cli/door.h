/* Who may come in: the connections of an HTTP listener, from accept to close. libmicrohttpd reads and answers behind
 * it.
 *
 * DESIGN. The library's time-out is one of silence, so a client that drips a byte now and then stays for ever, and its
 * cap of connections keeps the next one out, whoever that is. Here it is the other way round: whoever comes is let in,
 * and when there are too many, of one address or of all, the one goes that has not got on for longest. A client that
 * does its part is through in milliseconds and is never that one; a thousand that drip throw each other out.
 *
 *   DOOR_HEAD      its bytes are looked at where they lie in the kernel (MSG_PEEK), until there is a whole head and it
 *                  has one reading (cli/http_head.h); only then the library gets the socket. A bad one is told 400.
 *   DOOR_BODY      the library reads the body
 *   DOOR_WAITING   nothing is asked of it: it does not count, has no deadline and is never thrown out
 *   DOOR_ANSWER    it reads its answer
 *   DOOR_REFUSED   it was told 400, and what it still sends is thrown away, so that it can read that
 *
 * Each of these but waiting has a deadline for the whole of it. A connection carries one request: what we and a proxy
 * might count differently can then be nobody else's answer. One thread runs all of it and the library; the rejected
 * path, the library's own thread and a second one that shuts late sockets down, has two owners of a descriptor.
 */
#ifndef ASSAY_CLI_DOOR_H
#define ASSAY_CLI_DOOR_H

#include "lib/base/error.h"

#include <microhttpd.h>
#include <stdint.h>

enum door_stage { DOOR_FREE, DOOR_HEAD, DOOR_BODY, DOOR_WAITING, DOOR_ANSWER, DOOR_REFUSED, DOOR_LEAVING, DOOR_STAGES };

struct door_config {
    const char *name;     /* of the setting in messages, and of the thread */
    const char *listen;   /* HOST:PORT, see cli/listen.h */
    uint32_t max_guests;  /* at a time, those who wait included */
    uint32_t per_address; /* of them from one address (IPv6: one /64), those who wait not included; 0: any */
    size_t head_bytes;
    int64_t limit_ms[DOOR_STAGES]; /* of DOOR_HEAD, DOOR_BODY and DOOR_ANSWER */
    MHD_AccessHandlerCallback on_request;
    MHD_RequestCompletedCallback on_completed; /* may be NULL */
    /* A client that waits has closed its side; `who` is door_wait's. May be NULL. */
    void (*on_gone)(void *ctx, void *who);
    void *ctx; /* of all three, which are called on the door's thread */
};

struct door;

/* Listens from now on; the strings of `config` must outlive it. ERR_CONFIG: no such address, or it is not to be had. */
enum err_code door_open(const struct door_config *config, struct door **out, struct err *err);
uint16_t door_port(const struct door *door);
/* Take nobody in any more. Thread: any. */
void door_quiesce(struct door *door);
/* Cuts off whoever is left; nobody may be suspended any more. NULL is fine. */
void door_close(struct door *door);

/* A request begins in DOOR_BODY. From now on its client waits, on behalf of `who`; then it reads its answer. Thread: of
 * the callbacks. */
void door_wait(struct MHD_Connection *connection, void *who);
void door_answer(struct MHD_Connection *connection);

/* Clients that were sent away. */
struct door_stats {
    uint64_t malformed; /* no head with one reading */
    uint64_t late;      /* past a deadline */
    uint64_t crowded;   /* thrown out for the next one */
};
/* Thread: any. */
void door_get_stats(const struct door *door, struct door_stats *out);

#endif
