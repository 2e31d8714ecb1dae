"""Faults of a fleet. Each is a function of a Run (run.py) that runs while requests arrive.

A fault draws only from run.rng, so that a seed repeats its choices, and logs each action with its time through run.log.
A fault ends in a recoverable state: paused processes continue, and stopped ones are running.
"""
import signal
import time

import callers
import generate
import topics
from proxy import (
    ADD_OFFSETS,
    ADD_PARTITIONS,
    CUT,
    DELAY,
    END_TXN,
    FETCH,
    HEARTBEAT,
    HOLD,
    PRODUCE,
    SPOIL,
    SWALLOW,
    TXN_OFFSET_COMMIT,
    WAIT,
    Rule,
)
from ports import free_ports
from wait import wait_until

GROUP = "assay-coordinator"
SEEN_S = 60  # by then every expected event has been observed


def nothing(run):
    """The control. Without a fault every check must pass, and no work may be repeated."""


# --- our processes ---


def kill_any(part, least_s=1.0, most_s=4.0):
    def kill(run):
        while run.wait(run.rng.uniform(least_s, most_s)):
            run.kill(run.rng.choice(run.fleet.names(part)))

    return kill


def pause(part, seconds):
    """SIGSTOP: no data is lost, but when the stopped process continues, another one has taken over."""

    def freeze(run):
        while run.wait(run.rng.uniform(1, 3)):
            run.pause(run.rng.choice(run.fleet.names(part)), seconds)

    return freeze


def terminate_any(run):
    """SIGTERM at every stage; each process restarts."""
    while run.wait(run.rng.uniform(0.3, 2)):
        name = run.rng.choice(run.fleet.names(""))
        run.log(f"SIGTERM to {name}")
        run.fleet.stop(name)
        run.fleet.start(name)


def storm(run):
    """Workers and coordinators join and leave every second."""
    extra = [run.fleet.coordinator("coordinator-x"), run.fleet.worker("worker-x", "--threads", "1")]
    while run.wait(1):
        place = run.rng.choice(extra)
        if not place.wanted:
            run.log(f"{place.name} joins")
            run.fleet.start(place.name)
        elif run.rng.random() < 0.5:
            run.log(f"{place.name} leaves")
            run.fleet.stop(place.name)
        else:
            run.kill(place.name, stay_dead=True)
    for place in extra:
        run.fleet.stop(place.name)


def kill_behind_callers(run):
    """Callers over HTTP, while coordinators die and replicas start and stop."""
    ports = free_ports(2)
    replicas = [run.fleet.serve(f"serve-{i}", port) for i, port in enumerate(ports)]
    run.callers = callers.Callers(ports, run.seed, run.directory.name, run.over)
    while run.wait(run.rng.uniform(1, 3)):
        if run.rng.random() < 0.5:
            run.kill(run.rng.choice(run.fleet.names("coordinator")))
        elif run.rng.random() < 0.5:
            run.kill(run.rng.choice(replicas).name)
        else:
            name = run.rng.choice(replicas).name
            run.log(f"SIGTERM to {name}")
            run.fleet.stop(name)
            run.fleet.start(name)
    run.callers.join()


def jump_clock(run):
    """The wall clock of our processes jumps ahead by an hour, and back."""
    ahead = 0
    while run.wait(2):
        ahead += run.rng.choice([3600, 60, -5, -3600])
        run.set_clock(ahead)


# --- servers ---


def restart_server(name, down_s=2.0):
    """Kills a server with SIGKILL and restarts it on its old data."""

    def restart(run):
        run.wait(run.rng.uniform(2, 4))
        run.log(f"kill -9 {name}")
        run.servers.do("kill", name)
        run.wait(down_s)
        run.servers.do("up", name)
        run.log(f"{name} is up")

    return restart


def pause_server(name, seconds):
    def freeze(run):
        run.wait(run.rng.uniform(2, 4))
        run.log(f"SIGSTOP {name} for {seconds} s")
        run.servers.signal(name, signal.SIGSTOP)
        run.stand_still(seconds)
        run.servers.signal(name, signal.SIGCONT)
        run.log(f"{name} goes on")

    return freeze


def lose_leaders(run):
    """Three brokers die one after another. Each restarts after other brokers lead its partitions. The controller
    notices the death after some nine seconds."""
    for broker in run.rng.sample(["kafka-1", "kafka-2", "kafka-3"], 3):
        if not run.wait(3):
            break
        run.log(f"kill -9 {broker}")
        run.servers.do("kill", broker)
        number = int(broker.removeprefix("kafka-"))
        wait_until(lambda: number not in topics.leaders(run.kafka), SEEN_S, f"leaders other than {broker}")
        run.log("others lead")
        run.servers.do("up", broker)
        run.log(f"{broker} is up")


def fill_disk(run):
    """The disk of the broker becomes full, which kills the broker. Later there is space again."""
    run.wait(3)
    run.log("the disk of kafka-1 fills up")
    run.servers.fill_disk()
    run.servers.await_death("kafka-1")
    run.log("kafka-1 is dead")
    run.servers.free_disk()
    run.servers.do("up", "kafka-1")
    run.log("there is room, kafka-1 is up")


# --- the network between a coordinator and the brokers ---

TRANSACTION = (ADD_PARTITIONS, PRODUCE, ADD_OFFSETS, TXN_OFFSET_COMMIT, END_TXN)


