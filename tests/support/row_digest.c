#include "tests/support/row_digest.h"

#include <glib.h>
#include <string.h>

static int out_of_steps(void *left)
{
    return --*(int *)left < 0;
}

static int by_text(gconstpointer x, gconstpointer y)
{
    return strcmp(*(char *const *)x, *(char *const *)y);
}

char *row_digest(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    int left = 30, rc; /* the limit is 30 times 10,000 steps */
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK) return NULL;
    sqlite3_progress_handler(db, 10000, out_of_steps, &left);
    GPtrArray *rows = g_ptr_array_new_with_free_func(g_free);
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && rows->len < 100000) {
        GString *row = g_string_new(NULL);
        for (int i = 0; i < sqlite3_column_count(stmt); i++) {
            int type = sqlite3_column_type(stmt, i);
            const char *text = (const char *)sqlite3_column_text(stmt, i);
            if (type == SQLITE_FLOAT)
                g_string_append_printf(row, "%d:%.9g\x1f", type, sqlite3_column_double(stmt, i));
            else
                g_string_append_printf(row, "%d:%s\x1f", type, text ? text : "");
        }
        g_ptr_array_add(rows, g_string_free(row, FALSE));
    }
    sqlite3_progress_handler(db, 0, NULL, NULL);
    sqlite3_finalize(stmt);
    char *result = NULL;
    if (rc == SQLITE_DONE) {
        GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA1);
        g_ptr_array_sort(rows, by_text);
        for (guint i = 0; i < rows->len; i++)
            g_checksum_update(sum, g_ptr_array_index(rows, i), (gssize)strlen(g_ptr_array_index(rows, i)) + 1);
        result = g_strdup_printf("%u rows %s", rows->len, g_checksum_get_string(sum));
        g_checksum_free(sum);
    }
    g_ptr_array_free(rows, TRUE);
    return result;
}
