#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* Puts the lines that the program prints into `out`. Returns its exit status. */
static int run(const char *arguments, char *out, size_t size)
{
    char command[600];
    snprintf(command, sizeof command, "env -u ASSAY_BEGUN_ANEW timeout 60 %s %s", ANEW_PROGRAM, arguments);
    FILE *said = popen(command, "r");
    cr_assert_not_null(said);
    out[fread(out, 1, size - 1, said)] = '\0';
    int status = pclose(said);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect_three_starts(const char *how)
{
    char out[1000], arguments[80], expected[1000];
    int pid = 0;
    snprintf(arguments, sizeof arguments, "%s 'a b' ''", how);
    cr_expect_eq(run(arguments, out, sizeof out), 7, "%s", out);
    cr_assert_eq(sscanf(out, "start 0 of %d,", &pid), 1, "%s", out);
    size_t len = 0;
    for (int i = 0; i < 3; i++)
        len += (size_t)snprintf(expected + len, sizeof expected - len,
                                "start %d of %d, 4 arguments, last '', inherited 0\n", i, pid);
    cr_expect_str_eq(out, expected);
}

Test(anew, program_keeps_arguments_and_pid)
{
    expect_three_starts("plainly");
}

Test(anew, hanging_thread_does_not_prevent_restart)
{
    expect_three_starts("hang");
}

Test(anew, program_that_cannot_restart_continues)
{
    char out[1000];
    cr_expect_eq(run("forbid", out, sizeof out), 8, "%s", out);
    cr_expect(strstr(out, "start 0 of ") && !strstr(out, "start 1 of "), "%s", out);
}
