#!/usr/bin/env python3
"""Prints the dashboards for Grafana: fleet.json, quality.json, cost.json beside this file. A panel is a row of a table
here.

  make.py          writes them anew; tests/unit/k8s/test_dashboards.py compares, and checks names against
  docs/metrics.md

tests/live/fleet/test_dashboards.py runs every query in a real Prometheus that reads a real fleet.
"""
import json
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
WIDTH, HEIGHT = 24, 8  # of a dashboard; of a panel
NS = 'namespace=~"$namespace"'  # each selector has it; where targets have no such label, "All" takes them
RATE, RANGE = "[$__rate_interval]", "[$__range]"


@dataclass
class Panel:
    title: str
    description: str
    queries: dict  # {legend: expression}; {{label}} in a legend is Grafana's
    unit: str = "short"
    kind: str = "timeseries"  # stat, bargauge
    width: int = 8
    stacked: bool = False


def series(metric, matchers=""):
    return f"{metric}{{{matchers + ', ' if matchers else ''}{NS}}}"


def rate(metric, matchers="", by=""):
    return f"sum{f' by ({by})' if by else ''} (rate({series(metric, matchers)}{RATE}))"


def increase(metric, matchers="", by=""):
    return f"sum{f' by ({by})' if by else ''} (increase({series(metric, matchers)}{RANGE}))"


def quantile(q, histogram, by=""):
    return f"histogram_quantile({q}, sum by ({by + ', ' if by else ''}le) (rate({series(histogram + '_bucket')}{RATE})))"


def by_part(expression, fold="sum"):
    """What a process says of itself, with the label that says what it is."""
    return f"{fold} by (part) ({series('assay_part_info')} * ignoring (part) group_left {expression})"


def share(part, whole):
    return f"{part} / {whole}"


VERDICTS = rate("assay_verdicts_total")
TASKS = "assay_process_duration_seconds"

