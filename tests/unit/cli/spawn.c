/* Runs the program in a child process with its output in files, in a scratch folder that becomes the working directory.
 * A run is killed after two minutes. The environment has no settings of the user. ASSAY_ variables are unset, the
 * configuration folders are the scratch folder, and the models are those of the source tree. */
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static char *folder;

static const char shop[] =
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT, age INTEGER);"
    "CREATE TABLE product (id INTEGER PRIMARY KEY, title TEXT, price REAL);"
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer(id),"
    " product_id INTEGER REFERENCES product(id), quantity INTEGER);"
    "INSERT INTO customer VALUES (1,'Ada','France',31),(2,'Bo','Norway',44),(3,'Cy','France',27),(4,'Di',NULL,60);"
    "INSERT INTO product VALUES (1,'Lamp',19.5),(2,'Desk',120.0),(3,'Chair',49.0);"
    "INSERT INTO orders VALUES (1,1,1,2),(2,1,2,1),(3,2,3,4),(4,3,1,1),(5,3,3,2);";

static void make_shop(void)
{
    sqlite3 *db = NULL;
    cr_assert_eq(g_mkdir("shop", 0700), 0);
    cr_assert_eq(sqlite3_open("shop/shop.sqlite", &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, shop, NULL, NULL, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

static void clean_environment(void)
{
    gchar **names = g_listenv();
    for (gchar **name = names; *name; name++)
        if (g_str_has_prefix(*name, "ASSAY_")) g_unsetenv(*name);
    g_strfreev(names);
    g_unsetenv("NO_COLOR");
    g_unsetenv("CLICOLOR_FORCE");
    g_setenv("XDG_CONFIG_HOME", folder, TRUE);
    /* The program reads <folder>/assay/config.yaml for the user and for the system. Tests of precedence change the
     * second one. */
    g_setenv("ASSAY_SYSCONFDIR", folder, TRUE);
    g_setenv("ASSAY_MODELS", SOURCE_ROOT "/models", TRUE);
    /* Works without the shipped model, so that a tree that lacks it can be tested. */
    if (!g_file_test(SOURCE_ROOT "/models/label_model.json", G_FILE_TEST_EXISTS))
        g_setenv("ASSAY_JUDGE_LABEL_MODEL", "none", TRUE);
}

void scratch_begin(void)
{
    folder = g_dir_make_tmp("assay-cli-XXXXXX", NULL);
    cr_assert_not_null(folder);
    cr_assert_eq(chdir(folder), 0);
    clean_environment();
    make_shop();
}

static void remove_tree(const char *path)
{
    GDir *dir = g_file_test(path, G_FILE_TEST_IS_SYMLINK) ? NULL : g_dir_open(path, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        char *child = g_build_filename(path, name, NULL);
        remove_tree(child);
        g_free(child);
    }
    if (dir) g_dir_close(dir);
    g_remove(path);
}

void scratch_end(void)
{
    cr_assert_eq(chdir("/"), 0);
    remove_tree(folder);
    g_free(folder);
    folder = NULL;
}

void write_file(const char *path, const char *text)
{
    char *dir = g_path_get_dirname(path);
    g_mkdir_with_parents(dir, 0700);
    g_free(dir);
    cr_assert(g_file_set_contents(path, text, -1, NULL), "%s", path);
}

char *read_file(const char *path)
{
    char *text = NULL;
    g_file_get_contents(path, &text, NULL, NULL);
    return text;
}

static void redirect(const char *path, int flags, int to)
{
    int fd = open(path, flags | O_CLOEXEC, 0600);
    if (fd < 0 || dup2(fd, to) < 0) _exit(127);
}

/* Settings of the next run: the file for its standard output, and the maximum size of its files. */
static struct {
    const char *out;
    rlim_t file_bytes;
} how = {".out", RLIM_INFINITY};

/* Forks and executes the program. Its output is written to files, so that it cannot block on a full pipe. */
static pid_t start(const char *input, const char *const *args)
{
    const struct rlimit file_size = {how.file_bytes, how.file_bytes};
    GPtrArray *argv = g_ptr_array_new();
    g_ptr_array_add(argv, (gpointer)ASSAY_BINARY);
    for (; *args; args++) g_ptr_array_add(argv, (gpointer)*args);
    g_ptr_array_add(argv, NULL);
    if (input) write_file(".in", input);
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        alarm(120);
        redirect(input ? ".in" : "/dev/null", O_RDONLY, STDIN_FILENO);
        redirect(how.out, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
        redirect(".err", O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
        if (how.file_bytes != RLIM_INFINITY && setrlimit(RLIMIT_FSIZE, &file_size) != 0) _exit(127);
        execv(ASSAY_BINARY, (char **)argv->pdata);
        _exit(127);
    }
    g_ptr_array_free(argv, TRUE);
    return child;
}

struct run assay_with(const char *input, const char *const *args)
{
    int status = 0;
    pid_t child = start(input, args);
    cr_assert_eq(waitpid(child, &status, 0), child);
    struct run run = {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), read_file(".out"),
                      read_file(".err")};
    cr_assert(run.out && run.err);
    return run;
}

struct run assay_onto(const char *path, const char *const *args)
{
    write_file(".out", "");
    how.out = path;
    struct run run = assay_with(NULL, args);
    how.out = ".out";
    return run;
}

struct run assay_within(size_t file_bytes, const char *const *args)
{
    how.file_bytes = file_bytes;
    struct run run = assay_with(NULL, args);
    how.file_bytes = RLIM_INFINITY;
    return run;
}

int assay_start(const char *const *args)
{
    return start(NULL, args);
}

int assay_start_within(size_t file_bytes, const char *const *args)
{
    how.file_bytes = file_bytes;
    pid_t child = start(NULL, args);
    how.file_bytes = RLIM_INFINITY;
    return child;
}

void run_free(struct run *run)
{
    g_free(run->out);
    g_free(run->err);
}

char *shop_log(unsigned n)
{
    GString *log = g_string_new(NULL);
    for (unsigned i = 1; i <= n; i++)
        g_string_append_printf(
            log,
            "{\"id\":\"q-%u\",\"db\":\"shop\",\"question\":\"How many customers are older than %u?\",\"candidates\":["
            "\"SELECT count(*) FROM customer WHERE age > %u\"%s],\"gold\":\"SELECT count(*) FROM customer WHERE age > "
            "%u\"}\n",
            i, i, i,
            i % 3 ? "" : ",\"SELECT name FROM customer\",{\"sql\":\"SELECT count(id) FROM orders\",\"count\":2}", i);
    return g_string_free(log, FALSE);
}
