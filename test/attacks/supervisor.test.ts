import assert from "node:assert/strict";
import { after } from "node:test";

import { systemIds } from "../../src/base/ids.ts";
import type { Execution } from "../../src/sandbox/provider.ts";
import { guestTest as test } from "../contracts/sandbox-guests.ts";
import { allOf, outcomeOf } from "../world/bare-supervisor.ts";
import { type Attack, endGuests, isAlive, sharedGuest, tryAttacks } from "./guest.ts";

after(endGuests);

/** The Python of an agent has the supervisor's socket as 3, and the number of its cell in a frame above. */
const forge = `
frame = sys._getframe()
while "cell" not in frame.f_locals:
    frame = frame.f_back
token = frame.f_locals["cell"]["token"]
def forge(kind, token, rest):
    os.write(3, kind + struct.pack(">I", token) + rest)
`;

const attacks: readonly Attack[] = [
  {
    ...{ number: "23a", name: "forging the end of another execution", stoppedBy: "the supervisor's check of tokens" },
    code: `${forge}
forge(b"D", token + 1, bytes(16))
time.sleep(0.5)
say("still running")
`,
    expected: "still running",
    control: { without: "the check of tokens", shows: "done 0" },
  },
  {
    ...{ number: "23b", name: "speaking to the host in frames through the supervisor" },
    stoppedBy: "a supervisor that hands on nothing that it did not build itself",
    code: `
header = json.dumps({"type": "exited", "id": "e", "code": 0, "signal": None}).encode()
for message in (struct.pack(">II", len(header), 0) + header, header, b"\\xff" * 60000, b"D", b"R", b"R" + bytes(5)):
    os.write(3, message)
say("no harm")
`,
    expected: "no harm",
  },
  {
    ...{ number: "133", name: "flooding the supervisor with messages that mean nothing" },
    stoppedBy: "a supervisor that drops and counts them",
    code: `
for _ in range(30000): os.write(3, b"x")
say("no harm")
`,
    expected: "no harm",
  },
  {
    ...{ number: "22", name: "filling the supervisor with descriptors" },
    stoppedBy: "a supervisor that takes none from its children",
    code: `
link = socket.socket(fileno=os.dup(3))
for _ in range(3000): socket.send_fds(link, [b"x"], [0, 1, 2])
say("no harm")
`,
    expected: "no harm",
  },
  {
    ...{ number: "134", name: "closing its line to the supervisor" },
    stoppedBy: "a supervisor that ends a Python it cannot hear",
    code: `
os.close(3)
say("closed")
`,
    ...{ expected: "closed", also: "lost SIGKILL" },
  },
  {
    ...{ number: "33a", name: "running code before a shell by BASH_ENV", stoppedBy: "the refusal of variables" },
    env: { BASH_ENV: "/workspace/c1/outputs/evil.sh" },
    code: `
import subprocess
with open("outputs/evil.sh", "w") as file:
    file.write("echo evil")
say(subprocess.run(["bash", "-c", "echo plain"], capture_output=True, text=True).stdout.split())
`,
    expected: ["plain"],
    control: { without: "the refusal of variables", shows: ["evil", "plain"] },
  },
  {
    ...{ number: "33b", name: "running code before our programs by LD_PRELOAD, NODE_OPTIONS and their like" },
    stoppedBy: "the refusal of variables",
    env: {
      ...{ LD_PRELOAD: "/tmp/x.so", LD_AUDIT: "/tmp/x.so", LD_LIBRARY_PATH: "/tmp", NODE_OPTIONS: "-r /tmp/x.js" },
      ...{
        ENV: "/tmp/x",
        PYTHONSTARTUP: "/tmp/x.py",
        PYTHONHOME: "/tmp",
        "BASH_FUNC_ls%%": "() { echo evil; }",
        ALLOWED: "1",
      },
    },
    code: `say(sorted(name for name in os.environ if name.startswith(("LD_", "NODE_", "BASH_", "PYTHONH", "PYTHONS", "ENV", "ALLOWED"))))`,
    expected: ["ALLOWED"],
  },
  {
    ...{ number: "135", name: "breaking the next execution by its variables" },
    stoppedBy: "variables that end with their execution",
    env: { PATH: "/nowhere", HOME: "/nowhere" },
    code: `say([os.environ["PATH"], os.environ["HOME"]])`,
    expected: ["/nowhere", "/nowhere"],
  },
  {
    ...{ number: "30b", name: "taking everything built in away from its Python" },
    stoppedBy: "a supervisor that starts a new one",
    code: `
import builtins
say("cleared")
builtins.__dict__.clear()
`,
    expected: "cleared",
  },
  {
    ...{ number: "136", name: "leaving a trap that ends the Python when it is told of its next work" },
    stoppedBy: "a supervisor that starts a new one",
    code: `
import sys
def trap(*_): os._exit(9)
sys.settrace(trap)
sys.setprofile(trap)
say("set")
`,
    expected: "lost 9",
  },
];

tryAttacks(attacks, "[X1][X3]");

