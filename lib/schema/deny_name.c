/* Parses and matches the names of denied columns (deny_name.h). An entry is stored without quotes, with the offsets of
 * the dots between its parts. A match tries each dot as the border between schema, table and column. */
#include "lib/schema/deny_name.h"

#include "lib/base/utf8.h"
#include "lib/sql/sql.h"

#include <string.h>

static const char HINT[] = "write [schema.]table.column, column or table.*; quote a part with \"...\" where it holds a "
                           "dot, a quote or a bracket";

/* --- parsing ------------------------------------------------------------------------------------------------------ */

struct entry_reader {
    const char *at;
    struct deny_name *out;
    const char *fault; /* NULL if there is no fault */
    bool star;         /* true if the last part is an unquoted * */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static void skip_blanks(struct entry_reader *r)
{
    while (is_blank(*r->at)) r->at++;
}

static void append(struct entry_reader *r, char c)
{
    if (r->out->len >= DENY_NAME_BYTES)
        r->fault = "it is longer than 1024 bytes";
    else
        r->out->text[r->out->len++] = c;
}

/* Returns the character that closes a quoted part. Returns 0 if `open` is not an opening quote. */
static char closing_quote(char open)
{
    return open == '"' || open == '`' ? open : open == '[' ? ']' : '\0';
}

/* Reads a quoted part. A doubled closing quote is one character. In brackets a ] is never doubled, as in the scanner of
 * lib/sql. */
static void read_quoted(struct entry_reader *r, char close)
{
    for (r->at++; *r->at && !r->fault; r->at++) {
        if (*r->at == close && !(close != ']' && r->at[1] == close)) break;
        if (*r->at == close) r->at++;
        append(r, *r->at);
    }
    if (!r->fault && *r->at != close) r->fault = "a quote is not closed";
    if (!r->fault) r->at++;
}

/* Reads an unquoted part. It may contain blanks and punctuation. */
static void read_plain(struct entry_reader *r)
{
    const char *start = r->at, *end = start;
    while (*end && !strchr(".\"`[]", *end)) end++;
    r->at = end;
    if (*end && *end != '.') r->fault = "a quote or bracket is inside an unquoted part";
    while (end > start && is_blank(end[-1])) end--;
    for (const char *c = start; c < end && !r->fault; c++) append(r, *c);
    r->star = end == start + 1 && *start == '*';
}

static void read_part(struct entry_reader *r)
{
    uint16_t start = r->out->len;
    skip_blanks(r);
    char close = closing_quote(*r->at);
    r->star = false;
    if (close)
        read_quoted(r, close);
    else
        read_plain(r);
    if (!r->fault && r->out->len == start) r->fault = "a part is empty";
    skip_blanks(r);
    if (!r->fault && *r->at && *r->at != '.') r->fault = "text follows a quoted part";
}

static void read_dot(struct entry_reader *r)
{
    if (r->star)
        r->fault = "`*` is only allowed as the column";
    else if (r->out->n_dots == DENY_NAME_DOTS)
        r->fault = "it has more than 17 parts";
    if (r->fault) return;
    r->out->dots[r->out->n_dots++] = r->out->len;
    append(r, '.');
    r->at++;
}

static void read_parts(struct entry_reader *r)
{
    read_part(r);
    while (!r->fault && *r->at) {
        read_dot(r);
        if (!r->fault) read_part(r);
    }
}

/* Reads an entry of letters, digits and underscores, separated by dots. This path is fast: most entries have this form,
 * and each column that a statement reads parses all entries. Returns false if the entry is more complex. */
static bool read_simple(const char *entry, struct deny_name *out)
{
    uint16_t n = 0;
    for (; entry[n] && n < DENY_NAME_BYTES; n++) {
        char c = entry[n];
        bool dot = c == '.' && n && entry[n - 1] != '.' && entry[n + 1] && out->n_dots < DENY_NAME_DOTS;
        if (dot)
            out->dots[out->n_dots++] = n;
        else if (!((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && !(c >= '0' && c <= '9') && c != '_')
            return false;
        out->text[n] = c;
    }
    out->len = n;
    return n && !entry[n];
}

/* Stores only the table of `table.*`. */
static void take_star(struct entry_reader *r)
{
    struct deny_name *out = r->out;
    if (out->n_dots == 0) {
        r->fault = "`*` needs its table";
        return;
    }
    out->all_columns = true;
    out->len = out->dots[--out->n_dots];
}

enum err_code deny_name_parse(const char *entry, struct deny_name *out, struct err *err)
{
    struct entry_reader r = {.at = entry, .out = out};
    out->len = out->n_dots = 0;
    out->all_columns = false;
    if (read_simple(entry, out)) {
        out->text[out->len] = '\0';
        return ERR_OK;
    }
    out->len = out->n_dots = 0;
    if (utf8_valid_bytes(entry, strlen(entry)) != strlen(entry)) r.fault = "it is not UTF-8";
    for (const char *c = entry; *c && !r.fault; c++)
        if ((unsigned char)*c < ' ' && !is_blank(*c)) r.fault = "it contains a control character";
    if (!r.fault) read_parts(&r);
    if (!r.fault && r.star) take_star(&r);
    out->text[out->len] = '\0';
    return r.fault ? err_set(err, ERR_MALFORMED, "%s", r.fault) : ERR_OK;
}

enum err_code deny_name_check(const char *entry, struct err *err)
{
    struct deny_name name;
    struct err why = {0};
    if (deny_name_parse(entry, &name, &why) == ERR_OK) return ERR_OK;
    return err_set(err, ERR_MALFORMED, "the denied column '%.100s' is malformed: %s" ERR_HINT "%s", entry, why.text,
                   HINT);
}

enum err_code deny_names_check(const char *const *entries, uint32_t n, struct err *err)
{
    enum err_code code = ERR_OK;
    for (uint32_t i = 0; i < n && !code; i++) code = deny_name_check(entries[i], err);
    return code;
}

const char *deny_name_last(const struct deny_name *name)
{
    return name->n_dots ? name->text + name->dots[name->n_dots - 1] + 1 : name->text;
}

/* --- matching ----------------------------------------------------------------------------------------------------- */

static bool is_named(const char *name, const char *text, size_t len)
{
    return sql_name_is(name, strlen(name), text, len);
}

static bool is_schema(const char *schema, const char *text, size_t len)
{
    return is_named(schema ? schema : "main", text, len);
}

/* True if the first `len` bytes of the entry are the table, or the schema and the table divided at a dot. */
static bool is_table(const struct deny_name *name, size_t len, const char *schema, const char *table)
{
    if (!table || is_named(table, name->text, len)) return true;
    for (uint16_t i = 0; i < name->n_dots && name->dots[i] < len; i++) {
        size_t dot = name->dots[i];
        if (is_named(table, name->text + dot + 1, len - dot - 1) && is_schema(schema, name->text, dot)) return true;
    }
    return false;
}

bool deny_name_covers(const struct deny_name *name, const char *schema, const char *table, const char *column)
{
    if (name->all_columns) return is_table(name, name->len, schema, table);
    if (!column || is_named(column, name->text, name->len)) return true;
    for (uint16_t i = 0; i < name->n_dots; i++) {
        size_t dot = name->dots[i];
        if (is_named(column, name->text + dot + 1, name->len - dot - 1) && is_table(name, dot, schema, table))
            return true;
    }
    return false;
}
