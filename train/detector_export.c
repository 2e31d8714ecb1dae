/* Writes the line of JSON of one candidate for the learned detector (detector_export.h).
 *
 * A line is built from the candidate's parse tree, so it needs no database. Links between words of the question and
 * nodes of the query need a schema in which the query binds. All text of the request is untrusted: invalid UTF-8 is
 * replaced. All memory except the JSON comes from the caller's arena. */
#include "train/detector_export.h"

#include "lib/sql/bind.h"
#include "train/sql_graph.h"

#include <glib.h>
#include <string.h>

unsigned detector_fold(const char *db)
{
    return g_str_hash(db) % DETECTOR_FOLDS;
}

/* A candidate while its line is built. */
struct candidate {
    const struct detector_export *from;
    struct sql_graph graph;
    json_t *links;
};

/* Returns untrusted text as JSON, with invalid UTF-8 replaced. */
static json_t *text_json(const char *text, size_t len)
{
    char *valid = g_utf8_make_valid(text ? text : "", text ? (gssize)len : 0);
    json_t *json = json_string(valid);
    g_free(valid);
    return json;
}

/* --- the query --- */

/* Returns [type, text, start, end] of a node; the text is a name or a value. */
static json_t *node_json(struct arena *arena, const struct sql_node *node)
{
    const char *type = sql_graph_type(arena, node);
    bool named = node->text && node->kind != SQL_CALL;
    json_t *text = named ? text_json(node->text, node->text_len) : json_null();
    return json_pack("[s,o,I,I]", type ? type : "", text, (json_int_t)node->start, (json_int_t)node->end);
}

static json_t *graph_json(struct arena *arena, const struct sql_graph *graph)
{
    json_t *nodes = json_array(), *parents = json_array(), *kept = json_array(), *edges = json_array();
    for (uint32_t i = 0; i < graph->n; i++) {
        json_array_append_new(nodes, node_json(arena, graph->nodes[i]));
        json_array_append_new(parents, json_integer(graph->parent[i]));
        if (graph->kept[i]) json_array_append_new(kept, json_integer(i));
    }
    for (uint32_t i = 0; i < graph->n_edges; i++)
        json_array_append_new(edges,
                              json_pack("[I,I]", (json_int_t)graph->edges[i].from, (json_int_t)graph->edges[i].to));
    return json_pack("{s:o,s:o,s:o,s:o,s:I}", "nodes", nodes, "parents", parents, "kept", kept, "edges", edges,
                     "chained", (json_int_t)graph->n_chained);
}

/* --- links between words and nodes --- */

static void add_link(struct candidate *c, uint32_t node, uint32_t first, uint32_t n, const char *kind)
{
    for (uint32_t word = first; word < first + n; word++)
        json_array_append_new(c->links, json_pack("[I,I,s]", (json_int_t)node, (json_int_t)word, kind));
}

static void link_column(struct candidate *c, uint32_t node, const struct schema_column *column)
{
    const struct question *q = c->from->question;
    for (uint32_t i = 0; i < q->n_mentions; i++)
        if (q->mentions[i].column >= 0 && q->mentions[i].id == column->id)
            add_link(c, node, q->mentions[i].first, q->mentions[i].n_tokens, "name");
    for (uint32_t i = 0; i < q->n_values; i++)
        for (uint32_t h = 0; h < q->values[i].n_hits; h++)
            if (q->values[i].hits[h].column == column->id)
                add_link(c, node, q->values[i].first, q->values[i].n_tokens, "holds");
}

static void link_table(struct candidate *c, uint32_t node, int table)
{
    const struct question *q = c->from->question;
    for (uint32_t i = 0; i < q->n_mentions; i++)
        if (q->mentions[i].column < 0 && q->mentions[i].table == table)
            add_link(c, node, q->mentions[i].first, q->mentions[i].n_tokens, "name");
}

static void link_literal(struct candidate *c, uint32_t node, const struct sql_node *literal)
{
    const struct question *q = c->from->question;
    char *text = g_strndup(literal->text ? literal->text : "", literal->text_len);
    for (uint32_t i = 0; i < q->n_values; i++)
        if (q->values[i].text && g_ascii_strcasecmp(q->values[i].text, text) == 0)
            add_link(c, node, q->values[i].first, q->values[i].n_tokens, "value");
    g_free(text);
}

