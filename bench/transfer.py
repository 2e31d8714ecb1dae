#!/usr/bin/env python3
"""Measures what the edit scripts of examples fix: the rows of Table 1 of few-shot correction (Jain and Yang, 2024),
without a model.

  transfer.py --assay build/release/cli/assay --transfer build/release/bench/bench_transfer --examples LOG ... --db-root
  DATABASES
              --log NAME=LOG ... [--mutants N] [--rounds 3] [--wrong] [--gate [--deal]]

Examples are the wrong candidates of the --examples logs with their gold query. --mutants adds so many wrong variants of
each gold query (`assay mutate`). The prediction is each question's first candidate. For each key the nearest examples
are searched, except those of the same question or database. Vectors have hashed words and character trigrams. `hybrid`
combines those of all three texts with BM25 over them, by reciprocal rank. A log may be among its own examples; then
only those of its other databases count. --wrong takes each question's first wrong candidate as the prediction (for logs
whose first candidates are mostly right). The error is the engine's message, or Assay's finding if the query runs. The
output of a method is the first of its queries that executes (`repair_transfer` of the nearest example, then of the
next); without one, the prediction stays.

  failing   the paper's setting: only predictions that do not execute are corrected; its fix rate is the share of them
  set right wrong     every wrong prediction is corrected: the share set right, and (any) how often one of the queries
  given is right broken    every right prediction is corrected as well, since without a judge nobody knows: how many
  become wrong fitting   as 1 and 3 shots, of the 40 nearest examples only those whose script has a place in the query

`names` is one attempt from the error alone: the first query that executes among the proposals for names that do not
bind. Each round corrects the result of the previous round, if that is still wrong.

--gate instead measures the queries as proposals for the first candidate, as from a system that returns one. With --deal
this candidate is right in 72 % of the questions, otherwise wrong. The repairs of `assay replay --repair propose` are
compared with the queries of the five nearest fitting examples (at most 12). The same models judge each query alone. For
each margin the table has fixed / broken, as in bench/repair.py.
"""
import argparse, collections, json, math, os, random, re, subprocess, tempfile, zlib

KEYS = {"error": ("error",), "question": ("question",), "SQL": ("sql",), "question + SQL": ("question", "sql"),
        "question + SQL + error": ("question", "sql", "error")}
ALL = "question + SQL + error"
DEEP, FUSE, CHUNK = 40, 60, 30
RIGHT, MARGINS, SURE, EXAMPLES, TRANSFERRED = 0.72, (0.2, 0.3, 0.4, 0.5, 0.6), 0.5, 5, 12


def read(path):
    with open(path, encoding="utf-8") as file: return [json.loads(line) for line in file if line.strip()]


def write(path, rows):
    with open(path, "w", encoding="utf-8") as file: file.writelines(json.dumps(row) + "\n" for row in rows)


def sql_of(candidate):
    return candidate["sql"] if isinstance(candidate, dict) else candidate


