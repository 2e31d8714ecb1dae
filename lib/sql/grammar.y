/* One grammar for the union of SQLite's and PostgreSQL's SELECT, with MariaDB's additions. Its chapters are:
 *
 *   1 statement and query     4 FROM                    7 functions and windows
 *   2 WITH                    5 clauses                 8 names and types
 *   3 SELECT and VALUES       6 expressions             9 precedence, fallback
 *
 * Actions only call builders (build.h). Where the engines differ on precedence, the grammar uses SQLite's. sql_bind
 * (precedence.h) then groups the tree as its engine does. The printer prints the original parentheses, so the text that
 * an engine gets has the same grouping.
 *
 * keywords.c has classified words that are keywords only in some places (DATE, FILTER, ANY, TRIM ...). The terminal BAD
 * is text that recovery in parse.c has skipped. Each rule with BAD is a place where parsing can resume. BAD replaces an
 * entry or a condition by an ERROR node, or follows a valid one, which is preserved.
 */
%name sql_lemon
%token_prefix T_
%token_type {struct sql_token}
%default_type {struct sql_node *}
%extra_context {struct sql_parser *p}
%stack_size 6000
%start_symbol statement

%include {
#include "lib/sql/build.h"

/* The parser lives on the C stack, and parse.c does the recovery. */
#define sql_lemon_ENGINEALWAYSONSTACK
#define YYNOERRORRECOVERY
#define COUNT(array) (unsigned)(sizeof(array) / sizeof((array)[0]))
#define NAMES(...)   COUNT(((struct sql_token[]){__VA_ARGS__})), (struct sql_token[]){__VA_ARGS__}
}

%syntax_error { (void)yymajor; (void)yyminor; p->failed_here = true; }
%stack_overflow { p->too_deep = true; }

/* ---- 9a. Precedence, lowest first ---------------------------------------------------------------------------- */

%nonassoc SUBQUERY_AS_OPERAND.
%left OR.
%left AND.
%right NOT.
%left IS LIKE_KW BETWEEN IN ISNULL NOTNULL NE EQ.
%left GT LE LT GE.
%right ESCAPE.
%left BITAND BITOR LSHIFT RSHIFT OPER.
%left PLUS MINUS.
%left STAR SLASH REM.
%left CARET.
%left CONCAT ARROW.
%left AT_ZONE.
%left COLLATE.
%right BITNOT.
%left TYPECAST LBRACKET.
%nonassoc RP.

/* ---- 9b. Keywords that are names where they cannot be keywords ------------------------------------------------- */

%fallback ID
    ASC BY CAST CURRENT DESC END EXCLUDE FALSE FIRST FOLLOWING LAST LIKE_KW MATERIALIZED NO NOW NULLS
    ONLY ORDINALITY OTHERS PARTITION PRECEDING RANGE RECURSIVE REPEATABLE ROW ROWS TIES TRUE UNBOUNDED WITH.

/* ---- 1. Statement and query ------------------------------------------------------------------------------------ */

statement ::= query(Q).      { p->stmt->root = Q; }

/* If the text does not begin with SELECT ("Sure: SELECT ...", "SELEC a FROM t"), the rest still becomes a tree. */
statement ::= BAD query(Q).  { p->stmt->root = Q; }
statement ::= BAD(B) from(F) where(W) group(G) having(H) windows(N) order_opt(O) limit_opt(L). {
    struct sql_node *items = sqlb_list(p, SQL_ITEMS, NODE(ITEM, B.start, sqlb_error(p, B)));
    p->stmt->root = sqlb_query(p, NULL, NODE(SELECT, B.start, NULL, items, F, W, G, H, N), O, L);
}

query(A) ::= bare_query(A).
query(A) ::= paren_query(A).

/* A query in parentheses is a query only where nothing else is allowed, or as an arm of a set operation. Elsewhere it
 * is a scalar subquery (6). ((SELECT 1)) is ambiguous; the parser prefers to shift the `)`. */
paren_query(A) ::= LP(K) bare_query(Q) RP.   { A = sqlb_in_parens(p, Q, K.start); }
paren_query(A) ::= LP(K) paren_query(Q) RP.  { A = sqlb_in_parens(p, Q, K.start); }

bare_query(A) ::= simple(B).                          { A = sqlb_query(p, NULL, B, NULL, NULL); }
bare_query(A) ::= arm(B) order(O).                    { A = sqlb_query(p, NULL, B, O, NULL); }
bare_query(A) ::= arm(B) limit(L).                    { A = sqlb_query(p, NULL, B, NULL, L); }
bare_query(A) ::= arm(B) order(O) limit(L).           { A = sqlb_query(p, NULL, B, O, L); }
bare_query(A) ::= with(W) arm(B).                     { A = sqlb_query(p, W, B, NULL, NULL); }
bare_query(A) ::= with(W) arm(B) order(O).            { A = sqlb_query(p, W, B, O, NULL); }
bare_query(A) ::= with(W) arm(B) limit(L).            { A = sqlb_query(p, W, B, NULL, L); }
bare_query(A) ::= with(W) arm(B) order(O) limit(L).   { A = sqlb_query(p, W, B, O, L); }

arm(A) ::= simple(A).
arm(A) ::= paren_query(A).

simple(A) ::= core(A).
simple(A) ::= arm(L) set_op(O) right_arm(R).          { A = sqlb_compound(p, L, O.op, R); }

right_arm(A) ::= core(A).
right_arm(A) ::= paren_query(A).

%type set_op {struct sqlb_op}
set_op(A) ::= UNION.               { A = (struct sqlb_op){SQL_UNION, 0}; }
set_op(A) ::= UNION DISTINCT.      { A = (struct sqlb_op){SQL_UNION, 0}; }
set_op(A) ::= UNION ALL.           { A = (struct sqlb_op){SQL_UNION_ALL, 0}; }
set_op(A) ::= INTERSECT.           { A = (struct sqlb_op){SQL_INTERSECT, 0}; }
set_op(A) ::= INTERSECT DISTINCT.  { A = (struct sqlb_op){SQL_INTERSECT, 0}; }
set_op(A) ::= INTERSECT ALL.       { A = (struct sqlb_op){SQL_INTERSECT_ALL, 0}; }
set_op(A) ::= EXCEPT.              { A = (struct sqlb_op){SQL_EXCEPT, 0}; }
set_op(A) ::= EXCEPT DISTINCT.     { A = (struct sqlb_op){SQL_EXCEPT, 0}; }
set_op(A) ::= EXCEPT ALL.          { A = (struct sqlb_op){SQL_EXCEPT_ALL, 0}; }

