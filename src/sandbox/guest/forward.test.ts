import assert from "node:assert/strict";
import { test } from "node:test";
import { pythonSays } from "../../../test/world/bare-supervisor.ts";

// The way out of a guest, as a plain process has it: the test plays the programs inside and the host.

const [opened, reset] = [0, 3];

/** Programs that send and read what they can, and a host that hears while `is_heard`. */
const played = `
import errno, selectors, socket, struct, forward
forward.PORT = 0
selector = selectors.DefaultSelector()
host, link = socket.socketpair()
host.setblocking(False)
forwarder = forward.Forwarder(selector, link)
port = forwarder.listener.getsockname()[1]
heard, leaving, is_heard = bytearray(), bytearray(), True

class Program:
    def __init__(self, is_reading=True):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setblocking(False)
        self.leaving, self.heard, self.end, self.is_reading = bytearray(), bytearray(), None, is_reading

    def go_on(self):
        try:
            while self.leaving: del self.leaving[: self.socket.send(self.leaving)]
        except BlockingIOError: pass
        try:
            while self.is_reading and self.end is None:
                piece = self.socket.recv(65536)
                if piece: self.heard += piece
                else: self.end = "end"
        except BlockingIOError: pass
        except ConnectionResetError: self.end = "reset"

programs = []
def program(**options):
    programs.append(Program(**options))
    return programs[-1]

def go_on():
    """True: somebody had something to do."""
    for one in programs: one.go_on()
    try:
        while leaving: del leaving[: host.send(leaving)]
    except BlockingIOError: pass
    try:
        while is_heard:
            piece = host.recv(1 << 20)
            if not piece: break
            heard.extend(piece)
    except BlockingIOError: pass
    ready = selector.select(0.005)
    for key, mask in ready: key.data(mask)
    return len(ready) > 0

def until(is_so):
    while not is_so(): go_on()

def until_quiet():
    quiet = 0
    while quiet < 5: quiet = 0 if go_on() else quiet + 1

def tell(kind, number, count=0, payload=b""):
    leaving.extend(struct.pack(">BII", kind, number, count) + payload)

def give(number, payload):
    for start in range(0, len(payload), 32768):
        tell(1, number, len(payload[start : start + 32768]), payload[start : start + 32768])

def frames():
    found, at = [], 0
    while len(heard) - at >= 9:
        kind, number, count = struct.unpack_from(">BII", heard, at)
        end = at + 9 + (count if kind == 1 else 0)
        if len(heard) < end: break
        found.append((kind, number, count, bytes(heard[at + 9 : end])))
        at = end
    return found

def heads(): return [frame[:3] for frame in frames()]
def said(number): return b"".join(frame[3] for frame in frames() if frame[1] == number)
`;

const says = (code: string) => pythonSays(played + code);

test("a program says no more than the host has room for, in pieces, and goes on with every credit [X5][X4]", async () => {
  const found = await says(`
one = program()
one.leaving += bytes(index % 251 for index in range(200_000))
totals = []
for given, wanted in ((0, 131_072), (1000, 132_072), (100_000, 200_000)):
    if given: tell(4, 1, given)
    until(lambda: len(said(1)) >= wanted)
    until_quiet()
    totals.append(len(said(1)))
longest = max(frame[2] for frame in frames())
say([totals, longest <= 32768, said(1) == bytes(index % 251 for index in range(200_000))])
`);
  assert.deepEqual(found, [[131_072, 132_072, 200_000], true, true]);
});

test("what either side breaks off is broken off at the other, and told once [X5]", async () => {
  const found = await says(`
one, two = program(), program()
until(lambda: len(heads()) == 2)
tell(3, 1)
until(lambda: one.end is not None)
two.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
programs.remove(two)
two.socket.close()
until(lambda: len(heads()) > 2)
tell(1, 2, 4, b"late")
tell(4, 2, 5)
three = program()
until(lambda: (0, 3, 0) in heads())
give(3, b"goes on")
until(lambda: three.heard == b"goes on")
say([heads()[2:], list(forwarder.connections), len(selector.get_map())])
`);
  const listenerLinkAndProgram = 3;
  assert.deepEqual(found, [
    [
      [reset, 2, 0],
      [opened, 3, 0],
    ],
    [3],
    listenerLinkAndProgram,
  ]);
});

test("programs beyond the most connections wait until one is over, and then get through [X5][X4]", async () => {
  const found = await says(`
for _ in range(34): program()
until(lambda: len(heads()) == 32)
until_quiet()
most = len(heads())
tell(3, 7)
until(lambda: len(heads()) > 32)
until_quiet()
then = len(heads())
tell(3, 8)
until(lambda: len(heads()) == 34)
for number in range(9, 35): tell(3, number)
until(lambda: len(forwarder.connections) == 6)
last = program()
last.leaving += b"as ever"
until(lambda: said(35) == b"as ever")
say([most, then])
`);
  assert.deepEqual(found, [32, 33]);
});

for (const count of [1, 33]) {
  test(`when the host takes the network away, ${count} programs are cut off, and nobody answers any more [X5]`, async () => {
    const found = await says(`
for _ in range(${count}): program()
until(lambda: len(heads()) == min(32, ${count}))
host.close()
is_heard = False
until(lambda: all(one.end for one in programs))
say([socket.socket().connect_ex(("127.0.0.1", port)) == errno.ECONNREFUSED, len(selector.get_map())])
`);
    assert.deepEqual(found, [true, 0]);
  });
}
