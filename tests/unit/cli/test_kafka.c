/* Tests the kafka section of the settings: where properties come from, that secrets stay hidden, and `assay topics`
 * without a broker. */
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

TestSuite(kafka, .init = scratch_begin, .fini = scratch_end);

Test(kafka, properties_from_all_sources_hide_secrets)
{
    write_file("my.yaml", "kafka:\n  servers: one:9092\n  linger.ms: 7\n  sasl.password: hunter2\n"
                          "  ssl.key.password: file:/run/secrets/key\n");
    g_setenv("ASSAY_KAFKA_PROPERTY_SASL_USERNAME", "me", TRUE);
    g_setenv("ASSAY_KAFKA_PROPERTY_LINGER_MS", "8", TRUE);
    struct run run = assay("config", "print", "--origin", "--config", "my.yaml");
    cr_expect_eq(run.status, 0, "%s", run.err);
    cr_expect(strstr(run.out, "servers: \"one:9092\"  # my.yaml:2"), "%s", run.out);
    cr_expect(strstr(run.out, "  linger.ms: 8  # environment ASSAY_KAFKA_PROPERTY_LINGER_MS"), "%s", run.out);
    cr_expect(strstr(run.out, "  sasl.username: me"), "%s", run.out);
    cr_expect(strstr(run.out, "  sasl.password: \"(secret)\""), "%s", run.out);
    cr_expect(strstr(run.out, "file:/run/secrets/key"), "the place of a secret is none: %s", run.out);
    cr_expect_null(strstr(run.out, "hunter2"));
    run_free(&run);
}

static void expect_error(struct run run, const char *says)
{
    cr_expect_eq(run.status, 2, "%s", run.out);
    cr_expect(strstr(run.err, says), "%s", run.err);
    run_free(&run);
}

Test(kafka, topics_reports_errors)
{
    write_file("password", "hunter2\n");
    expect_error(assay("topics", "make"), "create or describe");
    expect_error(assay("topics", "describe"), "bootstrap.servers is not set");
    expect_error(assay("topics", "describe", "-X", "linger"), "NAME=VALUE");
    expect_error(assay("topics", "describe", "--servers", "127.0.0.1:1", "-X", "no.such=1"), "no.such");
    expect_error(assay("topics", "describe", "--servers", "127.0.0.1:1", "-X", "sasl.password=file:missing"),
                 "missing");
    expect_error(assay("topics", "describe", "--servers", "127.0.0.1:1", "-X", "group.id=x"), "group.id cannot be set");
    expect_error(assay("topics", "describe", "--servers", "127.0.0.1:1", "--connect-ms", "300", "-X",
                       "sasl.password=file:password"),
                 "no broker answered");
    write_file("protocol", "\xEF\xBB\xBFplaintext\n"); /* a byte-order mark, which is not part of the secret */
    expect_error(assay("topics", "describe", "--servers", "127.0.0.1:1", "--connect-ms", "300", "-X",
                       "security.protocol=file:protocol"),
                 "no broker answered");
    struct run run =
        assay("topics", "describe", "--servers", "127.0.0.1:1", "--connect-ms", "300", "-X", "sasl.mechanism=PLAIN",
              "-X", "security.protocol=SASL_PLAINTEXT", "-X", "sasl.username=a", "-X", "sasl.password=file:password");
    cr_expect_eq(run.status, 2);
    cr_expect_null(strstr(run.err, "hunter2"), "%s", run.err);
    run_free(&run);
}
