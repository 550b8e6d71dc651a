"""What the supervisor knows about processes: to shield itself, to be a child, to find and end what children started."""

import ctypes
import fcntl
import os
import resource
import signal
import struct
import termios

PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_MODE_FILTER = 2
PR_SET_CHILD_SUBREAPER = 36
# Linux takes the value 1 for "no core dump, also not for a handler outside", which 0 is not.
CORE_BYTES_MAX = 1
# Above what the kernel would choose for a supervisor: when memory ends, a child goes first.
CHILD_OOM_SCORE = "500"
# Above every descriptor that a child is given at a fixed number.
FREE_FD = 100
KILL_ROUNDS_MAX = 50
PROC_BYTES_MAX = 64 * 1024
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")

libc = ctypes.CDLL(None)


def shield(control_fd, last_fd):
    """Nobody inside can look into this process, stop it with a signal, or use a descriptor that it was started with."""
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    # Orphans come to us also where we are not PID 1.
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    close_all_above(last_fd)
    os.set_inheritable(control_fd, False)
    reset_signals()
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    limit(resource.RLIMIT_CORE, CORE_BYTES_MAX)


class CallFilter(ctypes.Structure):
    _fields_ = [("instructions", ctypes.c_ushort), ("program", ctypes.c_void_p)]


def filter_calls(path):
    """Puts a filter in force for this process and all that it starts. Where there is a file, nothing runs without it."""
    try:
        with open(path, "rb") as file:
            program = file.read()
    except FileNotFoundError:
        return
    kept = ctypes.create_string_buffer(program, len(program))
    wanted = CallFilter(len(program) // 8, ctypes.addressof(kept))
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(wanted), 0, 0) != 0:
        raise OSError("the kernel takes no filter of calls")


def become_child(fds, options, reserved_bytes=0):
    """In a new process: its own session, exactly these descriptors (as 0, 1, …), nothing of the supervisor's."""
    os.setsid()
    signal.set_wakeup_fd(-1)
    reset_signals()
    # Lifted first, so that no descriptor is overwritten before it was moved.
    lifted = [fcntl.fcntl(fd, fcntl.F_DUPFD, FREE_FD) for fd in fds]
    for number, fd in enumerate(lifted):
        os.dup2(fd, number)
    close_all_above(len(fds) - 1)
    # After the control socket is closed: from here on others may look in. The score can only be written then.
    libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write(CHILD_OOM_SCORE)
    except OSError:
        pass  # Already higher, and only root may lower it.
    limit(resource.RLIMIT_FSIZE, options["fileBytesMax"])
    # Only where no control group limits all processes together.
    if options["memoryBytes"] is not None:
        limit(resource.RLIMIT_DATA, options["memoryBytes"] + reserved_bytes)
    if options["processesMax"] is not None:
        limit(resource.RLIMIT_NPROC, options["processesMax"])


def close_all_above(last_fd):
    for name in os.listdir("/proc/self/fd"):
        if int(name) > last_fd:
            try:
                os.close(int(name))
            except OSError:
                pass  # The one that the listing itself used.


def reset_signals():
    """PID 1 is safe from every signal that has its default action; Python's own SIGINT handler would be fatal."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)


def limit(what, value):
    try:
        resource.setrlimit(what, (value, value))
    except (OSError, ValueError):
        pass  # A lower limit is in force, which nobody but root can raise.


def kill_below(pid, spared=(), spared_with_all=()):
    """Ends all descendants but the spared ones; only some of these keep what they started. Those that were found."""
    is_alone = os.getpid() == 1
    if is_alone:
        # All in one stroke: a process that starts another every moment would run away from the search.
        _signal(-1, signal.SIGSTOP)
    killed = _kill(
        lambda table: _descendants(pid, table).difference(spared, *(_all_of(other, table) for other in spared_with_all))
    )
    if is_alone:
        _signal(-1, signal.SIGCONT)
    return killed


def kill_with(pid):
    """Ends a process, its descendants, and what is left of its session."""
    return _kill(lambda table: _all_of(pid, table), pid)


def _all_of(pid, table):
    return {pid} | _descendants(pid, table) | {other for other, (_, session) in table.items() if session == pid}


def _kill(choose, first=None):
    """Again until nobody new is there: while we look, a process may start another. A shell must not see its children die."""
    killed = set()
    for _ in range(KILL_ROUNDS_MAX):
        found = choose(_living()) - killed
        if not found:
            break
        for pid in sorted(found, key=lambda other: other != first):
            _signal(pid, signal.SIGKILL)
        killed |= found
    return killed


def exists(pid):
    """Also when it has ended, until its parent has asked for how."""
    return os.path.exists(f"/proc/{pid}")


def _signal(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def _descendants(root, table):
    children = {}
    for pid, (parent, _) in table.items():
        children.setdefault(parent, []).append(pid)
    found, waiting = set(), [root]
    while waiting:
        for pid in children.get(waiting.pop(), ()):
            found.add(pid)
            waiting.append(pid)
    return found


def _living():
    """Parent and session of every process that has not ended."""
    table = {}
    for name in os.listdir("/proc"):
        fields = _fields(_read(f"/proc/{name}/stat")) if name.isdigit() else []
        if fields and fields[0] not in (b"Z", b"X"):
            table[int(name)] = (int(fields[1]), int(fields[3]))
    return table


def _read(path):
    """A file of the kernel's, which comes in one piece. A file object would ask it five more things about it."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(fd, PROC_BYTES_MAX)
    except OSError:
        return b""
    finally:
        os.close(fd)


