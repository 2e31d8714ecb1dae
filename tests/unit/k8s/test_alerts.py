"""The alerting rules use existing metrics, and docs/operations.md documents the response to each. With promtool the
cases of alerts.test.yaml fire each alert, and come close without firing it. Each check also runs on a faulty copy of
the rules.

promtool is searched in $ASSAY_TEST_PROMTOOL and on the path; without it its part is skipped with a message.
"""
import copy
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

import alerts
import kustomize
from alerts import ROOT, TARGET, Expression
from manifests import Manifests

HERE = Path(__file__).resolve().parent
OPERATIONS = (ROOT / "docs/operations.md").read_text()
ALIASES = {"AssayDatabaseLeftAlone": "AssayDatabaseCircuitOpen"}  # former name: new name; for one version


# --- the rules alone; each check yields faults ---


def table():
    """Returns {metric: its labels} of docs/metrics.md, which tests/unit/server/test_admin_http.c compares with the
    program."""
    known = {}
    for name, kind, labels in re.findall(r"^\| `(\w+)` \| (\w+) \| ([\w,]*) \|", (ROOT / "docs/metrics.md").read_text(),
                                         re.M):
        own = {label for label in labels.split(",") if label}
        known |= {name + part: own | {"le"}
                  for part in ("_bucket", "_sum", "_count")} if kind == "histogram" else {name: own}
    return known


def names(spec):
    """Metrics and labels exist in the program."""
    known = table()
    for rule in alerts.rules(spec):
        who, asked = rule["alert"], Expression(rule["expr"])
        yield from (f"{who}: no metric {name}" for name in sorted(asked.metrics - known.keys()))
        own = set().union(*(known.get(name, ()) for name in asked.metrics))
        for metric, matchers in asked.matchers:
            wrong = {label for label, _, _ in matchers} - known.get(metric, set())
            yield from (f"{who}: {metric} has no label {label}" for label in sorted(wrong))
        for kind, labels in asked.lists:
            yield from (f"{who}: {kind} {label}, which nothing has" for label in sorted(labels - own - {"namespace"}))


def texts(spec):
    """Each alert names the fault, its place and the response; a template reads labels that the alert has."""
    for rule in alerts.rules(spec):
        who, notes = rule["alert"], rule["annotations"]
        if rule["labels"].keys() != {"severity"} or rule["labels"]["severity"] not in ("page", "ticket"):
            yield f"{who}: severity is page or ticket"
        if notes.keys() != {"summary", "description", "runbook"} or len(notes["summary"]) > 70:
            yield f"{who}: wants a short summary, a description and a runbook"
        if notes.get("runbook") != f"docs/operations.md#{ALIASES.get(who, who).lower()}":
            yield f"{who}: its runbook is {notes.get('runbook')}"
        kept = Expression(rule["expr"]).result_labels()
        read = set(re.findall(r"\$labels\.(\w+)", " ".join(notes.values())))
        yield from (f"{who}: its text reads {label}" for label in sorted(read - (TARGET if kept is None else kept)))
        if "namespace" in (kept or ()) and "$labels.namespace" not in notes.get("description", ""):
            yield f"{who}: does not say where"


def manual(spec):
    """docs/operations.md has a section for each alert and no other, with its meaning, a first check and a remedy."""
    said = {name: body for name, body in re.findall(r"^### (Assay\w+)\n(.*?)(?=^##|\Z)", OPERATIONS, re.M | re.S)}
    there = [rule["alert"] for rule in alerts.rules(spec) if rule["alert"] not in ALIASES]
    yield from (f"{name} twice" for name in set(there) if there.count(name) > 1)
    yield from (f"no section {name}" for name in there if name not in said)
    yield from (f"a section {name}, and no such alert" for name in said if name not in there)
    for name, body in said.items():
        if missing := [part for part in ("**Means.**", "**Look.**", "**Do.**") if part not in body]:
            yield f"{name}: no {' '.join(missing)}"
    for rule in alerts.rules(spec):
        if (rule["alert"] not in ALIASES
            and f"| [{rule['alert']}](#{rule['alert'].lower()}) | {rule['labels'].get('severity')} |"
            not in OPERATIONS):
            yield f"{rule['alert']} is not in the table of docs/operations.md"


def aliases(spec):
    """A rule under a former name equals the rule under the new one."""
    rules = {rule["alert"]: {**rule, "alert": None} for rule in alerts.rules(spec)}
    yield from (f"{old} differs from {new}" for old, new in ALIASES.items() if rules.get(old) != rules.get(new))


