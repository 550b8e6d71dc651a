import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { protocolVersion } from "../../src/protocol/routes.ts";
import { type Home, makeHome } from "../world/program.ts";
import { saidOf } from "../world/said.ts";

test("a data directory that an AgentYard of another version uses is left alone, with what to do, in both languages [P3][P4]", async (t) => {
  const home = makeHome(t);
  ownedBy(t, home, { protocol: "0" });
  const { code, errors } = await home.start("run", "hello").ended;
  const what = `The AgentYard that uses this data directory speaks version 0, this one ${protocolVersion}.`;
  assert.deepEqual([code, errors], [1, `✗ ${what} End the older one and start again.\n`]);
  const zh = await home.start("run", "hello", "--lang", "zh").ended;
  const versions = saidOf("owner_other_version", { theirs: "0", ours: protocolVersion }, "zh");
  assert.ok(zh.errors.startsWith(`✗ ${versions}请结束较旧的那个`), zh.errors);
});

test("a data directory whose AgentYard does not answer is left alone, and the process is named that is to be ended [P3][P4]", async (t) => {
  const home = makeHome(t);
  ownedBy(t, home, { protocol: protocolVersion });
  const [en, zh] = await Promise.all([
    home.start("run", "hello").ended,
    home.start("run", "hello", "--lang", "zh").ended,
  ]);
  const what = `Another AgentYard (process ${process.pid}) uses this data directory and does not answer.`;
  const next = "End that process, or choose another data directory with --data.";
  assert.deepEqual([en.code, en.errors], [1, `✗ ${what} ${next}\n`]);
  const silent = saidOf("owner_unreachable", { pid: process.pid }, "zh");
  assert.ok(zh.errors.startsWith(`✗ ${silent}请结束那个进程`), zh.errors);
});

/** This process has the directory, says so, and answers nobody. */
function ownedBy(t: TestContext, { folder }: Home, { protocol }: { readonly protocol: string }): void {
  const data = join(folder, "data");
  mkdirSync(data);
  const lock = new DatabaseSync(join(data, "owner.lock"));
  lock.exec("BEGIN IMMEDIATE");
  t.after(() => lock.close());
  const info = { pid: process.pid, startedAt: 0, socket: join(folder, "nobody.sock"), protocol };
  writeFileSync(join(data, "owner.json"), JSON.stringify(info));
}
