import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { until } from "../world/events.ts";
import { chanceOf, seedFor } from "../world/fuzz-chance.ts";
import { type Platform, startPlatform } from "../world/platform.ts";
import { type Home, makeHome } from "../world/program.ts";
import { cannotRunCode } from "../world/sandbox.ts";

/** 40 in `npm run torture`. */
const { AGENTYARD_SANDBOX_KILLS: wanted } = process.env;
const kills = Number(wanted ?? 1);
const chance = chanceOf(seedFor("sandbox kills", wanted === undefined ? 1 : undefined));
const user = "kim";
const session = `/sessions/sb-session-${user}`;
const filesMade = 50;
const chunkBytes = 64 * 1024;
const chunkCount = 40;

test("whenever the server is killed during executions, uploads and deletions, the next one leaves no process, mount, group or half file, and goes on [S1][S3][S6][X2][X3]", {
  skip: cannotRunCode,
}, async (t) => {
  const home = makeHome(t);
  let platform = await startPlatform(home);
  for (let number = 1; number <= kills; number += 1) {
    const before = await setGoing(platform, number);
    const { mark } = markOf(home);
    const isRoot = process.geteuid?.() === 0;
    // Otherwise nothing is shown below by their absence.
    assert.deepEqual([markedProcesses(mark).length > 0, groupsOf(mark).length > 0], [true, isRoot]);
    const killed = await kill(platform, before, number);
    platform = await startPlatform(home);
    const label = `kill ${number}, ${killed.chunksSent} of ${chunkCount} chunks`;
    await checkHost(home, before.processes, label);
    await checkExecutions(platform, before, label);
    await checkUploads(platform, killed, number, label);
    await checkDeletions(platform, home, { ...killed, number, label });
    assert.deepEqual(readdirSync(join(home.folder, "data", "staging")), [], `${label}: no draft is left`);
  }
});

type Before = { readonly executions: readonly string[]; readonly processes: readonly number[]; readonly tus: string };

/** Two programs that run and have children of their own, files that can be deleted, an upload that has begun. */
async function setGoing(platform: Platform, number: number): Promise<Before> {
  const make = (name: string) =>
    platform.run(user, `for i in range(${filesMade}): open(f"outputs/${name}-{i}.txt", "w").write("x")`, {
      conversation_id: name,
    });
  await Promise.all([make(`gone-${number}`), make(`emptied-${number}`)]);
  const conversation_id = `run-${number}`;
  const python = `import subprocess, time\nsubprocess.Popen(["sleep", "1000"])\nopen("outputs/python", "w")\ntime.sleep(1000)`;
  const shell = "(setsid sleep 1000 &); sleep 1000 & touch outputs/shell; sleep 1000";
  const executions = [
    await platform.start(user, python, { conversation_id, timeout: 3000 }),
    await platform.start(user, shell, { conversation_id, timeout: 3000, language: "shell" }),
  ];
  await until("both programs run", async () => {
    const { json } = await platform.send("GET", `${session}/files?conversation_id=${conversation_id}&subdir=outputs`);
    return JSON.stringify(json.files) === JSON.stringify(["python", "shell"]);
  });
  const created = await platform.send("POST", `${session}/files/uploads`, {
    headers: {
      "tus-resumable": "1.0.0",
      "upload-length": `${chunkBytes * chunkCount}`,
      "upload-metadata": metadata({ filename: "resumed.csv", conversation_id: `tus-${number}`, sha256: hashOfAll }),
    },
  });
  assert.equal(created.status, 201, `${created.bytes}`);
  const tus = (created.headers.get("location") ?? "").replace("/api/v1", "");
  return { executions, processes: descendantsOf(platform.service.child.pid ?? 0), tus };
}

