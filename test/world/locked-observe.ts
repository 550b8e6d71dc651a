/** Becomes an ordinary user, observes `<base>` and prints what is told: `node locked-observe.ts <base>`, started by root. */
import { chmodSync, mkdirSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testWorkspace } from "./workspace.ts";

const nobody = 65_534;
const [base = ""] = process.argv.slice(2);
// Only now: the sources may lie where that user has no access.
process.setgid?.(nobody);
process.setuid?.(nobody);
const { workspace, folder } = await testWorkspace({ after() {} }, { base });
const [own, locked] = [join(folder, "outputs", "own.txt"), join(folder, "outputs", "locked")];
mkdirSync(locked);
writeFileSync(join(locked, "f.txt"), "hidden");
writeFileSync(own, "mine");
const observation = await workspace.observe();
const told = async () => {
  const changes = observation.ok ? await observation.value.changes() : observation;
  return changes.ok ? changes.value : changes.failure;
};

chmodSync(own, 0o000);
chmodSync(locked, 0o000);
const whileLocked = await told();
chmodSync(own, 0o600);
const whileOpened = await told();
chmodSync(locked, 0o755);
unlinkSync(join(locked, "f.txt"));
process.stdout.write(JSON.stringify({ locked: whileLocked, opened: whileOpened, removed: await told() }));
