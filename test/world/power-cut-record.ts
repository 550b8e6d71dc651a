import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";

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
