"""What executions say on their way to the host: pipes that are read with measure, and to the end of the turn."""

import os
import selectors
from collections import deque

import processes
from channel import PAYLOAD_BYTES_MAX

# Bytes of one execution that wait for the host; then its pipes are not read until half of them went out.
QUEUED_BYTES_MAX = 256 * 1024
# The end of what was said beyond the limit: mistakes and results stand there. One frame takes it.
TAIL_BYTES_MAX = 64 * 1024
# For a program to say its first words: what is over by then is read once, and told in one piece.
FIRST_SECONDS = 0.002
# A pipe that had little to say is left alone for a moment: a write of one byte must not become a frame each time.
REST_SECONDS = 0.004
REST_BELOW_BYTES = 4096
# One that has said all it may is still emptied, but it does not get the whole processor for that.
CUT_REST_SECONDS = 0.001
# What is left running must be able to write, or it would end; nobody reads it, so it may wait.
LEFT_REST_SECONDS = 0.05
LEFT_STREAMS_MAX = 64
# Of one execution.
PIPES_READY = 2


class Stream:
    """One pipe out of an execution. More than `left` bytes are read and counted, but only their end is kept."""

    def __init__(self, execution, name, fd, bytes_max):
        self.execution, self.name, self.fd, self.left = execution, name, fd, bytes_max
        self.cut = 0
        self.tail = b""
        self.tail_bytes_max = max(1, min(TAIL_BYTES_MAX, bytes_max))
        self.kept = bytearray()
        self.is_watched = False
        self.is_resting = True  # Until its first words can be expected.
        self.is_over = False  # Its execution has ended: what is said now is for nobody.

    def read(self, bytes_max):
        """None: there is nothing now. Empty: there will never be more."""
        try:
            return os.read(self.fd, bytes_max)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def take(self, data):
        """What of it goes on to the host."""
        kept, rest = data[: self.left], data[self.left :]
        self.left -= len(kept)
        self.cut += len(rest)
        self.tail = (self.tail + rest)[-self.tail_bytes_max :]
        return kept


class Outputs:
    """The pipes of all executions. `after` calls something when so many seconds have gone by."""

    def __init__(self, selector, channel, after):
        self.selector, self.channel, self.after = selector, channel, after
        self.left = deque()  # Those that programs in the background still hold, oldest first.
        self.ready = []

    def open_pipe(self):
        """Its two ends."""
        return self.ready.pop() if self.ready else new_pipe()

    def prepare(self):
        """Pipes for the next execution, made while nobody waits."""
        try:
            while len(self.ready) < PIPES_READY:
                self.ready.append(new_pipe())
        except OSError:
            pass  # The next execution will meet the same reason, and has somebody to tell it to.

    def watch(self, stream):
        is_wanted = stream.fd is not None and not stream.is_resting and not stream.execution.is_held
        if is_wanted and not stream.is_watched:
            self.selector.register(stream.fd, selectors.EVENT_READ, lambda _: self.on_output(stream))
        elif stream.is_watched and not is_wanted:
            self.selector.unregister(stream.fd)
        stream.is_watched = is_wanted

    def wake(self, stream):
        stream.is_resting = False
        self.watch(stream)

    def drain(self, stream):
        """Its execution has ended. What is said now, and then its end, unless somebody in the background holds it open."""
        for _ in range(2):
            if stream.fd is not None and not stream.execution.is_held:
                self.take_output(stream, is_later=True)
        self.wake(stream)

    def on_output(self, stream):
        # Else it was closed or put to rest by what came before in the same round.
        if stream.is_watched:
            self.take_output(stream)

    def take_output(self, stream, is_later=False):
        data = stream.read(PAYLOAD_BYTES_MAX)
        if data is None:
            return
        if data == b"":
            self.close(stream)
            stream.execution.complete_if_all_is_said()
            return
        if stream.is_over:
            self.rest(stream, LEFT_REST_SECONDS)
            return
        self.pass_on(stream, data, is_later)
        if stream.execution.queued >= QUEUED_BYTES_MAX:
            stream.execution.hold(True)
        elif stream.execution.exit is None and (stream.left == 0 or len(data) < REST_BELOW_BYTES):
            self.rest(stream, CUT_REST_SECONDS if stream.left == 0 else REST_SECONDS)

    def rest(self, stream, seconds):
        stream.is_resting = True
        self.watch(stream)
        self.after(seconds, lambda: self.wake(stream))

    def pass_on(self, stream, data, is_later=False):
        kept = stream.take(data)
        if stream.name == "result":
            stream.kept += kept
        elif kept:
            header = {"type": "out", "id": stream.execution.id, "stream": stream.name}
            self.channel.send(header, kept, stream.execution, is_later)

    def close(self, stream):
        if stream.is_watched:
            self.selector.unregister(stream.fd)
        os.close(stream.fd)
        stream.fd, stream.is_watched = None, False
        if stream.is_over:
            self.left.remove(stream)

    # When its execution has ended, and it is still held open.

    def leave(self, stream):
        """What was said until now goes on. A server in the background lives: with a closed pipe its next word would be its last."""
        data = stream.read(processes.bytes_in(stream.fd)) or b""
        for start in range(0, len(data), PAYLOAD_BYTES_MAX):
            self.pass_on(stream, data[start : start + PAYLOAD_BYTES_MAX])
        stream.is_over = True
        self.left.append(stream)
        self.watch(stream)
        while len(self.left) > LEFT_STREAMS_MAX:
            self.close(self.left[0])

    def close_left(self):
        for stream in [*self.left]:
            self.close(stream)


def new_pipe():
    """Read without waiting; whoever writes waits."""
    read_fd, write_fd = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(read_fd, False)
    return read_fd, write_fd
