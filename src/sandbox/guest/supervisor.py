"""PID 1 of a sandbox: starts what the host asks for, carries its output, and believes nothing that it started.

Run as `python3 -I supervisor.py` with the control socket as descriptor 3 (with a network, see forward.py; over standard
input and output, see stdio.py). Only the standard library is used, and nothing
is imported from where users can write. The end of an execution is the end of its process, never the end of its output:
a child in the background may hold that open for ever.
"""

import errno
import os
import selectors
import signal
import socket
import struct
import sys
import time
from collections import deque

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import forward
import processes
import stdio
from channel import PAYLOAD_BYTES_MAX, VERSION, Channel
from execution import CANNOT_START, RESULT_BYTES_MAX, RESULT_PIECE_BYTES_MIN
from execution import Execution, Kernel, load_kernel_program
from outputs import Outputs
from parts import Part
from timers import Timers

del sys.path[0]

CONTROL_FD = 3
# Of the calls into the kernel, where nobody has put it in force before.
FILTER_PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "calls.bpf")
EXECUTIONS_MAX = 32
KERNELS_MAX = 16
# For the dead of a turn to be reaped; a kernel that is busy does not come to it.
BURIAL_SECONDS = 0.5
LOOK_SECONDS = 0.004
# The fields of what a kernel says, after its first byte: R is a result, D is "done". All else is dropped.
KERNEL_FIELDS = {b"R": struct.Struct(">IcB"), b"D": struct.Struct(">IBI")}
RESULT_KINDS = {b"t": "text", b"j": "json", b"p": "png"}


def main():
    processes.filter_calls(FILTER_PATH)
    inner_fds = stdio.given(sys.argv[1:], CONTROL_FD)
    network_fd = forward.given(sys.argv[1:], CONTROL_FD + 1)
    processes.shield(CONTROL_FD, max([CONTROL_FD, network_fd or 0, *inner_fds]))
    supervisor = Supervisor(socket.socket(fileno=CONTROL_FD))
    forward.begin(supervisor.selector, network_fd)
    stdio.begin(supervisor.selector, inner_fds, sys.argv[1:])
    supervisor.serve()