def memory(spec):
    """The memory threshold is below the limit of each permanent pod, and close to it."""
    (rule,) = [r for r in alerts.rules(spec) if "process_resident_memory_bytes" in r["expr"]]
    part, exponent = re.search(r"> ([\d.]+) \* 2 \^ (\d+)$", rule["expr"]).groups()
    bound, units = float(part) * 2 ** int(exponent), {"Mi": 2**20, "Gi": 2**30}
    for who, _, _, container in Manifests(kustomize.render(ROOT / "k8s/base")).processes():
        limit = container["resources"]["limits"]["memory"]
        if not 0.8 < bound / (int(limit[:-2]) * units[limit[-2:]]) < 0.95:
            yield f"{who}: its limit is {limit}"


CHECKS = [names, texts, manual, aliases, memory]
WRONG = [  # check, alert, text, replacement
    (names, "AssayRedisAway", "assay_redis_away", "assay_redis_gone"),
    (names, "AssayNoneReady", "assay_ready", "assay_ready_members"),
    (names, "AssayDeadLetters", '{topic=~"', '{topics=~"'),
    (names, "AssayNotJudged", '{decision="', '{status="'),
    (names, "AssayNoneReady", "by (namespace, part)", "by (namespace, family)"),
    (names, "AssayRestarts", "ignoring (part)", "ignoring (parts)"),
    (texts, "AssayRestarts", "severity: ticket", "severity: warning"),
    (texts, "AssayRestarts", "assayrestarts", "assayrestart"),
    (texts, "AssayDeadLetters", "$labels.topic", "$labels.reason"),
    (texts, "AssayBacklogOld", "$labels.namespace", "$labels.pod"),
    (texts, "AssayBacklogOld", "{{ with $labels.namespace }} in {{ . }}{{ end }}", ""),
    (manual, "AssayNotReady", "AssayNotReady", "AssayUnready"),
    (manual, "AssayNotReady", "severity: ticket", "severity: page"),
    (aliases, "AssayDatabaseLeftAlone", "max by", "min by"),
    (aliases, "AssayDatabaseCircuitOpen", "severity: page", "severity: ticket"),
    (memory, "AssayMemoryHigh", "0.9 * 2 ^ 30", "0.9 * 2 ^ 31"),
]


# --- with promtool ---

SPOILED = [  # alert, text, replacement: the alert's cases must detect it
    ("AssayNoneReady", "[6h]", "[1m]"),
    ("AssayNoneReady", "group_left ", ""),
    ("AssayNoneReady", "for: 5m", "for: 0m"),
    ("AssayNoVerdicts", "requests) > 0", "requests) > 3"),
    ("AssayNoVerdicts", "unless", "or"),
    ("AssayNothingCommitted", 'outcome="committed"', 'outcome=~".+"'),
    ("AssayNothingCommitted", 'outcome="committed"', 'outcome="aborted"'),
    ("AssayDecidedByDeadline", "> 0.2", "> 0.3"),
    ("AssayDecidedByDeadline", "> 0.2", "> 0.1"),
    ("AssayPartitionClosed", "max by", "min by"),
    ("AssayPartitionClosed", "for: 5m", "for: 0m"),
    ("AssayRequestsLost", "[1h]) > 0", "[1h]) > 99"),
    ("AssayRequestsLost", "< 3600", "< 60"),
    ("AssayRequestsLost", "< 3600", "< 36000"),
    ("AssayDatabaseCircuitOpen", "max by", "min by"),
    ("AssayDatabaseCircuitOpen", "for: 5m", "for: 0m"),
    ("AssayNotReady", "== 0", "== 2"),
    ("AssayNotReady", "for: 15m", "for: 10m"),
    ("AssayRestarts", "> 2", "> 3"),
    ("AssayRestarts", "> 2", "> 1"),
    ("AssayRestarts", " and ignoring (part) assay_part_info", ""),
    ("AssayBacklogOld", "max by", "min by"),
    ("AssayBacklogOld", "> 120", "> 110"),
    ("AssayBacklogOld", "for: 10m", "for: 5m"),
    ("AssayDeadLetters", "[15m]) > 0", "[15m]) > 99"),
    ("AssayDeadLetters", "< 900", "< 60"),
    ("AssayDeadLetters", "< 900", "< 90000"),
    ("AssayDeadLetters", "=~", "!~"),
    ("AssayRequestsPutAside", " + increase(assay_refused_verdicts_total[1h])", ""),
    ("AssayRequestsPutAside", "< 3600", "< 60"),
    ("AssayRequestsPutAside", "< 3600", "< 360000"),
    ("AssayTransactionsAborted", "> 0.1", "> 0.2"),
    ("AssayTransactionsAborted", 'outcome="aborted"', 'outcome=~".+"'),
    ("AssayTransactionsAborted", "for: 10m", "for: 1m"),
    ("AssayNotJudged", "> 0.05", "> 0.15"),
    ("AssayNotJudged", "> 0.05", "> 0.03"),
    ("AssayRedisAway", "max by", "min by"),
    ("AssayRedisAway", "for: 10m", "for: 5m"),
    ("AssayVerifierFallback", "> 0.1", "> 0.3"),
    ("AssayVerifierFallback", "> 0.1", "> 0.04"),
    ("AssayCorrectorAway", "> 0.1", "> 0.3"),
    ("AssayCorrectorAway", "> 0.1", "> 0.04"),
    ("AssayPromiseWithdrawn", 'status="withdrawn"', 'status="held"'),
    ("AssayPromiseWithdrawn", "[30m]", "[2h]"),
    ("AssayMemoryHigh", "0.9 *", "0.99 *"),
    ("AssayMemoryHigh", "0.9 *", "0.8 *"),
    ("AssayMemoryHigh", " and ignoring (part) assay_part_info", ""),
]


