#!/usr/bin/python3
"""Simulates the fleet from the measured costs of its parts, at scales that no available machine reaches.

  simulate.py measure BUILD LOG --db-root DIR --out COSTS   costs of this machine and this log, over servers that it
  starts simulate.py check                                         model / measured / error, of the fleet that the costs
  are of simulate.py run NAME|all                                  scenarios at any scale; without a name it lists them

--costs FILE (bench/simulate/costs.json), --seed N, --json. The same seed gives the same output. There are two models.
`engine.py` follows each request (used by check, and for events of members, deadlines and databases). `fluid.py` counts
requests (used for scenarios of any size), and `check` compares it with the first. Parameters are measured at a fifth of
the load and in a flood, or are those of the program. The figures with which `check` compares are not among the
parameters.
"""
import argparse, dataclasses, json, math, os, statistics, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "simulate"))
sys.dont_write_bytecode = True
import engine, fluid
from fluid import Lane, Scenario

CLAIM = 0.20  # required maximum error
MARGIN_S = 2.0  # as in bench/fleet.py
SECONDS, SEEDS = 10, 3  # seconds of open loop at each load, and number of runs, of which the median counts

CONNECT_S = 5.0  # lib/db: seconds until the connection to a silent server fails
UNSHORT = 1000  # cores, if machines have more than they need
DATABASE_S = 0.020  # a database that answers in some 20 ms, for which lagThreshold is set (docs/kubernetes.md)

SCENARIOS = {
    "ten": (Scenario(10, 2, 2), "10/s, two pods of one thread"),
    "thousand": (Scenario(1000, 16, 3), "1,000/s, three coordinators as in `k8s/`"),
    "internet": (Scenario(100000, 800, 128, 2048), "100,000/s"),
    "internet-10000": (Scenario(100000, 10000, 128, 2048, lanes=[Lane(slow_s=DATABASE_S)]),
                       "100,000/s, databases of 20 ms"),
    "internet-as-is": (Scenario(100000, 3000, 3), "100,000/s with the coordinators of `k8s/`"),
    "diurnal": (Scenario(100, 24, 3, swing=0.8, seconds=86400, pods=(2, 2, 12), lanes=[Lane(slow_s=DATABASE_S)]),
                "a day between 20 and 180/s, databases of 20 ms, KEDA's rules of `k8s/`"),
    "region-lost": (Scenario(100000, 800, 128, 2048, seconds=1800, away=(300, 420, 1 / 3)),
                    "brokers of a third of the partitions away for two minutes"),
    "hot-tenant": (Scenario(1000, 32, 3, lanes=[Lane(0.5, threads=0.5, coordinators=1 / 3),
                                                Lane(0.5, threads=0.5, coordinators=2 / 3)]),
                   "half of 1,000/s under one key"),
    "hot-tenant-spread": (Scenario(1000, 32, 3), "the same, its requests under keys of their own"),
    "slow-database": (Scenario(1000, 32, 3, lanes=[Lane(slow_s=0.2, slow_share=0.1)]),
                      "a tenth of 1,000/s asks a database of 200 ms a statement"),
    "slow-database-pool": (Scenario(1000, 128, 3, lanes=[Lane(0.1, slow_s=0.2, threads=0.75), Lane(0.9, threads=0.25)]),
                           "the same with threads of its own, 96 of 128"),
}

# Events, simulated request by request: 100/s on databases of 20 ms, with eight threads and two coordinators. A run
# lasts 40 s, and the event is at the 10th second.
AT_S, LASTS_S = 10.0, 40.0
FAR_S = 0.010
SERVED = {"rate": 100, "threads": 8, "coordinators": 2, "slow_s": DATABASE_S}
OUTAGE = {"away": (AT_S, AT_S + 20), "away_share": 0.1, "away_s": CONNECT_S, "deadline_s": 10.0}


def stop(members, name):
    """Returns an event: all these members stop, so their partitions are unassigned for the measured time."""
    def begin(fleet, costs):
        for member in getattr(fleet, members): fleet.at(AT_S, member.consumer.stop, costs["stops"][name])
    return begin