/* ---- 2. WITH --------------------------------------------------------------------------------------------------- */

with(A) ::= WITH(K) ctes(L).            { A = sqlb_as(p, L, SQL_WITH, K.start); }
with(A) ::= WITH(K) RECURSIVE ctes(L).  { A = sqlb_flag(sqlb_as(p, L, SQL_WITH, K.start), SQL_F_RECURSIVE); }

ctes(A) ::= cte(X).                { A = sqlb_list(p, SQL_WITH, X); }
ctes(A) ::= ctes(L) COMMA cte(X).  { A = sqlb_add(p, L, X); }

cte(A) ::= plain_cte(A).
cte(A) ::= plain_cte(C) added(L).        { A = sqlb_cte_added(p, C, L); }
cte(A) ::= plain_cte(C) added(L) added(M). { A = sqlb_cte_added(p, sqlb_cte_added(p, C, L), M); }
plain_cte(A) ::= nm(N) names_opt(C) AS materialized(M) paren_query(Q). {
    A = sqlb_flag(sqlb_named(p, NODE(CTE, N.start, C, sqlb_bare(Q), NULL), N), M.flags);
}
cte(A) ::= BAD(B).  { A = sqlb_error(p, B); }

/* Columns that SEARCH and CYCLE add to a recursive CTE. keywords.c merges the words before each name into a token. */
added(A) ::= CTE_SET(K) nm(N).              { A = sqlb_as(p, sqlb_names(p, NAMES(N)), SQL_NAMES, K.start); }
added(A) ::= CTE_SET(K) nm(N) USING nm(P).  { A = sqlb_as(p, sqlb_names(p, NAMES(N, P)), SQL_NAMES, K.start); }

%type materialized {struct sqlb_op}
materialized(A) ::= .                  { A = (struct sqlb_op){0, 0}; }
materialized(A) ::= MATERIALIZED.      { A = (struct sqlb_op){0, SQL_F_MATERIALIZED}; }
materialized(A) ::= NOT MATERIALIZED.  { A = (struct sqlb_op){0, SQL_F_NOT_MATERIALIZED}; }

/* ---- 3. SELECT and VALUES -------------------------------------------------------------------------------------- */

core(A) ::= SELECT(K) distinct(D) items(I) from(F) where(W) group(G) having(H) windows(N). {
    A = NODE(SELECT, K.start, D, I, F, W, G, H, N);
}
/* PostgreSQL: EXISTS (SELECT FROM t). */
core(A) ::= SELECT_FROM(K) tables(L) where(W). {
    A = NODE(SELECT, K.start, NULL, sqlb_list(p, SQL_ITEMS, NULL), sqlb_from(p, L, K.start), W, NULL, NULL, NULL);
}
core(A) ::= TABLE(K) only(O) table_name(T) any_star(S). { A = sqlb_table_query(p, K, sqlb_flag(T, O.flags | S.flags)); }
core(A) ::= values(A).

values(A) ::= VALUES(K) row(X).        { A = sqlb_as(p, sqlb_list(p, SQL_VALUES, X), SQL_VALUES, K.start); }
values(A) ::= values(L) COMMA row(X).  { A = sqlb_add(p, L, X); }
row(A) ::= LP(K) exprs(L) RP.          { A = sqlb_as(p, L, SQL_ROW, K.start); }

distinct(A) ::= .                               { A = NULL; }
distinct(A) ::= ALL.                            { A = NULL; }
distinct(A) ::= DISTINCT(K).                    { A = LEAF(DISTINCT, K.start); }
distinct(A) ::= DISTINCT(K) ON LP exprs(L) RP.  { A = sqlb_as(p, L, SQL_DISTINCT, K.start); }

/* A select list has at least one item, because PostgreSQL's SELECT FROM t is nearly always a mistake. */
items(A) ::= item(X).                 { A = sqlb_list(p, SQL_ITEMS, X); }
items(A) ::= items(L) COMMA item(X).  { A = sqlb_add(p, L, X); }
items(A) ::= items(L) BAD(B).         { A = sqlb_add(p, L, NODE(ITEM, B.start, sqlb_error(p, B))); }

item(A) ::= expr(X).                          { A = sqlb_item(p, X); }
item(A) ::= expr(X) AS nm(N).                 { A = sqlb_flag(sqlb_named(p, NODE(ITEM, X->start, X), N), SQL_F_AS); }
item(A) ::= expr(X) ids(N).                   { A = sqlb_named(p, NODE(ITEM, X->start, X), N); }
item(A) ::= star(A).
item(A) ::= BAD(B).                           { A = NODE(ITEM, B.start, sqlb_error(p, B)); }

star(A) ::= STAR(K).                          { A = LEAF(STAR, K.start); }

/* ---- 4. FROM --------------------------------------------------------------------------------------------------- */

from(A) ::= .                     { A = NULL; }
from(A) ::= FROM(K) tables(L).    { A = sqlb_from(p, L, K.start); }

tables(A) ::= joined(X).                  { A = sqlb_list(p, SQL_FROM, X); }
tables(A) ::= tables(L) COMMA joined(X).  { A = sqlb_comma(p, L, X); }

/* ON and USING belong to the innermost join that has none yet: a JOIN b JOIN c ON ... ON ... nests to the right. */
joined(A) ::= table(A).
joined(A) ::= joined(L) join_op(O) table(R).  { A = sqlb_join(p, L, O, R); }
joined(A) ::= joined(L) on(C).                { A = sqlb_join_on(p, L, C); }
joined(A) ::= joined(A) BAD.

