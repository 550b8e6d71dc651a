import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { filesBelow, type Workspace } from "../../src/workspace/workspace.ts";
import { testWorkspace } from "../world/workspace.ts";

const roundsMin = 60;
const secret = "the secret outside";

test("swapping folders and files for links while every operation runs gets nothing in or out [W5][S5]", async (t) => {
  const { workspace, folder, base } = await testWorkspace(t);
  const outside = join(base, "outside");
  mkdirSync(join(outside, "deep"), { recursive: true });
  writeFileSync(join(outside, "f.txt"), secret);
  writeFileSync(join(outside, "deep", `${secret}.txt`), secret);
  const before = snapshot(outside);

  const swapper = spawn(process.execPath, [join(import.meta.dirname, "../world/swapper.ts"), folder, outside], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(swapper, "close");
  await once(swapper.stdout, "data");
  const tally = { rounds: 0, ok: 0, refused: 0, leaks: 0, naiveRounds: 0, naiveLeaks: 0 };
  try {
    await race({ workspace, folder, tally });
  } finally {
    swapper.kill("SIGKILL");
    await ended;
  }
  t.diagnostic(JSON.stringify(tally));
  assert.equal(tally.leaks, 0);
  assert.deepEqual(snapshot(outside), before, "nothing outside was written, removed or renamed");
});

type Tally = Record<"rounds" | "ok" | "refused" | "leaks" | "naiveRounds" | "naiveLeaks", number>;

async function race({ workspace, folder, tally }: { workspace: Workspace; folder: string; tally: Tally }) {
  const isSeen = () => tally.ok > 100 && tally.refused > 100 && tally.naiveLeaks > 0;
  while (tally.rounds < roundsMin || !isSeen()) {
    for (const answer of await tryAll(workspace, tally.rounds)) {
      tally[answer.ok ? "ok" : "refused"] += 1;
      if (JSON.stringify(answer).includes(secret)) tally.leaks += 1;
    }
    tally.rounds += 1;
    // What people write first: look where the path leads, then open it.
    for (let again = 0; again < 20; again += 1) {
      tally.naiveRounds += 1;
      if (naiveRead(folder, "outputs/d/f.txt")?.includes(secret)) tally.naiveLeaks += 1;
    }
    assert.ok(tally.rounds < 100 * roundsMin, "both sides are seen and the naive control leaks, sooner or later");
  }
}

async function tryAll(workspace: Workspace, round: number): Promise<{ ok: boolean; value?: unknown }[]> {
  const answers: { ok: boolean; value?: unknown }[] = [];
  for (const path of ["outputs/d/f.txt", "outputs/leaf.txt", "temp/f.txt"]) {
    const read = await workspace.read(path);
    answers.push(read.ok ? { ok: true, value: read.value.bytes.toString() } : read);
    const stream = await workspace.stream(path);
    answers.push(stream.ok ? { ok: true, value: await text(stream.value.chunks) } : stream);
    answers.push(await workspace.stat(path), await workspace.hash(path));
    answers.push(await workspace.write(path, "from the workspace", { key: `${round} ${path}` }));
    answers.push(await workspace.write(`${path}-dir/new.txt`, "new"));
    if (round % 3 === 0) answers.push(await workspace.remove(path, { key: `remove ${round} ${path}` }));
    if (round % 3 === 1) answers.push(await workspace.restore(path, undefined));
  }
  for (const path of [".", "outputs", "outputs/d", "temp"]) {
    answers.push(await workspace.list(path));
    const walk = await workspace.walk(path);
    answers.push(walk.ok ? { ok: true, value: await paths(walk.value) } : walk);
  }
  const root = await workspace.openDescriptor();
  if (root.ok && root.value !== undefined) {
    const found = [...filesBelow(root.value.fd, ".")].map((file) => `${file.path} ${file.read(1_000)}`);
    root.value.close();
    answers.push({ ok: true, value: found });
  }
  answers.push(await workspace.info());
  if (round % 5 === 0) answers.push(await workspace.remove("outputs/d"), await workspace.empty("temp"));
  return answers;
}

async function text(chunks: AsyncIterable<Buffer>): Promise<string> {
  let all = "";
  try {
    for await (const chunk of chunks) all += chunk;
  } catch {
    return all; // It became shorter while it was read.
  }
  return all;
}

async function paths(entries: AsyncIterable<{ path: string }>): Promise<string[]> {
  const all: string[] = [];
  for await (const { path } of entries) all.push(path);
  return all;
}

function naiveRead(folder: string, path: string): string | undefined {
  try {
    if (!realpathSync(join(folder, path)).startsWith(`${realpathSync(folder)}/`)) return undefined;
    return readFileSync(join(folder, path), "utf8");
  } catch {
    return undefined;
  }
}

function snapshot(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .sort()
    .map((name) => {
      const { mode, size, ino, mtimeMs } = lstatSync(join(folder, name));
      return `${name} ${mode} ${size} ${ino} ${mtimeMs}`;
    });
}
