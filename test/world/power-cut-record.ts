import assert from "node:assert/strict";
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TestContext } from "node:test";
import { z } from "zod";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { ConversationId, localOwner } from "../../src/protocol/ids.ts";
import { takeOwnership } from "../../src/storage/sqlite/owner-lock.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { type Cut, linesOf } from "./power-cut.ts";

/** Everything a program asked of the kernel below a folder, in the order it was asked and answered, from a known start. */
export type Recording = {
  readonly before: Snapshot;
  readonly steps: readonly Step[];
  /** What really lay there at the end: the steps must lead to it. */
  readonly after: Snapshot;
  readonly ended: { readonly code: number | null; readonly output: string; readonly errors: string };
};

/** What lies below a folder, by inode. What lay there before is taken to be on the disk. */
export type Snapshot = { readonly root: number; readonly nodes: ReadonlyMap<number, Kept> };
export type Kept =
  | { readonly kind: "file"; readonly content: Buffer }
  | { readonly kind: "folder"; readonly entries: ReadonlyMap<string, number> }
  | { readonly kind: "link"; readonly target: string };

/** Between `began` and `ended` a call may have been done or not; both count moments over all threads. */
type Span = { readonly began: number; readonly ended: number };
export type NameStep = Span &
  (
    | {
        readonly does: "make";
        readonly folder: number;
        readonly name: string;
        readonly file: number;
        kind: Kept["kind"];
      }
    | { readonly does: "rename" | "link"; folder: number; name: string; toFolder: number; toName: string; file: number }
    | { readonly does: "remove"; readonly folder: number; readonly name: string }
  );
export type ContentStep = Span &
  (
    | { readonly does: "write"; readonly file: number; readonly path: string; offset: number; readonly data: Buffer }
    | { readonly does: "size"; readonly file: number; readonly size: number }
  );
export type Step =
  | NameStep
  | ContentStep
  | (Span & { readonly does: "sync"; readonly file: number; readonly path: string })
  | (Span & { readonly does: "sync-all" })
  | (Span & { readonly does: "map"; readonly file: number; readonly path: string })
  | (Span & { readonly does: "say"; readonly to: string; readonly by: number; readonly data: Buffer });

export type RecordOptions = {
  /** Below it everything is recorded; it stands for the disk. */
  readonly folder: string;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** What is done with the program while it runs; otherwise it is only waited for. */
  readonly play?: (program: ChildProcessWithoutNullStreams) => Promise<void>;
};

const tracer = join(import.meta.dirname, "power-cut.py");

/** Why nothing can be recorded here; false where it can. Really tried: a kernel or a container may forbid it. */
export const cannotRecord = findHindrance();