on(A) ::= ON(K) expr(X).                { A = NODE(ON, K.start, X); }
on(A) ::= ON(K) BAD(B).                 { A = NODE(ON, K.start, sqlb_error(p, B)); }
on(A) ::= USING(K) LP names(L) RP.      { A = sqlb_as(p, L, SQL_USING, K.start); }
on(A) ::= USING(K) LP names(L) RP AS nm(N). { A = sqlb_using_alias(p, sqlb_as(p, L, SQL_USING, K.start), N); }

%type join_op {struct sqlb_op}
join_op(A) ::= JOIN.                                         { A = (struct sqlb_op){SQL_JOIN_INNER, 0}; }
join_op(A) ::= JOIN_KW(X) JOIN.                              { A = sqlb_join_op(p, NAMES(X)); }
join_op(A) ::= JOIN_KW(X) nm(Y) JOIN.                        { A = sqlb_join_op(p, NAMES(X, Y)); }
join_op(A) ::= JOIN_KW(X) nm(Y) nm(Z) JOIN.                  { A = sqlb_join_op(p, NAMES(X, Y, Z)); }

table(A) ::= aliased(A).
table(A) ::= aliased(T) INDEXED(K) BY nm.                                  { A = sqlb_table_suffix(p, T, K.start); }
table(A) ::= aliased(T) INDEX_HINT(K).                                     { A = sqlb_table_suffix(p, T, K.start); }
table(A) ::= aliased(T) NOT(K) INDEXED.                                    { A = sqlb_table_suffix(p, T, K.start); }
table(A) ::= aliased(T) TABLESAMPLE(K) nm LP exprs RP.                     { A = sqlb_table_suffix(p, T, K.start); }
table(A) ::= aliased(T) TABLESAMPLE(K) nm LP exprs RP REPEATABLE LP expr RP. { A = sqlb_table_suffix(p, T, K.start); }
table(A) ::= BAD(B).                                                       { A = sqlb_error(p, B); }

aliased(A) ::= source(A).
aliased(A) ::= source(T) AS nm(N).                       { A = sqlb_alias(p, T, N, true, NULL); }
aliased(A) ::= source(T) AS nm(N) LP columns(C) RP.      { A = sqlb_alias(p, T, N, true, C); }
aliased(A) ::= source(T) AS LP columns(C) RP.            { A = sqlb_columns(p, T, C); }
aliased(A) ::= source(T) ids(N).                         { A = sqlb_alias(p, T, N, false, NULL); }
aliased(A) ::= source(T) ids(N) LP columns(C) RP.        { A = sqlb_alias(p, T, N, false, C); }

source(A) ::= table_name(A).
source(A) ::= table_name(T) TABLE_PARTITION(K). { A = sqlb_table_suffix(p, T, K.start); }
source(A) ::= table_name(T) STAR.             { A = sqlb_flag(T, SQL_F_STAR); A->end = p->end; }
source(A) ::= ONLY(K) table_name(T).          { A = sqlb_flag(T, SQL_F_ONLY); A->start = K.start; }
source(A) ::= ONLY(K) LP table_name(T) RP.    { A = sqlb_flag(T, SQL_F_ONLY); A->start = K.start; A->end = p->end; }
source(A) ::= table_call(C).                  { A = NODE(FROM_CALL, C->start, C, NULL); }
source(A) ::= JSON_TABLE(F) LP expr(X) COMMA expr(Y) json_columns(C) RP. { A = sqlb_json_table(p, F, X, Y, C); }
source(A) ::= LATERAL(K) table_call(C).       { A = sqlb_flag(NODE(FROM_CALL, K.start, C, NULL), SQL_F_LATERAL); }
source(A) ::= paren_query(Q). [SUBQUERY_AS_OPERAND]
                                              { uint32_t at = Q->start; A = NODE(DERIVED, at, sqlb_bare(Q), NULL); }
source(A) ::= LATERAL(K) paren_query(Q).   { A = sqlb_flag(NODE(DERIVED, K.start, sqlb_bare(Q), NULL), SQL_F_LATERAL); }
source(A) ::= LP(K) tables(L) RP.             { A = sqlb_from_paren(p, L, K.start); }

table_name(A) ::= nm(T).                      { A = sqlb_named(p, NODE(TABLE, T.start, NULL), T); }
table_name(A) ::= nm(S) DOT nm(T).            { A = sqlb_both_named(p, NODE(TABLE, S.start, NULL), S, T); }

%type only {struct sqlb_op}
only(A) ::= .                                 { A = (struct sqlb_op){0, 0}; }
only(A) ::= ONLY.                             { A = (struct sqlb_op){0, SQL_F_ONLY}; }
%type any_star {struct sqlb_op}
any_star(A) ::= .                             { A = (struct sqlb_op){0, 0}; }
any_star(A) ::= STAR.                         { A = (struct sqlb_op){0, SQL_F_STAR}; }

table_call(A) ::= nm(F) LP table_args(X) RP.             { A = sqlb_call(p, F, X); }
table_call(A) ::= nm(S) DOT nm(F) LP table_args(X) RP.   { A = sqlb_qualified(p, sqlb_call(p, F, X), S); }
table_call(A) ::= ROWS_FROM(F) LP row_calls(L) RP.       { A = sqlb_call(p, F, sqlb_as(p, L, SQL_ARGS, L->start)); }
table_call(A) ::= table_call(C) WITH ORDINALITY.         { A = sqlb_flag(C, SQL_F_ORDINALITY); C->end = p->end; }

table_args(A) ::= exprs_opt(L).                          { A = sqlb_as(p, L, SQL_ARGS, L->start); }
table_args(A) ::= exprs(L) COMMA variadic(X).            { A = sqlb_as(p, sqlb_add(p, L, X), SQL_ARGS, L->start); }
table_args(A) ::= variadic(X).                           { A = sqlb_list(p, SQL_ARGS, X); }

row_calls(A) ::= row_call(X).                            { A = sqlb_list(p, SQL_ARGS, X); }
row_calls(A) ::= row_calls(L) COMMA row_call(X).         { A = sqlb_add(p, L, X); }
row_call(A) ::= table_call(C).                           { A = NODE(FROM_CALL, C->start, C, NULL); }
row_call(A) ::= table_call(C) AS LP columns(L) RP.       { A = NODE(FROM_CALL, C->start, C, L); }

