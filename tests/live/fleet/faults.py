"""What can go wrong with a fleet, each fault a function of a Run (run.py) that goes on while requests come in.

Each draws from run.rng only, so that a seed repeats its choices, and says through run.log what it does and when.
A fault ends in a state from which everything can get well again: what it paused goes on, what it stopped is up.
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
SEEN_S = 60  # by then anything is seen that has to come


def nothing(run):
    """The control: without faults all of it holds, and no work is done twice."""


# --- processes of ours ---


def kill_any(part, least_s=1.0, most_s=4.0):
    def kill(run):
        while run.wait(run.rng.uniform(least_s, most_s)):
            run.kill(run.rng.choice(run.fleet.names(part)))

    return kill


def pause(part, seconds):
    """SIGSTOP: nothing is lost, but somebody else has taken over when it goes on."""

    def freeze(run):
        while run.wait(run.rng.uniform(1, 3)):
            run.pause(run.rng.choice(run.fleet.names(part)), seconds)

    return freeze


def terminate_any(run):
    """SIGTERM at every point; each comes back."""
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
    """Callers over HTTP, while coordinators die and replicas come and go."""
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
    """The wall clock of our processes leaps ahead by an hour, and back."""
    ahead = 0
    while run.wait(2):
        ahead += run.rng.choice([3600, 60, -5, -3600])
        run.set_clock(ahead)


# --- servers ---


def restart_server(name, down_s=2.0):
    """kill -9 of a server and a restart on its old data."""

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
    """Of three brokers one after the other dies, and comes back once others lead what it led: the controller misses it
    after some nine seconds."""
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
    """The broker's disk is full: it dies of it. Then there is room again."""
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
    """Strike at one request of a transaction after the other, in a random order, again and again."""

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
    """Connections break, then nothing moves for longer than a session."""
    while run.wait(run.rng.uniform(1, 2)):
        run.proxy.cut_all()
        if run.rng.random() < 0.3:
            run.proxy.stall(8)


def slow_results(run):
    """What workers say comes late."""
    while run.wait(1):
        run.proxy.add(Rule(DELAY, FETCH, count=3, seconds=2), Rule(DELAY, HEARTBEAT, seconds=2))


# --- where a guard of the protocol is all that helps (run.py, MUTATIONS) ---


def take_over_with_holes(run):
    """A worker stands still, so that open requests lie among finished ones and have some of their answers. Then the
    coordinators die."""
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
    """Is this coordinator all that the group has?"""
    members = topics.members(run.kafka, GROUP)
    return len(members) == 1 and members[0].startswith(f"{GROUP}-{name}-")


def is_decided(run, ends):
    """Is everything before these offsets finished and committed?"""
    committed = topics.committed_offsets(run.kafka, GROUP, topics.REQUESTS)
    return all(committed[partition] >= end for partition, end in ends.items())


def empty_group(run):
    """Coordinators stand still with verdicts in hand until another one has decided for them and died, and the group has
    forgotten them all: only the membership that they took along says that they are late."""
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
    """Transactions have to be aborted, their verdicts sent again."""
    while run.wait(run.rng.uniform(0.3, 1)):
        run.proxy.add(Rule(SPOIL, TXN_OFFSET_COMMIT))


def late_commit(run):
    """A commit whose answer got lost is repeated, and its first copy arrives in the middle of the next transaction,
    which has to be aborted then."""

    def in_the_next():
        run.proxy.add(Rule(WAIT, ADD_OFFSETS, seconds=0.5, then=run.proxy.release), Rule(SPOIL, TXN_OFFSET_COMMIT))

    while run.wait(2):
        run.proxy.add(Rule(HOLD, END_TXN, then=in_the_next))


def kill_before_sent(run):
    """What is produced outside of transactions takes its time, and its producer dies meanwhile."""
    run.proxy.add(Rule(WAIT, PRODUCE, count=1 << 30, seconds=0.5, transactional=False))
    kill_any("coordinator", 1, 2)(run)


def forge_results(run):
    """Answers to open requests that are about other SQL, as an earlier attempt might have left them."""
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


# --- together ---


def anything(run):
    """One fault of ours or of the network after the other, as the seed will have it."""
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
