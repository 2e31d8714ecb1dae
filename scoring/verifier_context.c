#include "scoring/verifier_context.h"

#include "scoring/votes.h"

#include <math.h>
#include <string.h>

enum { MAX_PEERS = 64, MAX_VOTES = 8 };

const struct verifier_prior verifier_prior_ranked = {.vote = 0.25, .first = 2.1, .none = 0.7, .temperature = 0.8};
const struct verifier_prior verifier_prior_one = {.vote = 0.25, .first = 0, .none = 0.7, .temperature = 0.8};
const struct verifier_prior verifier_prior_several = {.vote = 1.0, .first = 0, .none = 0.7, .temperature = 0.8};

/* The candidates that count: the subject, and each judged candidate that is not a repeat. */
struct peers {
    const struct msg_judged *items[MAX_PEERS];
    uint32_t n, own;
    bool ran[MAX_PEERS];
    uint32_t answer[MAX_PEERS]; /* index of the first peer with the same result */
};

/* True if an equal result shows that two queries agree. Empty results may be equal by chance. */
static bool is_informative(const struct msg_judged *judged)
{
    return judged->execution->rows > 0;
}

static struct peers find_peers(const struct verifier_subject *s)
{
    struct peers peers = {.own = 0};
    bool has_own = false;
    for (uint32_t i = 0; i < s->n_seen && i < s->n_candidates; i++) {
        const struct msg_judged *judged = &s->candidates[i];
        bool own = i == s->index, room = peers.n < MAX_PEERS - (has_own || own ? 0U : 1U);
        if (judged->same_as || (!judged->judged && !judged->invalid) || !room) continue;
        if (own) peers.own = peers.n;
        has_own |= own;
        peers.items[peers.n++] = judged;
    }
    if (!has_own) {
        peers.own = peers.n;
        peers.items[peers.n++] = &s->candidates[s->index];
    }
    return peers;
}

static void group_by_answer(struct peers *peers)
{
    for (uint32_t i = 0; i < peers->n; i++) {
        peers->ran[i] = votes_ran(peers->items[i]);
        peers->answer[i] = i;
        for (uint32_t k = 0; peers->ran[i] && is_informative(peers->items[i]) && k < i; k++)
            if (peers->answer[k] == k && votes_same_result(peers->items[k], peers->items[i])) peers->answer[i] = k;
    }
}

/* Returns the share of the list that differs: 1 if every candidate fails or answers differently, 0 if all agree. */
static double difference(const struct peers *peers)
{
    double different = 0;
    for (uint32_t i = 0; i < peers->n; i++) different += !peers->ran[i] || peers->answer[i] == i;
    return peers->n > 1 ? (different - 1) / (peers->n - 1) : 0;
}

static double vote_scale(const struct verifier_subject *s)
{
    double all = 0;
    for (uint32_t i = 0; i < s->n_candidates; i++)
        if (!s->candidates[i].same_as) all += votes_count(&s->candidates[i]);
    return all > MAX_VOTES ? MAX_VOTES / all : 1;
}

double verifier_context(const struct verifier_prior *prior, const struct verifier_subject *subject)
{
    struct peers peers = find_peers(subject);
    double weight[MAX_PEERS] = {0}, votes[MAX_PEERS] = {0}, others = prior->none, scale = vote_scale(subject);
    group_by_answer(&peers);
    double first = prior->first * difference(&peers);
    for (uint32_t i = 0; i < peers.n; i++)
        if (peers.ran[i] || i == peers.own) votes[peers.answer[i]] += votes_count(peers.items[i]) * scale;
    for (uint32_t i = 0; i < peers.n; i++) {
        if (votes[i] <= 0) continue;
        weight[i] = exp(prior->vote * votes[i] + first);
        first = 0; /* only the first answer gets this bonus */
    }
    uint32_t own = peers.answer[peers.own];
    for (uint32_t i = 0; i < peers.n; i++) others += i == own ? 0 : weight[i];
    return log(weight[own]) - log(others);
}

const char *verifier_generator(const struct msg_request *request)
{
    const char *name = "";
    for (uint32_t i = 0; request && i < request->n_candidates; i++)
        for (uint32_t k = 0; k < request->candidates[i].n_generators; k++) {
            const char *other = request->candidates[i].generators[k];
            if (!*name) name = other;
            if (strcmp(name, other) != 0) return NULL;
        }
    return name;
}