/* MariaDB's columns of JSON_TABLE. They are one list, including those of nested paths. keywords.c merges each type into
 * one token, and each path with its defaults into another. */
json_columns(A) ::= JSON_COLUMNS(K) LP json_parts(L) RP.   { A = sqlb_as(p, L, SQL_NAMES, K.start); }
json_parts(A) ::= json_part(A).
json_parts(A) ::= json_parts(L) COMMA json_part(M).        { A = sqlb_add_all(p, L, M); }
json_part(A) ::= json_column(X).                           { A = sqlb_list(p, SQL_NAMES, X); }
json_part(A) ::= JSON_NESTED json_columns(L).              { A = L; }
json_column(A) ::= nm(N) JSON_PATH.                        { A = sqlb_named(p, LEAF(NAME, N.start), N); }
json_column(A) ::= nm(N) TYPE(T) JSON_PATH.  { A = sqlb_worded2(p, sqlb_named(p, LEAF(NAME, N.start), N), T); }

columns(A) ::= column(X).                   { A = sqlb_list(p, SQL_NAMES, X); }
columns(A) ::= columns(L) COMMA column(X).  { A = sqlb_add(p, L, X); }
column(A) ::= nm(N).                        { A = sqlb_named(p, LEAF(NAME, N.start), N); }
column(A) ::= nm(N) type(T).                { A = sqlb_worded2(p, sqlb_named(p, LEAF(NAME, N.start), N), T); }

/* ---- 5. Clauses ------------------------------------------------------------------------------------------------ */

where(A) ::= .                         { A = NULL; }
where(A) ::= WHERE(K) expr(X).         { A = NODE(WHERE, K.start, X); }
where(A) ::= WHERE(K) expr(X) BAD.     { A = NODE(WHERE, K.start, X); }
where(A) ::= WHERE(K) BAD(B).          { A = NODE(WHERE, K.start, sqlb_error(p, B)); }

group(A) ::= .                         { A = NULL; }
group(A) ::= GROUP(K) BY exprs(L).     { A = sqlb_as(p, L, SQL_GROUP, K.start); }
group(A) ::= GROUP(K) BY exprs(L) WITH_ROLLUP. { A = sqlb_flag(sqlb_as(p, L, SQL_GROUP, K.start), SQL_F_ROLLUP); }
group(A) ::= GROUP(K) BY exprs(L) BAD. { A = sqlb_as(p, L, SQL_GROUP, K.start); }
group(A) ::= GROUP(K) BY BAD(B).       { A = sqlb_broken(p, SQL_GROUP, K.start, B); }
group(A) ::= GROUP(K) BAD(B).          { A = sqlb_broken(p, SQL_GROUP, K.start, B); }

having(A) ::= .                        { A = NULL; }
having(A) ::= HAVING(K) expr(X).       { A = NODE(HAVING, K.start, X); }
having(A) ::= HAVING(K) expr(X) BAD.   { A = NODE(HAVING, K.start, X); }
having(A) ::= HAVING(K) BAD(B).        { A = NODE(HAVING, K.start, sqlb_error(p, B)); }

windows(A) ::= .                       { A = NULL; }
windows(A) ::= WINDOW(K) window_defs(L).          { A = sqlb_as(p, L, SQL_WINDOWS, K.start); }
window_defs(A) ::= window_def(X).                       { A = sqlb_list(p, SQL_WINDOWS, X); }
window_defs(A) ::= window_defs(L) COMMA window_def(X).  { A = sqlb_add(p, L, X); }
window_def(A) ::= nm(N) AS LP window(W) RP. { A = sqlb_named(p, W, N); A->start = N.start; A->end = p->end; }

order(A) ::= ORDER(K) BY terms(L).     { A = sqlb_as(p, L, SQL_ORDER, K.start); }
order(A) ::= ORDER(K) BY terms(L) BAD. { A = sqlb_as(p, L, SQL_ORDER, K.start); }
order(A) ::= ORDER(K) BY BAD(B).       { A = sqlb_broken(p, SQL_ORDER, K.start, B); }
order(A) ::= ORDER(K) BAD(B).          { A = sqlb_broken(p, SQL_ORDER, K.start, B); }

terms(A) ::= term(X).                  { A = sqlb_list(p, SQL_ORDER, X); }
terms(A) ::= terms(L) COMMA term(X).   { A = sqlb_add(p, L, X); }
term(A) ::= expr(X) direction(D) nulls(N). {
    A = NODE(TERM, X->start, X);
    A->op = D.op;
    A->flags = N.flags;
}
term(A) ::= expr(X) USING order_op(O) nulls(N). {
    A = sqlb_flag(sqlb_worded(p, NODE(TERM, X->start, X), O), N.flags);
}
%type order_op {struct sql_token}
order_op(A) ::= LT|LE|GT|GE|EQ|NE|OPER(A).

%type direction {struct sqlb_op}
direction(A) ::= .                     { A = (struct sqlb_op){0, 0}; }
direction(A) ::= ASC.                  { A = (struct sqlb_op){SQL_ASC, 0}; }
direction(A) ::= DESC.                 { A = (struct sqlb_op){SQL_DESC, 0}; }
%type nulls {struct sqlb_op}
nulls(A) ::= .                         { A = (struct sqlb_op){0, 0}; }
nulls(A) ::= NULLS FIRST.              { A = (struct sqlb_op){0, SQL_F_NULLS_FIRST}; }
nulls(A) ::= NULLS LAST.               { A = (struct sqlb_op){0, SQL_F_NULLS_LAST}; }