function metadata(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name} ${Buffer.from(value).toString("base64")}`)
    .join(",");
}

type Killed = Before & {
  readonly chunksSent: number;
  /** What the server had answered before it died. */
  readonly acknowledged: Readonly<Record<"multipart" | "tus" | "deleted" | "emptied", boolean>>;
};

/** In the middle of both uploads, the deletions just before it: the later the kill, the more of them is done. */
async function kill(platform: Platform, before: Before, number: number): Promise<Killed> {
  const acknowledged = { multipart: false, tus: false, deleted: false, emptied: false };
  const killAt = chance.int(2, chunkCount + 11);
  const deleteAt = Math.max(1, Math.min(killAt, chunkCount - 1) - chance.int(0, 3));
  const asked: Promise<unknown>[] = [];
  const ask = (what: keyof typeof acknowledged, request: Promise<{ readonly status: number }>) => {
    // One that was cut off has no answer.
    const answered = request.then(({ status }) => (acknowledged[what] = status < 300)).catch(() => {});
    asked.push(answered);
    return answered;
  };
  let chunksSent = 0;
  const onChunk = () => {
    chunksSent += 1;
    if (chunksSent === deleteAt) {
      void ask(
        "deleted",
        platform.send("DELETE", `/conversations/gone-${number}`, { headers: { "x-account-id": user } }),
      );
      void ask("emptied", platform.send("DELETE", `${session}/files?conversation_id=emptied-${number}`));
    }
    if (chunksSent === killAt) platform.service.child.kill("SIGKILL");
  };
  const tusHeaders = { ...tusVersion, "content-type": "application/offset+octet-stream", "upload-offset": "0" };
  void ask("tus", platform.send("PATCH", before.tus, { headers: tusHeaders, body: streamOf(content(0)) }));
  const headers = { "content-type": "multipart/form-data; boundary=edge" };
  const body = streamOf(formOf(number, onChunk));
  await ask("multipart", platform.send("POST", `${session}/files/upload`, { headers, body }));
  // All had come before their turn.
  platform.service.child.kill("SIGKILL");
  await Promise.all([...asked, platform.service.ended]);
  return { ...before, chunksSent, acknowledged };
}

const tusVersion = { "tus-resumable": "1.0.0" };

/** Lines of numbers, so that a part of them is told from all of them. */
function chunkAt(index: number): Buffer {
  const line = `${`${index}`.padStart(7, "0")},\n`;
  return Buffer.from(line.repeat(chunkBytes / line.length + 1)).subarray(0, chunkBytes);
}

const all = Buffer.concat(Array.from({ length: chunkCount }, (_, index) => chunkAt(index)));
const hashOfAll = createHash("sha256").update(all).digest("hex");

/** Piece by piece, as a line brings it. */
async function* content(offset: number, onChunk = () => {}): AsyncGenerator<Uint8Array> {
  for (let at = offset; at < all.length; at += chunkBytes) {
    yield all.subarray(at, at + chunkBytes);
    onChunk();
    await nextLoop();
  }
}

async function* formOf(number: number, onChunk: () => void): AsyncGenerator<Uint8Array> {
  const field = (name: string, value: string) =>
    `--edge\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  yield Buffer.from(field("conversation_id", `form-${number}`) + field("subdir", "temparea"));
  yield Buffer.from(`--edge\r\ncontent-disposition: form-data; name="file"; filename="sent.csv"\r\n\r\n`);
  yield* content(0, onChunk);
  yield Buffer.from("\r\n--edge--\r\n");
}

function streamOf(chunks: AsyncIterable<Uint8Array>): NonNullable<RequestInit["body"]> {
  return ReadableStream.from(chunks);
}

async function checkHost(home: Home, processes: readonly number[], label: string): Promise<void> {
  const { data, mark } = markOf(home);
  await until(`${label}: no process is left`, () => !processes.some(isAlive) && markedProcesses(mark).length === 0);
  await until(`${label}: no control group is left`, () => groupsOf(mark).length === 0);
  assert.ok(!readFileSync("/proc/self/mountinfo", "utf8").includes(data), `${label}: no mount is left`);
}

