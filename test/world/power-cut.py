"""Records what a program and its children ask the kernel to do with the files below a folder, and what they say to others.

    python3 power-cut.py FOLDER TRACE COMMAND...

TRACE gets one JSON object a line, TRACE.data the bytes. Each line has the moment at which the call was asked for (`began`)
and at which the kernel had answered (`ended`), counted over all threads: what one thread does because of another's answer
comes later. Files are named by inode. Only ptrace and a seccomp filter are used, which every Linux since 5.3 lets a process
do to its own children: neither strace nor a compiler is needed.
"""

import ctypes
import json
import os
import platform
import signal
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long

# Numbers of the calls that change files or speak to others, by machine.
MACHINES = {
    "x86_64": {
        "arch": 0xC000003E,
        "calls": {
            **{"write": 1, "pwrite64": 18, "writev": 20, "pwritev": 296, "pwritev2": 328, "sendto": 44, "sendmsg": 46},
            **{"open": 2, "creat": 85, "openat": 257, "openat2": 437, "mkdir": 83, "mkdirat": 258},
            **{"truncate": 76, "ftruncate": 77, "fallocate": 285, "copy_file_range": 326, "sendfile": 40, "splice": 275},
            **{"fsync": 74, "fdatasync": 75, "sync": 162, "syncfs": 306, "mmap": 9},
            **{"rename": 82, "renameat": 264, "renameat2": 316, "link": 86, "linkat": 265, "symlink": 88},
            **{"symlinkat": 266, "unlink": 87, "unlinkat": 263, "rmdir": 84},
        },
        "ioctl": 16,
    },
    "aarch64": {
        "arch": 0xC00000B7,
        "calls": {
            **{"write": 64, "pwrite64": 68, "writev": 66, "pwritev": 70, "pwritev2": 287, "sendto": 206, "sendmsg": 211},
            **{"openat": 56, "openat2": 437, "mkdirat": 34},
            **{"truncate": 45, "ftruncate": 46, "fallocate": 47, "copy_file_range": 285, "sendfile": 71, "splice": 76},
            **{"fsync": 82, "fdatasync": 83, "sync": 81, "syncfs": 267, "mmap": 222},
            **{"renameat": 38, "renameat2": 276, "linkat": 37, "symlinkat": 36, "unlinkat": 35},
        },
        "ioctl": 29,
    },
}
MACHINE = MACHINES[platform.machine()]
NAMES = {number: name for name, number in MACHINE["calls"].items()}
IO_URING_SETUP = 425

AT_FDCWD = -100
O_CREAT, O_EXCL, O_TRUNC = 0o100, 0o200, 0o1000
PROT_WRITE, MAP_SHARED, FICLONE = 2, 1, 0x40049409
FALLOC_FL_KEEP_SIZE, RENAME_EXCHANGE = 1, 2

PTRACE_CONT, PTRACE_SYSCALL, PTRACE_SEIZE, PTRACE_LISTEN, PTRACE_GET_SYSCALL_INFO = 7, 24, 0x4206, 0x4208, 0x420E
EVENT_SECCOMP, EVENT_STOP = 7, 128
# Exits with the tracer; follows fork, vfork and clone; exec and seccomp as events; its own mark on stops at calls.
OPTIONS = 0x100000 | 0x2 | 0x4 | 0x8 | 0x10 | 0x80 | 0x1
WALL = 0x40000000


def filter_program():
    """Stops only at the calls above; openat only where it may change something, mmap only where writes are shared."""
    load, equals, has, answer = 0x20, 0x15, 0x45, 0x06
    allow, trace, refuse = 0x7FFF0000, 0x7FF00000, 0x00050000
    argument = lambda index: 16 + 8 * index
    lines = [(load, 0, 0, 4), (equals, 1, 0, MACHINE["arch"]), (answer, 0, 0, allow), (load, 0, 0, 0)]
    for name, number in MACHINE["calls"].items():
        tests = {"open": [(1, O_CREAT | O_TRUNC)], "openat": [(2, O_CREAT | O_TRUNC)]}.get(name, [])
        tests = [(2, PROT_WRITE), (3, MAP_SHARED)] if name == "mmap" else tests
        lines.append((equals, 0, 3 * len(tests) + 1, number))
        for index, bits in tests:
            lines += [(load, 0, 0, argument(index)), (has, 1, 0, bits), (answer, 0, 0, allow)]
        lines.append((answer, 0, 0, trace))
    # What these two would do could not be seen. Programs do without them where a kernel does not have them.
    lines += [(equals, 0, 1, IO_URING_SETUP), (answer, 0, 0, refuse | 38)]
    lines += [(equals, 0, 3, MACHINE["ioctl"]), (load, 0, 0, argument(1)), (equals, 0, 1, FICLONE)]
    lines += [(answer, 0, 0, refuse | 95), (answer, 0, 0, allow)]
    return b"".join(struct.pack("HBBI", *line) for line in lines), len(lines)