limit(A) ::= LIMIT(K) expr(N).                       { A = NODE(LIMIT, K.start, N, NULL); }
limit(A) ::= LIMIT(K) ALL.                           { A = NODE(LIMIT, K.start, NULL, NULL); }
limit(A) ::= LIMIT(K) expr(N) OFFSET expr(O) rows.   { A = NODE(LIMIT, K.start, N, O); }
limit(A) ::= LIMIT(K) ALL OFFSET expr(O) rows.       { A = NODE(LIMIT, K.start, NULL, O); }
limit(A) ::= LIMIT(K) expr(O) COMMA expr(N).         { A = sqlb_flag(NODE(LIMIT, K.start, N, O), SQL_F_COMMA); }
limit(A) ::= LIMIT(K) expr(N) BAD.                   { A = NODE(LIMIT, K.start, N, NULL); }
limit(A) ::= LIMIT(K) BAD(B).                        { A = NODE(LIMIT, K.start, sqlb_error(p, B), NULL); }
limit(A) ::= OFFSET(K) expr(O) rows.                 { A = NODE(LIMIT, K.start, NULL, O); }
limit(A) ::= OFFSET(K) expr(O) rows LIMIT expr(N).   { A = NODE(LIMIT, K.start, N, O); }
limit(A) ::= OFFSET(K) expr(O) rows fetch(N).        { A = NODE(LIMIT, K.start, N, O); sqlb_fetch(p, A, N); }
limit(A) ::= fetch(N).                               { A = NODE(LIMIT, N->start, N, NULL); sqlb_fetch(p, A, N); }
limit(A) ::= fetch(N) OFFSET expr(O) rows.           { A = NODE(LIMIT, N->start, N, O); sqlb_fetch(p, A, N); }

limit_opt(A) ::= .        { A = NULL; }
limit_opt(A) ::= limit(A).

/* A TERM wraps the count until sqlb_fetch moves it to the LIMIT node. The flags of the TERM carry WITH TIES. */
fetch(A) ::= FETCH(K) FIRST expr(N) a_row ONLY.      { A = NODE(TERM, K.start, N); }
fetch(A) ::= FETCH(K) FIRST a_row ONLY.              { A = NODE(TERM, K.start, NULL); }
fetch(A) ::= FETCH(K) FIRST expr(N) a_row WITH TIES. { A = sqlb_flag(NODE(TERM, K.start, N), SQL_F_WITH_TIES); }
fetch(A) ::= FETCH(K) FIRST a_row WITH TIES.         { A = sqlb_flag(NODE(TERM, K.start, NULL), SQL_F_WITH_TIES); }

rows ::= .
rows ::= a_row.
a_row ::= ROW.
a_row ::= ROWS.

/* ---- 6. Expressions -------------------------------------------------------------------------------------------- */

exprs(A) ::= expr(X).                  { A = sqlb_list(p, SQL_LIST, X); }
exprs(A) ::= exprs(L) COMMA expr(X).   { A = sqlb_add(p, L, X); }
exprs_opt(A) ::= .                     { A = sqlb_list(p, SQL_LIST, NULL); }
exprs_opt(A) ::= exprs(A).

/* 6a. Operands. */
expr(A) ::= nm(C).                              [SUBQUERY_AS_OPERAND] { A = sqlb_column(p, NAMES(C)); }
expr(A) ::= nm(T) DOT nm(C).                    { A = sqlb_column(p, NAMES(T, C)); }
expr(A) ::= nm(S) DOT nm(T) DOT nm(C).          { A = sqlb_column(p, NAMES(S, T, C)); }
expr(A) ::= nm(T) DOT STAR.                     { A = sqlb_named(p, LEAF(STAR, T.start), T); }
expr(A) ::= nm(S) DOT nm(T) DOT STAR.           { A = sqlb_both_named(p, LEAF(STAR, S.start), S, T); }
expr(A) ::= INTEGER|FLOAT|BLOB|BITS|NULL|TRUE|FALSE|NOW(V).  { A = sqlb_literal(p, V); }
expr(A) ::= TYPEWORD(T) STRING(V).              { A = sqlb_worded(p, NODE(TYPED, T.start, sqlb_literal(p, V)), T); }
expr(A) ::= TYPEWORD(T) STRING(V) FIELDS(F). {
    A = sqlb_worded2(p, sqlb_worded(p, NODE(TYPED, T.start, sqlb_literal(p, V)), T), F);
}
expr(A) ::= INTERVAL(K) expr(X) UNIT(F).        { A = sqlb_worded2(p, sqlb_worded(p, NODE(TYPED, K.start, X), K), F); }
expr(A) ::= PARAM(V).                           { A = sqlb_param(p, V); }
expr(A) ::= LP(K) expr(X) RP.                   { A = sqlb_paren(p, X, K.start); }
expr(A) ::= LP(K) exprs(L) COMMA expr(X) RP.    { A = sqlb_as(p, sqlb_add(p, L, X), SQL_ROW, K.start); }
expr(A) ::= LP(K) expr(X) BAD RP.               { A = sqlb_paren(p, X, K.start); }
expr(A) ::= LP(K) BAD(B) RP.                    { A = sqlb_paren(p, sqlb_error(p, B), K.start); }
expr(A) ::= paren_query(Q). [SUBQUERY_AS_OPERAND]  { A = sqlb_subquery(p, Q); }
expr(A) ::= EXISTS(K) paren_query(Q).           { A = NODE(EXISTS, K.start, sqlb_bare(Q)); }
expr(A) ::= MATCH(F) LP exprs(L) RP AGAINST LP expr(X) search_mode(M) RP. { A = sqlb_against(p, F, L, X, M); }
expr(A) ::= ARRAY(K) LBRACKET exprs_opt(L) RBRACKET.  { A = sqlb_as(p, L, SQL_ARRAY, K.start); }
expr(A) ::= ARRAY(K) paren_query(Q). {
    A = sqlb_flag(sqlb_as(p, sqlb_list(p, SQL_ARRAY, sqlb_subquery(p, Q)), SQL_ARRAY, K.start), SQL_F_SUBQUERY);
}
expr(A) ::= LBRACKET(K) exprs_opt(L) RBRACKET.  { A = sqlb_flag(sqlb_as(p, L, SQL_ARRAY, K.start), SQL_F_NESTED); }
expr(A) ::= CAST(K) LP expr(X) AS type(T) RP.   { A = sqlb_worded(p, NODE(CAST, K.start, X), T); }
expr(A) ::= EXTRACT(K) LP nm(F) ARG_WORD expr(X) RP.  { A = sqlb_named(p, NODE(EXTRACT, K.start, X), F); }
expr(A) ::= CASE(K) whens(W) else(E) END.          { A = sqlb_case(p, K.start, NULL, W, E); }
expr(A) ::= CASE(K) expr(X) whens(W) else(E) END.  { A = sqlb_case(p, K.start, X, W, E); }

