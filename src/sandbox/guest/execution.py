"""What the supervisor keeps about one execution, and about an agent's Python."""

import json
import os
import signal
import socket
import sys

import processes
import timers
from outputs import FIRST_SECONDS, QUEUED_BYTES_MAX, Stream

RESULT_BYTES_MAX = 1024 * 1024
# What a piece of a result counts for at least, as the host has it.
RESULT_PIECE_BYTES_MIN = 64
# For what children in the background still say after their parent has ended.
DRAIN_SECONDS = 0.2
# What node reserves for code that it may compile, and mostly does not use. A shell may start one.
RESERVED_BYTES = 640 * 1024 * 1024
CANNOT_START = 126
# What a shell says of a child that wrote more to a file than it may.
FILE_TOO_LARGE = 128 + signal.SIGXFSZ
NOTHING_USED = {"cpuMs": 0, "memoryPeakBytes": 0, "readBytes": 0, "writtenBytes": 0}

# Everybody on the host can read a command line, so code does not stand there: these take it from a descriptor and close
# that. What they run sees what it would see with `bash -c` and `node --eval`.
RUN_BASH = 'IFS= read -r -d "" agentyard_code <&%d; exec %d<&-; eval "unset agentyard_code;$agentyard_code"'
RUN_JAVASCRIPT = """{
  const get = process.getBuiltinModule ?? require;
  const code = get("node:fs").readFileSync(%d, "utf8");
  get("node:fs").closeSync(%d);
  const { registerHooks } = get("node:module");
  let fault;
  try {
    new (get("node:vm").Script)(code, { filename: "[eval]" });
  } catch (error) {
    fault = error;
  }
  if (fault === undefined) (0, eval)(code + "\\n//# sourceURL=[eval]");
  else if (registerHooks === undefined) throw fault;
  else {
    // Modules, and types where this node takes them. It lies where the program runs: that is what its imports start from.
    const url = "file://" + process.cwd() + "/[eval1]";
    const format = process.features.typescript ? "module-typescript" : "module";
    registerHooks({
      resolve: (name, about, next) => (name === url ? { url, format, shortCircuit: true } : next(name, about)),
      load: (name, about, next) => (name === url ? { format, source: code, shortCircuit: true } : next(name, about)),
    });
    import(url).catch((error) => {
      throw error?.code === "ERR_INVALID_TYPESCRIPT_SYNTAX" ? fault : error;
    });
  }
}"""

# Runs after the user's code, in the same scope. Descriptor 3 holds the event, 4 takes the value.
CALL_JAVASCRIPT_HANDLER = b"""
;{
  const fs = globalThis.process.getBuiltinModule("node:fs");
  const event = JSON.parse(fs.readFileSync(3, "utf8"));
  const isDefined = typeof handler === "function";
  const isAsked = Object.keys(event ?? {}).some((name) => name !== "conversation_id");
  if (!isDefined && isAsked) throw new TypeError("handler(event) is not defined");
  if (isDefined) Promise.resolve(handler(event, {})).then((value) =>
    fs.writeFileSync(4, JSON.stringify(value) ?? "null"),
  );
}
"""


def load_kernel_program():
    """What every kernel needs is loaded once, here, and after the greeting: the host does not have to wait for it."""
    if "kernel" not in sys.modules:
        if sys.flags.no_site:
            import site

            site.main()  # The places of the machine's libraries, and `exit`, `help` and their like.
        sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
        import kernel as _

        del sys.path[0]
    return sys.modules["kernel"]


class Kernel:
    """The Python of an agent: a child that was not exec'ed, so that its start costs a millisecond."""

    def __init__(self, agent, options):
        self.agent = agent
        self.execution = None
        self.has_run = False
        self.was_asked = False
        self.usage = NOTHING_USED
        self.link, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        program = load_kernel_program()
        try:
            self.pid = os.fork()
            if self.pid == 0:
                self._be(program, null, theirs, options)
        finally:
            theirs.close()
            os.close(null)
        self.link.setblocking(False)
        self.look = processes.Look(self.pid)

    def is_running(self):
        return self.execution is not None

    def count_from(self, usage):
        """What the next cell uses is counted from here; what threads of this one go on to use is its, too."""
        self.usage = usage
        self.look.forget_peak()

    def tell(self, message, texts=(), fds=()):
        """False: it does not listen any more."""
        try:
            # As it is and not escaped: escaped it could be longer than the kernel reads.
            header = json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass")
            socket.send_fds(self.link, [header + b"\0", *texts], fds)
            return True
        except OSError:
            return False

    def _be(self, program, null, theirs, options):
        try:
            processes.become_child([null, null, null, theirs.fileno()], options)
            program.serve(3, options["workspace"])
        finally:
            os._exit(CANNOT_START)