class Bench:
    def __init__(self, o, work):
        self.o, self.work, self.given = o, work, {}

    def path(self, name):
        return os.path.join(self.work, name)

    def labels(self, rows, lists):
        """Returns the label of each query in each list for a question's row, by execution: "ok", "wrong" or "err:
        ..."."""
        chunks = [(i, at) for i, sqls in enumerate(lists) for at in range(0, len(sqls), CHUNK)]
        log, out = self.path("label.jsonl"), self.path("labels.json")
        if not chunks: return [[] for _ in lists]
        write(log, ({"id": str(n), "db": rows[i]["db"], "question": rows[i]["question"], "gold": rows[i]["gold"],
                     "candidates": [{"sql": sql} for sql in lists[i][at:at + CHUNK]]}
                    for n, (i, at) in enumerate(chunks)))
        subprocess.run([self.o.assay, "eval", log, "--db-root", self.o.db_root, "--labels", out, "--explain=no",
                        "--bootstrap", "0"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(out, encoding="utf-8") as file: found = json.load(file)
        result = [[] for _ in lists]
        for (i, _), row in zip(chunks, found): result[i] += row
        return result

    def verdicts(self, rows, sqls, *options):
        """Returns the verdicts on each row's query alone."""
        log, out = self.path("judge.jsonl"), self.path("verdicts.jsonl")
        write(log, ({"id": str(i), "db": row["db"], "question": row["question"], "candidates": [{"sql": sql}]}
                    for i, (row, sql) in enumerate(zip(rows, sqls))))
        subprocess.run([self.o.assay, "replay", log, "--db-root", self.o.db_root, "--out", out, "--force", *options],
                       check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found = {v["id"]: v for v in read(out)}
        return [found.get(str(i), {}) for i in range(len(rows))]

    def errors(self, rows, sqls, labels):
        """Returns the engine's message, or Assay's finding if the query runs."""
        for verdict, label in zip(self.verdicts(rows, sqls), labels):
            if label.startswith("err:"): yield label[4:]
            else:
                candidates = verdict.get("candidates") or [{}]
                yield " ".join(f"{f.get('signal', '')} {f.get('message', '')}"
                               for f in candidates[0].get("findings") or [])

    def transfer(self, tasks):
        """Runs the tasks (row, sql, examples) whose results are not cached."""
        missing = [(row, sql, [e for e in examples if (row["key"], sql, e["n"]) not in self.given])
                   for row, sql, examples in tasks]
        missing = [task for task in missing if task[2] or (task[0]["key"], task[1]) not in self.given]
        path = self.path("tasks.jsonl")
        write(path, ({"db": row["db"], "sql": sql, "question": row["question"],
                      "examples": [{"db": e["db"], "question": e["question"], "wrong": e["sql"], "right": e["gold"]}
                                   for e in examples]}
                     for row, sql, examples in missing))
        out = subprocess.run([self.o.transfer, path, "--db-root", self.o.db_root], check=True, capture_output=True,
                             text=True)
        for (row, sql, examples), line in zip(missing, out.stdout.splitlines()):
            answer = json.loads(line)
            self.given[row["key"], sql] = answer["names"]
            for example, sqls in zip(examples, answer["transfers"]): self.given[row["key"], sql, example["n"]] = sqls
        return out.stderr.strip()

    def own(self, examples):
        """Counts the examples whose script, applied to their own wrong query, gives the right query (equal normal
        forms)."""
        path = self.path("own.jsonl")
        write(path, ({"db": e["db"], "sql": e["sql"], "question": e["question"], "examples":
                      [{"db": e["db"], "question": e["question"], "wrong": e["sql"], "right": e["gold"]}]}
                     for e in examples))
        out = subprocess.run([self.o.transfer, path, "--db-root", self.o.db_root], check=True, capture_output=True,
                             text=True).stdout
        return sum(json.loads(line)["same"] == [True] for line in out.splitlines())

    def examples(self):
        rows, lists = [], []
        for log in self.o.examples:
            lines = [line for line in read(log) if line.get("gold")]
            rows += [line for line in lines if line.get("candidates")]
            lists += [[sql_of(c) for c in line["candidates"]] for line in lines if line.get("candidates")]
            if not self.o.mutants: continue
            made = subprocess.run([self.o.assay, "mutate", log, "-n", str(self.o.mutants), "--seed", "5", "--db-root",
                                   self.o.db_root],
                                  check=True, capture_output=True, text=True).stdout
            made = {m["id"]: [sql_of(c) for c in m.get("candidates", [])] for m in map(json.loads, made.splitlines())}
            rows += [line for line in lines if line["id"] in made]
            lists += [made[line["id"]] for line in lines if line["id"] in made]
        found, seen = [], set()
        for row, sqls, labels in zip(rows, lists, self.labels(rows, lists)):
            for sql, label in zip(sqls, labels):
                if label == "ok" or (row["question"], sql) in seen: continue
                seen.add((row["question"], sql))
                found.append({**{k: row[k] for k in ("db", "question", "gold")}, "sql": sql, "label": label,
                              "n": len(found)})
        for example, error in zip(found, self.errors(found, [e["sql"] for e in found], [e["label"] for e in found])):
            example["error"] = error
        return found


# --- looking up ---

def words(text):
    return re.findall(r"[a-z]+|[0-9]+|[^\sa-z0-9_]", text.lower())


def features(texts):
    """Returns hashed words and trigrams of each text, separately."""
    counts = collections.Counter()
    for name, text in texts:
        for word in words(text):
            counts[zlib.crc32(f"{name}:{word}".encode())] += 1
            padded = f"#{word}#"
            for i in range(len(padded) - 2): counts[zlib.crc32(f"{name}~{padded[i:i + 3]}".encode())] += 0.5
    return counts


class Index:
    """Cosine similarity of tf-idf vectors. A feature of more than a third of the examples is ignored."""
    def __init__(self, examples, fields):
        self.fields, self.lists = fields, collections.defaultdict(list)
        vectors = [features((f, e[f]) for f in fields) for e in examples]
        n = len(vectors)
        df = collections.Counter(f for v in vectors for f in v)
        self.idf = {f: math.log(n / c) for f, c in df.items() if c <= n / 3 or n < 50}
        for i, v in enumerate(vectors):
            norm = math.sqrt(sum((w * self.idf.get(f, 0)) ** 2 for f, w in v.items())) or 1
            for f, w in v.items():
                if f in self.idf: self.lists[f].append((i, w * self.idf[f] / norm))

    def ranked(self, row):
        scores = collections.defaultdict(float)
        for f, w in features((name, row[name]) for name in self.fields).items():
            if f in self.idf:
                for i, other in self.lists[f]: scores[i] += w * self.idf[f] * other
        return sorted(scores, key=lambda i: (-scores[i], i))


class Bm25:
    def __init__(self, examples, fields, k=1.2, b=0.75):
        self.fields, self.lists = fields, collections.defaultdict(list)
        bags = [collections.Counter(w for f in fields for w in words(e[f])) for e in examples]
        mean = sum(map(len, bags)) / max(1, len(bags))
        df = collections.Counter(w for bag in bags for w in bag)
        for i, bag in enumerate(bags):
            for w, tf in bag.items():
                idf = math.log(1 + (len(bags) - df[w] + 0.5) / (df[w] + 0.5))
                if df[w] <= len(bags) / 3:
                    self.lists[w].append((i, idf * tf * (k + 1) / (tf + k * (1 - b + b * len(bag) / mean))))

    def ranked(self, row):
        scores = collections.defaultdict(float)
        for w in {w for f in self.fields for w in words(row[f])}:
            for i, score in self.lists.get(w, ()): scores[i] += score
        return sorted(scores, key=lambda i: (-scores[i], i))


class Store:
    def __init__(self, examples):
        self.examples = examples
        self.indexes = {key: Index(examples, fields) for key, fields in KEYS.items()}
        self.bm25 = Bm25(examples, KEYS[ALL])

    def nearest(self, row):
        """Returns the nearest examples for each key. The list is long enough for every table; shorter lists are its
        beginnings."""
        own = lambda i: self.examples[i]["db"] == row["db"] or self.examples[i]["question"].lower() == row[
            "question"].lower()
        lists = {key: [i for i in index.ranked(row) if not own(i)][:DEEP] for key, index in self.indexes.items()}
        both = collections.defaultdict(float)
        for ranking in (lists[ALL], [i for i in self.bm25.ranked(row) if not own(i)][:DEEP]):
            for place, i in enumerate(ranking): both[i] += 1 / (FUSE + place)
        lists["hybrid with BM25"] = sorted(both, key=lambda i: (-both[i], i))[:DEEP]
        return {key: [self.examples[i] for i in found] for key, found in lists.items()}


# --- the table ---

SHOTS = {"1 shot": 1, "3 shots": 3, "1 fitting": 1, "3 fitting": 3}


def queries(bench, row, sql, examples, shots):
    given = [bench.given[row["key"], sql, e["n"]] for e in examples]
    if shots.endswith("fitting"): given = [sqls for sqls in given if sqls]
    return list(dict.fromkeys(q for sqls in given[:SHOTS[shots]] for q in sqls))


def first_executing(labels, sqls):
    return next((sql for sql in sqls if not labels[sql].startswith("err:")), None)


def first_wrong(bench, rows):
    """Returns the rows that have a wrong candidate, with that one first."""
    labels = bench.labels(rows, [[sql_of(c) for c in row["candidates"]] for row in rows])
    for row, found in zip(rows, labels):
        at = next((i for i, label in enumerate(found) if label != "ok"), None)
        if at is not None: yield {**row, "candidates": row["candidates"][at:]}


def prepare(bench, rows, sqls, labels):
    for row, sql, error in zip(rows, sqls, bench.errors(rows, sqls, labels)): row.update(sql=sql, error=error)
    nearest = [bench.store.nearest(row) for row in rows]
    told = bench.transfer([(row, sql, list({e["n"]: e for found in near.values() for e in found}.values()))
                           for row, sql, near in zip(rows, sqls, nearest)])
    lists = [list(dict.fromkeys(bench.given[row["key"], sql] + [q for near in found.values() for e in near
                                                                for q in bench.given[row["key"], sql, e["n"]]]))
             for row, sql, found in zip(rows, sqls, nearest)]
    known = [dict(zip(sqls_, labels_)) for sqls_, labels_ in zip(lists, bench.labels(rows, lists))]
    return nearest, known, told


def methods(keys):
    yield "names", None, None
    for key in keys:
        for shots in SHOTS: yield key, key, shots


def outcome(bench, row, sql, near, known, key, shots):
    """Returns the label of a method's output, and whether any of its queries is right."""
    sqls = bench.given[row["key"], sql] if key is None else queries(bench, row, sql, near[key], shots)
    first = first_executing(known, sqls)
    return known[first] if first else None, any(known[q] == "ok" for q in sqls), first


def table(bench, name, rows, labels):
    sqls = [sql_of(row["candidates"][0]) for row in rows]
    nearest, known, told = prepare(bench, rows, sqls, labels)
    n, right = len(rows), sum(label == "ok" for label in labels)
    failing, wrong = sum(label.startswith("err:") for label in labels), n - right
    print(f"\n{name}: {n} predictions, {right} right, {wrong} wrong, {failing} of them do not execute. {told}\n")
    print("| correction | shots | EX, failing ones corrected | fixed of failing | EX, wrong ones corrected | fixed of "
          "wrong | any right | broken of right |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    print(f"| none | | {100 * right / n:.1f} | 0 | {100 * right / n:.1f} | 0 | 0 | 0 |")
    for title, key, shots in methods(nearest[0]):
        mended = fixed = possible = broken = 0
        for row, sql, near, labels_of, label in zip(rows, sqls, nearest, known, labels):
            after, any_right, _ = outcome(bench, row, sql, near, labels_of, key, shots)
            mended += label.startswith("err:") and after == "ok"
            fixed += label != "ok" and after == "ok"
            possible += label != "ok" and any_right
            broken += label == "ok" and after is not None and after != "ok"
        print(f"| {title} | {shots or ''} | {100 * (right + mended) / n:.1f} | {mended} "
              f"({100 * mended / max(1, failing):.1f} %) | "
              f"{100 * (right + fixed) / n:.1f} | {fixed} ({100 * fixed / max(1, wrong):.1f} %) | {possible} "
              f"({100 * possible / max(1, wrong):.1f} %) | {broken} |", flush=True)


def rounds(bench, name, rows, labels, key="hybrid with BM25", shots="3 shots"):
    """Corrects only the wrong ones, several times."""
    left = [(row, sql_of(row["candidates"][0]), label) for row, label in zip(rows, labels) if label != "ok"]
    done, total = 0, len(left)
    for turn in range(1, bench.o.rounds + 1):
        if not left: break
        turned, sqls, found = ([entry[i] for entry in left] for i in range(3))
        nearest, known, _ = prepare(bench, turned, sqls, found)
        left = []
        for row, sql, near, labels_of, label in zip(turned, sqls, nearest, known, found):
            after, _, query = outcome(bench, row, sql, near, labels_of, key, shots)
            done += after == "ok"
            if query and after != "ok": left.append((row, query, after))
        print(f"{name}, {key}, {shots}: after round {turn} {done} of {total} wrong ones fixed; {len(left)} changed and "
              "still wrong", flush=True)


# --- as proposals ---

def deal(bench, rows):
    """Deals one query for each question; a share RIGHT of them is right."""
    rng = random.Random(5)
    for row, labels in zip(rows, bench.labels(rows, [[sql_of(c) for c in row["candidates"]] for row in rows])):
        right = [i for i, label in enumerate(labels) if label == "ok"]
        wrong = [i for i, label in enumerate(labels) if label != "ok"]
        if not right or not wrong: continue
        pick = rng.choice(right if rng.random() < RIGHT else wrong)
        yield {**row, "candidates": [row["candidates"][pick]]}


def p_of(verdict):
    candidates = verdict.get("candidates") or [{}]
    return candidates[0].get("p_correct")


def surest(bench, rows, sqls):
    """Returns the query with the highest P among those that examples give, with its P."""
    nearest = [bench.store.nearest(row)["hybrid with BM25"] for row in rows]
    bench.transfer([(row, sql, near) for row, sql, near in zip(rows, sqls, nearest)])
    given = []
    for row, sql, near in zip(rows, sqls, nearest):
        lists = [found for found in (bench.given[row["key"], sql, e["n"]] for e in near) if found][:EXAMPLES]
        places = (found[i] for i in range(4) for found in lists if i < len(found))
        given.append(list(dict.fromkeys(places))[:TRANSFERRED])
    flat = [(i, sql) for i, found in enumerate(given) for sql in found]
    judged = [p_of(v) for v in bench.verdicts([rows[i] for i, _ in flat], [sql for _, sql in flat])]
    best = [(0, None)] * len(rows)
    for (i, sql), p in zip(flat, judged): best[i] = max(best[i], (p or 0, sql), key=lambda x: x[0])
    return best


def gate(bench, name, rows):
    if bench.o.deal: rows = list(deal(bench, rows))
    labels = [found[0] for found in bench.labels(rows, [[sql_of(row["candidates"][0])] for row in rows])]
    sqls = [sql_of(row["candidates"][0]) for row in rows]
    verdicts = bench.verdicts(rows, sqls, "--repair", "propose", "--repair-margin", "0.001")
    repairs = [v.get("repair") or {} for v in verdicts]
    old = [r["p_old"] if r else p_of(v) for r, v in zip(repairs, verdicts)]
    own = [(r.get("p_correct") or 0, r.get("sql")) for r in repairs]
    for row, sql, error in zip(rows, sqls, bench.errors(rows, sqls, labels)): row.update(sql=sql, error=error)
    other = surest(bench, rows, sqls)
    arms = {"single edits": own, "examples": other, "both": [max(x, y, key=lambda z: z[0]) for x, y in zip(own, other)]}
    print(f"\n{name}: {len(rows)} queries, {sum(label == 'ok' for label in labels)} right\n\n| margin | "
          f"{' | '.join(arms)} |\n| --- |{' --- |' * len(arms)}")
    right = {arm: bench.labels(rows, [[sql] if sql else [] for _, sql in found]) for arm, found in arms.items()}
    for margin in MARGINS:
        cells = []
        for arm, found in arms.items():
            changed = [i for i, (p, sql) in enumerate(found) if sql and p >= SURE
                       and (old[i] is None or p - old[i] >= margin)]
            fixed = sum(labels[i] != "ok" and right[arm][i][0] == "ok" for i in changed)
            cells.append(f"{fixed} / {sum(labels[i] == 'ok' and right[arm][i][0] != 'ok' for i in changed)} of "
                         f"{len(changed)}")
        print(f"| {margin} | {' | '.join(cells)} |", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag in ("assay", "transfer", "db-root"): p.add_argument("--" + flag, required=True)
    p.add_argument("--examples", required=True, nargs="+", metavar="LOG")
    p.add_argument("--log", required=True, action="append", metavar="NAME=LOG")
    p.add_argument("--mutants", type=int, default=0, help="slips of each gold query of the examples' logs, as "
                   "examples too")
    p.add_argument("--rounds", type=int, default=0)
    p.add_argument("--gate", action="store_true", help="what they are worth as proposals")
    p.add_argument("--deal", action="store_true", help="--gate: not of the first candidates, but of right and "
                   "wrong ones")
    p.add_argument("--wrong", action="store_true", help="the prediction is the first wrong candidate; questions "
                   "without one are left out")
    p.add_argument("--limit", type=int, default=10**9, help="the first so many questions")
    o = p.parse_args()
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(o, work)
        examples = bench.examples()
        print(f"{len(examples)} examples, {sum(e['label'].startswith('err:') for e in examples)} of them of queries "
              "that do not execute; "
              f"the script gives the right query of its own wrong one for {bench.own(examples)}")
        bench.store = Store(examples)
        for name, log in (entry.split("=") for entry in o.log):
            rows = [{**line, "key": f"{name}:{i}"} for i, line in enumerate(read(log)) if line.get("candidates")
                    and line.get("gold")][:o.limit]
            if o.gate:
                gate(bench, name, rows)
                continue
            if o.wrong: rows = list(first_wrong(bench, rows))
            labels = [label[0] for label in bench.labels(rows, [[sql_of(row["candidates"][0])] for row in rows])]
            table(bench, name, rows, labels)
            rounds(bench, name, rows, labels)


if __name__ == "__main__": main()
