"""Frames to and from the host: u32 header bytes, u32 payload bytes (both big-endian), a JSON header, a raw payload."""

import json
import struct
from collections import deque
from itertools import islice

VERSION = 1
HEADER_BYTES_MAX = 64 * 1024
PAYLOAD_BYTES_MAX = 64 * 1024
LENGTHS = struct.Struct(">II")
# That are handed to the kernel in one call.
FRAMES_AT_ONCE = 16


class ProtocolError(Exception):
    """The host does not speak as agreed: a mistake of ours, after which nothing can be relied on."""


class Channel:
    """Sending never blocks. What has to wait is counted for its owner, who is told when it went out."""

    def __init__(self, sock, want_write):
        sock.setblocking(False)
        self.socket = sock
        self.want_write = want_write
        self.received = bytearray()
        self.waiting = deque()
        self.is_full = False  # The host has to read first.

    def send(self, header, payload=b"", owner=None, is_later=False):
        """`is_later`: it goes out with what follows, or with the next `flush`."""
        text = json.dumps(header).encode()
        frame = LENGTHS.pack(len(text), len(payload)) + text + payload
        self.waiting.append([memoryview(frame), owner, len(frame)])
        if owner is not None:
            owner.queued += len(frame)
        if not (is_later or self.is_full):
            self.flush()

    def flush(self):
        was_full, self.is_full = self.is_full, False
        while self.waiting and not self.is_full:
            try:
                self._take_off(self.socket.sendmsg([entry[0] for entry in islice(self.waiting, FRAMES_AT_ONCE)]))
            except BlockingIOError:
                self.is_full = True
            except OSError:
                self.waiting.clear()  # The host is gone; the next `receive` says so.
        if self.is_full != was_full:
            self.want_write(self.is_full)

    def _take_off(self, sent):
        while self.waiting and sent >= len(self.waiting[0][0]):
            rest, owner, frame_bytes = self.waiting.popleft()
            sent -= len(rest)
            if owner is not None:
                owner.sent(frame_bytes)
        if sent > 0:
            self.waiting[0][0] = self.waiting[0][0][sent:]

    def receive(self):
        """The frames that are complete, or None when the host is gone."""
        try:
            data = self.socket.recv(PAYLOAD_BYTES_MAX)
        except BlockingIOError:
            return []
        except OSError:
            return None
        if not data:
            return None
        self.received += data
        return list(self._frames())

    def _frames(self):
        while len(self.received) >= LENGTHS.size:
            header_bytes, payload_bytes = LENGTHS.unpack_from(self.received)
            if header_bytes > HEADER_BYTES_MAX or payload_bytes > PAYLOAD_BYTES_MAX:
                raise ProtocolError("a frame is too long")
            start, end = LENGTHS.size + header_bytes, LENGTHS.size + header_bytes + payload_bytes
            if len(self.received) < end:
                return
            header, payload = bytes(self.received[LENGTHS.size : start]), bytes(self.received[start:end])
            del self.received[:end]
            yield json.loads(header), payload