class Execution:
    def __init__(self, supervisor, header, parts):
        self.supervisor = supervisor
        self.id, self.language, self.agent = header["id"], header["language"], header["agent"]
        self.folder = os.path.join(supervisor.options["workspace"], header["folder"])
        self.env = header["env"]
        self.parts = parts
        self.given = []
        self.streams = []
        self.first_look = None
        self.pid = self.kernel = self.exit = None
        self.is_first = False  # Of its Python, which knows nothing of earlier ones.
        self.token = 0
        self.usage_before = NOTHING_USED
        self.result_left = RESULT_BYTES_MAX
        self.queued = 0
        self.is_held = False

    def is_running(self):
        return self.exit is None

    def has_begun(self):
        return self.pid is not None or self.kernel is not None

    def interrupt(self):
        """As a person's Ctrl+C: to the process and what it started and did not put aside."""
        leader = self.pid
        if self.kernel is not None:
            leader = self.kernel.pid
            # The signal may come before the cell begins; this is found then.
            self.kernel.tell({"interrupt": self.token})
        try:
            os.killpg(leader, signal.SIGINT)
        except ProcessLookupError:
            os.kill(leader, signal.SIGINT)  # So young that it has no group of its own yet.

    # Descriptors for the child; our copies are closed as soon as it has them.

    def open_outputs(self):
        bytes_max = self.supervisor.options["outputBytesMax"]
        return [self.open_pipe("stdout", bytes_max), self.open_pipe("stderr", bytes_max)]

    def open_pipe(self, name, bytes_max):
        read_fd, write_fd = self.supervisor.outputs.open_pipe()
        self.streams.append(Stream(self, name, read_fd, bytes_max))
        self.given.append(write_fd)
        return write_fd

    def close_given(self):
        for fd in self.given:
            os.close(fd)
        for part in self.parts.values():
            part.close()
        self.given, self.parts = [], {}

    def tell(self, kernel):
        """What is short goes with the message, the rest as files. False: it does not listen any more."""
        short = {name: part.read() for name, part in self.parts.items() if name != "stdin" and part.is_short()}
        files = {name: part.file() for name, part in self.parts.items() if name not in short}
        files["stdout"], files["stderr"] = self.open_outputs()
        cell = {"token": self.token, "folder": self.folder, "env": self.env, "files": [*files]}
        cell["texts"] = [(name, len(text)) for name, text in short.items()]
        return kernel.tell(cell, short.values(), files.values())

    def fork(self, code):
        """bash or node, in a process of its own."""
        # Its input is a file, so nobody has to feed a program that reads slowly.
        stdin = self.parts["stdin"].file() if "stdin" in self.parts else self.supervisor.null
        fds = [stdin, *self.open_outputs()]
        argv = self._command(code, fds)
        pid = os.fork()
        if pid != 0:
            return pid
        try:
            processes.become_child(fds, self.supervisor.options, RESERVED_BYTES)
            if b"\0" in code:
                raise ValueError("embedded null byte")
            os.chdir(self.folder)
            os.execvpe(argv[0], argv, {**os.environ, **self.env})
        except BaseException as error:
            os.write(2, f"sandbox: cannot run {argv[0]}: {error}\n".encode(errors="replace"))
        finally:
            os._exit(CANNOT_START)

    def _command(self, code, fds):
        event = self.parts.get("event")
        # A program that has no such name and gets nothing stays as it was written.
        is_asked = event is not None and (b"handler" in code or event.read() != b"{}")
        if self.language == "javascript" and is_asked:
            fds += [event.file(), self.open_pipe("result", RESULT_BYTES_MAX)]
            self.parts["code"].add(CALL_JAVASCRIPT_HANDLER)
        fds.append(self.parts["code"].file())
        place = len(fds) - 1
        if self.language == "javascript":
            return [*self.supervisor.options["javascript"], "--eval", RUN_JAVASCRIPT % (place, place)]
        return ["bash", "-c", RUN_BASH % (place, place), "bash"]

    # Output that waits for the host.

    def listen_soon(self):
        self.first_look = self.supervisor.after(FIRST_SECONDS, self.listen)

    def listen(self):
        self.supervisor.channel.flush()
        for stream in self.streams:
            self.supervisor.outputs.wake(stream)

    def hold(self, is_held):
        self.is_held = is_held
        for stream in self.streams:
            self.supervisor.outputs.watch(stream)

    def sent(self, byte_count):
        self.queued -= byte_count
        if self.is_held and self.queued < QUEUED_BYTES_MAX // 2:
            self.hold(False)

    # The end.

    def usage_since(self, usage):
        """The peak of a Python was set back at the start; the rest only grows."""
        since = {name: max(0, usage[name] - self.usage_before[name]) for name in usage}
        return {**since, "memoryPeakBytes": usage["memoryPeakBytes"]}

    def end(self, code, signal_name, usage):
        self.exit = {"code": code, "signal": signal_name, **NOTHING_USED, **usage}
        if self.first_look is not None:
            timers.forget(self.first_look)
        for stream in self.streams:
            self.supervisor.outputs.drain(stream)
        if not self.complete_if_all_is_said():
            self.supervisor.channel.flush()
            self.supervisor.after(DRAIN_SECONDS, lambda: self.supervisor.complete(self))

    def met_file_limit(self):
        return self.exit["signal"] == "SIGXFSZ" or (self.kernel is None and self.exit["code"] == FILE_TOO_LARGE)

    def complete_if_all_is_said(self):
        is_complete = self.exit is not None and all(stream.fd is None for stream in self.streams)
        if is_complete:
            self.supervisor.complete(self)
        return is_complete
