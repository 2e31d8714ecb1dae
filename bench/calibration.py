"""How far probabilities are to be believed, for the scripts beside this one: plain functions over (P, right) pairs."""
import random

BINS, RUNS, SEED = 10, 400, 1


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else float("nan")


def over(pairs):
    """Mean P less the share that is right: above 0, P says too much."""
    return mean(p - right for p, right in pairs)


def calibration_error(pairs, bins=BINS):
    """Mean over bins of equal mass (equal P falls where its place in the list falls) of |mean P - share right|, by
    mass."""
    ordered, n = sorted(pairs, key=lambda pair: pair[0]), len(pairs)
    parts = [ordered[n * i // bins:n * (i + 1) // bins] for i in range(bins)]
    return sum(abs(over(part)) * len(part) for part in parts if part) / n if n else float("nan")


def honest_bound(said, share=0.95, runs=RUNS, seed=SEED):
    """The calibration error below which a judge stays in `share` of all cases if each of these P is exactly true."""
    rng, said = random.Random(seed), sorted(said)
    errors = sorted(calibration_error([(p, rng.random() < p) for p in said]) for _ in range(runs))
    return errors[min(int(share * runs), runs - 1)]


def f1(pairs, threshold=0.5):
    """Of finding the wrong ones: flagged where P is below the threshold. In percent."""
    hit = sum(p < threshold and not right for p, right in pairs)
    flagged, wrong = sum(p < threshold for p, _ in pairs), sum(not right for _, right in pairs)
    return 200 * hit / (flagged + wrong) if flagged + wrong else float("nan")
