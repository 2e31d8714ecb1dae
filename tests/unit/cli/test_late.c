/* Tests libraries that are opened only when needed (lib/base/late.h). A command that does not need a library must not
 * map it. The error about a missing library must name its package. */
#include "lib/db/libmariadb.h"
#include "lib/db/libpq.h"
#include "lib/llm/libcurl.h"
#include "proto/bus/kafka/librdkafka.h"
#include "server/libgnutls.h"
#include "server/libmicrohttpd.h"
#include "tests/unit/cli/spawn.h"
#include "worker/libhiredis.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

TestSuite(late, .init = scratch_begin, .fini = scratch_end);

#define CHECK "check", "--question", "How many customers are there?", "SELECT count(*) FROM customer", "--db"

Test(late, check_of_file_maps_no_late_library)
{
    static const char *const files[] = {LIBCURL_FILE,    LIBGNUTLS_FILE,     LIBHIREDIS_FILE,
                                        LIBMARIADB_FILE, LIBMICROHTTPD_FILE, LIBPQ_FILE,
                                        LIBRDKAFKA_FILE, "libssl.so",        "libcrypto.so"};
    g_setenv("LD_DEBUG", "files", TRUE); /* makes the loader print every library that it maps to standard error */
    struct run run = assay(CHECK, "shop/shop.sqlite");
    g_unsetenv("LD_DEBUG");
    cr_expect_eq(run.status, 0);
    cr_assert(strstr(run.err, "libsqlite3.so"), "%s", run.err);
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++) cr_expect_null(strstr(run.err, files[i]), "%s", files[i]);
    run_free(&run);
}

Test(late, missing_library_is_named_with_its_package)
{
    static const struct {
        const char *file, *package, *args[12];
    } rows[] = {
        {LIBPQ_FILE, LIBPQ_PACKAGE, {CHECK, "postgresql://127.0.0.1:1/shop"}},
        {LIBMARIADB_FILE, LIBMARIADB_PACKAGE, {CHECK, "mariadb://assay@127.0.0.1:1/shop"}},
        {LIBCURL_FILE,
         LIBCURL_PACKAGE,
         {CHECK, "shop/shop.sqlite", "--verifier-backend=tei", "--verifier-endpoint=http://127.0.0.1:1"}},
        {LIBRDKAFKA_FILE, LIBRDKAFKA_PACKAGE, {"topics", "describe", "-X", "bootstrap.servers=127.0.0.1:1"}},
        {LIBMICROHTTPD_FILE, LIBMICROHTTPD_PACKAGE, {"serve", "--http=127.0.0.1:0", "--db-root=.", "--open"}},
        {LIBGNUTLS_FILE,
         LIBGNUTLS_PACKAGE,
         {"serve", "--http=127.0.0.1:0", "--db-root=.", "--open", "--tls-cert=none.pem", "--tls-key=none.pem"}},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        char *package = g_strdup_printf("install the package %s", rows[i].package);
        write_file(rows[i].file, ""); /* the loader finds this empty file before the real library */
        g_setenv("LD_LIBRARY_PATH", ".", TRUE);
        struct run run = assay_with(NULL, rows[i].args);
        g_unsetenv("LD_LIBRARY_PATH");
        cr_expect_eq(run.status, 2, "%s: %d %s", rows[i].file, run.status, run.err);
        cr_expect(strstr(run.err, rows[i].file), "%s", run.err);
        cr_expect(strstr(run.err, package), "%s: %s", package, run.err);
        cr_expect_eq(remove(rows[i].file), 0);
        run_free(&run);
        g_free(package);
    }
}