test("attack 29: patching what its Python uses to speak is stopped by a fresh start of every cell [X1]", async () => {
  const outcomes = [
    await run({
      code: "import sys, json, os, builtins\nsys.stdout = sys.stderr = None\njson.dumps = json.loads = os.dup2 = builtins.compile = None",
    }),
    await run({ code: "print(41 + 1)" }),
  ];
  const { guest } = await sharedGuest("nothing");
  await guest.reset("a");
  const after = await run({ code: "print(41 + 1)" });
  assert.deepEqual([outcomes[0]?.stdout, after.stdout, after.end], ["", "42\n", "done 0"]);
});

test("attack 31: sending an object that runs code when it is read is stopped by results that are bytes [X1]", async () => {
  const code = `
import os, pickle
class Evil:
    def __reduce__(self): return os.system, ("echo evil",)
pickle.dumps(Evil())
`;
  const { results } = await run({ code });
  assert.deepEqual([results.length, results[0]?.startsWith("text b'\\x80")], [1, true]);
});

test("attack 23c: naming a file outside as a figure is stopped by the host's look at the name [X1][X6]", async () => {
  const names = [
    "../../etc/passwd",
    "/etc/passwd",
    "outputs/../../x.png",
    "outputs/../x.png",
    "outputs/a\u0000.png",
    "skills/x.png",
    "outputs/./x.png",
  ];
  const code = `import os, struct, sys\n${forge}
for name in ${JSON.stringify(names)} + ["outputs/real.png"]:
    forge(b"R", token, b"p\\0" + name.encode())
`;
  assert.deepEqual((await run({ code })).results, ["png outputs/real.png"]);
});

test("attack 25: a result that is too deep, too long or sets a prototype is stopped by limits on both sides [X1][X4]", async () => {
  const code = `import os, struct, sys\n${forge}
deep = b"[" * 5000 + b"]" * 5000
forge(b"R", token, b"j\\0" + deep)
forge(b"R", token, b'j\\0{"__proto__": {"isAdmin": true}}')
for _ in range(40): forge(b"R", token, b"t\\1" + b"x" * 60000)
for _ in range(100): os.write(3, b"R" + struct.pack(">I", token) + b"z\\0evil")
`;
  const { results, end } = await run({ code });
  const isAdmin: unknown = Reflect.get({}, "isAdmin");
  assert.deepEqual(
    [results.map((text) => text.slice(0, 5)), results[1], isAdmin, end],
    [["text ", "json "], 'json {"__proto__": {"isAdmin": true}}', undefined, "done 0"],
  );
  assert.equal(await isAlive(await sharedGuest("nothing")), true);
});

test("attacks 26 and 52: escapes for a terminal, broken UTF-8 and half characters are stopped by output that stays bytes [X1]", async () => {
  const { guest } = await sharedGuest("nothing");
  const evil = Buffer.from(
    "1b5d303b7469746c65071b5d35323b633b5a585a70624130071b5b324a1b5b48ff80c328e4bda0e5edb080fe0a0d00",
    "hex",
  );
  const code = `import os\nfor byte in bytes.fromhex("${evil.toString("hex")}"): os.write(1, bytes([byte]))`;
  const events = await allOf(guest.run({ ...execution, id: systemIds.hex(32), code }));
  assert.deepEqual(Buffer.concat(events.flatMap((event) => (event.kind === "output" ? [event.bytes] : []))), evil);
});

test("attack 32: standing in for modules of the supervisor by files in the workspace is stopped by its isolated mode [X3]", async () => {
  const names = "json socket traceback sitecustomize usercustomize figures kernel processes signal".split(" ");
  const plant = `import os
for name in ${JSON.stringify(names)}:
    with open(f"/workspace/c1/outputs/{name}.py", "w") as file:
        file.write("open('/tmp/owned', 'a').write(__name__)")
with open("/workspace/c1/outputs/x.pth", "w") as file:
    file.write("import os; open('/tmp/owned', 'w')")
`;
  const { guest } = await sharedGuest("nothing");
  const outcomes = [await run({ code: plant })];
  await guest.reset("a");
  const folder = "outputs";
  outcomes.push(await run({ code: "1/0", folder }), await run({ code: "print(42)", folder }));
  outcomes.push(
    await run({ code: "ls /tmp/owned 2>&1 | grep -c 'No such'; rm -f *.py *.pth", folder, language: "bash" }),
  );
  await guest.reset("a");
  assert.deepEqual(
    outcomes.map(({ stdout, end }) => [stdout, end]),
    [
      ["", "done 0"],
      ["", "done 1"],
      ["42\n", "done 0"],
      ["1\n", "done 0"],
    ],
  );
});

const execution = { agent: "a", language: "python", timeoutMs: 20_000 } as const;

async function run(wanted: Partial<Execution> & { readonly code: string }) {
  const { guest } = await sharedGuest("nothing");
  return await outcomeOf(guest.run({ ...execution, id: systemIds.hex(32), ...wanted }));
}
