"""Measures the calibration of probabilities, for the other scripts. Plain functions over (P, right) pairs."""
import random

BINS, RUNS, SEED = 10, 400, 1


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else float("nan")


def over(pairs):
    """Returns mean P minus the share that is right. A positive value means that P is too high."""
    return mean(p - right for p, right in pairs)


def calibration_error(pairs, bins=BINS):
    """Returns the calibration error: the mean of |mean P - share right| over bins of equal mass, weighted by mass.
    Equal P are divided among bins by their position in the list."""
    ordered, n = sorted(pairs, key=lambda pair: pair[0]), len(pairs)
    parts = [ordered[n * i // bins:n * (i + 1) // bins] for i in range(bins)]
    return sum(abs(over(part)) * len(part) for part in parts if part) / n if n else float("nan")


def honest_bound(said, share=0.95, runs=RUNS, seed=SEED):
    """Returns the calibration error below which a perfectly calibrated judge with these P stays in `share` of all
    cases."""
    rng, said = random.Random(seed), sorted(said)
    errors = sorted(calibration_error([(p, rng.random() < p) for p in said]) for _ in range(runs))
    return errors[min(int(share * runs), runs - 1)]


def f1(pairs, threshold=0.5):
    """Returns F1, in percent, of finding the wrong ones: those whose P is below the threshold."""
    hit = sum(p < threshold and not right for p, right in pairs)
    flagged, wrong = sum(p < threshold for p, _ in pairs), sum(not right for _, right in pairs)
    return 200 * hit / (flagged + wrong) if flagged + wrong else float("nan")
