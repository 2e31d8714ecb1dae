"""Callers over HTTP: their requests to `assay serve`, and the answers.

A caller waits for the answer. If its replica dies, it gets none. It then asks by id for an answer, and sends the same
bytes again, alternately. Once the request is accepted (status 202) it only asks. A repeated request never gets more
than this status.
"""
import http.client
import json
import threading
import zlib

import generate
from wait import wait_until

WAIT_MS, PATIENCE_S = 20_000, 100


class Callers:
    """`ports` are those of the replicas. Each thread sends one question after another until `over` is set."""

    def __init__(self, ports, seed, prefix, over, n=4):
        self.ports, self.over = ports, over
        self.answers, self.unanswered = {}, []  # id -> body
        self.lock = threading.Lock()
        streams = [generate.Generator(f"{seed} {i}", {"plain": 1}, f"{prefix}-h{i}") for i in range(n)]
        self.threads = [threading.Thread(target=self._ask_all, args=(stream,), daemon=True) for stream in streams]
        for thread in self.threads:
            thread.start()

    def join(self):
        for thread in self.threads:
            thread.join()

    def _ask_all(self, stream):
        for request in stream:
            if self.over.is_set():
                return
            name = json.loads(request.value)["id"]
            answer = self._ask(name, request.value)
            with self.lock:
                if answer is None:
                    self.unanswered.append(name)
                else:
                    self.answers[name] = answer

    def _ask(self, name, value):
        turn, accepted = zlib.crc32(name.encode()), False

        def take_turn():
            nonlocal turn, accepted
            turn += 1
            port = self.ports[turn // 2 % len(self.ports)]
            status, body = self._get(port, name) if accepted or turn % 2 else self._post(port, value)
            accepted = accepted or status == 202
            return body if status == 200 else None

        try:
            return wait_until(take_turn, PATIENCE_S, f"an answer to {name}")
        except TimeoutError:
            return None

    def _post(self, port, value):
        return self._exchange(port, "POST", f"/v1/judge?wait_ms={WAIT_MS}", value)

    def _get(self, port, name):
        return self._exchange(port, "GET", f"/v1/verdicts/{name}", None)

    def _exchange(self, port, method, path, body):
        """Returns (0, None) if the replica has ended or is ending."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_MS / 1000 + 10)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException):
            return 0, None
        finally:
            connection.close()
