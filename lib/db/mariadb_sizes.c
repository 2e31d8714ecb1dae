/* Functions in which MariaDB cannot be interrupted: the bounds of their results, and their time in nanoseconds on a
 * slow machine. tests/live/giveup.c measures them. The server's own cap on a packet bounds most results too, but it may
 * be a gigabyte. */
#include "lib/db/size_bound.h"

/* clang-format off */
/* Sorted. A function that is not listed reads and writes its arguments once. */
static const struct size_rule rules[] = {
    {"coalesce", SIZE_OF_LARGEST, WORK_BY_BYTE, 0, 1, 0, 1.0F, 0},
    {"concat", SIZE_OF_ALL, WORK_BY_BYTE, 0, 1, 0, 5.0F, 0},
    {"concat_ws", SIZE_SEPARATED, WORK_BY_BYTE, 0, 0, 0, 0, 0},
    {"conv", SIZE_OF_NUMBER, WORK_BY_BYTE, 0, 1, 0, 0, 0},
    {"count", SIZE_OF_NUMBER, WORK_BY_BYTE, 0, 1, 0, 1.0F, 0},
    {"crc32", SIZE_OF_NUMBER, WORK_BY_BYTE, 0, 1, 0, 0, 0},
    {"date_format", SIZE_OF_ALL, WORK_BY_BYTE, 0, 1, 10.0F, 200.0F, SIZE_FORMAT},
    {"elt", SIZE_OF_LARGEST, WORK_BY_BYTE, 0, 1, 0, 0, 0},
    {"export_set", SIZE_SET, WORK_BY_BYTE, 0, 1, 0, 0, 0},
    {"find_in_set", SIZE_OF_NUMBER, WORK_BY_BYTE, 0, 1, 0, 200.0F, 0},
    {"format", SIZE_OF_DIGEST, WORK_BY_BYTE, 0, 1, 0, 0, 0},
    {"from_unixtime", SIZE_OF_ALL, WORK_BY_BYTE, 0, 1, 10.0F, 200.0F, SIZE_FORMAT},
    {"greatest", SIZE_OF_LARGEST, WORK_BY_BYTE, 0, 1, 0, 0, 0},
    {"group_concat", SIZE_JOINED, WORK_BY_BYTE, 0, 1, 0, 1.0F, 0},
    {"hex", SIZE_OF_ALL, WORK_BY_BYTE, 0, 1, 2.0F, 0, 0},
    {"if", SIZE_OF_LARGEST, WORK_BY_BYTE, 0, 1, 0, 1.0F, 0},
    {"ifnull", SIZE_OF_LARGEST, WORK_BY_BYTE, 0, 1, 0, 1.0F, 0},
    {"instr", SIZE_OF_NUMBER, WORK_BY_PAIR, 0, 1, 0, 5.0F, 0},
    {"json_arrayagg", SIZE_JOINED, WORK_BY_BYTE, 0, 1, 0, 100.0F, 0},
    {"json_contains", SIZE_OF_NUMBER, WORK_BY_PAIR, 0, 1, 0, 2.0F, 0},
    {"json_contains_path", SIZE_OF_NUMBER, WORK_BY_BYTE, 0, 2, 0, 150.0F, SIZE_FORMAT},
    {"json_depth", SIZE_OF_NUMBER, WORK_BY_BYTE, 0, 1, 0, 150.0F, 0},
    {"json_exists", SIZE_OF_NUMBER, WORK_BY_BYTE, 0, 1, 0, 150.0F, SIZE_FORMAT},
    {"json_extract", SIZE_OF_ALL, WORK_BY_BYTE, 0, 1, 2.0F, 150.0F, SIZE_FORMAT},
    {"json_keys", SIZE_OF_ALL, WORK_BY_SQUARE, 0, 1, 0, 1.0F, SIZE_FORMAT},
    {"json_length", SIZE_OF_NUMBER, WORK_BY_BYTE, 0, 1, 0, 150.0F, SIZE_FORMAT},
    {"json_objectagg", SIZE_JOINED, WORK_BY_BYTE, 0, 1, 0, 100.0F, 0},
    {"json_quote", SIZE_OF_ALL, WORK_BY_BYTE, 0, 1, 6.0F, 0, 0},
    {"json_search", SIZE_OF_ALL, WORK_BY_PAIR, 0, 2, 16.0F, 25.0F, SIZE_FORMAT},
    {"json_unquote", SIZE_OF_ALL, WORK_BY_BYTE, 0, 1, 0, 100.0F, 0},
    {"json_valid", SIZE_OF_NUMBER, WORK_BY_BYTE, 0, 1, 0, 150.0F, 0},
    {"json_value", SIZE_OF_ALL, WORK_BY_BYTE, 0, 1, 0, 150.0F, SIZE_FORMAT},
    {"least", SIZE_OF_LARGEST, WORK_BY_BYTE, 0, 1, 0, 0, 0},
    {"left", SIZE_OF_PART, WORK_BY_BYTE, 0, 1, 0, 0, 0},
    {"length", SIZE_OF_NUMBER, WORK_BY_BYTE, 0, 1, 0, 1.0F, 0},
    {"locate", SIZE_OF_NUMBER, WORK_BY_PAIR, 0, 1, 0, 5.0F, 0},
    {"lpad", SIZE_PADDED, WORK_BY_BYTE, 0, 1, 0, 15.0F, 0},
    {"max", SIZE_OF_ALL, WORK_BY_BYTE, 0, 1, 0, 30.0F, 0},
    {"md5", SIZE_OF_DIGEST, WORK_BY_BYTE, 0, 1, 0, 0, 0},
    {"mid", SIZE_OF_PART, WORK_BY_BYTE, 0, 1, 0, 0, 0},
    {"min", SIZE_OF_ALL, WORK_BY_BYTE, 0, 1, 0, 30.0F, 0},
    {"nvl", SIZE_OF_LARGEST, WORK_BY_BYTE, 0, 1, 0, 1.0F, 0},
    {"nvl2", SIZE_OF_LARGEST, WORK_BY_BYTE, 0, 1, 0, 1.0F, 0},
    {"octet_length", SIZE_OF_NUMBER, WORK_BY_BYTE, 0, 1, 0, 1.0F, 0},
    {"position", SIZE_OF_NUMBER, WORK_BY_PAIR, 0, 1, 0, 5.0F, 0},
    {"regexp_instr", SIZE_OF_NUMBER, WORK_BY_STEPS, 0, 1, 0, 0, SIZE_PATTERN},
    {"regexp_replace", SIZE_MATCHED, WORK_BY_EDIT, 0, 1, 0, 5.0F, SIZE_PATTERN},
    {"regexp_substr", SIZE_OF_ALL, WORK_BY_STEPS, 0, 1, 0, 0, SIZE_PATTERN},
    {"repeat", SIZE_REPEATED, WORK_BY_BYTE, 0, 1, 0, 5.0F, 0},
    {"replace", SIZE_REPLACED, WORK_BY_SHIFT, 0, 1, 0, 4.0F, 0},
    {"right", SIZE_OF_PART, WORK_BY_BYTE, 0, 1, 0, 0, 0},
    {"rpad", SIZE_PADDED, WORK_BY_BYTE, 0, 1, 0, 15.0F, 0},
    {"sha", SIZE_OF_DIGEST, WORK_BY_BYTE, 0, 1, 0, 0, 0},
    {"sha1", SIZE_OF_DIGEST, WORK_BY_BYTE, 0, 1, 0, 0, 0},
    {"sha2", SIZE_OF_DIGEST, WORK_BY_BYTE, 0, 1, 0, 0, 0},
    {"space", SIZE_SPACES, WORK_BY_BYTE, 0, 1, 0, 5.0F, 0},
    {"str_to_date", SIZE_OF_NUMBER, WORK_BY_BYTE, 0, 1, 0, 200.0F, SIZE_FORMAT},
    {"substr", SIZE_OF_PART, WORK_BY_BYTE, 0, 1, 0, 0, 0},
    {"substring", SIZE_OF_PART, WORK_BY_BYTE, 0, 1, 0, 0, 0},
    {"substring_index", SIZE_OF_ALL, WORK_BY_PAIR, 0, 1, 0, 4.0F, 0},
    {"sum", SIZE_OF_NUMBER, WORK_BY_BYTE, 0, 1, 0, 1.0F, 0},
    {"time_format", SIZE_OF_ALL, WORK_BY_BYTE, 0, 1, 10.0F, 200.0F, SIZE_FORMAT},
    {"to_base64", SIZE_OF_ALL, WORK_BY_BYTE, 0, 1, 1.5F, 0, 0},
    {"upper", SIZE_OF_ALL, WORK_BY_BYTE, 0, 1, 2.0F, 0, 0},
};