%type search_mode {struct sql_token}
search_mode(A) ::= .                   { A = (struct sql_token){0}; }
search_mode(A) ::= SEARCH_MODE(A).

whens(A) ::= when(X).                  { A = sqlb_list(p, SQL_CASE, X); }
whens(A) ::= whens(L) when(X).         { A = sqlb_add(p, L, X); }
when(A) ::= WHEN(K) expr(C) THEN expr(R).  { A = NODE(WHEN, K.start, C, R); }
else(A) ::= .                          { A = NULL; }
else(A) ::= ELSE expr(X).              { A = X; }

/* (x).field, (f(y)).*, a[2].field: fields of a value, not columns of a table. */
expr(A) ::= field(A).
field(A) ::= record(X) DOT nm(F).      { A = sqlb_named(p, NODE(FIELD, X->start, X), F); }
field(A) ::= record(X) DOT STAR.       { A = sqlb_flag(NODE(FIELD, X->start, X), SQL_F_STAR); }
record(A) ::= field(A).
record(A) ::= LP(K) expr(X) RP.        { A = sqlb_paren(p, X, K.start); }
record(A) ::= paren_query(Q).          { A = sqlb_subquery(p, Q); }
record(A) ::= subscript(A).

/* 6b. Logic and comparison. */
expr(A) ::= NOT(K) expr(X).            { A = sqlb_unary(p, K.start, SQL_OP_NOT, X); }
expr(A) ::= expr(L) AND(O) expr(R).    { A = sqlb_binary(p, L, O, R); }
expr(A) ::= expr(L) OR(O) expr(R).     { A = sqlb_binary(p, L, O, R); }
expr(A) ::= expr(L) EQ|NE(O) expr(R).  { A = sqlb_binary(p, L, O, R); }
expr(A) ::= expr(L) LT|LE|GT|GE(O) expr(R).  { A = sqlb_binary(p, L, O, R); }
expr(A) ::= expr(L) IS expr(R).                       { A = sqlb_is(p, L, SQL_OP_IS, R); }
expr(A) ::= expr(L) IS NOT expr(R).                   { A = sqlb_is(p, L, SQL_OP_IS_NOT, R); }
expr(A) ::= expr(L) IS DISTINCT FROM expr(R).         { A = sqlb_is(p, L, SQL_OP_IS_DISTINCT, R); }
expr(A) ::= expr(L) IS NOT DISTINCT FROM expr(R).     { A = sqlb_is(p, L, SQL_OP_IS_NOT_DISTINCT, R); }
expr(A) ::= expr(X) ISNULL.            { A = sqlb_unary(p, X->start, SQL_OP_ISNULL, X); }
expr(A) ::= expr(X) NOTNULL.           { A = sqlb_unary(p, X->start, SQL_OP_NOTNULL, X); }
expr(A) ::= expr(X) NOT NULL.          { A = sqlb_unary(p, X->start, SQL_OP_NOTNULL, X); }

expr(A) ::= expr(X) like_op(O) expr(Y). [LIKE_KW]                  { A = sqlb_like(p, X, O, Y, NULL); }
expr(A) ::= expr(X) like_op(O) expr(Y) ESCAPE expr(E). [LIKE_KW]   { A = sqlb_like(p, X, O, Y, E); }
%type like_op {struct sqlb_op}
like_op(A) ::= LIKE_KW(K).             { A = sqlb_like_op(p, K, 0); }
like_op(A) ::= NOT LIKE_KW(K).         { A = sqlb_like_op(p, K, SQL_F_NOT); }

expr(A) ::= expr(X) BETWEEN symmetric(S) expr(L) AND expr(H). [BETWEEN] {
    A = sqlb_flag(NODE(BETWEEN, X->start, X, L, H), S.flags);
}
expr(A) ::= expr(X) NOT BETWEEN symmetric(S) expr(L) AND expr(H). [BETWEEN] {
    A = sqlb_flag(NODE(BETWEEN, X->start, X, L, H), S.flags | SQL_F_NOT);
}
%type symmetric {struct sqlb_op}
symmetric(A) ::= .                     { A = (struct sqlb_op){0, 0}; }
symmetric(A) ::= SYMMETRIC(K).         { A = (struct sqlb_op){0, K.len == 9 ? SQL_F_SYMMETRIC : 0U}; }

expr(A) ::= expr(X) in_op(O) in_right(R). [IN]  { A = sqlb_flag(NODE(IN, X->start, X, R), O.flags); }
%type in_op {struct sqlb_op}
in_op(A) ::= IN.                       { A = (struct sqlb_op){0, 0}; }
in_op(A) ::= NOT IN.                   { A = (struct sqlb_op){0, SQL_F_NOT}; }
in_right(A) ::= LP(K) exprs_opt(L) RP. { A = sqlb_as(p, L, SQL_LIST, K.start); }
in_right(A) ::= LP(K) exprs(L) BAD RP. { A = sqlb_as(p, L, SQL_LIST, K.start); }
in_right(A) ::= LP(K) BAD(B) RP.       { A = sqlb_broken(p, SQL_LIST, K.start, B); }
in_right(A) ::= paren_query(Q).        { A = sqlb_in_query(p, Q); }
in_right(A) ::= nm(T).                 { A = sqlb_named(p, NODE(TABLE, T.start, NULL), T); }
in_right(A) ::= nm(S) DOT nm(T).       { A = sqlb_both_named(p, NODE(TABLE, S.start, NULL), S, T); }
in_right(A) ::= nm(F) LP exprs_opt(L) RP. { A = sqlb_call(p, F, sqlb_as(p, L, SQL_ARGS, L->start)); }
in_right(A) ::= PARAM(V).              { A = sqlb_param(p, V); }