FLEET = {
    "Requests": [
        Panel("Ready", "Ready processes by role.", {"{{part}}": by_part(series("assay_ready"))}, kind="stat", width=6),
        Panel("Verdicts", "Verdicts per second over the range.", {"verdicts": rate("assay_verdicts_total")}, "reqps",
              "stat", 6),
        Panel("Open", "Requests open and not yet decided.", {"open": f"sum ({series('assay_state_open_requests')})"},
              kind="stat", width=6),
        Panel("Oldest open request", "Age of the oldest request without a verdict.",
              {"age": f"max ({series('assay_oldest_open_request_seconds')})"}, "s", "stat", 6),
        Panel("Requests and verdicts", "Requests wait if the lines differ.",
              {"requests": rate("assay_consumed_total", 'topic="assay.requests"'),
               "{{decision}}": rate("assay_verdicts_total", by="decision")}, "reqps"),
        Panel("Latency", "From a request's arrival in its topic to its verdict.",
              {"p50": quantile(0.5, "assay_request_latency_seconds"),
               "p95": quantile(0.95, "assay_request_latency_seconds"),
               "p99": quantile(0.99, "assay_request_latency_seconds")}, "s"),
        Panel("Decided by deadline", "Share of the verdicts returned before all results arrived.",
              {"share": share(rate("assay_deadlines_total"), VERDICTS)}, "percentunit"),
    ],
    "Workers": [
        Panel("Tasks", "Tasks completed per second, by family.", {"{{family}}": rate(TASKS + "_count", by="family")},
              "ops", stacked=True),
        Panel("Task duration, p95", "From receipt to result.", {"{{family}}": quantile(0.95, TASKS, "family")}, "s"),
        Panel("Busy threads", "Threads that work on a family, on average.",
              {"{{family}}": rate(TASKS + "_sum", by="family")}, stacked=True),
        Panel("Tasks that went wrong", "Retried, dropped after their deadline, answered as unavailable.",
              {"retried": rate("assay_retries_total"), "late": rate("assay_late_total"),
               "failed": rate("assay_failed_total")}, "ops"),
        Panel("Schema indexes", "Hit rate of the caches: in the memory of a process, and shared by the fleet.",
              {"{{layer}}": share(rate("assay_cache_events_total", 'event="hits"', "layer"),
                                  rate("assay_cache_events_total", 'event=~"hits|misses"', "layer"))}, "percentunit"),
        Panel("Executors", "Processes that run statements: started, killed, crashed.",
              {"{{event}}": rate("assay_executor_events_total", by="event")}, "ops"),
        Panel("Databases with open circuit", "Databases with an open circuit.",
              {"open": f"sum ({series('assay_breakers_open')})"}),
        Panel("Permits", "Permits to run statements on databases with a limit.",
              {"{{event}}": rate("assay_permit_events_total", by="event")}, "ops"),
        Panel("Redis", "Workers whose circuit to Redis is open, and seconds per second spent waiting for Redis.",
              {"away": f"sum ({series('assay_redis_away')})", "waiting": rate("assay_redis_seconds_total")}),
    ],
    "Kafka": [
        Panel("Lag", "Messages of owned partitions not handled yet.",
              {"{{part}}": by_part(series("assay_kafka_lag_messages"))}),
        Panel("Transactions", "Transactions of verdicts and their offsets.",
              {"{{outcome}}": rate("assay_transactions_total", by="outcome")}, "ops"),
        Panel("Transaction duration, p95", "Duration of committed transactions.",
              {"p95": quantile(0.95, "assay_transaction_duration_seconds")}, "s"),
        Panel("Dead letters", "Unusable messages, by error code.",
              {"{{topic}} {{reason}}": increase("assay_dlq_total", by="topic, reason")}, kind="bargauge"),
        Panel("Bytes", "Sent to and received from the brokers.",
              {"{{direction}}": rate("assay_kafka_bytes_total", by="direction")}, "Bps"),
        Panel("Rebalances and lost connections", "Over the range.",
              {"rebalances": increase("assay_rebalances_total"), "lost": increase("assay_kafka_disconnects_total")},
              kind="stat"),
    ],
    "Processes": [
        Panel("CPU", "Cores in use.", {"{{part}}": by_part(f"rate({series('process_cpu_seconds_total')}{RATE})")},
              stacked=True),
        Panel("Memory", "Largest process of each role.",
              {"{{part}}": by_part(series("process_resident_memory_bytes"), "max")}, "bytes"),
        Panel("Slowest loop", "Time since its last iteration; the liveness probe fails at --stall-ms.",
              {"{{part}}": by_part(series("assay_poll_loop_age_seconds"), "max")}, "s"),
        Panel("HTTP callers", "HTTP callers by outcome.",
              {"{{outcome}}": rate("assay_http_requests_total", by="outcome")}, "reqps"),
        Panel("Waiting HTTP callers", "Callers whose verdict is not ready.",
              {"waiting": f"sum ({series('assay_http_waiting')})"}),
        Panel("Log", "Lines per second by level, and suppressed lines.",
              {"{{level}}": rate("assay_log_lines_total", by="level"), "left out": rate("assay_log_suppressed_total")},
              "ops"),
        Panel("Spans", "Trace spans: sent, dropped, refused by the collector.",
              {"{{outcome}}": rate("assay_spans_total", by="outcome")}, "ops"),
    ],
}

