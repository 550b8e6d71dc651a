import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { test } from "node:test";
import { pythonSays } from "../../../test/world/bare-supervisor.ts";
import { createUncovering } from "./covered.ts";

// Parts of the supervisor on their own, in a plain Python, at moments that a whole guest comes to by chance only.

test("what is due at the same moment is done in the order it was asked for, and what was called off is not [X1]", async () => {
  const found = await pythonSays(`
import timers
now = 100.0
timers.time.monotonic = lambda: now
waiting, done = timers.Timers(), []
none = waiting.seconds_left()
for name in "abc": waiting.after(2, lambda name=name: done.append(name))
called_off = waiting.after(1, lambda: done.append("called off"))
first = waiting.seconds_left()
timers.forget(called_off)
second = waiting.seconds_left()
now = 101.5
waiting.act()
early = [*done]
now = 102.0
waiting.after(-1, lambda: waiting.after(0, lambda: done.append("of it")))
late = waiting.seconds_left()
waiting.act()
say([none, first, second, early, late, done, waiting.seconds_left()])
`);
  assert.deepEqual(found, [null, 1, 2, [], 0, ["a", "b", "c", "of it"], null]);
});

test("a long frame to the host goes out in as many pieces as it takes, and its owner hears of it once [X1][X4]", async () => {
  const found = await pythonSays(`
import socket, struct, channel
ours, theirs = socket.socketpair()
for end in (ours, theirs): end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8192)
wanted = []
sending = channel.Channel(ours, wanted.append)
class Owner:
    queued, told = 0, []
    def sent(self, count): self.told.append(count); self.queued -= count
owner = Owner()
sending.send({"n": 0}, is_later=True)
try: later = len(theirs.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK))
except BlockingIOError: later = None
for n in range(1, 21): sending.send({"n": n}, b"x" * 60_000, owner)
queued, heard = owner.queued, bytearray()
theirs.setblocking(False)
while sending.waiting:
    try: heard += theirs.recv(65536)
    except BlockingIOError: sending.flush()
ours.shutdown(socket.SHUT_WR)
while piece := theirs.recv(65536): heard += piece
numbers, at = [], 0
while at < len(heard):
    head, body = struct.unpack_from(">II", heard, at)
    numbers.append(json.loads(heard[at + 8 : at + 8 + head])["n"])
    at += 8 + head + body
say([later, numbers, queued > 19 * 60_000, owner.queued, len(owner.told), wanted])
`);
  const numbers = Array.from({ length: 21 }, (_, number) => number);
  assert.deepEqual(found, [null, numbers, true, 0, 20, [true, false]]);
});

test("an interrupt that comes before its cell runs ends that cell and no other, and loses nothing else [X1]", async () => {
  const found = await pythonSays(`
import socket, struct, kernel
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
null = os.open(os.devnull, os.O_RDWR)
def tell(message, text=b"", fds=()):
    socket.send_fds(ours, [json.dumps(message).encode() + b"\\0" + text], fds)
def cell(token, code):
    message = {"token": token, "folder": "/", "env": {}, "files": ["stdout", "stderr"], "texts": [["code", len(code)]]}
    tell(message, code, [null, null])
cell(1, b"while True: pass")
tell({"modules": ["fractions"]})
tell({"interrupt": 1})
cell(2, b"import sys; 'fractions' in sys.modules")
tell({"interrupt": 1})
cell(3, b"3")
pid = os.fork()
if pid == 0:
    ours.close()
    kernel.serve(theirs.detach(), "/")
theirs.close()
said = []
while [kind for kind, *_ in said].count("D") < 3:
    message = ours.recv(65536)
    if message[:1] == b"D": said.append(["D", *struct.unpack_from(">IB", message, 1)])
    else: said.append(["R", struct.unpack_from(">I", message, 1)[0], message[7:].decode()])
ours.close()
say([said, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])])
`);
  const said = [
    ["D", 1, 130],
    ["R", 2, "True"],
    ["D", 2, 0],
    ["R", 3, "3"],
    ["D", 3, 0],
  ];
  assert.deepEqual(found, [said, 0]);
});

test("what all programs of a guest use is what each of them has, and how many they are [X4]", async () => {
  const found = await pythonSays(`
import resource, subprocess, processes
work = "import time, signal\\nwhile time.process_time() < 0.1: pass\\nprint(flush=True)\\nsignal.pause()"
busy = subprocess.Popen([sys.executable, "-I", "-S", "-c", work], stdout=subprocess.PIPE)
still = subprocess.Popen(["sleep", "1000"])
busy.stdout.readline()
everybody = processes._living()
known = [busy.pid in everybody, everybody[still.pid] == (os.getpid(), os.getsid(0))]
processes._living = lambda: {busy.pid: everybody[busy.pid], still.pid: everybody[still.pid]}
def stat_of(child): return open(f"/proc/{child.pid}/stat").read().rpartition(")")[2].split()
def cpu_ms(): return sum(int(stat_of(child)[n]) for child in (busy, still) for n in (11, 12)) * 1000 // os.sysconf("SC_CLK_TCK")
before = cpu_ms()
used = processes.usage_of_all()
after = cpu_ms()
pages = sum(int(open(f"/proc/{child.pid}/statm").read().split()[1]) for child in (busy, still))
processes.kill_with(still.pid)
still.wait()
busy.kill()
busy.wait()
processes._living = lambda: {}
over = processes.usage_of_all()
spent = resource.getrusage(resource.RUSAGE_CHILDREN)
of_children = int((spent.ru_utime + spent.ru_stime) * 1000)
is_memory = abs(used["memoryBytes"] - pages * resource.getpagesize()) < 1 << 20
is_over = over == {"processes": 0, "memoryBytes": 0, "cpuMs": of_children}
say([known, used["processes"], is_memory, 0 < before <= used["cpuMs"] <= after + 10, is_over])
`);
  assert.deepEqual(found, [[true, true], 2, true, true, true]);
});

