#!/usr/bin/python3
"""The fleet as a model, from what its parts were measured to cost: how it behaves where no machine at hand reaches.

  simulate.py measure BUILD LOG --db-root DIR --out COSTS   costs of this machine and this log, over servers that it starts
  simulate.py check                                         model / measured / error, of the fleet that the costs are of
  simulate.py run NAME|all                                  scenarios at any scale; without a name it lists them

--costs FILE (bench/simulate/costs.json), --seed N, --json. The same seed gives the same answer. Two models: `engine.py` follows each request (check);
`fluid.py` counts them (run), and `check` compares it with the first. Nothing in either is fitted: parameters are measured or the program's own.
"""
import argparse, dataclasses, json, os, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "simulate"))
sys.dont_write_bytecode = True
import engine, fluid
from fluid import Lane, Scenario

CLAIM = 0.20  # the error asked for
MARGIN_S = 2.0  # as in bench/fleet.py
SECONDS = 12  # of open loop at each load, as the measurement's

DATABASE_S = 0.020  # what lagThreshold is made for (docs/kubernetes.md): a database that answers in some 20 ms

SCENARIOS = {
    "ten": (Scenario(10, 2, 2), "10/s, two pods of one thread"),
    "thousand": (Scenario(1000, 16, 3), "1,000/s, three coordinators as in `k8s/`"),
    "internet": (Scenario(100000, 800, 128, 2048), "100,000/s"),
    "internet-10000": (Scenario(100000, 10000, 128, 2048, lanes=[Lane(slow_s=DATABASE_S)]), "100,000/s, databases of 20 ms"),
    "internet-as-is": (Scenario(100000, 3000, 3), "100,000/s with the coordinators of `k8s/`"),
    "diurnal": (Scenario(100, 24, 3, swing=0.8, seconds=86400, pods=(2, 2, 12), lanes=[Lane(slow_s=DATABASE_S)]),
                "a day between 20 and 180/s, databases of 20 ms, KEDA's rules of `k8s/`"),
    "region-lost": (Scenario(100000, 800, 128, 2048, seconds=1800, away=(300, 420, 1 / 3)),
                    "brokers of a third of the partitions away for two minutes"),
    "hot-tenant": (Scenario(1000, 32, 3, lanes=[Lane(0.5, threads=0.5, coordinators=1 / 3), Lane(0.5, threads=0.5, coordinators=2 / 3)]),
                   "half of 1,000/s under one key"),
    "hot-tenant-spread": (Scenario(1000, 32, 3), "the same, its requests under keys of their own"),
    "slow-database": (Scenario(1000, 32, 3, lanes=[Lane(slow_s=0.2, slow_share=0.1)]), "a tenth of 1,000/s asks a database of 200 ms a statement"),
    "slow-database-pool": (Scenario(1000, 128, 3, lanes=[Lane(0.1, slow_s=0.2, threads=0.75), Lane(0.9, threads=0.25)]),
                           "the same with threads of its own, 96 of 128"),
}


def print_table(rows):
    """Rows of cells as Markdown, the first the head."""
    for i, row in enumerate(rows):
        print("| " + " | ".join(row) + " |")
        if i == 0: print("|" + " --- |" * len(row))


def percent(share, sign=""): return f"{round(share, 2) + 0.0:{sign},.0%}".replace("%", " %")


def compare(what, model, measured): return {"what": what, "model": model, "measured": measured, "error": model / measured - 1}


def steady_rate(times):
    low, high = min(times) + MARGIN_S, max(times) - MARGIN_S
    return sum(low <= t <= high for t in times) / (high - low)


def against_fleet(costs, seed):
    measured = costs["measured"]
    cores, requests = costs["machine"]["cores"], 4000
    yield compare("throughput, requests/s", engine.flood(costs, seed, requests, cores=cores), measured["throughput"])
    for share in ("0.2", "0.5", "0.8"):
        then = measured[share]
        taken = engine.open_loop(costs, seed, then["rate"], SECONDS, cores=cores, load=float(share)).taken
        for name, q in (("p50", 0.50), ("p95", 0.95)):
            yield compare(f"{name} at {percent(float(share))} load, ms", engine.quantile(taken, q) * 1e3, then[name] * 1e3)