class Supervisor:
    def __init__(self, control):
        self.selector = selectors.DefaultSelector()
        self.channel = Channel(control, self.want_write)
        self.timers = Timers()
        self.after = self.timers.after
        self.outputs = Outputs(self.selector, self.channel, self.after)
        self.options = None
        self.executions = {}  # By id, until their last frame.
        self.kernels = {}  # By agent, while they can be given work.
        self.children = {}  # By pid, until they are reaped: executions with a process of their own, and kernels.
        self.parts = {}  # By execution id, then by name: code, event and input.
        self.turn_ends = deque()  # What was killed, and until when it is waited for.
        self.token = 0
        self.dropped = 0
        self.null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        wake_read, wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        self.selector.register(wake_read, selectors.EVENT_READ, lambda _: self.reap(wake_read))
        self.selector.register(control, selectors.EVENT_READ, self.on_control)

    def serve(self):
        while True:
            for key, mask in self.selector.select(self.timers.seconds_left()):
                key.data(mask)
            self.timers.act()

    # What the host says.

    def want_write(self, is_wanted):
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if is_wanted else 0)
        self.selector.modify(CONTROL_FD, events, self.on_control)

    def on_control(self, mask):
        if mask & selectors.EVENT_WRITE:
            self.channel.flush()
        if not mask & selectors.EVENT_READ:
            return
        frames = self.channel.receive()
        if frames is None:
            self.host_shutdown()
        for header, payload in frames:
            if self.options is None and header["type"] != "hello":
                self.host_shutdown()
            getattr(self, "host_" + header["type"])(header, payload)

    def host_hello(self, header, _):
        self.options = header
        os.environ.pop("AGENTYARD_GUEST", None)  # For the host, which reads it from outside.
        os.environ.update(header["env"])
        os.environ.setdefault("MPLBACKEND", "Agg")
        marks = [processes.mark_of(folder) for folder in header["folders"]]
        self.channel.send({"type": "hello", "version": VERSION, "nonce": header["nonce"], "marks": marks})
        self.after(0, load_kernel_program)

    def host_part(self, header, payload):
        name = header["name"]
        self.parts.setdefault(header["id"], {}).setdefault(name, Part(name)).add(payload)

    def host_exec(self, header, payload):
        self.host_part({"id": header["id"], "name": "code"}, payload)
        execution = Execution(self, header, self.parts.pop(header["id"]))
        self.executions[execution.id] = execution
        self.try_to_start(execution)

    def host_interrupt(self, header, _):
        execution = self.executions.get(header["id"])
        if execution is None or execution.exit is not None:
            return
        if execution.has_begun():
            execution.interrupt()
        else:
            execution.end(None, "SIGINT", {})

    def host_kill(self, header, _):
        execution = self.executions.get(header["id"])
        if execution is None or execution.exit is not None:
            return
        if execution.kernel is not None:
            self.end_kernel(execution.kernel, was_asked=True)
        elif execution.has_begun():
            processes.kill_with(execution.pid)
        else:
            execution.end(None, "SIGKILL", {})

    def host_reset(self, header, _):
        kernel = self.kernels.get(header["agent"])
        if kernel is None:
            self.channel.send({"type": "kernel_lost", "agent": header["agent"], "id": None, "asked": True})
        else:
            self.end_kernel(kernel, was_asked=True)

    def host_warm(self, header, _):
        try:
            self.kernel_of(header["agent"]).tell({"modules": header["modules"]})
        except OSError:
            pass  # An execution will meet the same reason, and has somebody to tell it to.

    def host_end_turn(self, header, _):
        # What somebody else asked for at the same time goes on, with all that it started.
        running = () if header["all"] else [pid for pid, child in self.children.items() if child.is_running()]
        self.turn_ends.append((self.end_left(running), time.monotonic() + BURIAL_SECONDS))
        if len(self.turn_ends) == 1:
            self.tell_turn_ends()

    def end_left(self, running=()):
        """Ends what is neither an agent's Python nor running, nor below one that is; the processes that were."""
        kernels = [child for child in self.children.values() if isinstance(child, Kernel)]
        killed = processes.kill_below(os.getpid(), [kernel.pid for kernel in kernels], running)
        for kernel in kernels:
            kernel.tell({"ended": sorted(killed)})
        self.outputs.close_left()
        return killed

    def tell_turn_ends(self):
        """Not before the killed are gone: as long as they are counted, their number keeps others from starting."""
        while self.turn_ends:
            killed, until = self.turn_ends[0]
            if time.monotonic() < until and any(processes.exists(pid) for pid in killed):
                return self.after(LOOK_SECONDS, self.tell_turn_ends)
            self.turn_ends.popleft()
            self.channel.send({"type": "turn_ended", "killed": len(killed)})

    def host_usage(self, *_):
        self.channel.send({"type": "usage", **processes.usage_of_all()})

    def host_ping(self, header, _):
        self.channel.send({"type": "pong", "n": header["n"], "dropped": self.dropped})

    def host_shutdown(self, *_):
        processes.kill_below(os.getpid())
        os._exit(0)

    # Starting.

    def try_to_start(self, execution, ended=None):
        """`ended`: what was ended to make room for it. Then it is the last try."""
        if execution.exit is None:
            try:
                self.start(execution)
            except OSError as error:
                running = [other for other in self.executions.values() if other.has_begun() and other.is_running()]
                if error.errno == errno.EAGAIN and ended is None and not running:
                    return self.make_room(execution)
                self.refuse(execution, f"cannot start a process: {error.strerror}")
        if ended and execution.id in self.executions:
            self.say(execution, "programs left running by earlier calls were ended")
        return execution.close_given()

    def make_room(self, execution):
        """Nothing runs but what earlier executions left behind: it must not keep all others out."""
        for stream in execution.streams:
            self.outputs.close(stream)
        execution.streams = []
        ended = self.end_left()
        until = time.monotonic() + BURIAL_SECONDS

        def retry():
            if time.monotonic() < until and any(processes.exists(pid) for pid in ended):
                self.after(LOOK_SECONDS, retry)
            else:
                self.try_to_start(execution, ended)

        retry()

    def start(self, execution):
        if len(self.executions) > EXECUTIONS_MAX:
            return self.refuse(execution, f"more than {EXECUTIONS_MAX} executions at the same time")
        if not os.path.isdir(execution.folder):
            return self.refuse(execution, f"there is no folder {execution.folder}")
        if execution.language == "python":
            return self.start_cell(execution)
        if execution.language == "javascript" and not self.options["javascript"]:
            return self.refuse(execution, "JavaScript cannot be run here: there is no node in this sandbox")
        execution.pid = execution.fork(execution.parts["code"].read())
        self.children[execution.pid] = execution
        return self.started(execution)

    def refuse(self, execution, reason):
        self.channel.send({"type": "started", "id": execution.id, "first": False})
        self.say(execution, reason)
        execution.end(CANNOT_START, None, {})

    def say(self, execution, text):
        header = {"type": "out", "id": execution.id, "stream": "stderr"}
        self.channel.send(header, f"sandbox: {text}\n".encode(errors="replace"), execution)

    def start_cell(self, execution):
        kernel = self.kernel_of(execution.agent)
        if kernel.execution is not None:
            return self.refuse(execution, "the Python of this agent is busy")
        self.token += 1
        execution.token, execution.usage_before = self.token, kernel.usage
        # Told first: it begins while we tell the host. What it says is read later.
        has_heard = execution.tell(kernel)
        kernel.execution, execution.kernel = execution, kernel
        execution.is_first, kernel.has_run = not kernel.has_run, True
        self.started(execution)
        if not has_heard:
            self.end_kernel(kernel)  # It is of no use to anybody any more.

    def kernel_of(self, agent):
        if agent not in self.kernels:
            if len(self.kernels) >= KERNELS_MAX:
                raise OSError(0, f"more than {KERNELS_MAX} agents with a Python of their own")
            kernel = self.kernels[agent] = Kernel(agent, self.options)
            self.children[kernel.pid] = kernel
            self.selector.register(kernel.link, selectors.EVENT_READ, lambda _: self.on_kernel(kernel))
        return self.kernels[agent]

    def started(self, execution):
        # What is over in a moment is told in one piece.
        self.channel.send({"type": "started", "id": execution.id, "first": execution.is_first}, is_later=True)
        execution.listen_soon()

    # What children say. All of it is put under the id of the execution that is theirs.

    def on_kernel(self, kernel):
        if self.read_kernel(kernel) == b"":
            self.end_kernel(kernel)  # Without its link it can never say that it is done.

    def read_kernel(self, kernel):
        """One message, taken or dropped. None: there is nothing now. Empty: there will never be more."""
        try:
            message = kernel.link.recv(PAYLOAD_BYTES_MAX)
        except BlockingIOError:
            return None
        except OSError:
            message = b""
        if not message:
            self.close_link(kernel)
        elif not self.take_kernel_message(kernel.execution, message):
            self.dropped += 1
        return message

    def take_kernel_message(self, execution, message):
        """User code shares the kernel's memory and can send anything: it gets no further than its own execution."""
        kind = message[:1]
        fields = KERNEL_FIELDS.get(kind)
        if execution is None or fields is None or len(message) < 1 + fields.size:
            return False
        token, what, number = fields.unpack_from(message, 1)
        body = message[1 + fields.size :]
        if token != execution.token:
            return False
        if kind == b"D":
            execution.kernel.execution = None
            used = execution.kernel.look.usage()
            usage = execution.usage_since(used)
            peak = max(usage["memoryPeakBytes"], number * 1024)
            execution.end(what, None, {**usage, "memoryPeakBytes": peak})
            execution.kernel.count_from(used)  # While nobody waits: the next cell begins at once.
            self.outputs.prepare()
        elif what in RESULT_KINDS and (counted := max(len(body), RESULT_PIECE_BYTES_MIN)) <= execution.result_left:
            execution.result_left -= counted
            self.send_result(execution, RESULT_KINDS[what], body, number == 1)
        else:
            return False
        return True

    def send_result(self, execution, kind, body, has_more):
        self.channel.send({"type": "result", "id": execution.id, "kind": kind, "more": has_more}, body, execution)

    def close_link(self, kernel):
        if kernel.link.fileno() >= 0:
            self.selector.unregister(kernel.link)
            kernel.link.close()

    # Ending.

    def end_kernel(self, kernel, was_asked=False):
        """It gets no more work; what is left of it is told when it is reaped."""
        if self.kernels.get(kernel.agent) is kernel:
            del self.kernels[kernel.agent]
        kernel.was_asked |= was_asked
        if kernel.pid in self.children:
            processes.kill_with(kernel.pid)

    def reap(self, wake_fd):
        os.read(wake_fd, PAYLOAD_BYTES_MAX)
        while True:
            try:
                pid, status, rusage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            child = self.children.pop(pid, None)
            if child is None:
                continue  # An orphan that came to us.
            code = os.waitstatus_to_exitcode(status)
            how = (code, None) if code >= 0 else (None, processes.signal_name(-code))
            if isinstance(child, Kernel):
                self.kernel_gone(child, how, processes.usage_from(rusage))
            else:
                child.end(*how, processes.usage_from(rusage))

    def kernel_gone(self, kernel, how, usage):
        while self.read_kernel(kernel):
            pass  # What it still said. A child of its own may hold the link open: nothing now is the end.
        self.close_link(kernel)
        kernel.look.close()
        self.end_kernel(kernel)
        execution, kernel.execution = kernel.execution, None
        lost = {"type": "kernel_lost", "agent": kernel.agent, "asked": kernel.was_asked}
        self.channel.send({**lost, "id": execution.id if execution else None})
        if execution is not None:
            execution.end(*how, execution.usage_since(usage))

    def complete(self, execution):
        """The last frames of an execution; what its children say from now on is read for nobody."""
        if self.executions.pop(execution.id, None) is None:
            return
        for stream in execution.streams:
            if stream.fd is not None:
                self.outputs.leave(stream)
            if stream.name == "result":
                self.send_kept(stream)
            elif stream.cut > 0:
                header = {"type": "cut", "id": execution.id, "stream": stream.name, "bytes": stream.cut}
                self.channel.send(header, stream.tail, execution)
                stream.tail = b""
        if execution.met_file_limit():
            self.say(execution, f"a file can have no more than {self.options['fileBytesMax']} bytes")
        self.channel.send({"type": "exited", "id": execution.id, **execution.exit})

    def send_kept(self, stream):
        if stream.cut > 0:
            return self.say(stream.execution, f"the value is longer than {RESULT_BYTES_MAX} bytes")
        kept = bytes(stream.kept)
        for start in range(0, len(kept), PAYLOAD_BYTES_MAX):
            end = start + PAYLOAD_BYTES_MAX
            self.send_result(stream.execution, "json", kept[start:end], end < len(kept))


if __name__ == "__main__":
    main()