static void link_node(struct candidate *c, uint32_t i)
{
    const struct sql_node *node = c->graph.nodes[i];
    const struct sql_ref *ref = node->ref;
    const struct schema_column *column = ref ? schema_column_of(c->from->schema, ref) : NULL;
    if (node->kind == SQL_LITERAL)
        link_literal(c, i, node);
    else if (column)
        link_column(c, i, column);
    else if (node->kind == SQL_TABLE && ref && ref->source && ref->source->table >= 0)
        link_table(c, i, ref->source->table);
}

/* --- the question --- */

/* Returns [start, end, is a stop word or punctuation] of each word. */
static json_t *words_json(const struct text_tokens *tokens)
{
    json_t *words = json_array();
    for (uint32_t i = 0; tokens->items && i < tokens->n; i++) {
        const struct text_token *t = &tokens->items[i];
        bool plain = t->is_stop || t->kind == TEXT_PUNCT;
        json_array_append_new(words, json_pack("[I,I,b]", (json_int_t)t->start, (json_int_t)t->end, plain));
    }
    return words;
}

/* --- a line --- */

static json_t *label_json(const struct labels *labels, uint32_t index)
{
    if (!labels || labels->gold_failed || labels->of[index] == LABEL_FAILED) return json_null();
    return json_boolean(labels->of[index] == LABEL_RIGHT);
}

static void set_texts(json_t *line, const struct msg_request *request)
{
    const char *question = request->question ? request->question : "";
    json_object_set_new(line, "id", text_json(request->id ? request->id : "", strlen(request->id ? request->id : "")));
    json_object_set_new(line, "db", text_json(request->db, strlen(request->db)));
    json_object_set_new(line, "question", text_json(question, strlen(question)));
    if (request->evidence)
        json_object_set_new(line, "evidence", text_json(request->evidence, strlen(request->evidence)));
}

static json_t *write_line(const struct candidate *c, uint32_t index)
{
    const struct msg_request *request = c->from->request;
    const struct msg_candidate *candidate = &request->candidates[index];
    const char *generator = candidate->n_generators ? candidate->generators[0] : "";
    const char *question = request->question ? request->question : "";
    struct text_tokens words =
        c->from->question ? c->from->question->tokens : text_tokenize(c->from->arena, question, strlen(question));
    json_t *line = json_object();
    set_texts(line, request);
    json_object_set_new(line, "fold", json_integer(detector_fold(request->db)));
    json_object_set_new(line, "place", json_integer(index));
    json_object_set_new(line, "votes", json_integer(candidate->count ? candidate->count : 1));
    json_object_set_new(line, "origin", json_string(c->from->origin));
    json_object_set_new(line, "generator", text_json(generator, strlen(generator)));
    json_object_set_new(line, "sql", text_json(candidate->sql.bytes, candidate->sql.len));
    json_object_set_new(line, "label", label_json(c->from->labels, index));
    json_object_set_new(line, "words", words_json(&words));
    json_object_set_new(line, "graph", graph_json(c->from->arena, &c->graph));
    json_object_set(line, "links", c->links);
    return line;
}

json_t *detector_export_candidate(const struct detector_export *from, uint32_t index)
{
    struct candidate c = {.from = from};
    const struct msg_request *request = from->request;
    const struct msg_text *sql = &request->candidates[index].sql;
    struct sql_stmt *stmt = NULL;
    struct sql_bound *bound = NULL;
    if (sql_parse(from->arena, sql->bytes, sql->len, NULL, &stmt) != ERR_OK) return NULL;
    if (!sql_graph_make(from->arena, stmt, &c.graph)) return NULL;
    bool binds = from->schema && sql_bind(from->arena, stmt, &from->schema->catalog, &bound) == ERR_OK;
    c.links = json_array();
    for (uint32_t i = 0; binds && from->question && i < c.graph.n; i++)
        if (c.graph.kept[i]) link_node(&c, i);
    json_t *line = write_line(&c, index);
    json_decref(c.links);
    return line;
}
