"""The trace of a request through a real fleet: one tree over HTTP, Kafka, coordinator and workers, at a collector.

  test_tracing.py --assay FILE          needs ASSAY_TEST_KAFKA and ASSAY_TEST_REDIS (tests/live/servers.sh);
                                        else skipped

The collector is a receiver of this file. If $ASSAY_TEST_OTLP_COLLECTOR names a program, it is OpenTelemetry's
collector, which forwards the decoded spans to that receiver. With opentelemetry-proto installed
($ASSAY_TEST_OTLP_STRICT requires it) the export is also checked strictly against the protocol's definition.
tests/clients/otlp/run.sh has both.
"""
import argparse
import base64
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import urllib.request
from collections import Counter
from pathlib import Path

from ports import free_port
from test_observe import Process, make_databases, running
from wait import wait_until

try:
    from google.protobuf import json_format
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
except ImportError:
    ExportTraceServiceRequest = None

WAIT_S = 60
CALLER = "00f067aa0ba902b7"  # the caller's span
FAMILIES = {"structure", "join", "execution", "value", "question", "explain"}
INNER = {"parse", "index", "execute", "verifier", "decide"}
SECRET = "quite-a-secret-literal"
KINDS = {"SERVER": 2, "CONSUMER": 5}


class Receiver:
    """Receives posts of OTLP as JSON, and stores them."""

    def __init__(self):
        self.bodies, self.fails = [], 0  # number of posts to refuse, as a busy collector would
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                refused = receiver.fails > 0
                receiver.fails -= refused
                if not refused:
                    receiver.bodies.append(body)
                self.send_response(503 if refused else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def spans(self, trace):
        """Returns the spans of a trace, each with its service."""
        found = []
        for body in list(self.bodies):
            for resource in json.loads(body)["resourceSpans"]:
                (service,) = [a["value"]["stringValue"] for a in resource["resource"]["attributes"]
                              if a["key"] == "service.name"]
                found += [s | {"service": service} for scope in resource["scopeSpans"] for s in scope["spans"]
                          if s["traceId"] == trace]
        return found


class Collector:
    """OpenTelemetry's collector: receives OTLP over HTTP and forwards it as JSON."""

    def __init__(self, program, directory, onto):
        port, self.log = free_port(), directory / "collector.log"
        self.url = f"http://127.0.0.1:{port}"
        config = {
            "receivers": {"otlp": {"protocols": {"http": {"endpoint": f"127.0.0.1:{port}"}}}},
            "exporters": {"otlphttp": {"endpoint": onto, "encoding": "json", "compression": "none"}},
            "service": {"telemetry": {"metrics": {"level": "none"}},
                        "pipelines": {"traces": {"receivers": ["otlp"], "exporters": ["otlphttp"]}}},
        }
        (directory / "collector.yaml").write_text(json.dumps(config))
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([program, "--config", f"file:{directory}/collector.yaml"],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def listens(self):
        assert self.process.poll() is None, self.log.read_text()
        try:
            request = urllib.request.Request(self.url + "/v1/traces", b'{"resourceSpans":[]}',
                                             {"Content-Type": "application/json"})
            return urllib.request.urlopen(request, timeout=5).status == 200
        except OSError:
            return False

    def stop(self):
        self.process.terminate()
        return self.process.wait(40)


def new_trace():
    return os.urandom(16).hex()


def judge(port, trace, sampled="01"):
    """Returns the verdict on a request of several candidates that carries a caller's span."""
    body = {"db": "ferries", "question": f"How many vessels are there, {SECRET}?", "strategy": "rerank",
            "candidates": ["SELECT count(*) FROM vessel", f"SELECT count(*) FROM vessel WHERE name <> '{SECRET}'",
                           "SELECT nam FROM vessel"]}
    headers = {"Content-Type": "application/json", "traceparent": f"00-{trace}-{CALLER}-{sampled}"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/judge?wait_ms=60000", json.dumps(body).encode(),
                                     headers)
    with urllib.request.urlopen(request, timeout=WAIT_S + 10) as answer:
        assert answer.status == 200, answer.read()
        return json.load(answer)


def whole_trace(receiver, trace, candidates):
    """Returns the spans of the trace once all parts have arrived. A collector retries refused parts, so a later part
    may arrive first."""
    def complete():
        spans = receiver.spans(trace)
        names = Counter(span["name"] for span in spans)
        of = {span["spanId"]: span["name"] for span in spans}
        parsed_by = {of.get(span["parentSpanId"]) for span in spans if span["name"] == "parse"}
        ends = names["serve"] and names["request"] and all(names[family] >= candidates for family in FAMILIES)
        return ends and names.keys() >= INNER and parsed_by - FAMILIES == {"request"} and spans

    return wait_until(complete, WAIT_S, "the trace")


def is_one_tree(spans):
    """Each span except the first must be within the time of its parent. All processes run on one machine and share its
    clock."""
    by_id = {span["spanId"]: span for span in spans}
    assert len(by_id) == len(spans), "an id twice"
    (root,) = [span for span in spans if span["parentSpanId"] not in by_id]
    assert root["parentSpanId"] == CALLER and root["name"] == "serve" and root["kind"] == KINDS["SERVER"], root
    for span in spans:
        begin, end = int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])
        assert begin <= end, span
        if span is not root:
            parent = by_id[span["parentSpanId"]]
            slack = 1_000_000 if span["name"] == "request" else 0  # its start is the broker's time, in milliseconds
            assert (int(parent["startTimeUnixNano"]) <= begin + slack
                    and end <= int(parent["endTimeUnixNano"])), (span, parent)
    return by_id, root


