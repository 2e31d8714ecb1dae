#include "tests/unit/engine/world.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const names[] = {"zoo", "shop"};
static const char *const scripts[] = {
    "CREATE TABLE keeper(id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT);"
    "CREATE TABLE animal(id INTEGER PRIMARY KEY, name TEXT, kind TEXT, age INTEGER, keeper_id INTEGER NOT NULL "
    "REFERENCES "
    "keeper(id));"
    "INSERT INTO keeper VALUES(1,'Ada','Paris'),(2,'Bo','Rome'),(3,'Cy','Oslo');"
    "INSERT INTO animal "
    "VALUES(1,'Leo','lion',7,1),(2,'Mia','lion',4,1),(3,'Tux','penguin',3,2),(4,'Pip','penguin',NULL,2);",
    "CREATE TABLE item(id INTEGER PRIMARY KEY, label TEXT, price REAL);"
    "CREATE TABLE sale(id INTEGER PRIMARY KEY, item_id INTEGER REFERENCES item(id), day TEXT, amount INTEGER);"
    "INSERT INTO item VALUES(1,'pen',1.5),(2,'cup',4.0),(3,'hat',20.0);"
    "INSERT INTO sale VALUES(1,1,'2020-01-01',3),(2,1,'2020-01-02',1),(3,2,'2020-01-02',2);",
};
enum { N_DATABASES = 2 };

static bool make_database(const struct world *world, unsigned i)
{
    char path[160];
    sqlite3 *db;
    snprintf(path, sizeof path, "%s/%s", world->dir, names[i]);
    if (mkdir(path, 0700)) return false;
    snprintf(path, sizeof path, "%s/%s/%s.sqlite", world->dir, names[i], names[i]);
    bool made = sqlite3_open(path, &db) == SQLITE_OK && sqlite3_exec(db, scripts[i], NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_close(db);
    return made;
}

bool world_make(struct world *world)
{
    strcpy(world->dir, "/tmp/assay-world-XXXXXX");
    if (!mkdtemp(world->dir)) return false;
    world->roots[0] = world->dir;
    for (unsigned i = 0; i < N_DATABASES; i++)
        if (!make_database(world, i)) return false;
    return true;
}

void world_remove(struct world *world)
{
    char path[160];
    for (unsigned i = 0; i < N_DATABASES; i++) {
        snprintf(path, sizeof path, "%s/%s/%s.sqlite", world->dir, names[i], names[i]);
        unlink(path);
        snprintf(path, sizeof path, "%s/%s", world->dir, names[i]);
        rmdir(path);
    }
    rmdir(world->dir);
}

enum err_code world_open(struct world *world, struct engine_config *config, struct engine **out, struct err *err)
{
    if (!config->label_model) config->label_model = "none";
    if (!config->classifier) config->classifier = "none";
    if (!config->verifier) config->verifier = "none";
    config->databases.roots = world->roots;
    config->databases.n_roots = 1;
    return engine_open(config, out, err);
}

/* each row: a question, then its candidates */
static const char *const stories[][6] = {
    {"zoo", "How many lions are there?", "SELECT count(*) FROM animal WHERE kind = 'lion'",
     "SELECT count(*) FROM animal WHERE kind = 'Lion'", "SELECT kount(*) FROM animal", NULL},
    {"zoo", "Names of keepers of penguins?",
     "SELECT DISTINCT T1.name FROM keeper AS T1 JOIN animal AS T2 ON T1.id = T2.keeper_id WHERE T2.kind = 'penguin'",
     "SELECT T1.name FROM keeper AS T1 JOIN animal AS T2 ON T1.id = T2.id WHERE T2.kind = 'penguin'",
     "SELECT nam FROM keeper", "SELECT name FROM keeper, animal"},
    {"shop", "What is the most expensive item?", "SELECT label FROM item ORDER BY price DESC LIMIT 1",
     "SELECT label FROM item WHERE price = (SELECT max(price) FROM item)", "SELECT label, max(price) FROM item",
     "DELETE FROM item"},
    {"shop", "How many of each item were sold?",
     "SELECT item.label, sum(sale.amount) FROM item JOIN sale ON item.id = sale.item_id GROUP BY item.label",
     "SELECT label FROM item GROUP BY label", "SELECT label FORM item", NULL},
};
enum { N_STORIES = sizeof stories / sizeof *stories };

const struct msg_request *world_request(uint64_t i)
{
    static _Thread_local struct msg_candidate candidates[4];
    static _Thread_local struct msg_request request;
    static _Thread_local char id[32];
    const char *const *story = stories[i % N_STORIES];
    snprintf(id, sizeof id, "w-%llu", (unsigned long long)i);
    request = (struct msg_request){.id = id, .db = story[0], .question = story[1], .candidates = candidates, .tag = i};
    for (unsigned k = 2; k < 6 && story[k]; k++)
        candidates[request.n_candidates++] =
            (struct msg_candidate){.sql = {story[k], (uint32_t)strlen(story[k])}, .score = NAN};
    return &request;
}
