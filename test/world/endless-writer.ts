/** Writes the same file for ever, whole A then whole B: `node endless-writer.ts <base>`. Killed by its test. */
import { testWorkspace } from "./workspace.ts";

const [base = ""] = process.argv.slice(2);
const { workspace } = await testWorkspace({ after() {} }, { base });
for (let round = 0; ; round += 1) {
  const done = await workspace.write("outputs/f", (round % 2 === 0 ? "A" : "B").repeat(300_000), { key: `${round}` });
  if (!done.ok) throw new Error(done.failure.code);
  if (round === 0) process.stdout.write("ready\n");
}