def _fields(stat):
    """Those after the name, which may hold any character, also ")"."""
    return stat[stat.rindex(b")") + 2 :].split() if stat else []


class Look:
    """At a living child, again and again: what the kernel tells about it is opened once."""

    def __init__(self, pid):
        self.pid = pid
        self.fds = {}

    def usage(self):
        """Of it and its finished children so far; all numbers are 0 where nothing can be read."""
        ticks = sum(int(field) for field in _fields(self._read("stat"))[11:15])
        status, io = self._read("status"), self._read("io")
        return {
            "cpuMs": ticks * 1000 // TICKS_PER_SECOND,
            "memoryPeakBytes": _number_after(b"\nVmHWM:", status) * 1024,
            "readBytes": _number_after(b"\nread_bytes:", io),
            "writtenBytes": _number_after(b"\nwrite_bytes:", io),
        }

    def forget_peak(self):
        """The memory peak starts again from what it has now."""
        try:
            os.write(self._open("clear_refs", os.O_WRONLY), b"5")
        except OSError:
            pass

    def close(self):
        for fd in self.fds.values():
            os.close(fd)
        self.fds = {}

    def _read(self, name):
        try:
            return os.pread(self._open(name, os.O_RDONLY), PROC_BYTES_MAX, 0)
        except OSError:
            return b""

    def _open(self, name, flags):
        if name not in self.fds:
            self.fds[name] = os.open(f"/proc/{self.pid}/{name}", flags | os.O_CLOEXEC)
        return self.fds[name]


def _number_after(name, text):
    start = text.find(name)
    return 0 if start < 0 else int(text[start + len(name) :].split(None, 1)[0])


def usage_from(rusage):
    """The same numbers for a process that has ended."""
    return {
        "cpuMs": int((rusage.ru_utime + rusage.ru_stime) * 1000),
        "memoryPeakBytes": rusage.ru_maxrss * 1024,
        "readBytes": rusage.ru_inblock * 512,
        "writtenBytes": rusage.ru_oublock * 512,
    }


def usage_of_all():
    """Of everything inside, as far as it can be seen from here: those who are over count with the time that they took."""
    over = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_ms, memory, number = int((over.ru_utime + over.ru_stime) * 1000), 0, 0
    for pid in _living():
        fields = _fields(_read(f"/proc/{pid}/stat"))
        if fields:
            # Of what it waited for itself, too; of ours that is counted already.
            ticks = sum(int(field) for field in (fields[11:13] if pid == os.getpid() else fields[11:15]))
            cpu_ms += ticks * 1000 // TICKS_PER_SECOND
            memory += int(fields[21]) * resource.getpagesize()
            number += 1
    return {"cpuMs": cpu_ms, "memoryBytes": memory, "processes": number}


def mark_of(folder):
    """Which folder it is, as the host knows it, too."""
    try:
        found = os.stat(folder)
    except OSError:
        return None
    return f"{found.st_dev}:{found.st_ino}"


def bytes_in(fd):
    """How much a pipe holds."""
    return struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, b"\0" * 4))[0]


def signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"
