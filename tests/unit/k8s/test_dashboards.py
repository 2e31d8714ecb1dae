"""Checks the dashboards of k8s/components/dashboards without Prometheus and Grafana. The files equal the output of
make.py, Grafana can import them, and each query uses metrics and labels of docs/metrics.md. Each check also runs on a
faulty dashboard. tests/live/fleet/test_dashboards.py runs the queries."""
import copy
import itertools
import re
import sys

import alerts
import dashboards
import kustomize
from test_alerts import table

sys.path.append(str(dashboards.FOLDER))
import make

ADDED = {"namespace", "instance"}  # labels that Prometheus adds
UNITS = {"short", "s", "ops", "reqps", "percentunit", "bytes", "Bps"}


def importable(name, board):
    """The file meets Grafana's requirements, and panels do not overlap."""
    if board["uid"] != f"assay-{name}" or board["schemaVersion"] < 36 or "id" in board:
        yield "uid, schemaVersion, or an id of somebody's Grafana"
    variables = {v["name"]: v for v in board["templating"]["list"]}
    if variables["datasource"]["type"] != "datasource" or variables["namespace"]["allValue"] != ".*":
        yield "the variables"
    panels = board["panels"]
    if len({p["id"] for p in panels}) != len(panels):
        yield "an id twice"
    for p in panels:
        if (p["type"] != "row"
            and (not p["description"].endswith(".") or p["fieldConfig"]["defaults"]["unit"] not in UNITS)):
            yield f"{p['title']}: no sentence, or a unit that Grafana does not know"
        if (any(t["datasource"]["uid"] != "${datasource}" for t in p.get("targets", []))
            or p["gridPos"]["x"] + p["gridPos"]["w"] > 24):
            yield f"{p['title']}: its source, or its place"
    for a, b in itertools.combinations([p["gridPos"] | {"title": p["title"]} for p in panels], 2):
        if (a["x"] < b["x"] + b["w"] and b["x"] < a["x"] + a["w"] and a["y"] < b["y"] + b["h"]
            and b["y"] < a["y"] + a["h"]):
            yield f"{a['title']} lies over {b['title']}"


def names(name, board):
    """Metrics and labels exist in the program; each selector separates fleets; a legend reads labels of the result."""
    known = table()
    for title, legend, expression in dashboards.queries(board):
        asked = alerts.Expression(re.sub(r"\bon \(\) |\b(topk|histogram_quantile) ?\(", "(",
                                         dashboards.filled(expression, "5m")))
        yield from (f"{title}: no metric {metric}" for metric in sorted(asked.metrics - known.keys()))
        for metric, matchers in asked.matchers:
            wrong = {label for label, _, _ in matchers} - known.get(metric, set()) - ADDED
            yield from (f"{title}: {metric} has no label {label}" for label in sorted(wrong))
        if (expression.count('namespace=~"$namespace"') != len(asked.matchers)
            or {m for m, _ in asked.matchers} != asked.metrics):
            yield f"{title}: a selector without the namespace"
        own = set().union(*(known.get(metric, ()) for metric in asked.metrics))
        for kind, labels in asked.lists:
            yield from (f"{title}: {kind} {label}, which nothing has" for label in sorted(labels - own))
        shown = set(re.findall(r"\{\{(\w+)\}\}", legend))
        yield from (f"{title}: its legend reads {label}" for label in sorted(shown - (asked.result_labels() or set())))


CHECKS = [importable, names]
WRONG = [  # check, dashboard, function that damages the panel of that title
    (importable, "fleet", "Latency", lambda p: p.update(id=1)),
    (importable, "fleet", "Latency", lambda p: p["gridPos"].update(x=20)),
    (importable, "fleet", "Latency", lambda p: p["gridPos"].update(y=p["gridPos"]["y"] + 3)),
    (importable, "fleet", "Latency", lambda p: p.update(description="no sentence")),
    (importable, "fleet", "Latency", lambda p: p["fieldConfig"]["defaults"].update(unit="seconds")),
    (importable, "cost", "Tokens", lambda p: p["targets"][0]["datasource"].update(uid="my-own")),
    (names, "fleet", "Latency",
     lambda p: p["targets"][0].update(expr=p["targets"][0]["expr"].replace("latency_seconds", "latency"))),
    (names, "fleet", "Dead letters",
     lambda p: p["targets"][0].update(expr=p["targets"][0]["expr"].replace("topic", "topics"))),
    (names, "fleet", "Tasks", lambda p: p["targets"][0].update(legendFormat="{{signal}}")),
    (names, "cost", "Tokens",
     lambda p: p["targets"][0].update(expr="sum by (direction) (rate(assay_llm_tokens_total[5m]))")),
    (names, "quality", "Why there was no answer",
     lambda p: p["targets"][0].update(expr=p["targets"][0]["expr"].replace("unanswered", "abstained"))),
    (names, "quality", "Validated",
     lambda p: p["targets"][0].update(expr=p["targets"][0]["expr"].replace("decision=", "status="))),
]


def files_are_what_is_printed():
    assert {path.name for path in dashboards.FOLDER.glob("*.json")} == {f"{name}.json" for name in make.DASHBOARDS}
    for name in make.DASHBOARDS:
        assert (dashboards.FOLDER / f"{name}.json").read_text() == make.text(name), (
            f"{name}.json: run k8s/components/dashboards/make.py")


def grafanas_sidecar_finds_them():
    (map,) = kustomize.component(dashboards.FOLDER, [])
    assert map["data"].keys() == {f"{name}.json" for name in make.DASHBOARDS}


def sound():
    for (name, board), check in itertools.product(dashboards.load().items(), CHECKS):
        wrong = list(check(name, board))
        assert not wrong, f"{name}.json, {check.__name__}: {wrong}"


def notices(check, name, title, spoil):
    board = copy.deepcopy(dashboards.load()[name])
    spoil(next(p for p in board["panels"] if p["title"] == title and p["type"] != "row"))
    assert list(check(name, board)), f"{check.__name__} does not notice what is wrong with {title} of {name}.json"


def main():
    files_are_what_is_printed()
    grafanas_sidecar_finds_them()
    sound()
    for case in WRONG:
        notices(*case)
    print(f"{sum(len(dashboards.queries(board)) for board in dashboards.load().values())} queries")
    return 0


if __name__ == "__main__":
    sys.exit(main())
