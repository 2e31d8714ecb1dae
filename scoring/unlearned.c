/* Weights for signals that no supervised model has learned.
 *
 * A tree splits on a signal only if the signal fired often enough in training. Most faults of analysts, such as a
 * window without PARTITION BY, do not occur in the training logs. Without this file, such a signal would have no
 * weight. Here its weight is the one that the label model found. If the label model does not know the signal, its
 * weight is the prior of the label model, log UNLEARNED_LIFT. An error multiplies the odds of "wrong" by at most
 * UNLEARNED_LIFT (docs/models.md, Label model). A warning multiplies them by the square root of this factor. Once a
 * supervised model has learned the signal, only that model weighs it. */
#include "scoring/models.h"

#include "lib/learn/logit.h"
#include "signals/vsig.h"

#include <math.h>
#include <string.h>

static const double UNLEARNED_LIFT = 8, LEAST_P = 1e-6;

static double classifier_importance(const struct learn_model *classifier, const char *name)
{
    for (unsigned i = 0; classifier && i < learn_n_features(classifier); i++)
        if (strcmp(learn_feature(classifier, i), name) == 0) return learn_importance(classifier, i);
    return 0;
}

static bool label_model_decides(const struct scoring_models *models, const char *name)
{
    for (unsigned i = 0; !models->classifier && models->label_model && i < models->label_model->n_signals; i++)
        if (strcmp(models->label_model->signals[i].name, name) == 0) return true;
    return false;
}

/* Returns the factor that the label model found for the odds. Returns UNLEARNED_LIFT if the label model does not know
 * the signal. */
static double lift_of(const struct scoring_models *models, const char *name)
{
    const struct lm_model *model = models->label_model;
    for (unsigned i = 0; model && i < model->n_signals; i++)
        if (strcmp(model->signals[i].name, name) == 0) return fmin(fmax(lm_odds_ratio(model, i), 1), UNLEARNED_LIFT);
    return UNLEARNED_LIFT;
}

void models_find_unlearned(struct scoring_models *models)
{
    unsigned n;
    const struct vsig_def *const *all = vsig_all(&n);
    for (unsigned i = 0; i < n; i++) {
        const char *name = all[i]->name;
        bool learned = label_model_decides(models, name) || classifier_importance(models->classifier, name) > 0 ||
                       (models->verifier && verifier_signal_importance(models->verifier, name) > 0);
        models->unlearned[all[i]->id] = learned || all[i]->family == VSIG_LLM ? 0 : log(lift_of(models, name));
    }
}

/* Returns the worst severity of a signal's findings: 0 for none, 1 for a warning, 2 for an error. */
static unsigned severity_of(const struct msg_judged *judged, uint32_t signal)
{
    unsigned worst = 0;
    for (uint32_t i = 0; i < judged->n_findings; i++) {
        const struct msg_finding *finding = &judged->findings[i];
        if (finding->signal != signal || finding->severity == MSG_NOTE) continue;
        unsigned severity = finding->severity == MSG_ERROR ? 2 : 1;
        if (severity > worst) worst = severity;
    }
    return worst;
}

double models_apply_unlearned(const struct scoring_models *models, const struct msg_judged *judged, double p)
{
    double nats = 0;
    for (uint32_t i = 0; i < judged->n_signals && !isnan(p); i++) {
        const struct msg_signal *signal = &judged->signals[i];
        if (signal->state != MSG_FIRED || signal->id >= VSIG_ID_END) continue;
        nats += severity_of(judged, signal->id) / 2.0 * models->unlearned[signal->id];
    }
    return nats > 0 ? fmax(1 / (1 + exp(nats - learn_logit(p, LEAST_P))), LEAST_P) : p;
}
