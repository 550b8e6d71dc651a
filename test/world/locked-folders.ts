/** Becomes an ordinary user, tries `<base>` and prints what happened: `node locked-folders.ts <base>`, started by root. */
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dayMs, openGround, write } from "../contracts/workspaces-place.ts";
import { testWorkspace } from "./workspace.ts";

const nobody = 65_534;
const [base = ""] = process.argv.slice(2);
// Only now: the sources may lie where that user has no access.
process.setgid?.(nobody);
process.setuid?.(nobody);
const { workspace, folder } = await testWorkspace({ after() {} }, { base });
const locked = join(folder, "outputs", "locked");
mkdirSync(join(locked, "inner"), { recursive: true });
writeFileSync(join(locked, "inner", "f.txt"), "hidden");
writeFileSync(join(folder, "outputs", "own.txt"), "mine");
chmodSync(join(locked, "inner"), 0o000);
chmodSync(locked, 0o000);

const ground = await openGround({ after() {} });
await write(ground.workspaces.ofConversation(await ground.start("c")), "outputs/seen", "x");
mkdirSync(ground.path("workspace/c/outputs/unseen"), { mode: 0 });
ground.clock.move(8 * dayMs);

const code = (answer: { ok: boolean; failure?: { code: string; params: object } }) =>
  answer.ok ? "ok" : `${answer.failure?.code} ${Object.values(answer.failure?.params ?? {}).at(-1)}`;
const list = await workspace.list("outputs/locked");
const info = await workspace.info();
const report = {
  read: code(await workspace.read("outputs/locked/inner/f.txt")),
  write: code(await workspace.write("outputs/locked/new.txt", "x")),
  list: list.ok ? `ok ${list.value.entries.length}` : code(list),
  info: info.ok ? `ok ${info.value.fileCount}` : code(info),
  remove: code(await workspace.empty("outputs")),
  left: readdirSync(join(folder, "outputs")),
  clean: await ground.workspaces.clean({ unusedMs: 7 * dayMs }),
  stays: readdirSync(ground.path("workspace/c/outputs")).sort(),
};
process.stdout.write(JSON.stringify(report));
