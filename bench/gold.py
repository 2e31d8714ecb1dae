#!/usr/bin/env python3
"""Counts false alarms on the right queries of tests/data/gold: those with an error finding, and those not validated.

  gold.py --assay build/release/cli/assay [--postgres DSN] [--mariadb URL] [--list] [sqlite|postgres|mariadb ...]

Each database is created from its script. DSN and URL name a server on which databases can be created, such as those of
tests/live/servers.sh. An engine without a server is skipped, with a message.
"""
import argparse, collections, json, os, sqlite3, subprocess, sys, tempfile

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "data", "gold")


def run(args, **more):
    return subprocess.run(args, check=True, capture_output=True, text=True, **more)


def make_sqlite(a, name, script, folder):
    path = os.path.join(folder, name + ".sqlite")
    db = sqlite3.connect(path)
    db.executescript(script)
    db.close()
    return path


def make_postgres(a, name, script, folder):
    run(["psql", "-q", a.postgres, "-c", f"DROP DATABASE IF EXISTS {name}"])
    run(["psql", "-q", a.postgres, "-c", f"CREATE DATABASE {name}"])
    dsn = a.postgres.replace("dbname=postgres", f"dbname={name}")
    run(["psql", "-q", "-v", "ON_ERROR_STOP=1", dsn], input=script + "\nANALYZE;")
    return dsn


def make_mariadb(a, name, script, folder):
    user, at = a.mariadb.split("//")[1].split("@")
    host, port = at.rstrip("/").split(":")
    client = ["mariadb", "--no-defaults", "-h", host, "-P", port, "-u", user.split(":")[0], "--skip-ssl"]
    run(client, input=f"DROP DATABASE IF EXISTS {name}; CREATE DATABASE {name}; USE {name};\n{script}")
    return a.mariadb + name


MAKE = {"sqlite": make_sqlite, "postgres": make_postgres, "mariadb": make_mariadb}


def judge(a, database, line):
    args = [a.assay, "check", "--db", database, "--question", line["question"], "--format", "jsonl"]
    if line.get("evidence"): args += ["--evidence", line["evidence"]]
    out = subprocess.run([*args, "--", line["sql"]], capture_output=True, text=True)
    verdict = json.loads(out.stdout.strip().splitlines()[-1])
    candidate = verdict["candidates"][0] if verdict["candidates"] else {"findings": [], "execution": None}
    failed = not verdict["candidates"] or bool((candidate["execution"] or {}).get("error"))
    return verdict["status"], candidate["findings"], failed


def measure(a, engine):
    with open(os.path.join(FOLDER, engine + ".jsonl"), encoding="utf-8") as f: lines = [json.loads(line) for line in f]
    databases, signals = {}, collections.Counter()
    alarmed = valid = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        for line in lines:
            if line["db"] not in databases:
                with open(os.path.join(FOLDER, engine, line["db"] + ".sql"), encoding="utf-8") as f:
                    databases[line["db"]] = MAKE[engine](a, line["db"], f.read(), folder)
            status, findings, failed = judge(a, databases[line["db"]], line)
            errors = [f for f in findings if f["severity"] == "error"]
            alarmed, valid, refused = alarmed + bool(errors), valid + (status == "validated"), refused + failed
            signals.update({f["signal"] for f in errors})
            for f in findings if a.list else ():
                if f["severity"] == "note": continue
                clauses = "; ".join(c["text"] for c in f["clauses"])
                print(f"{line['id']} {f['severity']} {f['signal']}: {f['message']} [{clauses}]")
                print(f"    {line['question']}\n    {line['sql']}")
    n = len(lines)
    print(f"| {engine} | {n} | {100 * alarmed / n:.1f} | {100 * valid / n:.1f} | {refused} | "
          + ", ".join(f"{s} {k}" for s, k in signals.most_common()) + " |")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--assay", required=True)
    p.add_argument("--postgres")
    p.add_argument("--mariadb")
    p.add_argument("--list", action="store_true", help="print each warning and error")
    p.add_argument("engines", nargs="*", default=list(MAKE))
    a = p.parse_args()
    print("| engine | right queries | with an error % | validated % | not run | errors by signal |")
    print("| --- | --- | --- | --- | --- | --- |")
    for engine in a.engines or MAKE:
        if engine != "sqlite" and not getattr(a, engine): print(f"{engine}: skipped, no server is given")
        else: measure(a, engine)


if __name__ == "__main__":
    sys.exit(main())
