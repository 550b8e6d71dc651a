"""The supervisor's sockets over its standard input and output, where a guest is started with nothing else.

The supervisor has this with the argument `stdio`. What is carried comes in pieces: one byte that says for which socket (0 is
the control socket, 1 the one that leads to the proxy), four bytes of length, and the bytes. `guest/stdio.ts` speaks the
same. It runs in the loop of the supervisor: nobody inside can end it or get between.
"""

import fcntl
import os
import selectors
import socket
import struct

import forward

HEAD = struct.Struct(">BI")
PIECE_BYTES_MAX = 64 * 1024
# What waits in one direction; then nothing more is read in the other end of it.
WAITING_BYTES_MAX = 1024 * 1024
# Above every descriptor that has a fixed place.
FREE_FD = 100
FIRST_INNER_FD = 5
KEY_BYTES = 32


def given(arguments, control_fd):
    """Puts sockets where the supervisor looks for them; the descriptors of their other ends, in the order of their numbers."""
    if "stdio" not in arguments:
        return []
    places = [control_fd, forward.GIVEN_FD] if "network" in arguments else [control_fd]
    pairs = []
    for _ in places:
        pair = socket.socketpair()
        pairs.append([fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, FREE_FD) for end in pair])
        for end in pair:
            end.close()
    inner = range(FIRST_INNER_FD, FIRST_INNER_FD + len(places))
    for (outer_end, inner_end), place, inner_fd in zip(pairs, places, inner):
        os.dup2(outer_end, place, inheritable=False)
        os.dup2(inner_end, inner_fd, inheritable=False)
    return list(inner)


def begin(selector, inner_fds, arguments=()):
    if inner_fds:
        cover = Cover(read_key()) if "covered" in arguments else None
        Carrier(selector, [socket.socket(fileno=fd) for fd in inner_fds], cover)


def read_key():
    """The first bytes of all that the host says. They are read into the one place where they stay."""
    key = bytearray(KEY_BYTES)
    filled = 0
    while filled < KEY_BYTES:
        count = os.readv(0, [memoryview(key)[filled:]])
        if count == 0:
            os._exit(0)  # The host is gone.
        filled += count
    return key


class Cover:
    """Where somebody on the way keeps a copy of what we say, each piece is covered; `guest/covered.ts` takes it off.

    An agent's Python begins as a copy of this process, with all of its memory. Who had the key could choose what is read in
    that copy, so it is overwritten in every child before anything else happens there, and no second copy is ever made.
    """

    def __init__(self, key):
        # Only for those who use it: it takes a tenth of the time that the supervisor takes to start.
        from hashlib import shake_256

        self.hash, self.key, self.number = shake_256, key, 0
        os.register_at_fork(after_in_child=self.forget)

    def forget(self):
        self.key[:] = bytes(len(self.key))

    def over(self, data):
        covering = self.hash(self.key)
        covering.update(self.number.to_bytes(8, "big"))
        cover = covering.digest(len(data))
        self.number += 1
        return (int.from_bytes(data, "big") ^ int.from_bytes(cover, "big")).to_bytes(len(data), "big")


class Carrier:
    def __init__(self, selector, links, cover):
        self.selector, self.links, self.cover = selector, links, cover
        self.received = bytearray()  # From the host, up to a whole piece.
        self.coming = [bytearray() for _ in links]  # For each socket of ours.
        self.leaving = bytearray()  # For the host.
        self.is_over = False
        self.events = {}
        for fd in (0, 1):
            os.set_blocking(fd, False)
        for link in links:
            link.setblocking(False)
        self.watch()

    def watch(self):
        """Reads only as much as can be handed on."""
        if self.is_over:
            return
        is_room_here = all(len(waiting) < WAITING_BYTES_MAX for waiting in self.coming)
        self.want(0, selectors.EVENT_READ if is_room_here else 0, self.on_input)
        self.want(1, selectors.EVENT_WRITE if self.leaving else 0, self.on_output)
        is_room_there = len(self.leaving) < WAITING_BYTES_MAX
        for number, link in enumerate(self.links):
            if link.fileno() >= 0:
                read = selectors.EVENT_READ if is_room_there else 0
                write = selectors.EVENT_WRITE if self.coming[number] else 0
                self.want(link.fileno(), read | write, lambda mask, number=number: self.on_link(number, mask))

    def want(self, fd, events, callback):
        now = self.events.get(fd, 0)
        if events == now:
            return
        if now == 0:
            self.selector.register(fd, events, callback)
        elif events == 0:
            self.selector.unregister(fd)
        else:
            self.selector.modify(fd, events, callback)
        self.events[fd] = events

    def on_input(self, _):
        try:
            data = os.read(0, PIECE_BYTES_MAX)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            return self.end()  # The host is gone.
        self.received += data
        start = 0
        while len(self.received) - start >= HEAD.size:
            number, length = HEAD.unpack_from(self.received, start)
            stop = start + HEAD.size + length
            if length > PIECE_BYTES_MAX or number >= len(self.links):
                return self.end()
            if len(self.received) < stop:
                break
            self.coming[number] += self.received[start + HEAD.size : stop]
            start = stop
        del self.received[:start]
        for number in range(len(self.links)):
            self.hand_on(number)
        return self.watch()

    def hand_on(self, number):
        link, waiting = self.links[number], self.coming[number]
        try:
            while waiting and link.fileno() >= 0:
                del waiting[: link.send(waiting)]
        except BlockingIOError:
            pass
        except OSError:
            waiting.clear()  # The way out was closed, and the guest goes on without.

    def on_link(self, number, mask):
        if mask & selectors.EVENT_WRITE:
            self.hand_on(number)
        if mask & selectors.EVENT_READ:
            self.take(number)
        self.watch()

    def take(self, number):
        link = self.links[number]
        try:
            data = link.recv(PIECE_BYTES_MAX)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.coming[number].clear()
            self.want(link.fileno(), 0, None)
            return link.close()
        self.leaving += HEAD.pack(number, len(data)) + (self.cover.over(data) if self.cover else data)
        return self.write()

    def on_output(self, _):
        self.write()
        self.watch()

    def write(self):
        try:
            while self.leaving:
                del self.leaving[: os.write(1, self.leaving)]
        except BlockingIOError:
            pass
        except OSError:
            self.end()

    def end(self):
        """The supervisor finds its control socket closed, and ends with everything in the guest."""
        if self.is_over:
            return
        self.is_over = True
        for fd in [fd for fd, events in self.events.items() if events]:
            self.want(fd, 0, None)
        for link in self.links:
            link.close()
