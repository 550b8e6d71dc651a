import assert from "node:assert/strict";
import { test } from "node:test";
import { pythonSays } from "./python-says.testing.ts";

// What a guest carries over its standard input and output. The test plays the host, and who is behind the links.

const played = `
import selectors, socket, struct, stdio
coming, to_guest = os.pipe()
from_guest, going = os.pipe()
os.dup2(coming, 0)
os.dup2(going, 1)
os.close(coming)
os.close(going)
for fd in (to_guest, from_guest): os.set_blocking(fd, False)
selector = selectors.DefaultSelector()
pairs = [socket.socketpair() for _ in range(2)]
inner = [pair[1] for pair in pairs]
for sock in inner: sock.setblocking(False)
carrier = stdio.Carrier(selector, [pair[0] for pair in pairs], None)
heard, got, leaving, saying = bytearray(), [bytearray(), bytearray()], bytearray(), [bytearray(), bytearray()]
is_read, is_heard, ends = True, True, [False, False]

def go_on():
    """True: somebody had something to do."""
    moved = False
    try:
        while leaving: del leaving[: os.write(to_guest, leaving[:4096])]
    except (BlockingIOError, BrokenPipeError): pass
    for number, sock in enumerate(inner):
        if sock.fileno() < 0: continue
        try:
            while saying[number]: del saying[number][: sock.send(saying[number])]
        except (BlockingIOError, BrokenPipeError): pass
        try:
            while is_read and not ends[number]:
                piece = sock.recv(65536)
                if not piece: ends[number] = True
                got[number].extend(piece)
                moved = True
        except BlockingIOError: pass
    try:
        while is_heard:
            piece = os.read(from_guest, 65536)
            if not piece: break
            heard.extend(piece)
            moved = True
    except BlockingIOError: pass
    ready = selector.select(0.005)
    for key, mask in ready: key.data(mask)
    return moved or len(ready) > 0

def until(is_so):
    while not is_so(): go_on()

def until_quiet():
    quiet = 0
    while quiet < 5: quiet = 0 if go_on() else quiet + 1

def tell(number, payload, length=None):
    leaving.extend(struct.pack(">BI", number, len(payload) if length is None else length) + payload)

def pieces():
    found, at = [], 0
    while len(heard) - at >= 5:
        number, length = struct.unpack_from(">BI", heard, at)
        if len(heard) < at + 5 + length: break
        found.append((number, bytes(heard[at + 5 : at + 5 + length])))
        at += 5 + length
    return found

def said(number): return b"".join(piece for of, piece in pieces() if of == number)
def watched(): return len(selector.get_map())
`;

const says = (code: string) => pythonSays(played + code);

test("what is said to each link of a guest arrives there, however it is cut, and its answers come back [X1][X5]", async () => {
  const found = await says(`
for number, text in ((0, b"one"), (1, b"two"), (0, b""), (0, b"three")):
    tell(number, text)
whole = bytes(leaving)
leaving.clear()
for byte in whole:
    leaving.append(byte)
    until(lambda: not leaving)
    go_on()
until(lambda: len(got[0]) == 8)
saying[0] += b"answer"
saying[1] += b"x" * 70_000
until(lambda: len(said(1)) == 70_000)
say([got[0].decode(), got[1].decode(), said(0).decode(), max(len(piece) for _, piece in pieces()) <= 65536])
`);
  assert.deepEqual(found, ["onethree", "two", "answer", true]);
});

test("a piece as long as it may be is taken; one that is longer or for no link ends the guest's links [X1]", async () => {
  const outcome = (words: string) =>
    says(`
tell(0, b"x" * 65536)
until(lambda: len(got[0]) == 65536)
${words}
until(lambda: all(ends))
say([carrier.is_over, watched()])
`);
  for (const words of ["tell(0, b'x' * 65537)", "tell(1, b'', 65537)", "tell(2, b'x')"])
    assert.deepEqual(await outcome(words), [true, 0], words);
});

test("a guest whose host is gone has no links any more, whichever way it finds out [X1]", async () => {
  for (const words of ["os.close(to_guest)", "os.close(from_guest)\nis_heard = False\nsaying[0] += b'anybody?'"])
    assert.deepEqual(
      await says(`${words}\nuntil(lambda: all(ends))\nsay([carrier.is_over, watched()])`),
      [true, 0],
      words,
    );
});

test("a guest without its way out goes on, and what is still said to that is for nobody [X5]", async () => {
  const found = await says(`
inner[1].close()
until(lambda: carrier.links[1].fileno() < 0)
tell(1, b"for nobody")
tell(0, b"for the first")
until(lambda: got[0] == b"for the first")
saying[0] += b"goes on"
until(lambda: said(0) == b"goes on")
say(carrier.is_over)
`);
  assert.equal(found, false);
});

test("what nobody takes waits up to a limit in each direction, and arrives whole when it is taken [X1][X4]", async () => {
  const found = await says(`
text = bytes(index % 251 for index in range(1000)) * 3000
is_read = False
for start in range(0, len(text), 65536): tell(0, text[start : start + 65536])
until(lambda: len(carrier.coming[0]) >= 1048576)
until_quiet()
here = len(carrier.coming[0])
is_read = True
until(lambda: len(got[0]) == len(text))
is_heard = False
saying[0] += text
until(lambda: len(carrier.leaving) >= 1048576)
until_quiet()
there = len(carrier.leaving)
is_heard = True
until(lambda: len(said(0)) == len(text))
say([here <= 1048576 + 2 * 65536, there <= 1048576 + 65536 + 5, got[0] == text, said(0) == text, watched()])
`);
  const inputAndBothLinks = 3;
  assert.deepEqual(found, [true, true, true, true, inputAndBothLinks]);
});
