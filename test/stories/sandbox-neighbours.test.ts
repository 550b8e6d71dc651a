import assert from "node:assert/strict";
import { test } from "node:test";
import type { SandboxExecution } from "../../src/protocol/sandbox-resources.ts";
import { until } from "../world/events.ts";
import { type Platform, startPlatform } from "../world/platform.ts";
import { makeHome } from "../world/program.ts";
import { cannotRunCode } from "../world/sandbox.ts";

// Two users with two conversations each, all at the same time, on one machine.

const options = { skip: cannotRunCode };
/** Two of the conversations have the same name, as they may. */
const places = [
  { user: "anna", conversation_id: "first" },
  { user: "anna", conversation_id: "second" },
  { user: "bert", conversation_id: "first" },
  { user: "bert", conversation_id: "third" },
];
const nameOf = ({ user, conversation_id }: (typeof places)[number]) => `${user}-${conversation_id}`;

test(
  "of two users with two conversations each, running at once, none sees a file, a process, a variable, a port or a message of another [S5][S7][X4]",
  options,
  async (t) => {
    const platform = await startPlatform(makeHome(t));
    const settled = await Promise.all(
      places.map((place) =>
        platform.run(place.user, settle(nameOf(place)), { conversation_id: place.conversation_id }),
      ),
    );
    assert.deepEqual(
      settled.map(({ status, stdout, stderr }) => [status, stdout, stderr]),
      places.map((place) => ["completed", `here is ${nameOf(place)}\n`, ""]),
    );
    // Several at once in each: what they say must not get mixed up either.
    const looks = await Promise.all(
      places.flatMap((place) =>
        ["python", "shell", "python"].map((language) =>
          platform.run(place.user, language === "shell" ? lookInShell : look, {
            ...{ conversation_id: place.conversation_id, language },
          }),
        ),
      ),
    );
    assert.deepEqual(
      looks.map(({ status, stdout }) => [status, ...stdout.trim().split("\n")]),
      places.flatMap((place) => {
        const { conversation_id: id } = place;
        const own = nameOf(place);
        const python = [
          "completed",
          own,
          own,
          own,
          `${own} ${own}`,
          [id, "outputs", "temp", "uploads"].sort().join(" "),
        ];
        return [python, ["completed", own, own], python];
      }),
    );
  },
);

/** Everything that could be seen: a variable, files in all places, a process, a port, a socket without a file, memory. */
function settle(name: string): string {
  return `
import os, socket, subprocess, sys, threading
name = ${JSON.stringify(name)}
for place in ("outputs", "temp", "/tmp", "/dev/shm"):
    with open(place + "/note-" + name, "w") as file:
        file.write(name)
subprocess.Popen(["bash", "-c", "exec -a neighbour-" + name + " sleep 300"])
def answer(server):
    while True:
        connection, _ = server.accept()
        connection.sendall(name.encode())
        connection.close()
for family, address in ((socket.AF_INET, ("127.0.0.1", 8765)), (socket.AF_UNIX, "\\0neighbours")):
    server = socket.socket(family)
    server.bind(address)
    server.listen()
    threading.Thread(target=answer, args=(server,), daemon=True).start()
print("here is " + name)
`;
}

/** Whose variable, whose notes, whose processes, whose ports; then what there is below /workspace. */
const look = `
import glob, os, socket
def whose(texts):
    return " ".join(sorted({text for text in texts}))
def commands():
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            yield open(path).read().split("\\0")[0]
        except OSError:
            pass
def ask(family, address):
    with socket.socket(family) as client:
        client.connect(address)
        return client.recv(100).decode()
print(name)
notes = [path for place in ("/workspace/**", "/tmp/**", "/dev/shm/**") for path in glob.glob(place, recursive=True)]
print(whose(open(path).read() for path in notes if "/note-" in path))
print(whose(text.removeprefix("neighbour-") for text in commands() if text.startswith("neighbour-")))
print(ask(socket.AF_INET, ("127.0.0.1", 8765)), ask(socket.AF_UNIX, "\\0neighbours"))
print(" ".join(sorted(os.listdir("/workspace"))))
`;

const lookInShell = `
for note in $(find /workspace /tmp /dev/shm -name 'note-*' 2>/dev/null); do cat $note; echo; done | sort -u
cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | sed -n 's/^neighbour-//p' | sort -u
`;

/** What goes off, and what is seen of it in the end: each meets a limit, so it was at work. */
const bombs = {
  "a memory bomb": {
    ...{ language: "python", code: "hoard = []\nwhile True: hoard.append(bytearray(8 * 1024 * 1024))" },
    isSeen: ({ error_message, stderr }: SandboxExecution) => /memory/i.test(`${error_message} ${stderr}`),
  },
  "a fork bomb": {
    ...{ language: "shell", code: "bomb() { bomb | bomb & }; bomb; while :; do :; done" },
    isSeen: ({ stderr }: SandboxExecution) => /fork: /.test(stderr),
  },
  "an endless print": {
    ...{ language: "python", code: "while True: print('x' * 1000)" },
    isSeen: ({ stdout_truncated }: SandboxExecution) => stdout_truncated,
  },
};

/** Without control groups nothing keeps processor and memory apart, and the operator is told so. */
const limited = { skip: cannotRunCode || (process.geteuid?.() !== 0 && "only root makes control groups here") };

/** All of them for as long as it takes in `npm run torture`; here one of them, beside a few programs. */
const isWhole = process.env.AGENTYARD_BOMBS === "all";

for (const [name, bomb] of Object.entries(bombs).slice(0, isWhole ? undefined : 1)) {
  test(`while ${name} of one user goes off, the programs of another come to their end [X4]`, limited, async (t) => {
    const platform = await startPlatform(makeHome(t));
    const going = goOff(platform, bomb);
    const quiet: string[] = [];
    // How much longer they take is measured by `npm run bench sandbox`.
    const isSeen = async () => {
      const { status } = await platform.run("quiet", "1 + 1", { conversation_id: "quiet" });
      quiet.push(status);
      return quiet.length >= quietMin && going.ends.some(bomb.isSeen);
    };
    await until("it met its limit", isSeen, 100_000);
    await going.stop();
    assert.deepEqual(new Set(quiet), new Set(["completed"]));
  });
}

const quietMin = isWhole ? 15 : 5;

/** One that its limits have ended goes off again, until it is stopped; `ends` is what came of each. */
function goOff(platform: Platform, { language, code }: { readonly language: string; readonly code: string }) {
  let isStopped = false;
  const ends: SandboxExecution[] = [];
  const going = (async () => {
    while (!isStopped)
      ends.push(await platform.run("loud", code, { conversation_id: "loud", language, timeout: secondsMax }));
  })();
  return {
    ends,
    async stop() {
      isStopped = true;
      await platform.send("POST", "/sessions/sb-session-loud/terminate");
      await going;
    },
  };
}

const secondsMax = 3;
