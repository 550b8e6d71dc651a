import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { test } from "node:test";
import { pythonSays } from "../../../test/world/bare-supervisor.ts";
import { createUncovering } from "./covered.ts";

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
