"""Frames to and from the host: u32 header bytes, u32 payload bytes (both big-endian), a JSON header, a raw payload."""

import json
import struct
from collections import deque

VERSION = 1
HEADER_BYTES_MAX = 64 * 1024
PAYLOAD_BYTES_MAX = 64 * 1024
LENGTHS = struct.Struct(">II")


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

    def send(self, header, payload=b"", owner=None):
        text = json.dumps(header).encode()
        frame = LENGTHS.pack(len(text), len(payload)) + text + payload
        self.waiting.append([memoryview(frame), owner, len(frame)])
        if owner is not None:
            owner.queued += len(frame)
        if len(self.waiting) == 1:
            self.flush()

    def flush(self):
        while self.waiting:
            entry = self.waiting[0]
            try:
                sent = self.socket.send(entry[0])
            except BlockingIOError:
                self.want_write(True)
                return
            except OSError:
                self.waiting.clear()  # The host is gone; the next `receive` says so.
                break
            entry[0] = entry[0][sent:]
            if len(entry[0]) == 0:
                self.waiting.popleft()
                if entry[1] is not None:
                    entry[1].sent(entry[2])
        self.want_write(False)

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