def start(command):
    """The command, stopped by nobody yet but the filter's events already on."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(write_end)
        os.read(read_end, 1)  # Until it is traced: without a tracer filtered calls would fail.
        program, length = filter_program()
        text = ctypes.create_string_buffer(program)
        described = struct.pack("HxxxxxxQ", length, ctypes.addressof(text))
        libc.prctl(38, 1, 0, 0, 0)  # No new privileges: then a filter may be set by anybody.
        if libc.prctl(22, 2, ctypes.create_string_buffer(described), 0, 0) != 0:
            os._exit(126)
        os.execvp(command[0], command)
    os.close(read_end)
    ptrace(PTRACE_SEIZE, child, 0, OPTIONS)
    os.write(write_end, b"x")
    os.close(write_end)
    return child


def ptrace(request, pid, address, data):
    """False where the thread is gone meanwhile."""
    if libc.ptrace(request, pid, address, data) >= 0:
        return True
    if ctypes.get_errno() != 3:
        raise OSError(ctypes.get_errno(), "ptrace")
    return False


class Tracer:
    def __init__(self, root, trace):
        self.root = os.path.realpath(root)
        self.lines = open(trace, "w", encoding="utf-8")
        self.data = open(trace + ".data", "wb")
        self.bytes = 0
        self.moment = 0
        # What a thread has asked for and not yet got.
        self.open_calls = {}

    def run(self, child):
        threads = {child}
        code = 1
        while threads:
            try:
                pid, status = os.waitpid(-1, WALL)
            except ChildProcessError:
                break
            threads.add(pid)
            if os.WIFEXITED(status) or os.WIFSIGNALED(status):
                threads.discard(pid)
                self.open_calls.pop(pid, None)
                code = os.waitstatus_to_exitcode(status) if pid == child else code
                continue
            ptrace(*self.after(pid, status))
        self.lines.close()
        self.data.close()
        return code

    def after(self, pid, status):
        """How the thread goes on."""
        number, event = os.WSTOPSIG(status), status >> 16
        if event == EVENT_SECCOMP:
            return (PTRACE_SYSCALL if self.enter(pid) else PTRACE_CONT), pid, 0, 0
        if event == EVENT_STOP and number != signal.SIGTRAP:
            return PTRACE_LISTEN, pid, 0, 0
        if number == signal.SIGTRAP | 0x80:
            self.leave(pid)
            return PTRACE_CONT, pid, 0, 0
        return PTRACE_CONT, pid, 0, (0 if event else number)

    def enter(self, pid):
        info = ctypes.create_string_buffer(88)
        if not ptrace(PTRACE_GET_SYSCALL_INFO, pid, 88, ctypes.addressof(info)):
            return False
        number, *arguments = struct.unpack_from("Q6Q", info, 24)
        try:
            asked = look_at(self, pid, NAMES[number], [signed(value) for value in arguments])
        except (OSError, struct.error):
            if ptrace(PTRACE_GET_SYSCALL_INFO, pid, 88, ctypes.addressof(info)):
                raise
            asked = None  # Killed while it was looked at: it does nothing any more.
        if asked is None:
            return False
        self.moment += 1
        self.open_calls[pid] = {"began": self.moment, **asked}
        return True

    def leave(self, pid):
        asked = self.open_calls.pop(pid, None)
        info = ctypes.create_string_buffer(88)
        if asked is None or not ptrace(PTRACE_GET_SYSCALL_INFO, pid, 88, ctypes.addressof(info)):
            return
        self.moment += 1
        (result,) = struct.unpack_from("q", info, 24)
        if result < 0:
            return
        after = asked.pop("after", None)
        content = asked.pop("content", None)
        line = {**asked, "ended": self.moment}
        if after is not None:
            more = after(result)
            if more is None:
                return
            line.update(more)
            content = line.pop("content", content)
        if content is not None:
            line.update(self.keep(content[:result]))
        self.lines.write(json.dumps(line) + "\n")
        self.lines.flush()

    def keep(self, content):
        self.data.write(content)
        self.data.flush()
        self.bytes += len(content)
        return {"from": self.bytes - len(content), "bytes": len(content)}

    def is_below(self, path):
        return path == self.root or path.startswith(self.root + "/")

    def file_of(self, pid, descriptor):
        """Path and inode of an open file below the folder."""
        try:
            path = os.readlink(f"/proc/{pid}/fd/{descriptor}")
            if not self.is_below(path):
                return None
            return {"file": os.stat(f"/proc/{pid}/fd/{descriptor}").st_ino, "path": path[len(self.root) + 1 :]}
        except OSError:
            return None

    def place_of(self, pid, descriptor, path):
        """The folder and the name that a path stands for; the folder's inode is missing where it lies elsewhere."""
        base = f"/proc/{pid}/cwd" if descriptor == AT_FDCWD else f"/proc/{pid}/fd/{descriptor}"
        full = os.path.join(base, path).rstrip("/").replace("/proc/self/", f"/proc/{pid}/", 1)
        folder = os.path.realpath(os.path.dirname(full))
        name = os.path.basename(full)
        inode = stat_of(folder).st_ino if self.is_below(folder) and stat_of(folder) is not None else None
        return {"folder": inode, "name": name, "at": os.path.join(folder, name)}