static const struct size_operator operators[] = {
    {SQL_OP_CONCAT, {"||", SIZE_OF_ALL, WORK_BY_BYTE, 0, 1, 0, 5.0F, 0}},
    {SQL_OP_LIKE, {"LIKE", SIZE_OF_NUMBER, WORK_BY_PAIR, 0, 1, 0, 30.0F, 0}},
    {SQL_OP_REGEXP, {"REGEXP", SIZE_OF_NUMBER, WORK_BY_STEPS, 0, 1, 0, 0, SIZE_PATTERN}},
};

static const struct size_rule casts[] = {
    {"char", SIZE_OF_ALL, WORK_BY_BYTE, 0, 1, 0, 30.0F, 0},
    {"decimal", SIZE_OF_ALL, WORK_BY_BYTE, 0, 1, 0, 60.0F, 0},
    {"double", SIZE_OF_ALL, WORK_BY_BYTE, 0, 1, 0, 60.0F, 0},
    {"binary", SIZE_OF_ALL, WORK_BY_BYTE, 0, 1, 0, 30.0F, 0},
};
/* clang-format on */

const struct size_engine size_engine_mariadb = {
    .name = "MariaDB",
    .rules = rules,
    .n_rules = G_N_ELEMENTS(rules),
    .operators = operators,
    .n_operators = G_N_ELEMENTS(operators),
    .casts = casts,
    .n_casts = G_N_ELEMENTS(casts),
    .ns = 80,
    .rows = 10000, /* the server truncates the text at 1 MiB */
    .count_open = "LEAST((",
    .count_close = "), %llu)",
};
