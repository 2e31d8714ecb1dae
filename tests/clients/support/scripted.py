"""A scripted HTTP server in place of Assay. Each connection gets the next step of the script."""
import json
import socket
import threading
import time


def reply(status, body=b"", headers=(), type="application/json"):
    """Returns the bytes of an answer."""
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} said", f"Content-Type: {type}", f"Content-Length: {len(body)}", "Connection: close",
             *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def problem(status, code, detail, headers=()):
    return reply(status, {"title": "scripted", "status": status, "code": code, "detail": detail}, headers,
                 "application/problem+json")


def slowly(seconds, data):
    """Returns a step that answers late."""
    return lambda connection, _: (time.sleep(seconds), connection.sendall(data))


def dripping(data, seconds):
    """Returns a step that answers byte by byte."""
    def drip(connection, _):
        for i in range(len(data)):
            connection.sendall(data[i:i + 1])
            time.sleep(seconds)
    return drip


class Scripted:
    """`steps` are bytes, or functions of the connection and of the request that was read; the last one repeats."""

    def __init__(self, *steps, tls=None):
        self.steps, self.requests, self.tls = list(steps), [], tls
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            step = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
            threading.Thread(target=self._answer, args=(connection, step), daemon=True).start()

    def _answer(self, connection, step):
        with connection:
            try:
                if self.tls:
                    connection = self.tls.wrap_socket(connection, server_side=True)
                request = self._read(connection)
                self.requests.append(request)
                connection.sendall(step) if isinstance(step, bytes) else step(connection, request)
            except OSError:
                pass  # the caller has disconnected

    @staticmethod
    def _read(connection):
        data = b""
        while b"\r\n\r\n" not in data:
            part = connection.recv(65536)
            if not part:
                raise OSError("closed")
            data += part
        head, body = data.split(b"\r\n\r\n", 1)
        first, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines)}
        while len(body) < int(headers.get("content-length", 0)):
            body += connection.recv(65536)
        method, target, _ = first.split(" ")
        return {"method": method, "target": target, "headers": headers, "body": body}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