def look_at(tracer, pid, name, arguments):
    """What a call is about to do, or None where it does not matter."""
    if name in ("write", "pwrite64", "writev", "pwritev", "pwritev2", "sendto", "sendmsg"):
        return look_at_write(tracer, pid, name, arguments)
    if name in ("open", "creat", "openat", "openat2"):
        return look_at_open(tracer, pid, name, arguments)
    if name in ("copy_file_range", "sendfile", "splice"):
        return look_at_copy(tracer, pid, name, arguments)
    if name in ("fsync", "fdatasync", "ftruncate", "fallocate", "mmap"):
        return look_at_file(tracer, pid, name, arguments)
    if name in ("sync", "syncfs"):
        return {"does": "sync-all"}
    return look_at_names(tracer, pid, name, arguments)


def look_at_write(tracer, pid, name, arguments):
    descriptor, address, length, offset = arguments[:4]
    is_message = name in ("sendto", "sendmsg")
    file = None if is_message else tracer.file_of(pid, descriptor)
    to = None if file else listener(pid, descriptor)
    if not file and to is None:
        return None
    if name == "sendmsg":
        address, length = struct.unpack("QQ", read(pid, address + 16, 16))
    is_vector = name in ("writev", "pwritev", "pwritev2", "sendmsg")
    content = read_vector(pid, address, length) if is_vector else read(pid, address, length)
    if file is None:
        return {"does": "say", "to": to, "by": descriptor, "content": content}
    is_placed = name == "pwrite64" or (name in ("pwritev", "pwritev2") and offset >= 0)
    after = None if is_placed else lambda written: {"offset": position(pid, descriptor) - written}
    return {"does": "write", **file, "offset": offset, "content": content, "after": after}


def look_at_open(tracer, pid, name, arguments):
    descriptor, address, flags = arguments[:3] if name.startswith("openat") else (AT_FDCWD, *arguments[:2])
    if name == "openat2":
        (flags,) = struct.unpack("Q", read(pid, flags, 8))
    if name == "creat":
        flags = O_CREAT | O_TRUNC
    place = tracer.place_of(pid, descriptor, read_text(pid, address))
    if place["folder"] is None or not flags & (O_CREAT | O_TRUNC):
        return None
    at = place.pop("at")
    was_there = stat_of(at) is not None

    def after(opened):
        inode = os.stat(f"/proc/{pid}/fd/{opened}").st_ino
        if not was_there:
            return {"does": "make", "kind": "file", "file": inode}
        return {"does": "size", "file": inode, "size": 0} if flags & O_TRUNC else None

    return {**place, "after": after}


def look_at_copy(tracer, pid, name, arguments):
    target, offset_at = (arguments[0], 0) if name == "sendfile" else arguments[2:4]
    file = tracer.file_of(pid, target)
    if file is None:
        return None
    offset = struct.unpack("Q", read(pid, offset_at, 8))[0] if offset_at else None

    def after(copied):
        begin = position(pid, target) - copied if offset is None else offset
        with open(f"/proc/{pid}/fd/{target}", "rb") as written:
            return {"offset": begin, "content": os.pread(written.fileno(), copied, begin)}

    return {"does": "write", **file, "after": after}


