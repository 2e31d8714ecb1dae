#!/usr/bin/env python3
"""Measures the time of a start of `assay check`. Programs alternate on one question over a sample database, with the
binary form of the models beside the JSON, as installed.

  start.py BUILD/cli/assay... [--rounds N] [-- ARGUMENT...]

Arguments after -- replace the check (`-- version`). The binary form is that of the program's build (target
binary_models); $ASSAY_MODELS overrides it. Prints medians in milliseconds: of the time from before the fork until the
program has ended, and of processor time. /bin/true shows the minimum for any program.
"""
import argparse, os, pathlib, resource, shutil, sqlite3, statistics, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "deploy/samples/ferries.sql"
QUESTION = ["--question", "How many vessels are there?", "SELECT count(vessel_id) FROM vessel",
            "SELECT sum(vessel_id) FROM vessel"]


def make_database(path):
    with sqlite3.connect(path) as connection:
        connection.executescript(SAMPLE.read_text())
    return str(path)


def environment(program, models):
    """Returns an environment in which the models are found as if they were installed with this program."""
    binary = list((pathlib.Path(program).resolve().parents[1] / "lib/learn").glob("*.bin"))
    if "ASSAY_MODELS" in os.environ or not binary:
        return os.environ
    shutil.copytree(ROOT / "models", models)
    for file in binary:
        shutil.copy(file, models)
    return {**os.environ, "ASSAY_MODELS": str(models)}


def start(program, arguments, env):
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([program, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env)
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{program}: exit status {done.returncode}: {done.stderr.decode(errors='replace')}")
    return wall * 1e3, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--rounds", type=int, default=50)
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    asked, instead = parser.parse_args(sys.argv[1:split]), sys.argv[split + 1:]
    with tempfile.TemporaryDirectory() as home:
        arguments = instead or ["check", "--db", make_database(pathlib.Path(home, "ferries.sqlite")), *QUESTION]
        turns = [("/bin/true", os.environ), *((program, environment(program, pathlib.Path(home, str(i))))
                                              for i, program in enumerate(asked.programs))]
        times = [[] for _ in turns]
        for at in range(asked.rounds + 1):
            for (program, env), taken in zip(turns, times):
                found = start(program, arguments, env)
                if at:  # the first run only reads the files into memory
                    taken.append(found)
    print("| program | ms | CPU, ms |\n| --- | --- | --- |")
    for (program, _), taken in zip(turns, times):
        print(f"| {program} | {statistics.median(wall for wall, _ in taken):.1f} | "
              f"{statistics.median(cpu for _, cpu in taken):.1f} |")


if __name__ == "__main__":
    main()
