#!/usr/bin/env python3
"""Measures the value of a language model of a given skill as the family llm, and the calls that the cascade saves. This
is a simulation: no model is called.

  simulated_llm.py --assay build/release/cli/assay --log LOG --db-root DATABASES [--order ORDER] [--first] [--latency
  MS] [--rates 0.6 ...]

A scripted server replaces the model. It knows whether a query is right (by execution) and answers with a hit rate h.
The signal self_check judges every query. Each other signal judges a share of them (SHARES); it fires with probability h
on wrong ones and 1 - h on right ones. The outcome depends on question and query. Assay treats it as a model with that
hit rate (--llm-hit-rate). The columns are: EX; AUC of P on the answers; F1 of "wrong" where P is below 0.5; calls for
each request. `everything` calls the model for each candidate that executes. Assay does not do this, so its figures are
computed here from the verdicts without a model, by the same formula. The second table has the precision of each signal
by labels, and as the label model learns it without labels. This model is trained by `assay train label-model` on the
log, with a call for each candidate.
"""
import argparse, hashlib, http.server, json, math, os, random, subprocess, tempfile, threading, time

import repair, results

SHARES = {"evidence_violation": 0.5, "question_clause_linking": 0.4, "column_ambiguity": 0.2,
          "insufficient_evidence": 0.1}


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        told = json.loads(request["messages"][1]["content"])
        time.sleep(self.server.latency)
        content = json.dumps(self.server.answer(told))
        body = json.dumps({"model": "scripted", "usage": {"prompt_tokens": 900, "completion_tokens": 120},
                           "choices": [{"message": {"content": content}, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, right, latency):
        super().__init__(("127.0.0.1", 0), Model)
        self.right, self.latency, self.hit = right, latency, 0.8

    def fires(self, signal, question, sql):
        """True if the signal finds the query wrong. If it judges the query, it is correct with the hit rate."""
        draw = random.Random(hashlib.sha256(f"{signal} {question} {sql}".encode()).digest())
        if draw.random() >= SHARES.get(signal, 1): return False
        return (draw.random() < self.hit) != self.right.get((question, sql), False)

    def answer(self, told):
        question, sql = told["question"], told["sql"]
        fires = {name: self.fires(name, question, sql) for name in (*SHARES, "self_check")}
        wrong = fires["self_check"]
        return {"evidence_violation": {"violated": fires["evidence_violation"], "clauses": [], "why": "scripted"},
                "insufficient_evidence": {"insufficient": fires["insufficient_evidence"], "why": "scripted"},
                "question_clause_linking": {"links": [{"words": question[:20], "clause": sql[:6],
                                                       "sure": not fires["question_clause_linking"]}]},
                "column_ambiguity": {"rivals": []},
                "self_check": {"right": not wrong, "probability": 1 - self.hit if wrong else self.hit, "clauses": [],
                               "why": "scripted"}}


def logit(p):
    p = min(max(p, 1e-6), 1 - 1e-6)
    return math.log(p / (1 - p))


def heard(p, hit, error, warning):
    return 1 / (1 + math.exp(-(logit(p) + (-1 if error else -0.5 if warning else 1) * logit(hit))))


def auc(pairs):
    """Returns how often a right answer has a greater P than a wrong one."""
    ranked, below, total = sorted(pairs), 0, 0.0
    right = [p for p, r in ranked if r]
    wrong = [p for p, r in ranked if not r]
    if not right or not wrong: return float("nan")
    import bisect
    for p in right:
        total += bisect.bisect_left(wrong, p) + 0.5 * (bisect.bisect_right(wrong, p) - bisect.bisect_left(wrong, p))
    return total / len(right) / len(wrong)


def f1(pairs):
    found = sum(p < 0.5 and not r for p, r in pairs)
    said, there = sum(p < 0.5 for p, _ in pairs), sum(not r for _, r in pairs)
    return 2 * found / max(1, said + there)


ROWS = []  # rows of the CSV


def row(title, pairs, calls, n):
    hit, _, asked_about = title.rpartition(": ")
    ROWS.append({"hit_rate": hit.removeprefix("h "), "asked_about": asked_about,
                 "ex_pct": 100 * sum(r for _, r in pairs) / n,
                 "auc": auc(pairs), "f1": f1(pairs), "calls_per_request": calls / n})
    print(f"| {title} | {100 * sum(r for _, r in pairs) / n:.1f} | {auc(pairs):.3f} | {f1(pairs):.2f} | "
          f"{calls / n:.2f} |", flush=True)


class Log:
    def __init__(self, o, work):
        self.o, self.work = o, work
        lines = [line for line in repair.read(o.log) if line.get("candidates")][:o.limit]
        if o.first: lines = [{**line, "candidates": line["candidates"][:1]} for line in lines]
        self.lines = [{**line, "id": str(i)} for i, line in enumerate(lines)]
        self.path = os.path.join(work, "log.jsonl")
        repair.write(self.path, self.lines)
        labels = os.path.join(work, "labels.json")
        repair.run(o.assay, "eval", self.path, "--db-root", o.db_root, "--labels", labels, "--explain=no",
                   "--bootstrap", "0")
        with open(labels, encoding="utf-8") as file: found = json.load(file)
        self.right = {(line["question"], repair.sql_of(c)): label == "ok"
                      for line, row_ in zip(self.lines, found) for c, label in zip(line["candidates"], row_)}

    def verdicts(self, *more):
        out = os.path.join(self.work, "verdicts.jsonl")
        repair.run(self.o.assay, "replay", self.path, "--db-root", self.o.db_root, "--order", self.o.order,
                   "--strategy", "rerank", "--out", out, "--force", *more)
        return repair.read(out)

    def answers(self, verdicts):
        return [(v.get("p_correct") or 0, self.right.get((line["question"], v.get("sql")), False))
                for line, v in zip(self.lines, verdicts)]


def everything(log, server, verdicts):
    pairs, calls = [], 0
    for line, verdict in zip(log.lines, verdicts):
        best = (0, None)
        for judged in verdict["candidates"]:
            sql, p = judged["sql"], judged.get("p_correct")
            if not p or judged.get("same_as"): continue
            calls += 1
            question = line["question"]
            p = heard(p, server.hit, any(server.fires(s, question, sql) for s in ("self_check", "evidence_violation")),
                      any(server.fires(s, question, sql) for s in ("question_clause_linking", "insufficient_evidence")))
            best = max(best, (p, sql), key=lambda x: x[0])
        pairs.append((best[0], log.right.get((line["question"], best[1]), False)))
    return pairs, calls


def learned(o, log, server):
    """Returns the label model's table for the signals of the family, fitted without labels. Each candidate is a
    separate request, so that the model is called for each."""
    path, out = os.path.join(log.work, "each.jsonl"), os.path.join(log.work, "label_model.json")
    repair.write(path, ({**line, "id": f"{line['id']}-{i}", "candidates": [c]} for line in log.lines
                        for i, c in enumerate(line["candidates"])))
    run = subprocess.run([o.assay, "train", "label-model", path, "--db-root", o.db_root, "--out", out, "--llm-endpoint",
                          f"http://127.0.0.1:{server.server_port}/v1",
                          "--llm-model", f"scripted-{server.hit}", "--llm-when", "always"], check=True,
                         capture_output=True, text=True)
    print(f"\nlearned, h {server.hit} (coverage, learned, labelled precision in %):")
    print("\n".join(line for line in run.stdout.splitlines() if line.split()[:1]
                    and line.split()[0] in (*SHARES, "self_check", "lambda_llm")))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("assay", "log", "db-root"): p.add_argument("--" + name, required=True)
    p.add_argument("--order", default="auto")
    p.add_argument("--first", action="store_true", help="leave each question its first candidate alone")
    p.add_argument("--latency", type=float, default=0, help="of the model, in ms")
    p.add_argument("--rates", type=float, nargs="+", default=[0.6, 0.7, 0.8, 0.9, 0.95])
    p.add_argument("--when", nargs="+", default=["always", "0.1:0.95,disagree", "0.3:0.8,disagree", "0.3:0.8"])
    p.add_argument("--learned", action="store_true", help="what the label model learns of the signals, instead")
    p.add_argument("--limit", type=int, default=10**9, help="the first so many questions")
    results.add_option(p)
    o = p.parse_args()
    with tempfile.TemporaryDirectory() as work:
        log = Log(o, work)
        server = Server(log.right, o.latency / 1000)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for server.hit in o.rates if o.learned else (): learned(o, log, server)
        if o.learned: return
        plain, n = log.verdicts(), len(log.lines)
        print("| asked about | EX | AUC | F1 | calls a request |\n| --- | --- | --- | --- | --- |")
        row("nothing", log.answers(plain), 0, n)
        for server.hit in o.rates:
            pairs, calls = everything(log, server, plain)
            row(f"h {server.hit}: everything", pairs, calls, n)
            for when in o.when:
                verdicts = log.verdicts("--llm-endpoint", f"http://127.0.0.1:{server.server_port}/v1", "--llm-model",
                                        f"scripted-{server.hit}",
                                        "--llm-hit-rate", str(server.hit), "--llm-when", when, "--llm-threads", "16")
                row(f"h {server.hit}: {when}", log.answers(verdicts),
                    sum(v["llm"]["calls"] for v in verdicts if v.get("llm")), n)
    results.save(o.csv, ROWS)


if __name__ == "__main__": main()