def look_at_file(tracer, pid, name, arguments):
    file = tracer.file_of(pid, arguments[4] if name == "mmap" else arguments[0])
    if file is None:
        return None
    if name == "mmap":
        return {"does": "map", **file}
    if name == "ftruncate":
        return {"does": "size", **file, "size": arguments[1]}
    if name == "fallocate":
        return {"does": "odd" if arguments[1] & ~FALLOC_FL_KEEP_SIZE else "room", **file}
    return {"does": "sync", **file}


def look_at_names(tracer, pid, name, arguments):
    text = lambda index: read_text(pid, arguments[index])
    place = lambda descriptor, index: tracer.place_of(pid, descriptor, text(index))
    if name == "truncate":
        stat = stat_of(place(AT_FDCWD, 0)["at"])
        return None if stat is None else {"does": "size", "file": stat.st_ino, "size": arguments[1]}
    if name.startswith(("rename", "link")):
        has_folders = name.endswith(("at", "at2"))
        one = place(arguments[0], 1) if has_folders else place(AT_FDCWD, 0)
        other = place(arguments[2], 3) if has_folders else place(AT_FDCWD, 1)
        return look_at_move(name, one, other, arguments[4] if name == "renameat2" else 0)
    if name.startswith("symlink"):
        made = place(arguments[1], 2) if name == "symlinkat" else place(AT_FDCWD, 1)
        return made_here(made, {"kind": "link", "target": text(0)})
    made = place(arguments[0], 1) if name.endswith("at") else place(AT_FDCWD, 0)
    if name.startswith("mkdir"):
        return made_here(made, {"kind": "folder"})
    made.pop("at")
    return None if made["folder"] is None else {"does": "remove", **made}


def look_at_move(name, one, other, flags):
    if one["folder"] is None and other["folder"] is None:
        return None
    stat = stat_of(one["at"])
    is_odd = one["folder"] is None or other["folder"] is None or stat is None or flags & RENAME_EXCHANGE
    moved = {"folder": one["folder"], "name": one["name"], "toFolder": other["folder"], "toName": other["name"]}
    does = "odd" if is_odd and stat is not None else "rename" if name.startswith("rename") else "link"
    return {"does": does, **moved, "file": stat.st_ino if stat is not None else 0}


def made_here(place, facts):
    at = place.pop("at")
    return None if place["folder"] is None else {"does": "make", **place, **facts, "after": lambda _: {"file": os.lstat(at).st_ino}}


def stat_of(path):
    try:
        return os.lstat(path)
    except OSError:
        return None


def listener(pid, descriptor):
    """Pipes and sockets reach somebody else; a terminal or a file elsewhere is not our business."""
    try:
        to = os.readlink(f"/proc/{pid}/fd/{descriptor}")
    except OSError:
        return None
    return to if to.startswith(("pipe:", "socket:")) else None


def position(pid, descriptor):
    with open(f"/proc/{pid}/fdinfo/{descriptor}", encoding="ascii") as facts:
        return int(facts.readline().split()[1])


def read(pid, address, length):
    if length == 0:
        return b""
    buffer = ctypes.create_string_buffer(length)
    here = struct.pack("QQ", ctypes.addressof(buffer), length)
    there = struct.pack("QQ", address, length)
    got = libc.process_vm_readv(pid, here, ctypes.c_ulong(1), there, ctypes.c_ulong(1), ctypes.c_ulong(0))
    return buffer.raw[: max(got, 0)]


def read_vector(pid, address, count):
    parts = struct.iter_unpack("QQ", read(pid, address, 16 * count))
    return b"".join(read(pid, begin, length) for begin, length in parts)


def read_text(pid, address):
    """A path; read up to the end of a page each time, because the next one may not be there."""
    text = b""
    while b"\0" not in text:
        piece = read(pid, address + len(text), 4096 - (address + len(text)) % 4096)
        if piece == b"":
            break
        text += piece
    return os.fsdecode(text.split(b"\0")[0])


def signed(value):
    return value - 2**64 if value >= 2**63 else value


if __name__ == "__main__":
    program = start(sys.argv[3:])
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: os.kill(program, received))
    ended = Tracer(sys.argv[1], sys.argv[2]).run(program)
    sys.exit(ended if ended >= 0 else 128 - ended)
