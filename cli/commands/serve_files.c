/* Watches and reloads the files of a serving process (serve_files.h). A thread checks them once a second. */
#include "cli/commands/serve_files.h"

#include "cli/settings/catalogue.h"
#include "cli/settings/denied_settings.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"

#include <glib.h>
#include <pthread.h>

enum { REFRESH_MS = 1000 };

struct serve_files {
    struct tokens *tokens;
    struct tls *tls;
    struct worker_databases databases; /* databases to which the tokens can give access */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t stopped;
    bool watches, stop; /* `lock` protects `stop` */
};

/* --- watching ----------------------------------------------------------------------------------------------------- */

static void log_refreshed(const char *what, const struct err *err)
{
    const struct log_field why = log_field_text("why", err->code ? err->text : NULL);
    log_event(err->code ? LOG_LEVEL_ERROR : LOG_LEVEL_INFO, "serve", &why, 1,
              err->code ? "%s: the new file is invalid; the previous one stays in use" : "%s: reloaded", what);
}

static void refresh(struct serve_files *files)
{
    struct err err = {0};
    if (files->tokens && tokens_refresh(files->tokens, &err)) log_refreshed("tokens", &err);
    if (files->tls && tls_refresh(files->tls, &err)) log_refreshed("certificate", &err);
}

/* Waits for a second. Returns false if a stop was requested meanwhile. */
static bool wait_turn(struct serve_files *files)
{
    const struct timespec until = clock_after_ms(REFRESH_MS);
    pthread_mutex_lock(&files->lock);
    while (!files->stop && pthread_cond_timedwait(&files->stopped, &files->lock, &until) == 0) {
    }
    bool stop = files->stop;
    pthread_mutex_unlock(&files->lock);
    return !stop;
}

static void *watch(void *ctx)
{
    while (wait_turn(ctx)) refresh(ctx);
    return NULL;
}

enum err_code serve_files_watch(struct serve_files *files, struct err *err)
{
    if (!files->tokens && !files->tls) return ERR_OK;
    files->watches = pthread_create(&files->thread, NULL, watch, files) == 0;
    return files->watches ? ERR_OK : err_set(err, ERR_NOMEM, "cannot start the thread that watches the files");
}

static void stop_watching(struct serve_files *files)
{
    if (!files->watches) return;
    pthread_mutex_lock(&files->lock);
    files->stop = true;
    pthread_cond_signal(&files->stopped);
    pthread_mutex_unlock(&files->lock);
    pthread_join(files->thread, NULL);
}

/* --- open, close -------------------------------------------------------------------------------------------------- */

static enum err_code open_tokens(struct cli *cli, struct serve_files *files, struct err *err)
{
    enum err_code code = catalogue_open(cli, err);
    if (code) return code;
    files->databases = catalogue_databases(cli);
    return tokens_open(cli->settings.serve.tokens, denied_settings_check_tenants, &files->databases, &files->tokens,
                       err);
}

enum err_code serve_files_open(struct cli *cli, struct serve_files **out, struct err *err)
{
    const struct settings *s = &cli->settings;
    struct serve_files *files = g_new0(struct serve_files, 1);
    enum err_code code = ERR_OK;
    pthread_mutex_init(&files->lock, NULL);
    clock_cond_init(&files->stopped);
    if (s->serve.tokens) code = open_tokens(cli, files, err);
    if (!code && s->serve.tls_cert) code = tls_open(s->serve.tls_cert, s->serve.tls_key, &files->tls, err);
    if (code) {
        serve_files_close(files);
        files = NULL;
    }
    *out = files;
    return code;
}

struct tokens *serve_files_tokens(const struct serve_files *files)
{
    return files->tokens;
}

struct tls *serve_files_tls(const struct serve_files *files)
{
    return files->tls;
}

void serve_files_close(struct serve_files *files)
{
    if (!files) return;
    stop_watching(files);
    tokens_close(files->tokens);
    tls_close(files->tls);
    pthread_cond_destroy(&files->stopped);
    pthread_mutex_destroy(&files->lock);
    g_free(files);
}
