"""The processes of a fleet, each in its own slot, and a small init that restarts dead ones.

A slot keeps its name, its log and its arguments, while its process changes. A process that ends without a command to do
so is restarted, as by a supervisor. A process that dies of a signal that the test did not send is reported (deaths).
"""
import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

LOOK_S = 0.2
END_S = 40  # --drain-ms plus a margin
SANITIZER = 66  # exit status of a process in which a sanitizer reported an error
SANITIZERS = {
    "ASAN_OPTIONS": f"detect_leaks=1:exitcode={SANITIZER}:verify_asan_link_order=0",
    "UBSAN_OPTIONS": f"print_stacktrace=1:halt_on_error=1:exitcode={SANITIZER}",
    "LSAN_OPTIONS": f"suppressions={Path(__file__).resolve().parents[2] / 'lsan.supp'}:print_suppressions=0",
}
AGAIN_S = 0.5  # delay before a dead process is restarted


@dataclass
class Place:
    name: str
    command: list
    environment: dict
    log: Path
    log_start: int = 0  # position in the log at which the current process began
    process: subprocess.Popen | None = None
    wanted: bool = False  # true if a process should run here
    killed: bool = False  # true if the test killed it
    may_abort: bool = False  # true if the test lets it abort
    paused: bool = False
    again_at: float | None = None  # time on time.monotonic at which an ended process is restarted
    starts: int = 0
    exits: list = field(default_factory=list)
    peak_rss: int = 0


class Fleet:
    """`databases` are the options that name the databases: a root, or a configuration file with a catalogue."""

    def __init__(self, assay, servers, directory, databases, session_s, redis=None, environment=None):
        self.options = ["-X", f"session.timeout.ms={session_s * 1000}"]
        self.options += ["-X", f"heartbeat.interval.ms={session_s * 150}"]
        self.assay, self.servers, self.redis = str(assay), servers, redis
        self.directory, self.databases = Path(directory), list(databases)
        self.temporary = self.directory / "tmp"
        self.temporary.mkdir(parents=True, exist_ok=True)
        self.environment = {**os.environ, **SANITIZERS, "TMPDIR": str(self.temporary), **(environment or {})}
        self.places, self.deaths, self.aborts = {}, [], 0
        self.lock, self.ending = threading.RLock(), threading.Event()
        self.thread = threading.Thread(target=self._supervise, daemon=True)
        self.thread.start()

    # --- the current process ---

    def topics(self, partitions):
        command = [self.assay, "topics", "create", "--servers", self.servers]
        command += ["--partitions", str(partitions), "--task-partitions", str(partitions)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def coordinator(self, name, *options, servers=None, environment=None):
        arguments = ["coordinator", "--servers", servers or self.servers, "--instance", name]
        return self._add(name, [*arguments, *self.options, *options], environment)

    def worker(self, name, *options, servers=None, environment=None, may_abort=False):
        arguments = ["worker", "--servers", servers or self.servers, *self.databases]
        if self.redis:
            arguments += ["--redis", self.redis]
        return self._add(name, [*arguments, *self.options, *options], environment, may_abort)

    def serve(self, name, port):
        arguments = ["serve", "--servers", self.servers, "--http", f"127.0.0.1:{port}"]
        return self._add(name, arguments, None)

    def _add(self, name, arguments, environment, may_abort=False):
        with self.lock:
            log = self.directory / f"{name}.log"
            place = Place(name, [self.assay, *arguments], {**self.environment, **(environment or {})}, log)
            place.may_abort = may_abort
            self.places[name] = place
            self._start(place)
            return place

    def _start(self, place):
        with open(place.log, "ab") as log:
            place.log_start = log.seek(0, os.SEEK_END)
            streams = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
            place.process = subprocess.Popen(place.command, env=place.environment, cwd=self.temporary, **streams)
        place.wanted, place.killed, place.paused, place.again_at = True, False, False, None
        place.starts += 1

    # --- actions ---

    def kill(self, name, stay_dead=False):
        """Sends SIGKILL."""
        with self.lock:
            place = self.places[name]
            place.killed, place.wanted = True, not stay_dead
            place.process.send_signal(signal.SIGKILL)

    def pause(self, name):
        with self.lock:
            self.places[name].paused = True
            self.places[name].process.send_signal(signal.SIGSTOP)

    def resume(self, name):
        with self.lock:
            self.places[name].paused = False
            self.places[name].process.send_signal(signal.SIGCONT)

    def stop(self, *names):
        """Sends SIGTERM. A process that does not end in time, or with an error status, is a fault."""
        awaited = []
        for name in names:
            with self.lock:
                place = self.places[name]
                place.wanted = False
                if place.again_at is not None:
                    continue  # the process had already ended, and its status is recorded
                awaited.append(place)
                if place.process.poll() is None:
                    place.process.send_signal(signal.SIGCONT)
                    place.process.terminate()
        for place in awaited:
            self._await_end(place)

    @staticmethod
    def _has_begun(place):
        """Returns true if the log of the last process reports that it was running."""
        with open(place.log, "rb") as log:
            log.seek(place.log_start)
            return b"running" in log.read()

    def _await_end(self, place):
        try:
            status = place.process.wait(END_S)
        except subprocess.TimeoutExpired:
            place.process.kill()
            place.process.wait()
            self.deaths.append(f"{place.name} did not end within {END_S} s of SIGTERM")
            return
        if status == -signal.SIGTERM and not self._has_begun(place):
            return  # the process did not handle signals yet, so it owned no partition
        if status and not place.killed:
            self.deaths.append(f"{place.name} ended with status {status} on SIGTERM, see {place.log}")

    def start(self, name):
        with self.lock:
            place = self.places[name]
            if place.process.poll() is not None:
                self._start(place)
            place.wanted = True

    def names(self, part):
        return [n for n in self.places if n.startswith(part)]

    def close(self):
        """Ends all processes in order; then none is restarted."""
        self.stop(*self.places)
        self.ending.set()
        self.thread.join()

    # --- observations ---

    def _supervise(self):
        while not self.ending.wait(LOOK_S):
            with self.lock:
                for place in list(self.places.values()):
                    self._look(place)

    def _look(self, place):
        status = place.process.poll()
        if status is None:
            place.peak_rss = max(place.peak_rss, peak_rss(place.process.pid))
            return
        if not place.wanted:
            return
        if place.again_at is None:
            self._note_end(place, status)
        if time.monotonic() >= place.again_at:
            self._start(place)

    def _note_end(self, place, status):
        """Records the exit status once, and when the process is to be restarted. It does not wait, so the other slots
        are handled meanwhile."""
        place.exits.append((time.time(), status))
        aborted = status == -signal.SIGABRT and place.may_abort
        self.aborts += aborted
        if (status < 0 and not place.killed and not aborted) or status == SANITIZER:
            self.deaths.append(f"{place.name} died of status {status}, see {place.log}")
        place.again_at = time.monotonic() + (0 if place.killed else AGAIN_S)

    def leftovers(self):
        return [str(p.relative_to(self.directory)) for p in self.temporary.rglob("*") if p.is_file()]

    def owners(self):
        """Upper bound on the number of rebalances: each start or end of a coordinator causes one."""
        return sum(2 * self.places[n].starts for n in self.names("coordinator"))


def peak_rss(pid):
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) << 10
    except OSError:
        pass
    return 0