def coordinator_leaves(fleet, costs):
    fleet.at(AT_S, fleet.coordinators[0].consumer.stop, costs["stops"]["coordinator_leaves"])


def worker_dies(fleet, costs):
    fleet.at(AT_S, fleet.workers[0].die, engine.SESSION_S + costs["stops"]["worker_joins"])
    for worker in fleet.workers[1:]:
        fleet.at(AT_S + engine.SESSION_S, worker.consumer.stop, costs["stops"]["worker_joins"])


def nothing(fleet, costs): pass


EVENTS = {
    "steady": ({}, nothing, "nothing happens"),
    "worker-joins": ({}, stop("workers", "worker_joins"), "a worker joins"),
    "worker-leaves": ({}, stop("workers", "worker_leaves"), "a worker drains and leaves"),
    "worker-dies": ({}, worker_dies, "one of eight is killed, another started"),
    "coordinator-joins": ({}, stop("coordinators", "coordinator_joins"), "a coordinator joins"),
    "coordinator-leaves": ({}, coordinator_leaves, "one of two drains and leaves for good"),
    "overload": ({"rate": 200}, nothing, "200/s, no deadline"),
    "overload-deadline": ({"rate": 200, "deadline_s": 2.0}, nothing, "200/s, deadlines of 2 s"),
    "outage": (OUTAGE, nothing, "a tenth's database says nothing for 20 s; deadlines of 10 s"),
    "outage-refused": ({**OUTAGE, "away_s": 0.0}, nothing, "the same, connections are refused at once"),
    "far": ({"far_s": FAR_S}, nothing, "brokers are far: calls of transactions take 10 ms more"),
    "far-producers": ({"far_s": FAR_S, "producers": 4}, nothing, "the same with `--producers 4`"),
    "outage-no-breaker": ({**OUTAGE, "failures": math.inf}, nothing, "says nothing, tried by each task"),
}


def print_table(rows):
    """Prints rows of cells as Markdown; the first row is the head."""
    for i, row in enumerate(rows):
        print("| " + " | ".join(row) + " |")
        if i == 0: print("|" + " --- |" * len(row))


def percent(share, sign=""): return f"{round(share, 2) + 0.0:{sign},.0%}".replace("%", " %")


def compare(what, model, measured):
    """Compares a model with `measured`: a number, or several windows, of which the median counts."""
    windows = measured if isinstance(measured, list) else [measured]
    middle = statistics.median(windows)
    return {"what": what, "model": model, "measured": middle, "windows": [min(windows), max(windows)],
            "error": model / middle - 1}


def steady_rate(times):
    low, high = min(times) + MARGIN_S, max(times) - MARGIN_S
    return sum(low <= t <= high for t in times) / (high - low)


def of_seeds(seed, value):
    """Returns the median of several runs, because one run of a few seconds varies by chance."""
    return [statistics.median(values) for values in zip(*(value(seed + i) for i in range(SEEDS)))]


def against_fleet(costs, seed, mode):
    """Compares the model with the fleet. Of these figures only a transaction's mean at 20 % and the CPU at 20 % and in
    the flood are parameters; no latency or throughput is."""
    measured, how = costs["measured"][mode], {"cores": costs["machine"]["cores"], "messages": mode}
    def flood(of): return (costs["requests"] / max(engine.flood(costs, of, costs["requests"], **how).times),)
    yield compare(f"`{mode}`: throughput, requests/s", *of_seeds(seed, flood), measured["throughput"])
    for load in ("0.2", "0.5", "0.8"):
        then = measured[load]
        def run(of):
            fleet = engine.open_loop(costs, of, then["rate"], SECONDS, load=float(load), **how)
            return *(engine.quantile(fleet.taken, q) * 1e3 for q in (0.50, 0.95)), fleet.cores.busy / max(fleet.times)
        p50, p95, busy = of_seeds(seed, run)
        for name, model in (("p50", p50), ("p95", p95)):
            yield compare(f"`{mode}`: {name} at {percent(float(load))} load, ms", model,
                          [1e3 * seconds for seconds in then[name]])
        yield compare(f"`{mode}`: cores busy at {percent(float(load))} load, of 100", 1e2 * busy,
                      1e2 * then["rate"] * sum(then["cpu"].values()))


