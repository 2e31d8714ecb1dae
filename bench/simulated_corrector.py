#!/usr/bin/env python3
"""Measures the value of a corrector of a given skill, whose queries Assay judges. This is a simulation: no model is
called.

  simulated_corrector.py --assay build/release/cli/assay --log LOG --db-root DATABASES [--order ORDER] [--first]
                         [--csv FILE]

A scripted server replaces the chat model. It answers with the gold query for a share r of the questions, with a mutant
of it (one edit) for a share b, and otherwise repeats the old query. The choice depends on the question and the findings
that it receives, so each round is another attempt. For each r and b the table has the number of questions and of calls.
It compares the effect of accepting every first answer with that of `--repair apply`. r 0, b 0 is the result without
help from the corrector.
"""
import argparse, hashlib, http.server, json, os, random, subprocess, tempfile, threading

import repair, results

RATES = [(0, 0), (0.1, 0.05), (0.1, 0.1), (0.3, 0.05), (0.3, 0.2), (0.3, 0.3), (0.6, 0.05), (0.6, 0.2), (0.6, 0.4)]


class Corrector(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        told = json.loads(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][1]["content"])
        sql = self.server.answer(told)
        body = json.dumps({"model": "scripted",
                           "choices": [{"message": {"content": json.dumps({"sql": sql})}, "finish_reason": "stop"}]})
        self.send_response(200)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, lines, mutants):
        super().__init__(("127.0.0.1", 0), Corrector)
        self.gold = {line["question"]: line["gold"] for line in lines}
        self.mutants, self.rates, self.asked, self.calls = mutants, (0, 0), {}, 0

    def answer(self, told):
        question, (r, b) = told["question"], self.rates
        told_of = question + json.dumps(told.get("findings")) + json.dumps(told.get("tried"))
        draw = random.Random(hashlib.sha256(told_of.encode()).digest()).random()
        mutant = self.mutants.get(question)
        kind = "right" if draw < r else "wrong" if draw < r + b and mutant else "same"
        self.asked.setdefault(question, kind)
        self.calls += 1
        return {"right": self.gold.get(question), "wrong": mutant, "same": told["sql"]}[kind]


def mutants_of(o, log, lines):
    out = subprocess.run([o.assay, "mutate", log, "-n", "1", "--seed", "5", "--db-root", o.db_root], check=True,
                         capture_output=True, text=True)
    made = {}
    for line in map(json.loads, out.stdout.splitlines()):
        if line.get("candidates"): made[line["id"]] = line["candidates"][0]["sql"]
    return {line["question"]: made[line["id"]] for line in lines if line["id"] in made}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("assay", "log", "db-root"): p.add_argument("--" + name, required=True)
    p.add_argument("--order", default="auto")
    p.add_argument("--first", action="store_true", help="leave each question its first candidate alone")
    results.add_option(p)
    o = p.parse_args()
    o.models = None
    with tempfile.TemporaryDirectory() as work:
        lines = [line for line in repair.read(o.log) if line.get("candidates")]
        if o.first: lines = [{**line, "candidates": line["candidates"][:1]} for line in lines]
        lines = [{**line, "id": str(i)} for i, line in enumerate(lines)]
        log = os.path.join(work, "cut.jsonl")
        repair.write(log, lines)
        server = Server(lines, mutants_of(o, log, lines))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        verdicts = repair.replay(o, log, o.db_root, o.order, "off", work)
        answers = [verdict.get("sql") or repair.sql_of(line["candidates"][0]) for line, verdict in zip(lines, verdicts)]
        right = {line["question"]: row[0]
                 for line, row in zip(lines, repair.labels(o, o.db_root, lines, [(a, a) for a in answers], work))}
        print("| r | b | asked (calls) | every first answer taken: fixed / broken | behind the gate: fixed / broken | "
              "EX |\n| --- | --- | --- | --- | --- | --- |")
        rows = []
        for server.rates in RATES:
            server.asked.clear()
            server.calls = 0
            run = subprocess.run([o.assay, "eval", log, "--db-root", o.db_root, "--order", o.order, "--repair", "apply",
                                  "--bootstrap", "0",
                                  "--corrector-endpoint", f"http://127.0.0.1:{server.server_port}/v1",
                                  "--corrector-model", "scripted",
                                  "--format", "json"], check=True, capture_output=True, text=True)
            report = json.loads(run.stdout)
            found = report["selection"]
            fixed = sum(kind == "right" and not right[q] for q, kind in server.asked.items())
            broken = sum(kind == "wrong" and right[q] for q, kind in server.asked.items())
            rows.append({"right_share": server.rates[0], "wrong_share": server.rates[1], "asked": len(server.asked),
                         "calls": server.calls, "all_taken_fixed": fixed, "all_taken_broken": broken,
                         "fixed": found["repaired"]["fixed"], "broken": found["repaired"]["broken"],
                         "ex_pct": found["assay"]})
            print(f"| {server.rates[0]} | {server.rates[1]} | {len(server.asked)} ({server.calls}) | {fixed} / "
                  f"{broken} | {found['repaired']['fixed']} / {found['repaired']['broken']} "
                  f"| {found['assay']:.1f} |", flush=True)
        results.save(o.csv, rows)


if __name__ == "__main__": main()
