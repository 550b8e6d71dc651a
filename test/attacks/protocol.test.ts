import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";

import { Worker } from "node:worker_threads";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { connectGuest, type GuestConnection } from "../../src/sandbox/guest/connection.ts";
import { guestTest as test } from "../contracts/sandbox-guests.ts";
import { outcomeOf } from "../world/bare-supervisor.ts";
import { until } from "../world/events.ts";
import { attempt, endGuests, launch, limits, newFolder, openAttacked } from "./guest.ts";

after(endGuests);

/** A first process of a guest that was taken over: it greets as it should, and then says what it likes. */
const takenOver = `
import json, os, socket, struct, time
line = socket.socket(fileno=3)
def take():
    sizes = struct.unpack(">II", line.recv(8, socket.MSG_WAITALL))
    header, payload = [line.recv(size, socket.MSG_WAITALL) if size else b"" for size in sizes]
    return json.loads(header)
def frame(header, payload=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack(">II", len(text), len(payload)) + text + payload
def say(header, payload=b""):
    line.sendall(frame(header, payload))
greeting = take()
hello = {"type": "hello", "version": 1, "nonce": greeting["nonce"]}
`;

/** Time limits are a hundred times shorter. */
const hasty: Clock = { ...systemClock, after: (ms, action) => systemClock.after(ms / 100, action) };
type Lie = { readonly number: string; readonly name: string; readonly code: string; readonly why: string };

const lies: readonly Lie[] = [
  { number: "24a", name: "a header of 4 GiB", code: `line.sendall(b"\\xff" * 8)`, why: "protocol_error" },
  {
    number: "24b",
    name: "a payload of 4 GiB",
    code: `line.sendall(struct.pack(">II", 2, 2**32 - 1) + b"{}")`,
    why: "protocol_error",
  },
  {
    number: "24c",
    name: "a payload one byte too long",
    code: `say({"type": "pong", "n": 1, "dropped": 0}, bytes(64 * 1024 + 1))`,
    why: "protocol_error",
  },
  { number: "25a", name: "a header of brackets only", code: `say(b"[" * 60000)`, why: "protocol_error" },
  {
    number: "25b",
    name: "a header that is nested as deep as it fits",
    code: `say(b"[" * 32000 + b"]" * 32000)`,
    why: "protocol_error",
  },
  {
    number: "25c",
    name: "one key twice, the second a greeting",
    code: `say(b'{"type": "pong", "n": 1, "dropped": 0, "type": "hello", "version": 1, "nonce": "x"}')`,
    why: "protocol_error",
  },
  { number: "26a", name: "a header that is no UTF-8", code: `say(b'{"type": "\\xff\\xfe"}')`, why: "protocol_error" },
  {
    number: "27",
    name: "a flood of tiny frames",
    code: `line.sendall(frame({"type": "pong", "n": 1, "dropped": 0}) * 60000)`,
    why: "flood",
  },
  { number: "137", name: "a second greeting", code: `say(hello)`, why: "protocol_error" },
  {
    number: "138",
    name: "a message of a kind that nobody knows",
    code: `say({"type": "exec", "id": "e"})`,
    why: "protocol_error",
  },
  {
    number: "139",
    name: "numbers that no process has",
    code: `say({"type": "exited", "id": "e", "code": -1, "signal": None, "cpuMs": -1, "memoryPeakBytes": 1e400, "readBytes": 0, "writtenBytes": 0})`,
    why: "protocol_error",
  },
  {
    number: "140",
    name: "an id longer than any",
    code: `say({"type": "started", "id": "e" * 60000})`,
    why: "protocol_error",
  },
  {
    number: "141",
    name: "a signal whose name is a message to people",
    code: `say({"type": "exited", "id": "e", "code": None, "signal": "SIG\\u001b[2J", "cpuMs": 0, "memoryPeakBytes": 0, "readBytes": 0, "writtenBytes": 0})`,
    why: "protocol_error",
  },
  { number: "142", name: "only half of a connection", code: `line.shutdown(socket.SHUT_WR)`, why: "ended" },
];

for (const { number, name, code, why } of lies) {
  test(`attack ${number}: ${name} from a supervisor that was taken over is stopped by the host's checks [X1][X3]`, async () => {
    const guest = await connectTakenOver(code);
    assert.deepEqual(await guest.ended, { why });
  });
}

test("attack 28: a frame that never ends is stopped by the time it may take [X1][X3]", async () => {
  const guest = await connectTakenOver(`line.sendall(frame(hello)[:20])`, hasty);
  assert.deepEqual(await guest.ended, { why: "protocol_error" });
});

test("attack 143: a greeting without the host's own word is stopped before anything runs [X1][X3]", async () => {
  await assert.rejects(
    connectTakenOver("", systemClock, `{**hello, "nonce": "0" * 64}`),
    /start_failed: wrong_greeting/,
  );
  await assert.rejects(connectTakenOver("", systemClock, `{**hello, "version": 2}`), /start_failed: wrong_greeting/);
});