def spoiled(spec, alert, old, new):
    """Returns the rules with one of them changed in its written form `key: value`."""
    spec = copy.deepcopy(spec)
    (rule,) = [r for r in alerts.rules(spec) if r["alert"] == alert]
    found = []

    def change(key, value):
        if isinstance(value, dict):
            return {k: change(k, v) for k, v in value.items()}
        other = f"{key}: {value}".replace(old, new)
        found.append(other != f"{key}: {value}")
        return other.removeprefix(f"{key}: ")

    rule.update({key: change(key, value) for key, value in rule.items()})
    assert any(found), f"{alert} has no {old}"
    return spec


def promtool():
    named = os.environ.get("ASSAY_TEST_PROMTOOL")
    return named if named and Path(named).exists() else shutil.which("promtool")


def passes(tool, folder, spec, cases):
    """Returns true if promtool accepts these rules and they pass these cases."""
    (folder / "alerts.yaml").write_text(spec if isinstance(spec, str) else yaml.dump(spec))
    (folder / "alerts.test.yaml").write_text(yaml.dump(cases))
    for args in (["check", "rules", "alerts.yaml"], ["test", "rules", "alerts.test.yaml"]):
        done = subprocess.run([tool, *args], cwd=folder, capture_output=True, text=True, timeout=120)
        if done.returncode:
            return (done.stdout + done.stderr).strip()
    return ""


def as_told():
    """Makes a plain rule file with the command that docs/operations.md gives."""
    command = re.search(r"^(sed '.*' k8s/components/alerts/alerts.yaml) > \S+$", OPERATIONS, re.M)[1]
    return subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def fires(tool, spec):
    """Yields (name, success) of all runs of promtool."""
    cases = yaml.safe_load((HERE / "alerts.test.yaml").read_text())
    with tempfile.TemporaryDirectory() as folder:
        wrong = passes(tool, Path(folder), as_told(), cases)
        yield f"the cases of alerts.test.yaml: {wrong}", not wrong
        for alert, old, new in SPOILED:
            own = {**cases, "tests": [test for test in cases["tests"] if test["name"].startswith(alert)]}
            noticed = passes(tool, Path(folder), spoiled(spec, alert, old, new), own)
            yield f"no case notices {alert} with {new!r} for {old!r}", "FAILED:" in noticed
    for alert in [rule["alert"] for rule in alerts.rules(spec) if rule["alert"] not in ALIASES]:
        yield f"{alert}: spoil it twice at least", sum(name == alert for name, _, _ in SPOILED) >= 2


def main():
    spec = alerts.source()["spec"]
    results = [("the command of docs/operations.md makes other rules", yaml.safe_load(as_told()) == spec)]
    for check in CHECKS:
        wrong = list(check(spec))
        results.append((f"{check.__name__}: {wrong[:3]}", not wrong))
    for check, alert, old, new in WRONG:
        noticed = bool(list(check(spoiled(spec, alert, old, new))))
        results.append((f"{check.__name__} does not notice {new!r} for {old!r} in {alert}", noticed))
    if tool := promtool():
        results += fires(tool, spec)
    else:
        print(
            "skipped: what fires the alerts; promtool is not on the path, nor in ASSAY_TEST_PROMTOOL"
            " (Debian has it in prometheus)")
    for name, well in results:
        if not well:
            print(f"[FAIL] {name}")
    print(f"Synthesis: Tested: {len(results)} | Passing: {sum(well for _, well in results)}")
    return 0 if all(well for _, well in results) else 1


if __name__ == "__main__":
    sys.exit(main())