ANSWERS_WITH_P = 'p!="unknown"'
QUALITY = {
    "Answers": [
        Panel("Validated", "Share of the verdicts.",
              {"share": share(increase("assay_verdicts_total", 'decision="validated"'),
                              increase("assay_verdicts_total"))},
              "percentunit", "stat", 6),
        Panel("Answered", "Share of the verdicts that return a query.",
              {"share": share(increase("assay_verdicts_total", 'decision=~"validated|repaired|best_effort"'),
                              increase("assay_verdicts_total"))},
              "percentunit", "stat", 6),
        Panel("Expected right", "Mean P(correct) of the answers: the expected share of correct answers if P is "
              "calibrated.",
              {"share": share(increase("assay_answers_p_total"), increase("assay_answers_total", ANSWERS_WITH_P))},
              "percentunit", "stat", 6),
        Panel("Judged in time", "Share of the verdicts with all results before their deadline.",
              {"share": f"1 - {share(increase('assay_deadlines_total'), increase('assay_verdicts_total'))}"},
              "percentunit", "stat", 6),
        Panel("Verdicts", "By status.", {"{{decision}}": rate("assay_verdicts_total", by="decision")}, "reqps",
              stacked=True),
        Panel("Expected right", "Mean P(correct) of the answers.",
              {"mean P": share(rate("assay_answers_p_total"), rate("assay_answers_total", ANSWERS_WITH_P))},
              "percentunit"),
        Panel("P(correct) of answers", "Number of answers per tenth of P(correct).",
              {"{{p}}": increase("assay_answers_total", by="p")}, kind="bargauge"),
        Panel("Why there was no answer", "Abstentions and clarification questions, by root cause.",
              {"{{cause}}": increase("assay_unanswered_total", by="cause")}, kind="bargauge"),
        Panel("Guarantees", "Verdicts on requests with alpha, by state of the guarantee.",
              {"{{status}}": rate("assay_promises_total", by="status")}, "reqps"),
        Panel("Guarantees withdrawn", "Generators whose traffic no longer matches the calibration.",
              {"withdrawn": f"sum ({series('assay_promises_withdrawn_total')})"}, kind="stat"),
    ],
    "Signals": [
        Panel("Fire most often", "Share of a signal's runs in which it fired. A jump means that a generator or a "
              "schema has changed.",
              {"{{signal}}": f"topk(15, "
               f"{share(increase('assay_signal_fired_total', by='signal'), increase('assay_signal_runs_total', by='signal'))})"},
              "percentunit", "bargauge", 12),
        Panel("Most often unavailable", "Share of a signal's runs in which it was unavailable.",
              {"{{signal}}": f"topk(15, "
               f"{share(increase('assay_signal_unavailable_total', by='signal'), increase('assay_signal_runs_total', by='signal'))})"},
              "percentunit", "bargauge", 12),
        Panel("Fired", "Signals fired per second.",
              {"{{signal}}": f"topk(10, {rate('assay_signal_fired_total', by='signal')})"}, "ops", width=12),
        Panel("Signals fired per candidate", "Over all signals.",
              {"fired": share(rate("assay_signal_fired_total"), rate("assay_candidates_total"))}, width=12),
    ],
    "Repairs, questions, models": [
        Panel("Repairs", "Searches for a repair, by outcome.",
              {"{{outcome}}": rate("assay_repairs_total", by="outcome")}, "reqps"),
        Panel("Clarification questions", "Clarification questions asked and answered.",
              {"{{outcome}}": rate("assay_questions_total", by="outcome")}, "reqps"),
        Panel("Remote verifier", "Share of its calls that failed and that the built-in verifier judged.",
              {"failed": share(rate("assay_verifications_total", 'outcome="failed"'),
                               rate("assay_verifications_total", 'outcome="asked"'))}, "percentunit"),
        Panel("Language models", "Candidates sent to a language model; failed: no usable response.",
              {"{{outcome}}": rate("assay_consultations_total", by="outcome")}, "ops"),
        Panel("Corrector", "Calls of the corrector, by outcome.",
              {"{{outcome}}": rate("assay_corrections_total", by="outcome")}, "ops"),
        Panel("Polisher", "Calls of the polisher, by outcome.",
              {"{{outcome}}": rate("assay_polished_total", by="outcome")}, "ops"),
    ],
}