def network(action, seconds=0.0):
    """Breaks the requests of a transaction, one after another in a random order, repeatedly."""

    def strike(run):
        while True:
            for api in run.rng.sample(TRANSACTION, len(TRANSACTION)):
                run.proxy.add(Rule(action, api, seconds=seconds, transactional=True if api == PRODUCE else None))
                if not run.wait(run.rng.uniform(0.5, 1.5)):
                    return

    return strike


swallow_answers = network(SWALLOW)
cut_requests = network(CUT)
slow_answers = network(DELAY, seconds=3)


def cut_off(run):
    """Connections break. Then no byte moves for longer than a session."""
    while run.wait(run.rng.uniform(1, 2)):
        run.proxy.cut_all()
        if run.rng.random() < 0.3:
            run.proxy.stall(8)


def slow_results(run):
    """Messages of workers arrive late."""
    while run.wait(1):
        run.proxy.add(Rule(DELAY, FETCH, count=3, seconds=2), Rule(DELAY, HEARTBEAT, seconds=2))


# --- faults that only one guard of the protocol handles (run.py, MUTATIONS) ---


def take_over_with_holes(run):
    """A worker is stopped, so that open requests lie between finished ones and have only some of their results. Then
    the coordinators die."""
    while run.wait(3):
        run.log("SIGSTOP worker-1")
        run.fleet.pause("worker-1")
        run.wait(4)
        for name in run.fleet.names("coordinator"):
            run.kill(name)
        run.wait(6)
        run.fleet.resume("worker-1")
        run.log("worker-1 goes on")


def is_alone(run, name):
    """Returns true if this coordinator is the only member of the group."""
    members = topics.members(run.kafka, GROUP)
    return len(members) == 1 and members[0].startswith(f"{GROUP}-{name}-")


def is_decided(run, ends):
    """Returns true if every request before these offsets is finished and committed."""
    committed = topics.committed_offsets(run.kafka, GROUP, topics.REQUESTS)
    return all(committed[partition] >= end for partition, end in ends.items())


def empty_group(run):
    """Coordinators are stopped with unsent verdicts. Meanwhile another one decides these requests and dies, and the
    group forgets all of them. Only the group membership in their transactions shows that they are late."""
    while run.wait(2):
        *late, other = run.rng.sample(run.fleet.names("coordinator"), run.scenario.coordinators)
        for name in late:
            run.log(f"SIGSTOP {name}")
            run.fleet.pause(name)
        written = topics.ends(run.kafka, topics.REQUESTS)
        wait_until(lambda: is_alone(run, other), SEEN_S, f"{other} alone in the group")
        wait_until(lambda: is_decided(run, written), SEEN_S, f"what was asked till then, decided by {other}")
        run.kill(other, stay_dead=True)
        wait_until(lambda: not topics.members(run.kafka, GROUP), SEEN_S, "a group without members")
        run.log("the group has forgotten them all")
        run.proxy.add(Rule(WAIT, PRODUCE, count=1 << 30, seconds=1.5, transactional=True))
        for name in late:
            run.fleet.resume(name)
        run.log("they go on, and learn that they are late before their verdicts have arrived")
        run.wait(4)
        run.proxy.clear()
        run.fleet.start(other)


def refuse_offsets(run):
    """Transactions must be aborted, and their verdicts produced again."""
    while run.wait(run.rng.uniform(0.3, 1)):
        run.proxy.add(Rule(SPOIL, TXN_OFFSET_COMMIT))


def late_commit(run):
    """The reply to a commit is lost, so the commit is repeated. Its first copy arrives during the next transaction,
    which must then be aborted."""

    def in_the_next():
        run.proxy.add(Rule(WAIT, ADD_OFFSETS, seconds=0.5, then=run.proxy.release), Rule(SPOIL, TXN_OFFSET_COMMIT))

    while run.wait(2):
        run.proxy.add(Rule(HOLD, END_TXN, then=in_the_next))


def kill_before_sent(run):
    """Produce requests outside of transactions are slow. Their producer dies before they arrive."""
    run.proxy.add(Rule(WAIT, PRODUCE, count=1 << 30, seconds=0.5, transactional=False))
    kill_any("coordinator", 1, 2)(run)


def forge_results(run):
    """Results for open requests that contain other SQL, as an earlier attempt might have left them."""
    from confluent_kafka import Producer

    producer, recent = Producer({"bootstrap.servers": run.kafka, "linger.ms": 1}), []
    for record in topics.follow(run.kafka, topics.REQUESTS, True, run.since[topics.REQUESTS], run.over):
        recent = [(since, r) for since, r in recent if since > time.monotonic() - 2] + [(time.monotonic(), record)]
        for _, open_one in recent:
            for family in topics.FAMILIES:
                value, key = generate.result_frame(open_one.at, family), f"{open_one.partition}-{open_one.offset}"
                producer.produce(topics.RESULTS, value, key, open_one.partition)
        producer.poll(0)
    run.log("forged results ended")
    producer.flush(30)


# --- combinations ---


def anything(run):
    """Process and network faults, one after another, chosen by the seed."""
    while run.wait(run.rng.uniform(0.5, 2)):
        part = run.rng.choice(["coordinator", "worker"])
        name = run.rng.choice(run.fleet.names(part))
        what = run.rng.randrange(4)
        if what == 0:
            run.kill(name)
        elif what == 1:
            run.pause(name, run.rng.choice([1, 4, 10]))
        elif what == 2 and run.proxy:
            run.proxy.add(Rule(run.rng.choice([CUT, SWALLOW]), run.rng.choice(TRANSACTION)))
        elif what == 3 and run.proxy:
            run.proxy.cut_all()