def against_workers(costs, seed):
    """Compares with bench/fleet.py scale: one candidate, one family, a task that sleeps. A run lasts 14 s; its first
    and last MARGIN do not count."""
    mode = costs["modes"]["each"]
    a_task = sum(seconds for _, seconds in costs["work"]) / sum(visits
                                                                for visits, _ in costs["work"]) / costs["families"]
    own = {load: {**parts, "worker": a_task} for load, parts in mode["own_cpu"].items()}
    one = {**costs, "work": [[1, a_task]], "families": 1, "modes": {"each": {**mode, "own_cpu": own}}}
    for row in costs["measured"].get("workers", []):
        times = engine.flood(one, seed, 700 * row["workers"], threads=row["workers"], partitions=48, max_open=1024,
                             slow_s=0.020,
                             slow_threads=0, cores=costs["machine"]["cores"]).times
        yield compare(f"{row['workers']} workers of 20 ms, verdicts/s", steady_rate(times), row["rate"])


def against_producers(costs, seed):
    """Compares with bench/fleet.py far: replies to requests of a transaction are delayed."""
    of = costs["measured"].get("producers", {"rows": []})
    for producers in sorted({row["producers"] for row in of["rows"]}):
        then = [row for row in of["rows"] if row["producers"] == producers]
        load = of["rate"] / statistics.median(costs["measured"][of["messages"]]["throughput"])
        def run(at):
            taken = engine.open_loop(costs, at, of["rate"], of["seconds"], load=load, messages=of["messages"],
                                     threads=of["threads"], max_open=512,
                                     producers=producers, far_s=of["delay_s"], cores=costs["machine"]["cores"]).taken
            return [1e3 * engine.quantile(taken, q) for q in (0.50, 0.95)]
        for name, model in zip(("p50", "p95"), of_seeds(seed, run)):
            yield compare(f"{producers} producers, calls {1e3 * of['delay_s']:.0f} ms longer: {name} at "
                          f"{of['rate']}/s, ms", model,
                          [1e3 * row[name] for row in then])


def against_exact(costs, seed):
    """Compares the counting model with the one that follows each request, whose figures are in the column
    `measured`."""
    for share in (0.2, 0.5, 0.8):
        threads, coordinators, service = 8, 4, fluid.Service(costs, load="full", partitions=12)
        rate = share * service.workers_pass(threads)
        exact = engine.open_loop(costs, seed, rate, 10, cores=1000, threads=threads, partitions=48,
                                 coordinators=coordinators,
                                 max_open=100000, load=1.0, messages=fluid.MESSAGES).taken
        counted = service.still + service.wait(rate, threads, coordinators)
        yield compare(f"mean latency of 8 threads {percent(share)} busy, ms: counted against followed", 1e3 * counted,
                      1e3 * sum(exact) / len(exact))


def check(args, costs):
    parts = [*((against_fleet, mode) for mode in costs["modes"]), (against_workers,), (against_producers,),
             (against_exact,)]
    rows = [row for part, *mode in parts for row in part(costs, args.seed, *mode)]
    if args.json: return print(json.dumps(rows, indent=1))
    errors = [percent(row["error"], "+") for row in rows]
    print_table([("", "model", "measured", "windows", "error")] +
                [(row["what"], f"{row['model']:,.0f}", f"{row['measured']:,.0f}",
                  "" if row["windows"][0] == row["windows"][1] else f"{row['windows'][0]:,.0f} to "
                  f"{row['windows'][1]:,.0f}",
                  error if abs(row["error"]) <= CLAIM else f"**{error}**") for row, error in zip(rows, errors)])


COLUMNS = (  # columns of a scenario and of one of its lanes
    ("requests/s", lambda of, lane: f"{lane['rate']:,.0f}"),
    ("coordinators", lambda of, lane: f"{of.coordinators} of {of.max_open:,}"),
    ("threads", lambda of, lane: "{} to {} pods of {}".format(*lane["pods"], of.pods[0]) if of.pods
     else f"{lane['threads']:,.0f}"),
    ("busy: workers, coordinators", lambda of,
     lane: ", ".join(percent(lane[busy]) for busy in ("busy_workers", "busy_coordinators"))),
    ("mean latency", lambda of, lane: f"{lane['latency_mean_s']:,.2f} s"),
    ("most waiting; at the end", lambda of, lane: f"{lane['most_waiting']:,.0f}; {lane['left']:,.0f}"),
    ("first to break, at", lambda of, lane: f"{lane['first_limit']}, {lane['first_limit_rate']:,.0f}/s"),
)


