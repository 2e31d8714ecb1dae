#!/usr/bin/env python3
"""Makes logs of the business corpus.

  log.py [--times 2] > business.jsonl              a training log; it leaves out the databases of HELD
  log.py --pairs choosing > pairs.jsonl            pairs for bench/pairs.py of a held-out set, or of "training"
  log.py --databases DIR                           builds DIR/NAME/NAME.sqlite of every database

A question of the training log has all its queries as candidates, and its first right query as gold. The twin of a
wrong query is a separate question. Its gold is that query, and the right queries of the original are candidates. A line
is written --times times, because its mutants differ each time.
"""
import argparse, json, os, sys
import corpus


def names_of(which):
    held = {name for names in corpus.HELD.values() for name in names}
    wanted = set(corpus.names()) - held if which == "training" else corpus.HELD[which]
    return [name for name in corpus.names() if name in wanted]


def questions_of(name):
    """Yields (id, question, evidence, gold, other queries) for each question and twin."""
    for q in corpus.read(name):
        yield q.id, q.question, q.evidence, q.right[0], q.right[1:] + [w.sql for w in q.wrong]
        for n, w in enumerate(q.wrong):
            if not w.twin: continue
            others = q.right + [other.sql for other in q.wrong if other is not w]
            yield f"{q.id}/twin{n}", w.twin, w.twin_evidence or q.evidence, w.sql, others


def line_of(name, id, question, evidence, **more):
    out = {"id": id, "db": name, "question": question, **more}
    if evidence: out["evidence"] = evidence
    return json.dumps(out, ensure_ascii=False)


def write_log(out, times):
    for name in names_of("training"):
        for id, question, evidence, gold, others in questions_of(name):
            for copy in range(times):
                out.write(line_of(name, f"{id}/{copy}", question, evidence, gold=gold,
                                  candidates=[{"sql": sql} for sql in [gold] + others]) + "\n")


def write_pairs(out, which):
    for name in names_of(which):
        for q in corpus.read(name):
            for n, w in enumerate(q.wrong):
                right = q.right[n % len(q.right)]
                queries = {"right": right, "wrong": w.sql}
                out.write(line_of(name, f"{q.id}/{n}", q.question, q.evidence, kind=w.kind, **queries) + "\n")
                if not w.twin: continue
                queries = {"right": w.sql, "wrong": right}
                evidence = w.twin_evidence or q.evidence
                out.write(line_of(name, f"{q.id}/{n}t", w.twin, evidence, kind=w.kind, **queries) + "\n")


def build_all(folder):
    for name in corpus.names():
        os.makedirs(os.path.join(folder, name), exist_ok=True)
        path = os.path.join(folder, name, name + ".sqlite")
        if os.path.exists(path): os.remove(path)
        corpus.build(name, path).close()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--times", type=int, default=2, help="how often each line is written")
    p.add_argument("--pairs", choices=["training", *corpus.HELD], help="write the pairs of a set instead")
    p.add_argument("--databases", metavar="DIR", help="build the databases instead")
    o = p.parse_args()
    if o.databases: build_all(o.databases)
    elif o.pairs: write_pairs(sys.stdout, o.pairs)
    else: write_log(sys.stdout, o.times)


if __name__ == "__main__": main()
