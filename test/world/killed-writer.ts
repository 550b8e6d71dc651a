/**
 * Writes a file of A, then one of B in its place, and is gone after so many of the ten pieces of it; after all of them, as
 * soon as it is told that the file is written: `node killed-writer.ts <base> <pieces>`.
 */
import { testWorkspace } from "./workspace.ts";

const [base = "", pieces = ""] = process.argv.slice(2);
const { workspace } = await testWorkspace({ after() {} }, { base });

async function* piecesOfB(): AsyncGenerator<Buffer, void> {
  for (let piece = 0; piece < 10; piece += 1) {
    if (piece === Number(pieces)) process.kill(process.pid, "SIGKILL");
    yield Buffer.from("B".repeat(30_000));
  }
}

for (const [key, content] of [
  ["old", "A".repeat(300_000)],
  ["new", piecesOfB()],
] as const) {
  const done = await workspace.write("outputs/f", content, { key });
  if (!done.ok) throw new Error(done.failure.code);
}
process.kill(process.pid, "SIGKILL");
