/**
 * A program that exchanges a file and a folder as fast as it can, until it is killed: what was a file a moment ago is a
 * folder now. `node exchanger.ts <folder>`
 */
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [folder = ""] = process.argv.slice(2);
const [either, other, aside] = [join(folder, "either"), join(folder, "other"), join(folder, "aside")];
writeFileSync(either, "a file");
mkdirSync(other);
process.stdout.write("ready\n");

for (;;) {
  renameSync(either, aside);
  renameSync(other, either);
  renameSync(aside, other);
}