def has_all_parts(spans, by_id, root, candidates):
    (request,) = [span for span in spans if span["name"] == "request"]
    assert request["parentSpanId"] == root["spanId"] and request["kind"] == KINDS["CONSUMER"]
    services = {span["name"]: span["service"] for span in spans}
    assert (services["serve"] == "assay-serve" and services["request"] == "assay-coordinator"
            and services["decide"] == "assay-coordinator")
    for family in FAMILIES:
        tasks = [span for span in spans if span["name"] == family]
        assert len(tasks) == candidates and {t["parentSpanId"] for t in tasks} == {request["spanId"]}, (family, tasks)
        assert services[family] == "assay-worker"
    families = {span["spanId"] for span in spans if span["name"] in FAMILIES}
    for inner in ("index", "execute"):
        assert families >= {span["parentSpanId"] for span in spans if span["name"] == inner} != set(), inner
    parses = [span for span in spans if span["name"] == "parse"]
    assert {by_id[span["parentSpanId"]]["name"] for span in parses} - FAMILIES == {"request"}, parses
    assert ([span for span in spans if span["name"] == "verifier"]
            and len([span for span in spans if span["name"] == "decide"]) == 1)
    attributes = {a["key"]: a["value"] for a in request["attributes"]}
    assert (attributes["db.namespace"] == {"stringValue": "ferries"}
            and attributes["assay.candidates"] == {"intValue": str(candidates)}), attributes


def trace_of_a_request(receiver, port):
    trace = new_trace()
    verdict = judge(port, trace)
    spans = whole_trace(receiver, trace, len(verdict["candidates"]))
    by_id, root = is_one_tree(spans)
    has_all_parts(spans, by_id, root, len(verdict["candidates"]))
    (request,) = [span for span in spans if span["name"] == "request"]
    assert {"key": "assay.status", "value": {"stringValue": verdict["status"]}} in request["attributes"]


def what_is_not_sampled_is_not_sent(receiver, port):
    trace = new_trace()
    judge(port, trace, sampled="00")
    trace_of_a_request(receiver, port)  # all earlier spans have arrived before this one
    assert not receiver.spans(trace)


def a_busy_collector_gets_it_later(receiver, port):
    receiver.fails = 2
    trace_of_a_request(receiver, port)
    assert receiver.fails == 0


def nothing_of_the_request_leaks(receiver):
    for body in receiver.bodies:
        assert SECRET.encode() not in body and b"SELECT" not in body and b"vessels" not in body, body[:2000]


def is_as_the_protocol_says(bodies):
    """Checks spans against the protocol's definition. An unknown field is an error. Ids are in hex in JSON, in base64
    in protobuf's mapping."""
    for body in bodies:
        text = json.loads(body)
        for resource in text["resourceSpans"]:
            for span in [s for scope in resource["scopeSpans"] for s in scope["spans"]]:
                assert len(span["traceId"]) == 32 and len(span["spanId"]) == 16, span
                for key in span.keys() & {"traceId", "spanId", "parentSpanId"}:
                    span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
        json_format.ParseDict(text, ExportTraceServiceRequest())


def all_were_sent(processes):
    for process in processes:
        metrics = process.metrics()
        assert metrics['assay_spans_total{outcome="sent"}'] > 0, process.log
        assert (metrics['assay_spans_total{outcome="dropped"}']
                == metrics['assay_spans_total{outcome="refused"}'] == 0), process.log


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    assay = parser.parse_args().assay
    servers, redis, program = (os.environ.get(f"ASSAY_TEST_{name}") for name in ("KAFKA", "REDIS", "OTLP_COLLECTOR"))
    if not servers or not redis:
        print("skipped: ASSAY_TEST_KAFKA or ASSAY_TEST_REDIS is not set (tests/live/servers.sh)")
        return 77
    receiver, port = Receiver(), free_port()
    with tempfile.TemporaryDirectory() as directory:
        directory = Path(directory)
        make_databases(directory / "databases")
        subprocess.run([assay, "topics", "create", "--servers", servers], check=True, stdout=subprocess.DEVNULL)
        collector = Collector(program, directory, receiver.url) if program else None
        traces = ["--otlp", collector.url if collector else receiver.url]
        worker = [assay, "worker", "--servers", servers, "--db-root", directory / "databases", "--redis", redis,
                  "--threads", "2", *traces]
        processes = [
            Process(directory, "coordinator", [assay, "coordinator", "--servers", servers, *traces]),
            Process(directory, "worker-1", worker),
            Process(directory, "serve", [assay, "serve", "--servers", servers, "--http", f"127.0.0.1:{port}", *traces]),
        ]
        with running(*processes, *([collector] if collector else [])):
            if collector:
                wait_until(collector.listens, WAIT_S, "the collector")
            for process in processes:
                wait_until(process.is_ready, WAIT_S, "ready")
            trace_of_a_request(receiver, port)
            what_is_not_sampled_is_not_sent(receiver, port)
            a_busy_collector_gets_it_later(receiver, port)
            all_were_sent(processes)
            nothing_of_the_request_leaks(receiver)
            if ExportTraceServiceRequest or os.environ.get("ASSAY_TEST_OTLP_STRICT"):
                is_as_the_protocol_says(receiver.bodies)
            assert [process.stop() for process in processes] == [0] * len(processes)
            assert not collector or collector.stop() == 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