test("a place counts as reached from inside when it answers, also with a refusal, and not otherwise [X5]", async (t) => {
  const server = createServer((socket) => socket.end()).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  assert(address !== null && typeof address === "object");
  const found = await pythonSays(`
import socket
closed = socket.create_server(("127.0.0.1", 0))
refused = closed.getsockname()[1]
closed.close()
silent = socket.create_server(("127.0.0.1", 0), backlog=0)
filling = [socket.socket() for _ in range(3)]
for link in filling:
    link.setblocking(False)
    link.connect_ex(silent.getsockname())
with open(os.path.join(sys.path[0], "canary.py")) as file: source = file.read()
sys.argv = ["canary.py", "1"]
looking = {"__file__": "canary.py"}
exec(source.removesuffix("main()\\n"), looking)
looking["REACH_MS"] = 600
places = ["127.0.0.1:${address.port}", f"127.0.0.1:{refused}", f"127.0.0.1:{silent.getsockname()[1]}"]
say([looking["reached"](places) == sorted(places[:2]), looking["reached"]([])])
`);
  assert.deepEqual(found, [true, []]);
});

const python = "/usr/bin/python3";

const key = Buffer.alloc(32, 7);

/** Pieces as the supervisor covers them. */
function covered(texts: readonly string[]): Buffer[] {
  const program = `
import sys, json
sys.path.insert(0, sys.argv[1])
import stdio
cover = stdio.Cover(bytearray([7] * 32))
print(json.dumps([cover.over(text.encode()).hex() for text in json.loads(sys.argv[2])]))
`;
  const args = ["-B", "-I", "-S", "-c", program, import.meta.dirname, JSON.stringify(texts)];
  const told: string[] = JSON.parse(execFileSync(python, args, { encoding: "utf8" }));
  return told.map((text) => Buffer.from(text, "hex"));
}

test("what a supervisor says is noise to who has no key, and plain to who has, however it is cut [X3][Q1]", {
  skip: !existsSync(python) && `${python} is not here`,
}, () => {
  const texts = ["a secret", "a secret", "", "秘密".repeat(1000)];
  const pieces = covered(texts);
  assert.deepEqual(
    pieces.map((piece, index) => [piece.length, piece.equals(Buffer.from(texts[index] ?? ""))]),
    texts.map((text) => [Buffer.byteLength(text), text === ""]),
  );
  assert.notDeepEqual(pieces[0], pieces[1], "the same words are covered otherwise the next time");
  const { next, open } = createUncovering(key);
  const opened = pieces.map((piece) => {
    next(piece.length);
    return Buffer.concat([open(piece.subarray(0, 3)), open(piece.subarray(3))]).toString("utf8");
  });
  assert.deepEqual(opened, texts);
  const other = createUncovering(Buffer.alloc(32, 8));
  other.next(pieces[0]?.length ?? 0);
  assert.notEqual(other.open(pieces[0] ?? Buffer.alloc(0)).toString("utf8"), texts[0]);
});

/** A child of the supervisor looks through all of its memory for the key; the parent covers on. */
const search = `
import sys, os, json
sys.path.insert(0, sys.argv[1])
import stdio
cover = stdio.Cover(stdio.read_key())
before = cover.over(b"before").hex()
if os.fork() == 0:
    regions = []
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for start, stop in [[int(at, 16) for at in line.split()[0].split("-")] for line in maps if " rw" in line]:
            try:
                memory.seek(start)
                regions.append(memory.read(stop - start))
            except (OSError, OverflowError, ValueError):
                pass
    key = bytes(byte ^ 255 for byte in bytes.fromhex(sys.argv[2]))
    print(json.dumps([len(regions) > 3, sum(key in region for region in regions)]), flush=True)
    os._exit(0)
os.wait()
print(json.dumps([before, cover.over(b"after").hex()]))
`;

test("the key of what a supervisor says is nowhere in the memory of the programs that it starts [X3][Q1]", {
  skip: !existsSync(python) && `${python} is not here`,
}, () => {
  const secret = Buffer.from(Array.from({ length: 32 }, (_, index) => 40 + 3 * index));
  const turned = Buffer.from(secret.map((byte) => byte ^ 255)).toString("hex");
  const args = ["-B", "-I", "-S", "-c", search, import.meta.dirname, turned];
  const said = execFileSync(python, args, { encoding: "utf8", input: secret }).trim().split("\n");
  const [child, parent] = said.map((line): unknown[] => JSON.parse(line));
  assert.deepEqual(child, [true, 0]);
  const { next, open } = createUncovering(secret);
  const opened = parent?.map((hex) => {
    const piece = Buffer.from(String(hex), "hex");
    next(piece.length);
    return open(piece).toString("utf8");
  });
  assert.deepEqual(opened, ["before", "after"]);
});
