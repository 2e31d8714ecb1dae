"""Runs a command under the restrictions of a systemd unit, as far as possible without systemd; as root, in a mount
namespace.

    unshare --mount sandbox.py UNIT COMMAND...

Applied: ProtectSystem=strict, ProtectHome, PrivateTmp, PrivateDevices, ProtectProc, ProcSubset, no capabilities,
NoNewPrivileges, a user without rights, RestrictAddressFamilies, RestrictNamespaces, MemoryDenyWriteExecute,
SystemCallFilter. Not applied: IPAddressDeny, MemoryMax, TasksMax, PrivateUsers, which need control groups or a user
namespace of systemd.
"""
import ctypes
import errno
import os
import socket
import subprocess
import sys

import pyseccomp as seccomp

NOBODY = 65534
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38
CLONE_NEW = 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000 | 0x00020000
PROT_WRITE, PROT_EXEC = 2, 4


class Unit(dict):
    """The [Service] section of a unit, each key with all its values."""

    def __init__(self, path):
        section = None
        for line in open(path, encoding="utf-8"):
            line = line.strip()
            if line.startswith("["):
                section = line
            elif section == "[Service]" and line and line[0] not in "#;":
                key, value = line.split("=", 1)
                self.setdefault(key, []).append(value)

    def yes(self, key):
        return self.get(key, ["no"])[-1] not in ("no", "false", "0")


def calls_of(group, known={}):
    """Returns the system calls of a group in this version of systemd."""
    if not known:
        name = None
        said = subprocess.run(["systemd-analyze", "syscall-filter"], check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
        for line in said.stdout.splitlines():
            word = line.strip()
            if line.startswith("@"):
                name = word
                known[name] = set()
            elif word and not word.startswith("#") and name:
                known[name].add(word)
    calls = set()
    for word in known[group]:
        calls |= calls_of(word) if word.startswith("@") else {word}
    return calls


def allowed_calls(unit):
    allowed = set(calls_of("@default"))
    for value in unit["SystemCallFilter"]:
        names = set().union(*(calls_of(w) if w.startswith("@") else {w} for w in value.lstrip("~").split()))
        allowed = allowed - names if value.startswith("~") else allowed | names
    return allowed


def mount(*words):
    subprocess.run(["mount", *words], check=True)


def confine_files(unit):
    assert unit["ProtectSystem"] == ["strict"]
    for path, key in (("/home", "ProtectHome"), ("/root", "ProtectHome"), ("/tmp", "PrivateTmp")):
        if unit.yes(key):
            mount("-t", "tmpfs", "-o", "mode=0755" if path != "/tmp" else "mode=1777", "tmpfs", path)
    if unit.yes("PrivateDevices"):
        mount("-t", "tmpfs", "-o", "mode=0755", "tmpfs", "/dev")
        for name, minor in (("null", 3), ("zero", 5), ("full", 7), ("random", 8), ("urandom", 9)):
            os.mknod(f"/dev/{name}", 0o20666, os.makedev(1, minor))
            os.chmod(f"/dev/{name}", 0o666)
    mount("-t", "proc", "-o", f"hidepid={unit['ProtectProc'][-1]},subset={unit['ProcSubset'][-1]}", "proc", "/proc")
    for path in ("/", "/dev"):
        mount("-o", "remount,bind,ro", path)


def drop_rights(unit):
    libc = ctypes.CDLL(None, use_errno=True)
    assert unit["CapabilityBoundingSet"] == [""] and unit.yes("NoNewPrivileges")
    for capability in range(64):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    os.umask(int(unit["UMask"][-1], 8))
    assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0


def refuse_arguments(unit):
    """Refuses some uses of permitted system calls. Each is a separate filter, as in systemd."""
    families = {int(getattr(socket, name)) for name in unit["RestrictAddressFamilies"][-1].split()}
    refused = seccomp.SyscallFilter(seccomp.ALLOW)
    for family in set(range(64)) - families:
        refused.add_rule(seccomp.ERRNO(errno.EAFNOSUPPORT), "socket", seccomp.Arg(0, seccomp.EQ, family))
    if unit.yes("MemoryDenyWriteExecute"):
        both = PROT_WRITE | PROT_EXEC
        refused.add_rule(seccomp.ERRNO(errno.EPERM), "mmap", seccomp.Arg(2, seccomp.MASKED_EQ, both, both))
        refused.add_rule(seccomp.ERRNO(errno.EPERM), "mprotect",
                         seccomp.Arg(2, seccomp.MASKED_EQ, PROT_EXEC, PROT_EXEC))
    if unit.yes("RestrictNamespaces"):
        for flag in (1 << bit for bit in range(32) if CLONE_NEW & 1 << bit):
            refused.add_rule(seccomp.ERRNO(errno.EPERM), "clone", seccomp.Arg(0, seccomp.MASKED_EQ, flag, flag))
        refused.add_rule(seccomp.ERRNO(errno.EPERM), "unshare")
        # its flags are in memory, where no filter can read them
        refused.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
    refused.load()


def filter_calls(unit):
    code = getattr(errno, unit["SystemCallErrorNumber"][-1])
    only = seccomp.SyscallFilter(seccomp.ERRNO(code))
    for name in allowed_calls(unit):
        try:
            only.add_rule(seccomp.ALLOW, name)
        except (RuntimeError, ValueError, OSError):
            pass  # not a call of this architecture
    only.load()


def main():
    unit, command = Unit(sys.argv[1]), sys.argv[2:]
    confine_files(unit)
    drop_rights(unit)
    refuse_arguments(unit)
    filter_calls(unit)
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
