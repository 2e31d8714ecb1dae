"""Reads the dashboards in k8s/components/dashboards, for test_dashboards.py in this folder and for
tests/live/fleet/test_dashboards.py."""
import json

from alerts import ROOT

FOLDER = ROOT / "k8s/components/dashboards"


def load():
    """Returns {file name: dashboard}."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}


def queries(dashboard):
    """Returns (panel's title, legend, expression) of each target."""
    return [(p["title"], t["legendFormat"], t["expr"]) for p in dashboard["panels"] for t in p.get("targets", [])]


def filled(expression, window, namespace=".*"):
    """Returns a query with its variables expanded as Grafana does."""
    for name, value in {"$__rate_interval": window, "$__range": window, "$namespace": namespace}.items():
        expression = expression.replace(name, value)
    return expression
