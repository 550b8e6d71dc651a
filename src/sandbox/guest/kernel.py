"""The Python of one agent: runs one cell after the other in the same globals.

It shares its memory with the user's code, so nobody believes what it says: the supervisor puts every message under the
execution that is running, and the host's timers do not wait for a "done".
"""

import ast
import builtins
import errno
import importlib
import io
import json
import linecache
import os
import resource
import signal
import socket
import struct
import sys
import traceback
import types

import figures

MESSAGE_BYTES_MAX = 64 * 1024
PIECE_BYTES_MAX = 60 * 1024
TEXT_BYTES_MAX = 256 * 1024
VALUE_BYTES_MAX = 1000 * 1024
FDS_MAX = 8
# Sources of earlier cells that tracebacks can still quote.
SOURCES_MAX = 200
FAILED = 1
CANNOT_START = 126
INTERRUPTED = 130
OWN_FILES = (__file__, figures.__file__)
OWN_MODULES = "channel execution figures forward kernel outputs parts processes stdio timers".split()


def serve(link_fd, workspace):
    """Never returns."""
    Kernel(socket.socket(fileno=link_fd), workspace).serve()


class Kernel:
    def __init__(self, link, workspace):
        self.link = link
        self.pid = os.getpid()
        self.token = 0
        self.cell_count = 0
        self.is_running = False
        self.waiting = []
        self.null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        self.stdin = self.stdout = self.stderr = None
        self.main = types.ModuleType("__main__")
        self.main.__builtins__ = builtins
        self.figures = figures.Figures(workspace, lambda path: self.send(b"p", path.encode(errors="replace")))
        self._look_like_a_fresh_python()
        # As in every Python: to write into a closed pipe or a full file is an error, and not the end.
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_IGN)

    def _look_like_a_fresh_python(self):
        for name in OWN_MODULES:
            sys.modules.pop(name, None)
        self.supervisor = sys.modules["__main__"]  # Kept alive: its sockets would close our descriptors.
        sys.modules["__main__"] = self.main
        sys.argv = [""]
        # Ours was started without a look at the environment; theirs is as every Python.
        sys.path[:0] = ["", *(path for path in os.environ.get("PYTHONPATH", "").split(":") if path)]
        sys.meta_path.insert(0, self.figures)

    def serve(self):
        while True:
            signal.signal(signal.SIGINT, self.on_interrupt)
            message, fds = self.waiting.pop(0) if self.waiting else self.receive()
            if "modules" in message:
                self.warm(message["modules"])
            elif "ended" in message:
                reap(message["ended"])
            elif "token" in message:
                self.run(message, fds)
            # An interrupt that is found here came too late: its cell is over.

    def receive(self, flags=0):
        space = socket.CMSG_SPACE(FDS_MAX * struct.calcsize("i"))
        text, ancillary, _, _ = self.link.recvmsg(MESSAGE_BYTES_MAX, space, socket.MSG_CMSG_CLOEXEC | flags)
        if not text:
            os._exit(0)
        header, _, rest = text.partition(b"\0")
        message = json.loads(header)
        for index, (name, length) in enumerate(message.get("texts", ())):
            message["texts"][index], rest = (name, rest[:length]), rest[length:]
        return message, [fd for _, _, data in ancillary for (fd,) in struct.iter_unpack("i", data)]

    def on_interrupt(self, *_):
        if self.is_running:
            raise KeyboardInterrupt

    def heed_early_interrupt(self):
        """Its signal came before the cell was running, and did nothing."""
        try:
            while True:
                message, fds = self.receive(socket.MSG_DONTWAIT)
                if message.get("interrupt") == self.token:
                    raise KeyboardInterrupt
                self.waiting.append((message, fds))
        except BlockingIOError:
            pass

    def warm(self, modules):
        for name in modules:
            try:
                importlib.import_module(name)
            except Exception:
                pass  # The user's own import says what is wrong with it.

    def run(self, cell, fds):
        self.token = cell["token"]
        files, texts = dict(zip(cell["files"], fds)), dict(cell["texts"])
        self.take_stdio(files)
        texts.update({name: read_all(fd) for name, fd in files.items()})
        source, event = texts["code"].decode(), texts.get("event")
        before = {name: os.environ.get(name) for name in cell["env"]}
        peak_before = children_peak()
        code = self.enter(cell["folder"], cell["env"]) or self.guarded(source, event)
        if os.getpid() != self.pid:
            self.flush()
            os._exit(code)  # A child that the cell forked came back here: it is not the kernel.
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})
        self.flush()
        for number in range(3):
            os.dup2(self.null, number)
        # The peak of a child is known when it is higher than that of all before it.
        peak = children_peak()
        self.link.send(b"D" + struct.pack(">IBI", self.token, code, peak if peak > peak_before else 0))

    def take_stdio(self, files):
        is_fed = "stdin" in files  # Else there is nothing to read, as there was nothing between the cells.
        for number, name in enumerate(("stdin", "stdout", "stderr")):
            if name in files:
                fd = files.pop(name)
                os.dup2(fd, number)
                os.close(fd)
        # A cell may have replaced or closed them; a fresh cell has them as they should be.
        if not is_open(self.stdout):
            self.stdout = text_stream(1)
        if not is_open(self.stderr):
            self.stderr = text_stream(2)
        sys.stdout = sys.__stdout__ = self.stdout
        sys.stderr = sys.__stderr__ = self.stderr
        if is_fed or not is_open(self.stdin):
            self.stdin = open(0, encoding="utf-8", errors="replace", closefd=False)
        sys.stdin = sys.__stdin__ = self.stdin
        if is_fed:
            self.stdin = None  # What it did not read is not for others.

    def enter(self, folder, env):
        try:
            os.environ.update(env)
            os.chdir(folder)
            return 0
        except (OSError, ValueError) as error:
            self.stderr.write(f"sandbox: {error}\n")
            return CANNOT_START

    def guarded(self, source, event):
        """The exit code of a cell, whatever it does."""
        try:
            try:
                self.is_running = True
                self.heed_early_interrupt()
                return self.complete(source, event)
            finally:
                self.is_running = False
        except BaseException as error:
            self.is_running = False
            self.figures.forget()
            self.show(error)
            return INTERRUPTED if issubclass(type(error), KeyboardInterrupt) else FAILED

    def complete(self, source, event):
        """A cell may leave early and be content all the same: its figures are wanted, too."""
        try:
            self.execute(source, event)
            code = 0
        except SystemExit as leaving:
            code = self.exit_code(leaving.code)
        if os.getpid() == self.pid:
            self.figures.save_open() if code == 0 else self.figures.forget()
        return code

    def execute(self, source, event):
        self.cell_count += 1
        name = f"<cell {self.cell_count}>"
        lines = source.splitlines(keepends=True)
        linecache.cache[name] = (len(source), None, lines, name)
        linecache.cache.pop(f"<cell {self.cell_count - SOURCES_MAX}>", None)
        scope = self.main.__dict__
        earlier = scope.get("handler")
        # Not ast.parse, which would be a frame in the traceback of a mistake in the syntax.
        tree = compile(source, name, "exec", ast.PyCF_ONLY_AST)
        is_value = len(tree.body) > 0 and isinstance(tree.body[-1], ast.Expr)
        last = ast.Expression(tree.body.pop().value) if is_value else None
        exec(compile(tree, name, "exec"), scope)
        value = None if last is None else eval(compile(last, name, "eval"), scope)
        handler = None if event is None else scope.get("handler")
        # One that an earlier cell left behind is not meant; one that was imported anew may be the same.
        is_own = callable(handler) and (handler is not earlier or binds_handler(source))
        is_answered = event is not None and self.called(handler if is_own else None, json.loads(event))
        if not is_answered and value is not None:
            self.send(b"t", cut(repr(value)))
            self.figures.show(value)

    def called(self, handler, event):
        """False: there is nobody to call, and an event that says nothing, or only whose files are meant."""
        is_asked = not isinstance(event, dict) or len(event.keys() - {"conversation_id"}) > 0
        if handler is None and is_asked:
            raise NameError("handler(event) is not defined")
        given = None if handler is None else arguments_for(handler, event, is_asked)
        if given is None:
            return False
        value = handler(*given)
        if hasattr(value, "__await__"):
            value = finished(value)
        data = json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass")
        if len(data) > VALUE_BYTES_MAX:
            raise ValueError(f"the value of handler(event) has {len(data)} bytes, more than {VALUE_BYTES_MAX}")
        self.send(b"j", data)
        return True

    def send(self, kind, data):
        for start in range(0, max(1, len(data)), PIECE_BYTES_MAX):
            end = start + PIECE_BYTES_MAX
            fields = struct.pack(">IcB", self.token, kind, end < len(data))
            self.link.send(b"R" + fields + data[start:end])

    def exit_code(self, code):
        """As `python` itself does it."""
        if code is None or isinstance(code, int):
            return (code or 0) & 0xFF
        self.complain(f"{code}\n")
        return FAILED

    def show(self, error):
        self.complain(story_of(error))
        # As OSError itself has it: what the cell has made of it may be anything.
        if issubclass(type(error), OSError) and OSError.errno.__get__(error) == errno.EFBIG:
            limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
            self.complain(f"sandbox: a file can have no more than {limit} bytes\n")

    def complain(self, text):
        try:
            self.stderr.write(text)
        except (OSError, ValueError):
            pass  # Closed by the cell, which is no reason to lose all that the agent's Python knows.

    def flush(self):
        for stream in (sys.stdout, sys.stderr, self.stdout, self.stderr):
            try:
                stream.flush()
            except Exception:
                pass  # Closed or replaced by the cell.