/** The name by which an installation knows its guests again. */
function markOf({ folder }: Home): { readonly data: string; readonly mark: string } {
  const data = join(folder, "data");
  return { data, mark: createHash("sha256").update(data).digest("hex").slice(0, 12) };
}

function groupsOf(mark: string): string[] {
  return globSync(`/sys/fs/cgroup/**/agentyard-${mark}/*/`);
}

async function checkExecutions(platform: Platform, { executions }: Before, label: string): Promise<void> {
  const records = await Promise.all(executions.map((id) => platform.execution(id)));
  assert.deepEqual(
    records.map(({ status, completed_at }) => [status, completed_at !== null]),
    executions.map(() => ["crashed", true]),
    `${label}: what ran is said to have crashed`,
  );
  const { session_id, stdout } = await platform.run(user, "print('on again')", { conversation_id: "again" });
  assert.deepEqual([session_id, stdout], [`sb-session-${user}`, "on again\n"], label);
}

async function checkUploads(
  platform: Platform,
  { acknowledged, tus }: Killed,
  number: number,
  label: string,
): Promise<void> {
  const sent = await platform.send("GET", `${session}/files/form-${number}/uploads/temparea/sent.csv`);
  assert.ok(
    sent.status === 404 ? !acknowledged.multipart : sent.bytes.equals(all),
    `${label}: a form is there as a whole or not at all, and as a whole where that was said (${sent.status})`,
  );
  const state = await platform.send("GET", tus);
  const offset = Number(state.headers.get("upload-offset"));
  assert.ok(state.status === 200 && offset <= all.length && (offset === all.length || !acknowledged.tus), label);
  if (offset < all.length) {
    const headers = { ...tusVersion, "content-type": "application/offset+octet-stream", "upload-offset": `${offset}` };
    const resumed = await platform.send("PATCH", tus, { headers, body: streamOf(content(offset)) });
    assert.equal(resumed.status, 204, `${label}: ${resumed.bytes}`);
  }
  const file = await platform.send("GET", `${session}/files/tus-${number}/uploads/temparea/resumed.csv`);
  assert.ok(
    file.status === 200 && file.bytes.equals(all),
    `${label}: an upload that is resumed ends with all its bytes`,
  );
}

type Deletions = Pick<Killed, "acknowledged"> & { readonly number: number; readonly label: string };

async function checkDeletions(
  platform: Platform,
  home: Home,
  { acknowledged, number, label }: Deletions,
): Promise<void> {
  const headers = { "x-account-id": user };
  const gone = await platform.send("GET", `/conversations/gone-${number}`, { headers });
  const filesOf = (name: string) => globSync(`data/workspace/**/${name}-${number}-*.txt`, { cwd: home.folder }).length;
  if (gone.status === 200) {
    assert.ok(!acknowledged.deleted, `${label}: what was said to be deleted is deleted`);
    assert.equal(filesOf("gone"), filesMade, `${label}: a conversation that is not deleted has its files`);
  } else await until(`${label}: the files of a deleted conversation go`, () => filesOf("gone") === 0);
  if (acknowledged.emptied) assert.equal(filesOf("emptied"), 0, `${label}: what was said to be empty is empty`);
  const again = await platform.send("DELETE", `${session}/files?conversation_id=emptied-${number}`);
  assert.deepEqual([again.status, filesOf("emptied")], [204, 0], `${label}: and what was not is, when asked again`);
}

/** All processes below one, as the host counts. */
function descendantsOf(pid: number): number[] {
  const children = textOf(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...descendantsOf(child)]);
}

/** One that is dead and only waits to be counted is not. */
function isAlive(pid: number): boolean {
  return textOf(`/proc/${pid}/cmdline`) !== "";
}

function markedProcesses(mark: string): string[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) =>
    ["cmdline", "environ"].some((file) => textOf(`/proc/${pid}/${file}`).includes(`${mark}.`)),
  );
}

/** Empty where there is nothing to read, or not for us. */
function textOf(path: string): string {
  try {
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  } catch {
    return "";
  }
}
