import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import type { FileChange, Observation } from "../../src/workspace/workspace.ts";
import { testWorkspace } from "../world/workspace.ts";
import { unwrap } from "./storage-place.ts";

/** 100 in `npm run torture`. */
const numRuns = Number(process.env.AGENTYARD_PROPERTY_RUNS ?? 20);

const isRoot = process.getuid?.() === 0;

test("whatever programs do to files is told exactly, and given back byte by byte with modes [W12]", async (t) => {
  await fc.assert(
    fc.asyncProperty(steps(), steps(), steps(), async (early, first, second) => {
      const { workspace, folder } = await testWorkspace(t, { kind: "task" });
      mkdirSync(folder, { recursive: true });
      for (const step of early) take(folder, step);
      const observation = unwrap(await workspace.observe());
      const start = snapshot(folder);
      const told: FileChange[][] = [];
      for (const done of [first, second]) {
        const before = snapshot(folder);
        for (const step of done) take(folder, step);
        const changes = await changesOf(observation);
        assert.deepEqual(changes, differences(before, snapshot(folder)));
        told.push(changes);
      }
      // What was put where a file was goes first, as it may stand in its way.
      for (const changes of told.reverse()) {
        for (const { path, before } of changes) if (before === undefined) unwrap(await workspace.restore(path, before));
        rmEmpty(folder);
        for (const { path, before } of changes) if (before !== undefined) unwrap(await workspace.restore(path, before));
      }
      assert.deepEqual(snapshot(folder), start);
      assert.deepEqual(await changesOf(observation), [], "what we gave back ourselves is no change by a program");
    }),
    { numRuns },
  );
});

type Step =
  | { readonly do: "write"; readonly path: string; readonly content: string; readonly mode: number }
  | { readonly do: "remove" | "folder" | "link" | "touch"; readonly path: string }
  | { readonly do: "chmod"; readonly path: string; readonly mode: number }
  | { readonly do: "rename"; readonly path: string; readonly to: string };

function steps(): fc.Arbitrary<Step[]> {
  const name = fc.constantFrom("a", "b", ".c", "d.txt", "报告");
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
  const mode = fc.constantFrom(0o644, 0o600, 0o755, isRoot ? 0o000 : 0o400);
  // Often of the same length, and sometimes longer than what is read in one piece.
  const content = fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom("", "1111", "2222", "3333", "some more") },
    { weight: 1, arbitrary: fc.constantFrom("x".repeat(300_000), "y".repeat(300_000)) },
  );
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant("write" as const), path, content, mode }) },
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constantFrom("remove" as const, "folder" as const, "link", "touch"), path }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("chmod" as const), path, mode }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("rename" as const), path, to: path }) },
  );
  return fc.array(step, { maxLength: 12 });
}

/** As a program does it; what is not possible is left. */
function take(folder: string, step: Step): void {
  const path = join(folder, step.path);
  try {
    if (step.do === "write") {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, step.content);
      chmodSync(path, step.mode);
    } else if (step.do === "remove") rmSync(path, { recursive: true, force: true });
    else if (step.do === "folder") mkdirSync(path, { recursive: true });
    // Later steps write through it: what it names must be of no use to anybody.
    else if (step.do === "link") symlinkSync(join(dirname(folder), "outside"), path);
    else if (step.do === "touch") utimesSync(path, 1, 1);
    else if (step.do === "chmod" && !lstatSync(path).isSymbolicLink())
      chmodSync(path, step.mode | (statSync(path).isDirectory() ? 0o700 : 0));
    else if (step.do === "rename") renameSync(path, join(folder, step.to));
  } catch (error) {
    assert.ok(error instanceof Error && "syscall" in error, String(error));
  }
}

type Snapshot = Map<string, { readonly hash: string; readonly bytes: number; readonly mode: number }>;

function snapshot(folder: string): Snapshot {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => {
        const content = readFileSync(path);
        const mode = statSync(path).mode & 0o777;
        return [path.slice(folder.length + 1), { hash: sha(content), bytes: content.length, mode }];
      }),
  );
}

function differences(before: Snapshot, after: Snapshot): FileChange[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .sort()
    .map((path) => ({ path, before: before.get(path), after: after.get(path), lost: undefined }))
    .filter((change) => JSON.stringify(change.before) !== JSON.stringify(change.after));
}

function rmEmpty(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isSymbolicLink()) rmSync(path);
    if (!entry.isDirectory()) continue;
    rmEmpty(path);
    if (readdirSync(path).length === 0) rmSync(path, { recursive: true });
  }
}

async function changesOf(observation: Observation): Promise<FileChange[]> {
  return [...unwrap(await observation.changes())];
}

function sha(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
