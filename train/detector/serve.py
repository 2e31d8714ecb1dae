"""Serves a trained detector to Assay, as a remote verifier of the kind `tei` (docs/remote-verifiers.md).

python3 serve.py --model DIR --assay build/release/cli/assay --port 8080
assay check ... --verifier-backend tei --verifier-endpoint http://127.0.0.1:8080

GET /info returns the labels. POST /predict accepts pairs of premise and question. Of a premise (SQL | result |
explanation) only the SQL is used. `assay train export` makes its graph, so training and serving use the same graph.
Concurrent calls are scored together.

Schema links need a database, and a verifier does not receive one. So a detector that was trained with links is refused.
"""
import argparse
import json
import queue
import re
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import torch

import encoder as encoders
import graphs
import model as models

LABELS = ["wrong", "entailment"]
MAX_BODY, MAX_PAIRS, MAX_ENDS, PATIENCE_S = 1 << 20, 64, 8, 30
RESULT = re.compile(r" \| (?:\d+ rows? \(|no result \()")


def sqls_of(premise):
    """Returns the possible SQL of a premise: the text before the description of a result, which has fixed words. A
    string of the query may contain such words too; then the shortest text that can be parsed is used."""
    ends = [found.start() for found in RESULT.finditer(premise)][:MAX_ENDS]
    return [premise[:end] for end in ends] or [premise]


class Job:
    def __init__(self, question, sqls):
        self.question, self.sqls, self.p, self.fault, self.done = question, sqls, None, None, threading.Event()


class Detector:
    """Scores requests in one thread; the other threads wait for it."""

    def __init__(self, args):
        self.net, self.assay = models.load(args.model).to(args.device), args.assay
        self.device, self.most, self.wait_s = args.device, args.batch, args.wait_ms / 1000
        c = self.net.config
        if c["links"]:
            raise SystemExit("this detector was trained with schema links, which a served one cannot have")
        self.tokenizer, self.questions = encoders.load_tokenizer(args.model), graphs.Questions(c["parser"])
        if c["parser"] == "auto" and not self.questions.nlp:
            print("no parser is at hand: questions are chains, whatever it was trained with", file=sys.stderr)
        self.jobs = queue.Queue(maxsize=1024)
        threading.Thread(target=self.run, daemon=True).start()

    def ask(self, pairs):
        jobs = [Job(question, sqls_of(premise)) for premise, question in pairs]
        for job in jobs:
            self.jobs.put(job, timeout=PATIENCE_S)
        until = time.monotonic() + PATIENCE_S
        for job in jobs:
            if not job.done.wait(max(0.0, until - time.monotonic())):
                raise TimeoutError("the model is too slow")
        return jobs

    def take(self):
        jobs, until = [self.jobs.get()], time.monotonic() + self.wait_s
        while len(jobs) < self.most:
            try:
                jobs.append(self.jobs.get(timeout=max(0.0, until - time.monotonic())))
            except queue.Empty:
                break
        return jobs

    def run(self):
        while True:
            jobs = self.take()
            try:
                self.score(jobs)
            except Exception as error:  # any error: each waiting thread must be released
                for job in jobs:
                    job.fault = job.fault or f"{type(error).__name__}: {error}"
            for job in jobs:
                job.done.set()

    def score(self, jobs):
        requests = [json.dumps({"id": str(i), "db": "none", "question": job.question,
                                "candidates": [{"sql": sql} for sql in job.sqls]}) for i, job in enumerate(jobs)]
        ran = subprocess.run([self.assay, "train", "export", "-", "--out", "-"], input="\n".join(requests) + "\n",
                             capture_output=True, text=True, timeout=PATIENCE_S, check=True)
        lines = {}
        for line in map(json.loads, ran.stdout.splitlines()):
            lines.setdefault(int(line["id"]), line)
        for i, job in enumerate(jobs):
            job.fault = None if i in lines else "its SQL cannot be read"
        c, known = self.net.config, sorted(lines)
        samples = [graphs.make_sample(lines[i], self.tokenizer, self.questions, c["longest"], c["original"])
                   for i in known]
        if not samples:
            return
        with torch.no_grad():
            batch = models.to_device(self.net.collate(samples), self.device)
            for i, p in zip(known, torch.sigmoid(self.net(batch)).tolist()):
                jobs[i].p = p


class Handler(BaseHTTPRequestHandler):
    protocol_version, detector, timeout = "HTTP/1.1", None, PATIENCE_S

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        if self.path == "/health":
            return self.answer(200, {})
        if self.path != "/info":
            return self.answer(404, {"error": "not here"})
        names = {str(i): label for i, label in enumerate(LABELS)}
        return self.answer(200, {"model_id": "assay-detector", "model_type": {"classifier": {"id2label": names}}})

    def pairs(self):
        size = int(self.headers.get("Content-Length", 0))
        if not 0 < size <= MAX_BODY:
            self.close_connection = True
            return None, 413
        try:
            inputs = json.loads(self.rfile.read(size))["inputs"]
        except (ValueError, KeyError, TypeError):
            return None, 400
        inputs = [inputs] if isinstance(inputs, list) and inputs and isinstance(inputs[0], str) else inputs
        good = isinstance(inputs, list) and 0 < len(inputs) <= MAX_PAIRS and all(
            isinstance(p, list) and len(p) == 2 and all(isinstance(t, str) for t in p) for p in inputs)
        return (inputs, 200) if good else (None, 422)

    def do_POST(self):
        if self.path != "/predict":
            self.close_connection = True
            return self.answer(404, {"error": "not here"})
        pairs, status = self.pairs()
        if not pairs:
            return self.answer(status, {"error": "pairs of premise and question are asked for",
                                        "error_type": "validation"})
        try:
            jobs = self.detector.ask(pairs)
        except (TimeoutError, queue.Full):
            return self.answer(503, {"error": "overloaded", "error_type": "overloaded"})
        faults = [job.fault for job in jobs if job.fault]
        if faults:
            return self.answer(422, {"error": faults[0], "error_type": "validation"})
        return self.answer(200, [[{"label": "entailment", "score": job.p}, {"label": "wrong", "score": 1 - job.p}]
                                 for job in jobs])

    def log_message(self, *_):
        pass  # no log, because questions are confidential


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--model", required=True)
    a.add_argument("--assay", default="assay")
    a.add_argument("--host", default="127.0.0.1")
    a.add_argument("--port", type=int, default=8080, help="0: any; the one taken is printed")
    a.add_argument("--batch", type=int, default=32, help="pairs scored at a time")
    a.add_argument("--wait-ms", type=float, default=5, help="how long the first of a batch waits for others")
    a.add_argument("--device", default="cpu")
    args = a.parse_args()
    Handler.detector = Detector(args)
    server = ThreadingHTTPServer((args.host, args.port), Handler)
    print(f"http://{server.server_address[0]}:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
