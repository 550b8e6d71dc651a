"""What an execution is given to read: its code, its event and its input."""

import os

# A longer one is a file in memory: it can be read at leisure, and does not fill the supervisor's own memory. With the
# variables of an execution two short ones are within what an agent's Python reads at once.
SHORT_BYTES_MAX = 8 * 1024


class Part:
    def __init__(self, name):
        self.name, self.data, self.fd = name, b"", None

    def add(self, piece):
        if self.fd is None and len(self.data) + len(piece) <= SHORT_BYTES_MAX:
            self.data += piece
        else:
            os.write(self._open(), piece)

    def is_short(self):
        return self.fd is None

    def read(self):
        return self.data if self.fd is None else os.pread(self.fd, os.fstat(self.fd).st_size, 0)

    def file(self):
        """A file that is read from its start."""
        os.lseek(self._open(), 0, os.SEEK_SET)
        return self.fd

    def close(self):
        if self.fd is not None:
            os.close(self.fd)

    def _open(self):
        if self.fd is None:
            self.fd = os.memfd_create(self.name)
            os.write(self.fd, self.data)
        return self.fd