test("attack 144: ending, or speaking for, an execution that is another's is stopped by the host's own ids [X1]", async () => {
  const guest = await connectTakenOver(`
done = {"type": "exited", "code": 0, "signal": None, "cpuMs": 0, "memoryPeakBytes": 0, "readBytes": 0, "writtenBytes": 0}
while True:
    message = take()
    if message["type"] == "exec":
        for other in ("e", "0" * 32, "__proto__", "constructor"):
            say({"type": "out", "id": other, "stream": "stdout"}, b"forged")
            say({**done, "id": other})
        say({"type": "out", "id": message["id"], "stream": "stdout"}, b"own")
        say({**done, "id": message["id"]})
        say({**done, "id": message["id"], "code": 9})
`);
  const { stdout, end } = await outcomeOf(guest.run(execution()));
  assert.deepEqual([stdout, end], ["own", "done 0"]);
  await until("what was forged is counted", () => guest.dropped() >= 8);
  await guest.close("over");
});

const excesses = [
  ["145", "more output than it may have", `{"type": "out", "id": message["id"], "stream": "stdout"}`],
  ["146", "more results than it may have", `{"type": "result", "id": message["id"], "kind": "text", "more": True}`],
] as const;

for (const [number, name, header] of excesses) {
  test(`attack ${number}: ${name} from a supervisor that was taken over is stopped by the host's count [X4]`, async () => {
    const guest = await connectTakenOver(`
message = {"type": ""}
while message["type"] != "exec": message = take()
for _ in range(100): say(${header}, bytes(60000))
`);
    const outcome = await outcomeOf(guest.run(execution()));
    assert.deepEqual([outcome.end, await guest.ended], ["lost undefined", { why: "protocol_error" }]);
  });
}

test("attack 147: never reading what the host says is stopped by the host's time, not by its memory [X1][X4]", async () => {
  const guest = await connectTakenOver("", hasty);
  const outcome = outcomeOf(guest.run({ ...execution(), code: "x".repeat(4 * 1024 * 1024), timeoutMs: 1000 }));
  assert.deepEqual([(await outcome).end, await guest.ended], ["timeout undefined", { why: "execution_does_not_end" }]);
});

const secret = join(newFolder(), "secret-of-the-host");
writeFileSync(secret, "secret");
const plant = `os.dup2(os.open(${JSON.stringify(secret)}, os.O_RDONLY), 90)`;
const look = {
  code: `
def target(name):
    try:
        return os.readlink("/proc/self/fd/" + name)
    except OSError:
        return ""
say([name for name in os.listdir("/proc/self/fd") if target(name).endswith("/secret-of-the-host")])
`,
};

test("attack 20: using a descriptor that bwrap was started with is stopped by the closing of all but known ones [X3]", async () => {
  assert.deepEqual(await attempt(await openAttacked({ weakness: { arguments: [], plant } }), look), []);
  // The control: the same without the closing.
  const supervisor = [
    ["processes.py", "def close_all_above(last_fd):", "def close_all_above(last_fd):\n    return"],
  ] as const;
  const open = await openAttacked({ weakness: { arguments: [], plant, supervisor } });
  assert.deepEqual(await attempt(open, look), ["90"]);
});

test("attack 63: ending guests with the thread that started them is stopped by the main thread's right to start [X3]", async () => {
  const path = import.meta.resolve("../../src/sandbox/local/launch.ts");
  const code = `import(${JSON.stringify(path)}).then(({ launchGuest }) => launchGuest({}, {}, {})).catch((error) => require("node:worker_threads").parentPort.postMessage(error.message));`;
  const worker = new Worker(code, { eval: true });
  const said = await new Promise((resolve) => worker.once("message", resolve));
  await worker.terminate();
  assert.match(String(said), /guests are started by the main thread/);
});

function execution() {
  return { id: systemIds.hex(32), agent: "a", language: "bash", code: "true", timeoutMs: 20_000 } as const;
}

async function connectTakenOver(
  code: string,
  clock: Clock = systemClock,
  greeting = "hello",
): Promise<GuestConnection> {
  const connected = Promise.withResolvers<GuestConnection>();
  const launched = await launch({
    command: ["/usr/bin/python3", "-I", "-S", "/run/taken-over.py"],
    files: { "/run/taken-over.py": `${takenOver}\nsay(${greeting})\ntake()\n${code}\ntime.sleep(300)\n` },
    programs: [],
    async greet(control) {
      const guest = await connectGuest(control, {
        ...{ id: "g", workspace: newFolder(), javascript: undefined, env: {}, limits, oomKills: () => 0 },
        ...{ helloTimeoutMs: 2_000_000, clock, ids: systemIds },
      });
      if (guest.ok) connected.resolve(guest.value);
      return guest.ok ? undefined : guest.failure;
    },
  });
  const guest = await connected.promise;
  void guest.ended.then(() => launched.kill());
  // It lies from then on, and not before the host has heard its greeting.
  void guest.ping();
  return guest;
}
