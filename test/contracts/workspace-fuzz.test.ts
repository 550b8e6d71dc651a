import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { ConversationId } from "../../src/protocol/ids.ts";
import type { Workspace } from "../../src/workspace/workspace.ts";
import { hostilePath, marker } from "../world/hostile-paths.ts";
import { testWorkspace } from "../world/workspace.ts";
import { type Ground, openGround } from "./workspaces-place.ts";

/** 100,000 in `npm run torture`. */
const pathCount = Number(process.env.AGENTYARD_FUZZ_PATHS ?? 800);
const seed = Number(process.env.AGENTYARD_FUZZ_SEED ?? 20_261_115);
const secret = "the secret outside";

test("no generated path makes any operation touch or tell anything outside of the workspace [W5][S5][Q1]", async (t) => {
  for (const kind of ["conversation", "task"] as const) {
    const { workspace, folder, base } = await testWorkspace(t, { kind, limits: { keptBytesMax: 1_000 } });
    plant(base);
    const before = everythingBut(base, [folder, join(base, "staging"), join(base, "kept")]);
    const codes = new Map<string, number>();
    for (const [index, path] of fc.sample(hostilePath(), { numRuns: pathCount / 2, seed }).entries()) {
      if (index % 100 === 0) plantInside(folder, base); // Some of the operations remove what they find.
      for (const [operation, answer] of Object.entries(await tryAll(workspace, path))) {
        const shown = JSON.stringify(answer);
        assert.ok(!shown.includes(secret), `${operation} ${JSON.stringify(path)} told what is outside`);
        assert.ok(!shown.includes(base), `${operation} ${JSON.stringify(path)} told a host path: ${shown}`);
        const code = answer.ok ? "ok" : answer.failure.code;
        codes.set(code, (codes.get(code) ?? 0) + 1);
        if (/\.\.|^[/\\]/.test(path))
          assert.equal(code, "path_traversal_blocked", `${operation} ${JSON.stringify(path)}`);
      }
    }
    assert.deepEqual(everythingBut(base, [folder, join(base, "staging"), join(base, "kept")]), before);
    assert.deepEqual(readdirSync(join(base, "staging")), [], "nothing half-written stays");
    t.diagnostic(`${kind}: ${pathCount / 2} paths, seed ${seed}: ${JSON.stringify(Object.fromEntries(codes))}`);
  }
  for (const place of ["/", process.cwd(), homedir(), "/tmp"])
    assert.deepEqual(
      readdirSync(place).filter((name) => name.includes(marker)),
      [],
      place,
    );
});

test("no generated id of an agent, a conversation or the trash leads to a folder outside [W3][W5][W10]", async (t) => {
  const ground = await openGround(t);
  const row = await ground.start("conversation");
  const base = join(ground.data, "..");
  writeFileSync(join(base, "secret.txt"), secret);
  const owned = ["workspace", "workspaces", "staging", "kept", "trash"].map((name) => join(ground.data, name));
  const outside = () => everythingBut(base, owned).filter((line) => !line.includes("sessions.db"));
  const before = outside();
  let taken = 0;
  for (const id of fc.sample(hostilePath(), { numRuns: pathCount / 4, seed })) {
    const assigned = await ground.workspaces.assignTask(row, { agent: id, parent: "root" });
    for (const found of [await ground.workspaces.taskOf(row, id), await ground.workspaces.ofAgent(row, id)]) {
      assert.equal(found.ok, assigned.ok, JSON.stringify(id));
      if (found.ok) assert.ok((await found.value.write(`${marker}.txt`, id.toWellFormed())).ok);
    }
    if (assigned.ok) taken += 1;
    assert.equal((await ground.workspaces.restore(row.owner, id)).ok, false);
    const conversation = await tryToStart(ground, id);
    if (conversation !== undefined) await ground.workspaces.ofConversation(conversation).write(`temp/${marker}`, "x");
  }
  assert.deepEqual(outside(), before);
  for (const folder of readdirSync(ground.path("workspaces"))) assert.match(folder, /^[A-Za-z0-9][A-Za-z0-9._-]*$/);
  t.diagnostic(`${pathCount / 4} ids, seed ${seed}, ${taken} of them taken`);
});

/** The door checks ids first; what it lets through must be harmless, and what it does not is not even tried. */
async function tryToStart(ground: Ground, id: string) {
  const checked = ConversationId.safeParse(id);
  return checked.success ? ground.start(checked.data, { bare: true }).catch(() => undefined) : undefined;
}

async function tryAll(workspace: Workspace, path: string) {
  const streamed = await workspace.stream(path);
  const walked = await workspace.walk(path);
  return {
    stat: await workspace.stat(path),
    read: withText(await workspace.read(path)),
    stream: streamed.ok ? { ok: true as const, value: await joinedText(streamed.value.chunks) } : streamed,
    hash: await workspace.hash(path),
    list: await workspace.list(path),
    walk: walked.ok ? { ok: true as const, value: (await collected(walked.value)).map((entry) => entry.path) } : walked,
    write: await workspace.write(path, `written ${marker}`, { key: path }),
    restore: await workspace.restore(path, undefined),
    // Only now and then, so that there is something to find.
    ...(path.length % 7 === 0 ? { remove: await workspace.remove(path), empty: await workspace.empty(path) } : {}),
  } as const;
}

function withText(answer: Awaited<ReturnType<Workspace["read"]>>) {
  return answer.ok ? { ok: true as const, value: answer.value.bytes.toString("utf8") } : answer;
}

async function joinedText(chunks: AsyncIterable<Buffer>): Promise<string> {
  return Buffer.concat(await collected(chunks)).toString("utf8");
}

async function collected<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const value of values) all.push(value);
  return all;
}

/** A neighbour's files and a secret beside the workspace. */
function plant(base: string): void {
  mkdirSync(join(base, "workspace", "w2"), { recursive: true });
  writeFileSync(join(base, "workspace", "w2", "secret.txt"), secret);
  writeFileSync(join(base, "secret.txt"), secret);
}

/** Links inside that lead there, and a pipe that would block a reader. */
function plantInside(folder: string, base: string): void {
  rmSync(folder, { recursive: true, force: true });
  for (const inside of ["outputs", "outputs/inside", "temp"]) {
    const at = join(folder, inside);
    mkdirSync(at, { recursive: true });
    symlinkSync(join(base, "workspace", "w2"), join(at, "to-outside"));
    symlinkSync(join(base, "secret.txt"), join(at, "to-secret"));
    symlinkSync("/", join(at, "to-root"));
    symlinkSync("../../../..", join(at, "to-parent"));
    symlinkSync("loop", join(at, "loop"));
    execFileSync("mkfifo", [join(at, "pipe")]);
  }
}

/** Path, kind, size, time and content of everything below, as far as it is not left out. */
function everythingBut(base: string, leftOut: readonly string[]): string[] {
  return readdirSync(base).flatMap((name) => {
    const path = join(base, name);
    const stat = lstatSync(path);
    if (leftOut.includes(path)) return [];
    // The folder of the workspaces changes when a task's own folder is made in it.
    const own = stat.isDirectory() ? path : `${path} ${stat.mode} ${stat.mtimeMs} ${readFileSync(path, "utf8")}`;
    return [own, ...(stat.isDirectory() ? everythingBut(path, leftOut) : [])];
  });
}