expr(A) ::= expr(L) EQ|NE(O) ANY(Q) LP quantified(R) RP.          { A = sqlb_quantified(p, L, sqlb_op_of(p, O), Q, R); }
expr(A) ::= expr(L) LT|LE|GT|GE(O) ANY(Q) LP quantified(R) RP.    { A = sqlb_quantified(p, L, sqlb_op_of(p, O), Q, R); }
expr(A) ::= expr(L) OPER(O) ANY(Q) LP quantified(R) RP. {
    A = sqlb_quantified(p, L, sqlb_op_of(p, O), Q, R);
    if (A->op == SQL_OP_OTHER) sqlb_worded(p, A, O);
}
expr(A) ::= expr(L) like_op(O) ANY(Q) LP quantified(R) RP.         { A = sqlb_quantified(p, L, O, Q, R); }
quantified(A) ::= bare_query(Q).       { A = sqlb_subquery(p, Q); }
quantified(A) ::= expr(A).

/* 6c. Arithmetic and the other operators. */
expr(A) ::= expr(L) PLUS|MINUS(O) expr(R).                      { A = sqlb_binary(p, L, O, R); }
expr(A) ::= expr(L) STAR|SLASH|REM(O) expr(R).                  { A = sqlb_binary(p, L, O, R); }
expr(A) ::= expr(L) CARET(O) expr(R).                           { A = sqlb_binary(p, L, O, R); }
expr(A) ::= expr(L) CONCAT|ARROW(O) expr(R).                    { A = sqlb_binary(p, L, O, R); }
expr(A) ::= expr(L) BITAND|BITOR|LSHIFT|RSHIFT(O) expr(R).      { A = sqlb_binary(p, L, O, R); }
expr(A) ::= expr(L) OPER(O) expr(R).                            { A = sqlb_binary(p, L, O, R); }
expr(A) ::= expr(L) AT_ZONE(O) expr(R).                         { A = sqlb_binary(p, L, O, R); }
expr(A) ::= MINUS(K) expr(X). [BITNOT]        { A = sqlb_unary(p, K.start, SQL_OP_NEG, X); }
expr(A) ::= PLUS(K) expr(X). [BITNOT]         { A = sqlb_unary(p, K.start, SQL_OP_PLUS, X); }
expr(A) ::= BITNOT(K) expr(X).                { A = sqlb_unary(p, K.start, SQL_OP_BITNOT, X); }
expr(A) ::= BANG(K) expr(X). [BITNOT]         { A = sqlb_unary(p, K.start, SQL_OP_NOT, X); }
expr(A) ::= BINARY(K) expr(X). [BITNOT]       { A = sqlb_worded(p, NODE(CAST, K.start, X), K); }
expr(A) ::= PREFIX_OPER(O) expr(X). [BITNOT]  { A = sqlb_prefix(p, O, X); }
expr(A) ::= expr(X) COLLATE ids(N).           { A = sqlb_named(p, NODE(COLLATE, X->start, X), N); }
expr(A) ::= expr(X) COLLATE ID(S) DOT ids(N). { A = sqlb_both_named(p, NODE(COLLATE, X->start, X), S, N); }
expr(A) ::= expr(X) TYPECAST TYPE(T).        { A = sqlb_flag(sqlb_worded(p, NODE(CAST, X->start, X), T), SQL_F_COLON); }
expr(A) ::= subscript(A).
subscript(A) ::= expr(X) LBRACKET expr(I) RBRACKET.  { A = NODE(SUBSCRIPT, X->start, X, I, NULL); }
subscript(A) ::= expr(X) LBRACKET bound_opt(I) COLON bound_opt(J) RBRACKET. {
    A = sqlb_flag(NODE(SUBSCRIPT, X->start, X, I, J), SQL_F_SLICE);
}
bound_opt(A) ::= .                     { A = NULL; }
bound_opt(A) ::= expr(A).

/* ---- 7. Functions and windows ---------------------------------------------------------------------------------- */

expr(A) ::= call(A).

call(A) ::= ID(F) LP args(X) RP.               { A = sqlb_call(p, F, X); }
call(A) ::= nm(S) DOT nm(F) LP args(X) RP.     { A = sqlb_qualified(p, sqlb_call(p, F, X), S); }
call(A) ::= GROUPING_SETS(F) LP sets(L) RP.    { A = sqlb_call(p, F, sqlb_as(p, L, SQL_ARGS, L->start)); }
call(A) ::= call(C) WITHIN GROUP LP order(O) RP.  { A = sqlb_call_add(p, C, CALL_ORDER, O); A->flags |= SQL_F_WITHIN; }
call(A) ::= call(C) FILTER(K) LP WHERE expr(X) RP. { A = sqlb_call_add(p, C, CALL_FILTER, NODE(FILTER, K.start, X)); }
call(A) ::= call(C) OVER(K) nm(W). {
    A = sqlb_call_add(p, C, CALL_WINDOW,
                      sqlb_qualified(p, sqlb_flag(NODE(WINDOW, K.start, NULL, NULL, NULL), SQL_F_NAMED), W));
}
call(A) ::= call(C) OVER(K) LP window(W) RP. {
    W->start = K.start;
    W->end = p->end;
    A = sqlb_call_add(p, C, CALL_WINDOW, W);
}

/* The arguments of a call, in a CALL that has no name yet. */
args(A) ::= .                          { A = sqlb_args(p, sqlb_list(p, SQL_ARGS, NULL), 0, NULL); }
args(A) ::= STAR.                      { A = sqlb_args(p, sqlb_list(p, SQL_ARGS, NULL), SQL_F_STAR, NULL); }
args(A) ::= exprs(L).                  { A = sqlb_args(p, L, 0, NULL); }
args(A) ::= variadic(X).               { A = sqlb_args(p, sqlb_list(p, SQL_ARGS, X), 0, NULL); }
args(A) ::= exprs(L) COMMA variadic(X). { A = sqlb_args(p, sqlb_add(p, L, X), 0, NULL); }
args(A) ::= exprs(L) order(O).         { A = sqlb_args(p, L, 0, O); }
args(A) ::= ALL exprs(L).              { A = sqlb_args(p, L, 0, NULL); }
args(A) ::= DISTINCT exprs(L).         { A = sqlb_args(p, L, SQL_F_DISTINCT, NULL); }
args(A) ::= DISTINCT exprs(L) order(O). { A = sqlb_args(p, L, SQL_F_DISTINCT, O); }
args(A) ::= exprs(L) SEPARATOR STRING(S).                    { A = sqlb_separated(p, L, S, 0, NULL); }
args(A) ::= exprs(L) order(O) SEPARATOR STRING(S).           { A = sqlb_separated(p, L, S, 0, O); }
args(A) ::= DISTINCT exprs(L) SEPARATOR STRING(S).           { A = sqlb_separated(p, L, S, SQL_F_DISTINCT, NULL); }
args(A) ::= DISTINCT exprs(L) order(O) SEPARATOR STRING(S).  { A = sqlb_separated(p, L, S, SQL_F_DISTINCT, O); }
args(A) ::= worded(L) expr(X).         { A = sqlb_args(p, sqlb_word_arg(p, L, X, NULL), 0, NULL); }
args(A) ::= exprs(L) BAD.              { A = sqlb_args(p, L, 0, NULL); }
args(A) ::= BAD(B).                    { A = sqlb_args(p, sqlb_list(p, SQL_ARGS, sqlb_error(p, B)), 0, NULL); }

