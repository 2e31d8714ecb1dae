/* Connects to a server with an untrusted certificate, then trusts that certificate by configuration. The server is the
 * openssl program; without it the test prints a message and is skipped. */
#include "tests/mock/llm/fixture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(tls, .fini = leak_check);

struct server {
    char folder[64], certificate[96];
    pid_t pid;
    int port;
};

static bool make_certificate(struct server *s)
{
    char command[512];
    snprintf(s->folder, sizeof s->folder, "/tmp/assay-tls-XXXXXX");
    if (!mkdtemp(s->folder)) return false;
    snprintf(s->certificate, sizeof s->certificate, "%s/cert.pem", s->folder);
    snprintf(command, sizeof command,
             "openssl req -x509 -newkey rsa:2048 -nodes -keyout %s/key.pem -out %s -days 2 -subj /CN=localhost "
             "-addext subjectAltName=DNS:localhost,IP:127.0.0.1 >/dev/null 2>&1",
             s->folder, s->certificate);
    return system(command) == 0;
}

/* Reads the line "ACCEPT 127.0.0.1:PORT" and returns the port. */
static int read_port(int fd)
{
    FILE *out = fdopen(fd, "r");
    char line[256];
    int port = 0;
    while (port == 0 && fgets(line, sizeof line, out))
        if (strncmp(line, "ACCEPT", 6) == 0) port = atoi(strrchr(line, ':') + 1);
    fclose(out);
    return port;
}

/* Starts openssl s_server -www, which answers any GET with a page. */
static void serve(struct server *s)
{
    int out[2], in[2];
    char key[96];
    snprintf(key, sizeof key, "%s/key.pem", s->folder);
    cr_assert_eq(pipe(out) | pipe(in), 0);
    s->pid = fork();
    if (s->pid == 0) {
        dup2(out[1], 1);
        dup2(in[0], 0);
        close(in[1]);
        execlp("openssl", "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", s->certificate, "-key", key, "-www",
               NULL);
        _exit(127);
    }
    close(out[1]);
    close(in[0]);
    s->port = read_port(out[0]);
}

static void stop(struct server *s)
{
    char command[128];
    kill(s->pid, SIGTERM);
    waitpid(s->pid, NULL, 0);
    snprintf(command, sizeof command, "rm -r %s", s->folder);
    cr_assert_eq(system(command), 0);
}

Test(tls, certificate_is_verified)
{
    struct fixture f;
    struct server s;
    char endpoint[64];
    if (!make_certificate(&s)) cr_skip_test("openssl, the program, is not there");
    serve(&s);
    snprintf(endpoint, sizeof endpoint, "https://localhost:%d", s.port);

    fixture_start(&f, "tei");
    f.config.endpoint = endpoint;
    assert_code(&f, ask(&f), ERR_CONFIG);
    cr_assert_not_null(strstr(f.err.text, "certificate"), "%s", f.err.text);
    cr_assert_eq(f.info.attempts, 1, "it will not hold the next time either");
    fixture_stop(&f);

    fixture_start(&f, "tei");
    f.config.endpoint = endpoint;
    f.config.ca_file = s.certificate;
    assert_code(&f, ask(&f), ERR_MALFORMED); /* the page is not JSON, so the TLS handshake has succeeded */
    cr_assert_eq(f.info.status, 200);
    fixture_stop(&f);
    stop(&s);
}
