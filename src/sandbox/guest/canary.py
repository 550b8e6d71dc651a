"""Looks around from inside a guest, as its first process, and says what it found as one line of JSON."""

import ctypes
import errno
import glob
import importlib.util
import json
import os
import select
import shutil
import socket
import subprocess
import sys

# Where the answer goes: the control socket, unless another descriptor is named.
ANSWER_FD = int(sys.argv[1]) if len(sys.argv) > 1 else 3
PR_SET_DUMPABLE = 4
PR_GET_SECCOMP = 21
PR_GET_NO_NEW_PRIVS = 39
CLONE_NEWUSER = 0x10000000
# How long a place has to answer, and in how many looks.
REACH_MS = 3000
REACH_LOOKS = 30


def main() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    filter_calls()
    status = dict(line.rstrip("\n").split(":\t", 1) for line in open("/proc/self/status") if ":\t" in line)
    facts = {
        "capabilities": int(status["CapEff"], 16) | int(status["CapBnd"], 16),
        # Asked, where it is not told: not every kernel lists it.
        "noNewPrivs": str(libc.prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)),
        "seccomp": status.get("Seccomp") or str(libc.prctl(PR_GET_SECCOMP, 0, 0, 0, 0)),
        "user": [os.getuid(), os.getgid(), os.getpid()],
        "descriptors": descriptors(),
        "canNestUsers": libc.unshare(CLONE_NEWUSER) == 0,
        "writable": [path for path in ("/", "/usr", "/etc", "/dev", "/run", "/var/tmp", "/workspace") if can_write(path)],
        "interfaces": [name for _, name in socket.if_nameindex()],
        "routes": len(open("/proc/net/route").readlines()[1:]),
        "reached": reached(sys.argv[2:]),
        "canSeeFirst": can_see_first(),
        "libraries": [name for name in ("numpy", "pandas", "matplotlib") if importlib.util.find_spec(name) is None],
        "hasChinese": has_chinese(),
        "folder": mark_of(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
        "hasNode": shutil.which("node", path="/usr/local/bin:/usr/bin") is not None,
    }
    os.write(ANSWER_FD, json.dumps(facts).encode() + b"\n")
    os.read(0 if ANSWER_FD == 1 else ANSWER_FD, 1)  # Until the host has heard it.


def mark_of(folder: str) -> str:
    """Which folder it is, as the host knows it, too, unless the kernel inside has numbers of its own."""
    found = os.stat(folder)
    return f"{found.st_dev}:{found.st_ino}"


def filter_calls() -> None:
    """As the supervisor does it, where nobody outside did."""
    folder = os.path.dirname(os.path.abspath(__file__))
    if os.path.exists(os.path.join(folder, "calls.bpf")):
        sys.path.insert(0, folder)
        import processes

        processes.filter_calls(os.path.join(folder, "calls.bpf"))


def descriptors() -> list:
    """Those that lead somewhere; the listing's own is closed by the time it is looked at."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink("/proc/self/fd/" + name)
        except OSError:
            continue
        if target != "/dev/null":
            found.append(int(name))
    return sorted(found)


def can_write(path: str) -> bool:
    try:
        with open(os.path.join(path, "canary"), "w"):
            return True
    except OSError:
        return False


def can_see_first() -> bool:
    """As another process of the same user."""
    child = os.fork()
    if child == 0:
        seen = False
        for look in (lambda: os.listdir("/proc/1/fd"), lambda: open("/proc/1/mem", "rb"), lambda: open("/proc/1/environ")):
            try:
                look()
                seen = True
            except OSError:
                pass
        os._exit(1 if seen else 0)
    return os.waitpid(child, 0)[1] != 0


def reached(places: list) -> list:
    """Those of the places (host:port) that answer; also with a refusal, for that came from there."""
    poll, waiting = select.poll(), {}
    for place in places:
        host, _, port = place.rpartition(":")
        host = host.strip("[]")
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            link = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
            if link.connect_ex((host, int(port))) in (errno.EINPROGRESS, 0, errno.ECONNREFUSED):
                poll.register(link, select.POLLOUT)
                waiting[link.fileno()] = (place, link)
        except OSError:
            pass  # No such family here, or no address.
    found, left = [], REACH_LOOKS
    while waiting and left > 0:
        left -= 1
        for fd, _ in poll.poll(REACH_MS // REACH_LOOKS):
            place, link = waiting.pop(fd)
            poll.unregister(fd)
            if link.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) in (0, errno.ECONNREFUSED):
                found.append(place)
    return sorted(found)


def has_chinese() -> bool:
    try:
        listed = subprocess.run(["fc-list", ":lang=zh", "family"], capture_output=True, timeout=10).stdout
        return listed.strip() != b""
    except (OSError, subprocess.SubprocessError):
        names = ("*CJK*", "wqy*", "DroidSansFallback*", "uming*", "ukai*", "SourceHan*")
        return any(glob.glob("/usr/share/fonts/**/" + name, recursive=True) for name in names)


main()