variadic(A) ::= VARIADIC(K) expr(X).   { A = sqlb_unary(p, K.start, SQL_OP_VARIADIC, X); }

/* TRIM(BOTH x FROM y), SUBSTRING(x FROM 1 FOR 2), POSITION(x IN y), OVERLAY(x PLACING y FROM 3) */
worded(A) ::= ARG_WORD(W).                   { A = sqlb_word_arg(p, NULL, NULL, &W); }
worded(A) ::= expr(X) ARG_WORD(W).           { A = sqlb_word_arg(p, NULL, X, &W); }
worded(A) ::= worded(L) ARG_WORD(W).         { A = sqlb_word_arg(p, L, NULL, &W); }
worded(A) ::= worded(L) expr(X) ARG_WORD(W). { A = sqlb_word_arg(p, L, X, &W); }

sets(A) ::= set(X).                    { A = sqlb_list(p, SQL_ARGS, X); }
sets(A) ::= sets(L) COMMA set(X).      { A = sqlb_add(p, L, X); }
set(A) ::= expr(A).
set(A) ::= LP(K) RP.                   { A = sqlb_as(p, sqlb_list(p, SQL_ROW, NULL), SQL_ROW, K.start); }

/* All combinations are written out, as in SQLite. With an optional part, lemon would read ROWS as a name before it
 * tried the empty part. */
window(A) ::= window_parts(A).
window(A) ::= nm(B) window_parts(W).               { A = sqlb_qualified(p, W, B); A->start = B.start; }
window_parts(A) ::= .                              { A = NODE(WINDOW, p->end, NULL, NULL, NULL); }
window_parts(A) ::= frame(F).                      { A = NODE(WINDOW, F->start, NULL, NULL, F); }
window_parts(A) ::= order(O) frame_opt(F).         { A = NODE(WINDOW, O->start, NULL, O, F); }
window_parts(A) ::= PARTITION(K) BY exprs(L) order_opt(O) frame_opt(F). {
    A = sqlb_partitioned(p, K.start, L, O, F);
}
order_opt(A) ::= .                                 { A = NULL; }
order_opt(A) ::= order(A).

frame_opt(A) ::= .                                 { A = NULL; }
frame_opt(A) ::= frame(A).
frame(A) ::= frame_unit(K) frame_extent exclude.    { A = sqlb_worded(p, LEAF(FRAME, K.start), sqlb_span(p, K.start)); }
%type frame_unit {struct sql_token}
frame_unit(A) ::= RANGE(A).
frame_unit(A) ::= ROWS(A).
frame_extent ::= bound.
frame_extent ::= BETWEEN bound AND bound.
bound ::= UNBOUNDED PRECEDING.
bound ::= UNBOUNDED FOLLOWING.
bound ::= CURRENT ROW.
bound ::= expr PRECEDING.
bound ::= expr FOLLOWING.
exclude ::= .
exclude ::= EXCLUDE NO OTHERS.
exclude ::= EXCLUDE CURRENT ROW.
exclude ::= EXCLUDE GROUP.
exclude ::= EXCLUDE TIES.

/* ---- 8. Names and types ---------------------------------------------------------------------------------------- */

%type nm {struct sql_token}
nm(A) ::= ID(A).
nm(A) ::= STRING(A).
nm(A) ::= JOIN_KW(A).

%type ids {struct sql_token}
ids(A) ::= ID(A).
ids(A) ::= STRING(A).

names(A) ::= nm(N).                { A = sqlb_list(p, SQL_NAMES, sqlb_named(p, LEAF(NAME, N.start), N)); }
names(A) ::= names(L) COMMA nm(N). { A = sqlb_add(p, L, sqlb_named(p, LEAF(NAME, N.start), N)); }
names_opt(A) ::= .                 { A = NULL; }
names_opt(A) ::= LP(K) names(L) RP. { A = sqlb_as(p, L, SQL_NAMES, K.start); }

/* A type is kept as written: double precision, varchar(10), numeric(8, 2)[], timestamp(3) with time zone. */
%type type {struct sql_token}
%type type_parts {struct sql_token}
type(A) ::= type_parts(A).
type_parts(A) ::= ID(N).                                    { A = sqlb_span(p, N.start); }
type_parts(A) ::= type_parts(T) ID.                         { A = sqlb_span(p, T.start); }
type_parts(A) ::= type_parts(T) DOT ID.                     { A = sqlb_span(p, T.start); }
type_parts(A) ::= type_parts(T) LP number RP.               { A = sqlb_span(p, T.start); }
type_parts(A) ::= type_parts(T) LP number COMMA number RP.  { A = sqlb_span(p, T.start); }
type_parts(A) ::= type_parts(T) LBRACKET RBRACKET.          { A = sqlb_span(p, T.start); }
type_parts(A) ::= type_parts(T) LBRACKET INTEGER RBRACKET.  { A = sqlb_span(p, T.start); }
number ::= INTEGER|FLOAT.
number ::= PLUS|MINUS INTEGER|FLOAT.

/* Terminals that no rule uses. They are declared for keywords.c and scan.re. */
%token FOR FOR_LOCK ILLEGAL RESERVED SEMI TILDE.
