import { writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { ConversationId, localOwner } from "../../src/protocol/ids.ts";
import { openWorkspaces } from "../../src/workspace/workspace.ts";
import { unwrap } from "../contracts/storage-place.ts";
import { openStorage } from "../world/power-cut-storage.ts";
import { quietLogger, testLimits, testWorkspace } from "../world/workspace.ts";

await work(process.argv[2] ?? "");

/** Changes files as tools and uploads do, and says what is done when it was answered. */
async function work(base: string): Promise<void> {
  const { workspace } = await testWorkspace({ after() {} }, { base });
  unwrap(await workspace.write("outputs/of/today/a.txt", "deep in new folders"));
  say("written");
  // What a program left is kept in passing; then it is replaced, and that is the only copy.
  unwrap(await workspace.observe()).leave();
  unwrap(await workspace.write("outputs/b.txt", "of a tool", { key: "call" }));
  say("replaced");
  // What a tool wrote nobody has looked at since: it is kept in the moment in which it is replaced.
  unwrap(await workspace.write("outputs/b.txt", "once more", { key: "next call" }));
  say("replaced again");
  unwrap(await workspace.remove("outputs/c.txt"));
  say("removed");
  // Uploads have no need of the database: it lies elsewhere, and is not recorded.
  const storage = openStorage(join(tmpdir(), "sessions.db"), "full");
  const options = { dataDir: base, storage, clock: systemClock, ids: systemIds, logger: quietLogger([]) };
  const workspaces = openWorkspaces({ ...options, limits: testLimits });
  const { incoming } = workspaces;
  const wanted = { owner: localOwner, name: "d.txt", conversationId: "c", folder: "uploads", bytes: 6 };
  const { id } = unwrap(await incoming.create({ ...wanted, id: "0".repeat(32) }));
  say("created");
  for (const [offset, text] of [
    [0, "123"],
    [3, "456"],
  ] as const) {
    unwrap(await incoming.append(id, offset, pieces(text)));
    say(`received ${text}`);
  }
  unwrap(await incoming.finish(id, { path: "uploads/d.txt", type: "text" }));
  say("finished");
  const id7 = ConversationId.parse("c7");
  const conversation = unwrap(await storage.createConversation({ owner: localOwner, id: id7, at: 0, events: [] }));
  unwrap(await workspaces.create(conversation));
  say("at home");
  unwrap(await workspaces.assignTask(conversation, { agent: "task", parent: "root" }));
  unwrap(await unwrap(await workspaces.taskOf(conversation, "task")).write("a.txt", "of a task"));
  say("task begun");
  await storage.close();
}

async function* pieces(text: string): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from(text);
}

function say(line: string): void {
  writeSync(1, `${line}\n`);
}