EVENT_COLUMNS = (
    ("requests/s", lambda of: f"{of['rate']:,.0f}"),
    ("p50, p95, longest of others", lambda of: ", ".join(f"{seconds:,.2f}" for seconds in of["others_s"]) + " s"),
    ("late or without an opinion", lambda of: percent(of["late"])),
    ("breakers opened", lambda of: f"{of['breakers_opened']}"),
)


def run_event(costs, seed, settings, event):
    settings = {**SERVED, **settings}
    how = {name: value for name, value in settings.items() if name != "rate"}
    fleet = engine.begin_open_loop(costs, seed, settings["rate"], LASTS_S, cores=UNSHORT, partitions=24, max_open=512,
                                   load=1.0,
                                   messages=fluid.MESSAGES, **how)
    event(fleet, costs)
    fleet.clock.run()
    assert fleet.verdicts == fleet.started, "a request was lost or judged twice"
    return {"rate": settings["rate"],
            "others_s": [engine.quantile(fleet.others, 0.50), engine.quantile(fleet.others, 0.95), max(fleet.others)],
            "late": fleet.late / fleet.verdicts, "breakers_opened": fleet.breakers_opened}


def run_fluid(costs, chosen, as_json):
    found = {name: {"settings": dataclasses.asdict(SCENARIOS[name][0]), **fluid.run(costs, SCENARIOS[name][0])}
             for name in chosen}
    if as_json: return found
    print_table([("`run`", "", *(head for head, _ in COLUMNS))] +
                [(f"`{name}`", SCENARIOS[name][1] if lane is of["lanes"][0] else "its others",
                  *(cell(SCENARIOS[name][0], lane) for _, cell in COLUMNS))
                 for name, of in found.items() for lane in of["lanes"]])
    parts = fluid.core_hours(costs)
    print(f"\nA million verdicts take {sum(parts.values()):.2f} core hours: " +
          ", ".join(f"{part} {hours:.2f}" for part, hours in parts.items()) + ".\n")
    return found


def run_events(costs, chosen, as_json, seed):
    found = {name: run_event(costs, seed, *EVENTS[name][:2]) for name in chosen}
    if not as_json:
        print_table([("`run`", "", *(head for head, _ in EVENT_COLUMNS))] +
                    [(f"`{name}`", EVENTS[name][2], *(cell(of) for _, cell in EVENT_COLUMNS))
                     for name, of in found.items()])
    return found


def run(args, costs):
    if not args.scenario:
        return print_table([("scenario", "")] + [(name, row[-1]) for name, row in {**SCENARIOS, **EVENTS}.items()])
    if args.scenario != "all" and args.scenario not in {**SCENARIOS, **EVENTS}:
        sys.exit(f"simulate.py: no scenario {args.scenario}; without a name they are listed")
    counted, followed = ([name for name in table if args.scenario in ("all", name)] for table in (SCENARIOS, EVENTS))
    found = {}
    if counted: found.update(run_fluid(costs, counted, args.json))
    if followed: found.update(run_events(costs, followed, args.json, args.seed))
    if args.json: print(json.dumps(found, indent=1))


def measure(args, _):
    import measure as measuring
    measuring.write(args)


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
            command.add_argument("--seconds", type=float, default=10)
            command.add_argument("--rounds", type=int, default=5)
            command.add_argument("--task-messages", choices=engine.MESSAGES, default="each")
            command.add_argument("--what", choices=("loads", "members", "workers", "producers"), default="loads",
                                 help="members: how long requests wait as some join and leave; workers: 1 to 8, BUILD "
                                 "with -DASSAY_MUTATIONS=ON; "
                                      "producers: one and four where brokers are far")
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