def binds_handler(source):
    """Whether the code itself gives the name to something, by whatever statement."""
    import symtable

    names = symtable.symtable(source, "", "exec")
    known = names.lookup("handler") if "handler" in names.get_identifiers() else None
    return known is not None and (known.is_assigned() or known.is_imported())


def arguments_for(handler, event, is_asked):
    """None: it takes more than an event, so it is for something else."""
    import inspect

    try:
        takes = inspect.signature(handler)
    except (TypeError, ValueError):
        return (event,)
    for given in ((event,), ()):
        try:
            takes.bind(*given)
            return given
        except TypeError:
            pass
    return (event,) if is_asked else None


def finished(awaitable):
    import asyncio

    async def wait():
        return await awaitable

    return asyncio.run(wait())


def read_all(fd):
    """A file in memory, which others may hold open at another place in it."""
    data = os.pread(fd, os.fstat(fd).st_size, 0)
    os.close(fd)
    return data


def reap(pids):
    """Children of cells that were killed at the end of a turn: until then they count as processes."""
    for pid in pids:
        try:
            os.waitpid(pid, 0)
        except ChildProcessError:
            pass  # Of somebody else.


def children_peak():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


def is_open(stream):
    try:
        return stream is not None and not stream.closed
    except ValueError:
        return False  # What it was made of was taken from it.


def text_stream(fd):
    raw = io.FileIO(fd, "w", closefd=False)
    return io.TextIOWrapper(io.BufferedWriter(raw), "utf-8", "backslashreplace", line_buffering=True)


def cut(text):
    data = text.encode("utf-8", "backslashreplace")
    if len(data) <= TEXT_BYTES_MAX:
        return data
    return data[:TEXT_BYTES_MAX].decode("utf-8", "ignore").encode() + b"..."


def story_of(error):
    """A traceback without our own frames; a mistake in the syntax has none at all, and what cannot be told but its name."""
    name = f"{type(error).__name__}\n"
    try:
        story = traceback.TracebackException(type(error), error, error.__traceback__)
    except Exception:
        return name
    hide_own_frames(story)
    try:
        return "".join(story.format())
    except Exception:
        return name


def hide_own_frames(story):
    waiting, seen = [story], set()
    while waiting:
        story = waiting.pop()
        if story is None or id(story) in seen:
            continue
        seen.add(id(story))
        frames = [frame for frame in story.stack if frame.filename not in OWN_FILES]
        story.stack = traceback.StackSummary.from_list(frames)
        waiting += [story.__cause__, story.__context__, *(getattr(story, "exceptions", None) or [])]
