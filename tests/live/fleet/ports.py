"""Ports of the loopback address for servers that are started, killed and started again.

  ports.py N DIR  prints N different ones, and holds them until DIR/ports.stop exists or DIR is gone

The ports are below the kernel's range for outgoing connections. Within that range a client that retries a server that
is down may be assigned that server's port, or even connect to itself. The server then cannot restart.

A held port has a bound socket that never listens. A server with SO_REUSEADDR, which all tested servers set, can bind
the port and listen on it. A process that searches for a free port binds without SO_REUSEADDR and gets another one. A
second test therefore cannot draw the port before its server listens.
"""
import os
import random
import socket
import sys
import time
from pathlib import Path

LOWEST, TRIES, LOOK_S = 10_000, 1000, 0.5
_held = []  # until the process ends


def _first_of_connections():
    try:
        return int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except (OSError, ValueError):
        return 32_768


def _hold(port):
    """Returns a socket that holds the port; raises OSError if it is in use. SO_REUSEADDR is set after bind, so that
    bind is strict."""
    held = socket.socket()
    try:
        held.bind(("127.0.0.1", port))
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    except OSError:
        held.close()
        raise
    return held


def free_ports(n):
    """Returns that many different ports, which this process holds until it ends."""
    draw, end, ports = random.SystemRandom(), _first_of_connections(), []
    if end <= LOWEST:
        end = 32_768  # a system with unusual settings, where any port is equally good
    for _ in range(TRIES):
        if len(ports) == n:
            return ports
        try:
            _held.append(_hold(draw.randrange(LOWEST, end)))
        except OSError:
            continue
        ports.append(_held[-1].getsockname()[1])
    raise RuntimeError(f"no {n} free ports between {LOWEST} and {end}")


def free_port():
    return free_ports(1)[0]


def _hold_for(folder):
    """Holds the ports in a separate process, for which a shell does not wait."""
    if os.fork():
        return
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    while folder.is_dir() and not (folder / "ports.stop").exists():
        time.sleep(LOOK_S)
    os._exit(0)


if __name__ == "__main__":
    print(*free_ports(int(sys.argv[1])), flush=True)
    _hold_for(Path(sys.argv[2]))
