#!/usr/bin/env python3
"""Replays the cases of tests/data/blind and counts those that pass.

  cases.py --assay build/release/cli/assay [--postgres DSN] [--mariadb URL] [--list] [FILE.jsonl ...]

A case is a schema with data, a question, a right query and mostly a wrong one. DSN and URL name a server on which
databases can be created, such as those of tests/live/servers.sh. Cases of an engine without a server are skipped.
"""
import argparse, collections, hashlib, json, os, subprocess, tempfile

import gold

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "data", "blind")
FILES = ["mended.jsonl", "unread.jsonl"]
ALL = ["right_ok", "right_clean", "wrong_flagged", "wrong_reason", "order"]
RIGHT = ["right_runs", "right_ok", "right_clean"]


def judge(a, database, case, queries):
    args = [a.assay, "check", "--db", database, "--question", case["question"], "--format", "jsonl"]
    if case.get("evidence"): args += ["--evidence", case["evidence"]]
    out = subprocess.run([*args, "--", *queries], capture_output=True, text=True)
    return json.loads(out.stdout.strip().splitlines()[-1])


def findings(verdict):
    return [f for c in verdict["candidates"] for f in c.get("findings") or []]


def says_all(finding, words):
    text = " ".join([finding["message"], *(c["text"] for c in finding["clauses"])]).lower()
    return all(word.lower() in text for word in words)


def check(a, database, case):
    """Returns the result of each check by its name."""
    right, wrong = case["right"], case.get("wrong")
    alone = judge(a, database, case, [right])
    refused = not alone["candidates"] or bool((alone["candidates"][0]["execution"] or {}).get("error"))
    result = {"right_runs": not refused, "right_ok": alone["status"] == "validated",
              "right_clean": all(f["severity"] == "note" for f in findings(alone))}
    if wrong:
        alone, words = judge(a, database, case, [wrong]), case.get("says", [])
        reason = any(says_all(f, words) for f in findings(alone)) if words else True
        chosen = [judge(a, database, case, pair).get("chosen") for pair in ([right, wrong], [wrong, right])]
        result |= {"wrong_reason": reason, "order": chosen == [0, 1],
                   "wrong_flagged": alone["status"] != "validated" or (bool(words) and reason)}
    return result


def measure(a, path):
    count, databases = collections.Counter(), {}
    with open(path, encoding="utf-8") as f, tempfile.TemporaryDirectory() as folder:
        for case in map(json.loads, f):
            engine = case["engine"]
            if engine != "sqlite" and not getattr(a, engine):
                count["skipped"] += 1
                continue
            script = case["schema"] + "\n" + case["data"]
            name = "c" + hashlib.sha1((engine + script).encode()).hexdigest()[:12]
            if name not in databases: databases[name] = gold.MAKE[engine](a, name, script, folder)
            result = check(a, databases[name], case)
            wanted = case.get("expect") or (ALL if case.get("wrong") else RIGHT)
            failed = [check for check in wanted if not result.get(check)]
            count["failed" if failed else "passed"] += 1
            if failed and a.list: print(f"{case['id']}: {case['kind']}: {', '.join(failed)}")
    print(f"{os.path.basename(path)}: {count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--assay", required=True)
    p.add_argument("--postgres")
    p.add_argument("--mariadb")
    p.add_argument("--list", action="store_true", help="print the cases that fail, with the checks that fail")
    p.add_argument("files", nargs="*", help="instead of the files of tests/data/blind")
    a = p.parse_args()
    for path in a.files or [os.path.join(FOLDER, name) for name in FILES]: measure(a, path)


if __name__ == "__main__": main()