function findHindrance(): string | false {
  const place = mkdtempSync(join(tmpdir(), "power-cut-try-"));
  try {
    const tried = spawnSync("python3", [tracer, place, join(place, "trace"), process.execPath, "--version"]);
    return tried.status !== 0 && "programs cannot be traced here: that takes Linux, python3 and ptrace";
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** Runs a program to its end under the tracer. */
export async function record({ folder, command, env = {}, play }: RecordOptions): Promise<Recording> {
  const before = snapshotOf(folder);
  const place = mkdtempSync(join(tmpdir(), "power-cut-trace-"));
  try {
    const trace = join(place, "trace");
    // What has been compiled once need not be again: most of a recording is the start of the program.
    const { PATH = "", NODE_COMPILE_CACHE = join(tmpdir(), "agentyard-crash-compiled") } = process.env;
    const child = spawn("python3", [tracer, folder, trace, ...command], {
      cwd: folder,
      env: { PATH, HOME: folder, TMPDIR: place, LANG: "C.UTF-8", NODE_COMPILE_CACHE, ...env },
    });
    const ended = watch(child);
    try {
      await play?.(child);
    } catch (error) {
      child.kill("SIGTERM");
      const { output, errors } = await ended;
      throw new Error(`the program said: ${output}${errors}`, { cause: error });
    }
    return { before, ended: await ended, after: snapshotOf(folder), steps: readSteps(trace) };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

async function watch(child: ChildProcessWithoutNullStreams): Promise<Recording["ended"]> {
  let [output, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const [code] = await once(child, "close");
  return { code, output, errors };
}

function snapshotOf(folder: string): Snapshot {
  const nodes = new Map<number, Kept>();
  const look = (path: string): number => {
    const stat = lstatSync(path);
    if (stat.isSymbolicLink()) nodes.set(stat.ino, { kind: "link", target: readlinkSync(path) });
    else if (stat.isFile()) nodes.set(stat.ino, { kind: "file", content: readFileSync(path) });
    else if (stat.isDirectory())
      nodes.set(stat.ino, {
        kind: "folder",
        entries: new Map(readdirSync(path).map((name) => [name, look(join(path, name))])),
      });
    return stat.ino;
  };
  return { root: look(folder), nodes };
}

function readSteps(trace: string): Step[] {
  const data = readFileSync(`${trace}.data`);
  const lines = readFileSync(trace, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => stepOf(Line.parse(JSON.parse(line)), data)).filter((step) => step !== undefined);
}

const span = { began: z.number(), ended: z.number() };
const bytes = { from: z.number(), bytes: z.number() };
const named = { folder: z.number(), name: z.string() };
const Line = z.discriminatedUnion("does", [
  z.object({ ...span, ...named, does: z.literal("make"), file: z.number(), kind: z.enum(["file", "folder", "link"]) }),
  z.object({
    ...{ ...span, ...named, does: z.enum(["rename", "link"]), file: z.number() },
    ...{ toFolder: z.number(), toName: z.string() },
  }),
  z.object({ ...span, ...named, does: z.literal("remove") }),
  z.object({ ...span, ...bytes, does: z.literal("write"), file: z.number(), path: z.string(), offset: z.number() }),
  z.object({ ...span, does: z.literal("size"), file: z.number(), size: z.number() }),
  z.object({ ...span, does: z.literal("room"), file: z.number() }),
  z.object({ ...span, does: z.enum(["sync", "map"]), file: z.number(), path: z.string() }),
  z.object({ ...span, does: z.literal("sync-all") }),
  z.object({ ...span, ...bytes, does: z.literal("say"), to: z.string(), by: z.number() }),
]);

/** Room alone changes nothing that can be read. What the recorder calls odd does not parse: it would have to be learnt. */
function stepOf(line: z.infer<typeof Line>, all: Buffer): Step | undefined {
  if (line.does === "room") return undefined;
  if (line.does !== "write" && line.does !== "say") return line;
  const { from, bytes: length, ...step } = line;
  return { ...step, data: all.subarray(from, from + length) };
}

/**
 * What a program is to write. It says each moment on its output: `asks <conversation> <batch> <events>` before, and
 * `acknowledged` with the same words after. The recorder sees both among the calls to the kernel.
 */
export type LogWork = {
  readonly path: string;
  readonly synchronous?: "full" | "normal";
  readonly conversations: number;
  /** For each time the database is opened: how many batches a conversation gets. */
  readonly batches: readonly number[];
  readonly eventBytes: number;
};

/** `prepare`: what lies in the folder of the database beforehand. */
export async function recordLog(
  t: TestContext,
  { prepare, ...work }: Omit<LogWork, "path"> & { readonly prepare?: (path: string) => void },
): Promise<Recording> {
  const folder = mkdtempSync(join(tmpdir(), "power-cut-log-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "data", "sessions.db");
  if (prepare !== undefined) mkdirSync(dirname(path));
  prepare?.(path);
  const parameters = JSON.stringify({ ...work, path } satisfies LogWork);
  const script = join(import.meta.dirname, "..", "crashes", "power-cut-child.ts");
  const recording = await record({ folder, command: [process.execPath, script, "logs", parameters] });
  assert.equal(recording.ended.code, 0, recording.ended.errors);
  return recording;
}

type Batch = { readonly moment: number; readonly word: string; readonly name: string; batch: string; count: number };

/**
 * Whether a disk has the logs of a recording. Both are prefixes of what a conversation was asked for: what is there lies between
 * what was acknowledged and that, in whole batches.
 */
export function checkLog(recording: Recording): (cut: Cut) => Promise<void> {
  const said: Batch[] = linesOf(recording).flatMap(({ moment, line }) => {
    const [, word = "", name = "", batch = "", count] = /^(asks|acknowledged) (\S+) (\S+) (\d+)$/.exec(line) ?? [];
    return word === "" ? [] : [{ moment, word, name, batch, count: Number(count) }];
  });
  const names = [...new Set(said.map(({ name }) => name))];
  assert.ok(said.length > 0, "the program told what it did");
  return ({ folder, first, last }) =>
    inStorage(join(folder, "data", "sessions.db"), async (storage) => {
      for (const name of names) {
        const upTo = (word: string, moment: number) =>
          said.filter((one) => one.word === word && one.name === name && one.moment <= moment);
        await checkConversation(storage, name, {
          acknowledged: upTo("acknowledged", last),
          asked: upTo("asks", first),
        });
      }
    });
}

async function checkConversation(
  storage: Storage,
  name: string,
  { acknowledged, asked }: { readonly acknowledged: readonly Batch[]; readonly asked: readonly Batch[] },
): Promise<void> {
  const found = await storage.findConversation(localOwner, ConversationId.parse(name));
  if (found === undefined) return assert.deepEqual(acknowledged, [], `${name} was acknowledged and is gone`);
  assert.ok(asked.length > 0, `${name} was never asked for`);
  const events = await storage.read(found.number, { after: 0, limit: 10_000 });
  const titles = events.map(({ body }) => (/"title":"(\S+ \S+) /.exec(body) ?? [])[1]);
  const wanted = asked.map(({ batch, count }) =>
    Array.from({ length: count }, (_, index) => `${name} ${batch}.${index}`),
  );
  const batches = wanted.findIndex((_, index) => wanted.slice(0, index + 1).flat().length > titles.length);
  const whole = wanted.slice(0, batches === -1 ? wanted.length : batches);
  assert.deepEqual(titles, whole.flat(), `${name}: whole batches in their order, each once`);
  assert.deepEqual(
    events.map(({ seq }) => seq),
    events.map((_, index) => index + 1),
    `${name}: numbered from 1`,
  );
  assert.equal(await storage.headOf(found.number), events.length);
  const lost = acknowledged.slice(whole.length).map(({ batch }) => batch);
  assert.deepEqual(lost, [], `${name}: acknowledged and gone`);
  const body = '{"title":"after the cut"}';
  const next = await storage.append({
    number: found.number,
    events: [{ type: "conversation.renamed", version: 1, at: 1, body }],
  });
  assert.deepEqual(next, { ok: true, value: { lastSeq: events.length + 1 } });
}

// Storage as the product wires it. A power cut is about this one adapter, what it leaves and how it opens again.

/** Opened as the product opens it at its next start. */
export async function inStorage(
  path: string,
  work: (storage: Storage) => Promise<void>,
  clock: Clock = systemClock,
): Promise<void> {
  // The reserve only takes up room; it is not worth writing a megabyte for each look.
  if (existsSync(dirname(path))) writeFileSync(`${path}.reserve`, "");
  const opened = openSqlite({ path, clock, synchronous: "normal" });
  assert.ok(opened.ok, `the database does not open: ${JSON.stringify(opened)}`);
  try {
    await work(opened.value);
    const database = new DatabaseSync(path, { readOnly: true });
    const said = database.prepare("PRAGMA integrity_check").all();
    database.close();
    assert.deepEqual(
      said.map((row) => row.integrity_check),
      ["ok"],
    );
  } finally {
    await opened.value.close();
  }
}

/** Whatever the process before has left, the next one owns the data. */
export function checkOwnership(data: string): void {
  const lock = takeOwnership(data, { pid: 1, startedAt: 1, socket: "", protocol: "" });
  assert.ok(lock.ok, "the next process owns the data");
  lock.value.release();
}
