"""The way from programs inside to the proxy of the host: connections to a port of loopback, all over one socket.

The supervisor has it when it is started with the argument `network`, and that socket as descriptor 8. It is a part of the
supervisor, whom nobody inside can end. It knows nothing of HTTP: the host reads, decides and answers. Each
connection has its own window in each direction, so that one which nobody reads holds up no other, and memory has a limit.
"""

import os
import selectors
import socket
import struct

GIVEN_FD = 8
PORT = 3128
# A frame: its kind, the number of the connection, and how many bytes follow (DATA) or may be sent besides (CREDIT).
FRAME = struct.Struct(">BII")
OPEN, DATA, END, RESET, CREDIT = range(5)
WINDOW_BYTES = 128 * 1024
PIECE_BYTES_MAX = 32 * 1024
CONNECTIONS_MAX = 32
# Those that do not fit wait in the queue of the kernel.
QUEUED_MAX = 512
# What waits for the host; then nothing more is read from programs.
WAITING_BYTES_MAX = 256 * 1024


def given(arguments, fd):
    """The socket that leads to the host, moved to this descriptor; None where the supervisor was started without one."""
    if "network" not in arguments:
        return None
    return os.dup2(GIVEN_FD, fd, inheritable=False)


def begin(selector, fd):
    if fd is not None:
        Forwarder(selector, socket.socket(fileno=fd))


class Connection:
    def __init__(self, number, sock):
        self.number, self.socket = number, sock
        self.may_send = WINDOW_BYTES  # To the host.
        self.waiting = bytearray()  # For the program.
        self.taken = 0  # By the program, and not yet told to the host.
        self.is_over_here = self.is_over_there = self.is_shut = False
        self.events = 0


class Forwarder:
    def __init__(self, selector, link):
        self.selector, self.link = selector, link
        self.connections = {}
        self.count = 0
        self.received, self.waiting = bytearray(), bytearray()
        self.is_held = self.is_full = False
        link.setblocking(False)
        self.listener = socket.create_server(("127.0.0.1", PORT), backlog=QUEUED_MAX)
        self.listener.setblocking(False)
        selector.register(self.listener, selectors.EVENT_READ, self.on_listener)
        selector.register(link, selectors.EVENT_READ, self.on_link)

    # Programs.

    def on_listener(self, _):
        try:
            sock, _ = self.listener.accept()
        except OSError:
            return  # It has changed its mind, or there is no room for one more descriptor.
        sock.setblocking(False)
        self.count = self.count % 0xFFFFFFFF + 1
        connection = self.connections[self.count] = Connection(self.count, sock)
        self.send(OPEN, connection)
        self.watch(connection)
        self.listen()

    def listen(self):
        is_full = len(self.connections) >= CONNECTIONS_MAX
        if is_full and not self.is_full:
            self.selector.unregister(self.listener)
        elif self.is_full and not is_full:
            self.selector.register(self.listener, selectors.EVENT_READ, self.on_listener)
        self.is_full = is_full

    def on_program(self, connection, mask):
        if self.connections.get(connection.number) is not connection:
            return  # Ended by what came before in the same round.
        try:
            if mask & selectors.EVENT_WRITE:
                self.write(connection)
            if mask & selectors.EVENT_READ:
                self.read(connection)
        except BlockingIOError:
            pass
        except OSError:
            return self.drop(connection)
        self.settle(connection)

    def read(self, connection):
        data = connection.socket.recv(min(PIECE_BYTES_MAX, connection.may_send))
        if data:
            connection.may_send -= len(data)
            self.send(DATA, connection, len(data), data)
        else:
            connection.is_over_here = True
            self.send(END, connection)

    def write(self, connection):
        if connection.waiting:
            sent = connection.socket.send(connection.waiting)
            del connection.waiting[:sent]
            connection.taken += sent
        if connection.taken >= WINDOW_BYTES // 2:
            self.send(CREDIT, connection, connection.taken)
            connection.taken = 0

    def settle(self, connection):
        if connection.is_over_there and not connection.waiting and not connection.is_shut:
            connection.is_shut = True
            try:
                connection.socket.shutdown(socket.SHUT_WR)
            except OSError:
                return self.drop(connection)
        if connection.is_shut and connection.is_over_here:
            return self.close(connection)
        return self.watch(connection)

    def watch(self, connection):
        is_read = not connection.is_over_here and connection.may_send > 0 and not self.is_held
        events = (selectors.EVENT_READ if is_read else 0) | (selectors.EVENT_WRITE if connection.waiting else 0)
        if events == connection.events:
            return
        if connection.events == 0:
            self.selector.register(connection.socket, events, lambda mask: self.on_program(connection, mask))
        elif events == 0:
            self.selector.unregister(connection.socket)
        else:
            key = self.selector.get_key(connection.socket)
            self.selector.modify(connection.socket, events, key.data)
        connection.events = events

    def drop(self, connection):
        self.send(RESET, connection)
        self.close(connection)

    def close(self, connection):
        if self.connections.pop(connection.number, None) is None:
            return
        if connection.events:
            self.selector.unregister(connection.socket)
        connection.socket.close()
        self.listen()

    # The host.

    def send(self, kind, connection, number=0, payload=b""):
        self.waiting += FRAME.pack(kind, connection.number, number) + payload
        self.flush()

    def flush(self):
        try:
            while self.waiting:
                del self.waiting[: self.link.send(self.waiting)]
        except BlockingIOError:
            pass
        except OSError:
            self.waiting.clear()  # The host is gone; reading says so.
        self.want_write(bool(self.waiting))
        is_held = len(self.waiting) >= WAITING_BYTES_MAX
        if is_held != self.is_held:
            self.is_held = is_held
            for connection in self.connections.values():
                self.watch(connection)

    def want_write(self, is_wanted):
        if self.link.fileno() < 0:
            return
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if is_wanted else 0)
        if self.selector.get_key(self.link).events != events:
            self.selector.modify(self.link, events, self.on_link)

    def on_link(self, mask):
        if mask & selectors.EVENT_WRITE:
            self.flush()
        if not mask & selectors.EVENT_READ or self.link.fileno() < 0:
            return
        try:
            data = self.link.recv(4 * PIECE_BYTES_MAX)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            return self.end()
        self.received += data
        self.take_frames()

    def take_frames(self):
        start, received = 0, self.received
        while len(received) - start >= FRAME.size:
            kind, number, count = FRAME.unpack_from(received, start)
            end = start + FRAME.size + (count if kind == DATA else 0)
            if len(received) < end:
                break
            connection = self.connections.get(number)
            if connection is not None:
                self.take(connection, kind, count, received[start + FRAME.size : end])
            start = end
        del received[:start]

    def take(self, connection, kind, count, payload):
        if kind == RESET:
            return self.close(connection)
        if kind == DATA:
            connection.waiting += payload
        elif kind == CREDIT:
            connection.may_send += count
        elif kind == END:
            connection.is_over_there = True
        return self.on_program(connection, selectors.EVENT_WRITE)

    def end(self):
        """The network is off from here on; programs find nobody at the port."""
        for connection in list(self.connections.values()):
            self.close(connection)
        if not self.is_full:
            self.selector.unregister(self.listener)
        self.listener.close()
        self.selector.unregister(self.link)
        self.link.close()