COST = {
    "Language models": [
        Panel("Spent", "Over the range, in the currency of the configured prices.",
              {"spent": increase("assay_llm_cost_total")}, kind="stat", width=6),
        Panel("Spent per hour", "At the current rate.", {"an hour": f"3600 * {rate('assay_llm_cost_total')}"},
              kind="stat", width=6),
        Panel("Spent per thousand verdicts", "Over the range.",
              {"a thousand": f"1000 * {share(increase('assay_llm_cost_total'), increase('assay_verdicts_total'))}"},
              kind="stat", width=6),
        Panel("Asked", "Share of the verdicts for which a language model was called.",
              {"share": share(increase("assay_consultations_total", 'outcome="asked"'),
                              increase("assay_verdicts_total"))}, "percentunit", "stat", 6),
        Panel("Spent per hour", "In the currency of the configured prices.",
              {"an hour": f"3600 * {rate('assay_llm_cost_total')}"}),
        Panel("Tokens", "Tokens per second by direction.",
              {"{{direction}}": rate("assay_llm_tokens_total", by="direction")}, stacked=True),
        Panel("Questions", "Calls, cache hits (remembered, shared), and calls refused because the budget was used up.",
              {"{{event}}": rate("assay_llm_events_total", by="event")}, "ops"),
        Panel("Answered from cache", "Share of the questions answered from a cache.",
              {"share": share(rate("assay_llm_events_total", 'event=~"remembered|shared"'),
                              rate("assay_llm_events_total", 'event=~"calls|remembered|shared"'))}, "percentunit"),
        Panel("Calls of other models", "Remote verifier, corrector, polisher.",
              {"verifier": rate("assay_verifications_total", 'outcome="asked"'),
               "corrector": rate("assay_corrections_total", 'outcome="asked"'),
               "polisher": rate("assay_polished_total", 'outcome="asked"')}, "ops"),
    ],
    "Machines": [
        Panel("CPU per verdict", "CPU seconds of all processes per verdict.",
              {"seconds": share(rate("process_cpu_seconds_total"), VERDICTS)}, "s"),
        Panel("CPU", "Cores in use, by role of the process.",
              {"{{part}}": by_part(f"rate({series('process_cpu_seconds_total')}{RATE})")}, stacked=True),
        Panel("Memory", "Memory of all processes, by role.",
              {"{{part}}": by_part(series("process_resident_memory_bytes"))}, "bytes", stacked=True),
        Panel("Time per verdict, by family", "Time of workers' threads, including waits for databases.",
              {"{{family}}": share(rate(TASKS + "_sum", by="family"), f"on () group_left {VERDICTS}")}, "s",
              stacked=True),
        Panel("Shared work per verdict", "Parsing, preparing and executing candidates, once for all signals.",
              {"{{step}}": share(rate("assay_shared_work_seconds_total", by="step"), f"on () group_left {VERDICTS}")},
              "s", stacked=True),
        Panel("Most expensive signals", "Seconds per second spent in each signal.",
              {"{{signal}}": f"topk(10, {rate('assay_signal_seconds_total', by='signal')})"}, "s"),
        Panel("Candidates per verdict", "Candidates started and executed per verdict.",
              {"taken up": share(rate("assay_candidates_total"), VERDICTS),
               "run": share(rate("assay_executed_total"), VERDICTS)}),
        Panel("Kafka traffic per verdict", "Bytes sent to and received from the brokers, by all processes.",
              {"{{direction}}": share(rate("assay_kafka_bytes_total", by="direction"), f"on () group_left {VERDICTS}")},
              "bytes"),
        Panel("Redis traffic per verdict", "Bytes sent to and received from Redis.",
              {"{{direction}}": share(rate("assay_redis_bytes_total", by="direction"), f"on () group_left {VERDICTS}")},
              "bytes"),
        Panel("Indexes built", "Schema indexes built: the most expensive work of a worker.",
              {"built": rate("assay_cache_events_total", 'event="builds"')}, "ops"),
        Panel("Verdict cache", "Lookups in the verdict cache, by outcome (--verdict-cache).",
              {"{{outcome}}": rate("assay_verdict_cache_total", by="outcome")}, "reqps"),
    ],
}

