import assert from "node:assert/strict";
import { globSync, linkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { folderWith } from "../world/folder.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { filesOf, newConversation, place, puts, roughTools, undo } from "../world/undo.ts";
import { must, startYard } from "../world/yard.ts";

const dayMs = 86_400_000;

test("an undo for which there is no room is refused and not used up: with room again it gives everything back [W12][W11]", async () => {
  await using model = await modelServer([calls(puts("outputs/a.txt", "x")), says("done")]);
  await using yard = await startYard({ model, tools: roughTools, env: { AGENTYARD_WORKSPACE_BYTES_MAX: "1000" } });
  const conversation = await newConversation(yard);
  place(yard, conversation, "a.txt", "a".repeat(800));
  const before = filesOf(yard, conversation);
  await yard.ask("shorten it", { conversation });
  place(yard, conversation, "ballast", "b".repeat(900));
  const refused = await yard.client.call("undoTurn", { params: { id: conversation } });
  assert.equal(refused.ok || refused.failure.code, "quota_exceeded");
  await must(yard.client.call("removeFile", { params: { id: conversation }, query: { path: "outputs/ballast" } }));
  const { turn, restored } = await undo(yard, conversation);
  assert.deepEqual([turn, restored], [1, [{ path: "outputs/a.txt", now: "as_before" }]]);
  assert.deepEqual(filesOf(yard, conversation), before);
});

test("a file that somebody changes in the moment in which it is given back stays as they left it, and the report says so [W12]", async () => {
  await using model = await modelServer([calls(puts("outputs/a.txt", "new")), says("done")]);
  await using yard = await startYard({ model, tools: roughTools });
  const conversation = await newConversation(yard);
  place(yard, conversation, "a.txt", "old");
  await yard.ask("change it", { conversation });
  const { ofConversation } = yard.workspaces;
  yard.workspaces.ofConversation = (row) => {
    const files = ofConversation(row);
    return {
      ...files,
      restore(...given) {
        place(yard, conversation, "a.txt", "theirs");
        return files.restore(...given);
      },
    };
  };
  const { restored, left } = await undo(yard, conversation);
  assert.deepEqual([restored, left], [[], [{ path: "outputs/a.txt", why: "changed_since" }]]);
  assert.deepEqual(filesOf(yard, conversation), { "a.txt": "644 theirs" });
});

test("after a restart, too, the oldest contents make room for new ones, and the turns since can be undone [W12][W11]", async (t) => {
  const data = folderWith(t, {});
  const turns = ["a", "b", "c"].map((name) => [calls(puts(`outputs/${name}.txt`, `new ${name}`)), says("done")]);
  await using model = await modelServer(turns.flat());
  const env = { AGENTYARD_KEPT_BYTES_MAX: "700" };
  const start = () => startYard({ model, data, env, tools: roughTools });
  let conversation = "";
  {
    await using yard = await start();
    conversation = await newConversation(yard);
    for (const name of ["a", "b", "c"]) place(yard, conversation, `${name}.txt`, name.repeat(300));
    await yard.ask("change a", { conversation });
    // The times of two turns that follow at once may be the same.
    for (const content of globSync(join(data, "kept", "**", "contents", "*"))) utimesSync(content, 0, 0);
    await yard.ask("change b", { conversation });
  }
  await using yard = await start();
  await yard.ask("change c", { conversation });
  const undone = [];
  for (let turn = 3; turn > 0; turn -= 1) {
    const { restored, left } = await undo(yard, conversation);
    undone.push(...restored, ...left);
  }
  assert.deepEqual(undone, [
    { path: "outputs/c.txt", now: "as_before" },
    { path: "outputs/b.txt", now: "as_before" },
    { path: "outputs/a.txt", why: "not_kept" },
  ]);
});

test("a turn whose files lie in the trash is undone when they are back, not before [W12][W10]", async () => {
  let now = systemClock.now();
  const clock = { ...systemClock, now: () => now };
  await using model = await modelServer([calls(puts("outputs/a.txt", "new")), says("done")]);
  await using yard = await startYard({ model, tools: roughTools, clock });
  const conversation = await newConversation(yard);
  place(yard, conversation, "a.txt", "old");
  await yard.ask("change it", { conversation });
  const other = await newConversation(yard);
  place(yard, other, "b.txt", "of another conversation");
  now += 8 * dayMs;
  assert.equal((await must(yard.client.call("cleanWorkspaces", { body: {} }))).workspaces, 2);
  const refused = await yard.client.call("undoTurn", { params: { id: conversation } });
  assert.equal(refused.ok || refused.failure.code, "files_in_trash");
  const { items } = await must(yard.client.call("listTrash"));
  const entry = items.find((one) => one.conversation === conversation);
  await must(yard.client.call("restoreTrash", { params: { trash: entry?.id ?? "" } }));
  await undo(yard, conversation);
  assert.match(filesOf(yard, conversation)["a.txt"] ?? "", /old$/);
});

test("a branch takes all files along that can be copied, and names the others [L9][W1]", async () => {
  await using yard = await startYard({});
  const { conversation } = await yard.ask("what time is it");
  place(yard, conversation, "z.txt", "last");
  place(yard, conversation, "a..b.txt", "no path leads there");
  const folder = join(yard.data, "workspace", conversation, "outputs");
  writeFileSync(join(yard.data, "elsewhere"), "x");
  linkSync(join(yard.data, "elsewhere"), join(folder, "hard"));
  const branch = await must(yard.client.call("branchConversation", { params: { id: conversation }, body: {} }));
  assert.deepEqual(branch.filesLeftOut.toSorted(), ["outputs/a..b.txt", "outputs/hard"]);
  assert.deepEqual(Object.keys(filesOf(yard, branch.id)), ["z.txt"]);
});

test("a conversation is listed by its person's own words, not by the files that came with them [F3][C3]", async () => {
  await using yard = await startYard({});
  const conversation = await newConversation(yard);
  await must(yard.client.upload(conversation, "note.txt", Buffer.from("a secret of the file")));
  const body = { text: "look at this", files: ["uploads/note.txt"] };
  await must(yard.client.call("sendMessage", { params: { id: conversation }, body }));
  await yard.whenAtRest(conversation);
  const { title } = await must(yard.client.call("getConversation", { params: { id: conversation }, query: {} }));
  assert.equal(title, "look at this");
  assert.equal((await undo(yard, conversation)).message, "look at this");
});
