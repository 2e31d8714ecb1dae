"""Ports of the loopback address for servers that are started, killed and started again.

  ports.py N      prints N different ones

They lie below the range that the kernel gives to outgoing connections. From inside of it a client that keeps asking for a
server which is down may be given that server's port (or even be connected to itself), and the server cannot come back.
"""
import random
import socket
import sys
from pathlib import Path

LOWEST, TRIES = 10_000, 1000


def _first_of_connections():
    try:
        return int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except (OSError, ValueError):
        return 32_768


def free_ports(n):
    """That many different ports on which nobody listens now."""
    draw, end, held = random.SystemRandom(), _first_of_connections(), []
    if end <= LOWEST:
        end = 32_768  # a machine of its own mind: then as good as any other
    try:
        for _ in range(TRIES):
            if len(held) == n:
                return [s.getsockname()[1] for s in held]
            try:
                held.append(socket.create_server(("127.0.0.1", draw.randrange(LOWEST, end))))
            except OSError:
                continue
        raise RuntimeError(f"no {n} free ports between {LOWEST} and {end}")
    finally:
        for s in held:
            s.close()


def free_port():
    return free_ports(1)[0]


if __name__ == "__main__":
    print(*free_ports(int(sys.argv[1])))