DASHBOARDS = {
    "fleet": ("Assay: fleet", "Flow of requests, and obstacles to it.", FLEET),
    "quality": ("Assay: judgement quality", "Verdicts, their probabilities, and the signals that fire.", QUALITY),
    "cost": ("Assay: cost", "Cost of verdicts: language models, machines, traffic.", COST),
}


# --- Grafana's JSON ---

SOURCE = {"type": "prometheus", "uid": "${datasource}"}


def options(panel):
    last = {"calcs": ["lastNotNull"], "fields": "", "values": False}
    return {
        "timeseries": {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
                       "tooltip": {"mode": "multi", "sort": "desc"}},
        "stat": {"reduceOptions": last, "colorMode": "none", "graphMode": "area", "textMode": "auto"},
        "bargauge": {"reduceOptions": last, "displayMode": "basic", "orientation": "horizontal"},
    }[panel.kind]


def panel_json(panel, number, x, y):
    custom = {"lineWidth": 1, "fillOpacity": 20 if panel.stacked else 0,
              "stacking": {"mode": "normal" if panel.stacked else "none"}}
    defaults = {"unit": panel.unit, "min": 0} | ({"custom": custom} if panel.kind == "timeseries" else {})
    targets = [{"refId": chr(ord("A") + i), "datasource": SOURCE, "expr": expr, "legendFormat": legend,
                "instant": panel.kind != "timeseries",
                "range": panel.kind == "timeseries"} for i, (legend, expr) in enumerate(panel.queries.items())]
    return {"id": number, "type": panel.kind, "title": panel.title, "description": panel.description,
            "datasource": SOURCE,
            "gridPos": {"x": x, "y": y, "w": panel.width, "h": HEIGHT if panel.kind != "stat" else HEIGHT // 2},
            "fieldConfig": {"defaults": defaults, "overrides": []}, "options": options(panel), "targets": targets}


def panels_json(rows):
    """Rows under their titles; panels from left to right as long as they fit."""
    out, y = [], 0
    for title, panels in rows.items():
        out.append({"id": len(out) + 1, "type": "row", "title": title, "collapsed": False, "panels": [],
                    "gridPos": {"x": 0, "y": y, "w": WIDTH, "h": 1}})
        x, y, lowest = 0, y + 1, y + 1
        for panel in panels:
            if x + panel.width > WIDTH:
                x, y = 0, lowest
            out.append(panel_json(panel, len(out) + 1, x, y))
            x, lowest = x + panel.width, max(lowest, y + out[-1]["gridPos"]["h"])
        y = lowest
    return out


def variables():
    source = {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus", "current": {},
              "hide": 0, "refresh": 1}
    query = "label_values(assay_part_info, namespace)"
    namespace = {"name": "namespace", "label": "Namespace", "type": "query", "datasource": SOURCE, "definition": query,
                 "query": {"query": query, "refId": "namespace"}, "includeAll": True, "allValue": ".*", "multi": True,
                 "refresh": 2, "sort": 1,
                 "current": {"selected": True, "text": ["All"], "value": ["$__all"]}}
    return [source, namespace]


def dashboard(name):
    title, description, rows = DASHBOARDS[name]
    links = [{"type": "dashboards", "title": "Assay", "tags": ["assay"], "asDropdown": False, "includeVars": True,
              "keepTime": True}]
    return {"uid": f"assay-{name}", "title": title, "description": description, "tags": ["assay"], "schemaVersion": 39,
            "version": 1, "editable": True,
            "timezone": "", "refresh": "30s", "time": {"from": "now-6h", "to": "now"}, "graphTooltip": 1,
            "links": links,
            "annotations": {"list": []}, "templating": {"list": variables()}, "panels": panels_json(rows)}


def text(name):
    return json.dumps(dashboard(name), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name in DASHBOARDS:
        (HERE / f"{name}.json").write_text(text(name))