def against_workers(costs, seed):
    """bench/fleet.py scale: one candidate, one family, a task that sleeps; 14 s of work, whose first and last MARGIN does not count."""
    task = {**costs["task"]["structure"], "a_request": 1.0}
    seconds = engine.Draw(task["seconds"]).moment(1)  # of its thread: its task's, not that of all families
    own, cpu = ({load: {**parts, "worker": seconds} for load, parts in costs.get(key, costs["cpu"]).items()} for key in ("own_cpu", "cpu"))
    one = {**costs, "cpu": cpu, "own_cpu": own, "candidates": [[1, 1.0]], "task": {"structure": task}}
    for row in costs["measured"].get("workers", []):
        times = engine.flood_times(one, seed, 700 * row["workers"], threads=row["workers"], partitions=48, max_open=1024,
                                   slow_s=0.020, cores=costs["machine"]["cores"])
        yield compare(f"{row['workers']} workers of 20 ms, verdicts/s", steady_rate(times), row["rate"])


def against_exact(costs, seed):
    """The counting model against the one that follows each request; here `measured` is the latter."""
    for share in (0.2, 0.5, 0.8):
        threads, coordinators, service = 8, 4, fluid.Service(costs, load="full")
        rate = share * service.workers_pass(threads)
        exact = engine.open_loop(costs, seed, rate, 20, cores=1000, threads=threads, partitions=48, coordinators=coordinators,
                                 max_open=100000, load=1.0).taken
        counted = service.still + service.wait(rate, threads, coordinators)
        yield compare(f"mean latency of 8 threads {percent(share)} busy, ms: counted against followed", 1e3 * counted, 1e3 * sum(exact) / len(exact))


def check(args, costs):
    rows = [row for part in (against_fleet, against_workers, against_exact) for row in part(costs, args.seed)]
    if args.json: return print(json.dumps(rows, indent=1))
    errors = [percent(row["error"], "+") for row in rows]
    print_table([("", "model", "measured", "error")] +
                [(row["what"], f"{row['model']:,.0f}", f"{row['measured']:,.0f}", error if abs(row["error"]) <= CLAIM else f"**{error}**")
                 for row, error in zip(rows, errors)])


COLUMNS = (  # of a scenario and one of its lanes
    ("requests/s", lambda of, lane: f"{lane['rate']:,.0f}"),
    ("coordinators", lambda of, lane: f"{of.coordinators} of {of.max_open:,}"),
    ("threads", lambda of, lane: "{} to {} pods of {}".format(*lane["pods"], of.pods[0]) if of.pods else f"{lane['threads']:,.0f}"),
    ("busy: workers, coordinators", lambda of, lane: ", ".join(percent(lane[busy]) for busy in ("busy_workers", "busy_coordinators"))),
    ("mean latency", lambda of, lane: f"{lane['latency_mean_s']:,.2f} s"),
    ("most waiting; at the end", lambda of, lane: f"{lane['most_waiting']:,.0f}; {lane['left']:,.0f}"),
    ("first to break, at", lambda of, lane: f"{lane['first_limit']}, {lane['first_limit_rate']:,.0f}/s"),
)


def run(args, costs):
    if not args.scenario: return print_table([("scenario", "")] + [(name, said) for name, (_, said) in SCENARIOS.items()])
    if args.scenario != "all" and args.scenario not in SCENARIOS:
        sys.exit(f"simulate.py: no scenario {args.scenario}; without a name they are listed")
    chosen = {name: row[0] for name, row in SCENARIOS.items() if args.scenario in ("all", name)}
    found = {name: {"settings": dataclasses.asdict(of), **fluid.run(costs, of)} for name, of in chosen.items()}
    if args.json: return print(json.dumps(found, indent=1))
    print_table([("`run`", "", *(head for head, _ in COLUMNS))] +
                [(f"`{name}`", SCENARIOS[name][1] if lane is of["lanes"][0] else "its others", *(cell(chosen[name], lane) for _, cell in COLUMNS))
                 for name, of in found.items() for lane in of["lanes"]])
    parts = fluid.core_hours(costs)
    print(f"\nA million verdicts take {sum(parts.values()):.2f} core hours: " +
          ", ".join(f"{part} {hours:.2f}" for part, hours in parts.items()) + ".")


def measure(args, _):
    import measure as measuring
    measuring.write(args.build, args.log, args.db_root, args.seconds, args.out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for does in (measure, check, run):
        command = commands.add_parser(does.__name__)
        command.set_defaults(does=does, costs=None)
        if does is measure:
            command.add_argument("build")
            command.add_argument("log")
            command.add_argument("--db-root", required=True)
            command.add_argument("--seconds", type=float, default=12)
            command.add_argument("--out", required=True)
            continue
        command.add_argument("--costs", default=os.path.join(HERE, "simulate", "costs.json"))
        command.add_argument("--seed", type=int, default=1)
        command.add_argument("--json", action="store_true")
        if does is run: command.add_argument("scenario", nargs="?")
    args = parser.parse_args()
    costs = None
    if args.costs:
        with open(args.costs, encoding="utf-8") as file: costs = json.load(file)
    args.does(args, costs)


if __name__ == "__main__":
    main()
