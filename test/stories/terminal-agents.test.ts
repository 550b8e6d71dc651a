import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { firstOf, lastOf, report } from "../world/company.ts";
import { until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { type Answer, type AskedRequest, calls, modelServer, says } from "../world/model-server.ts";
import { keys, openPty } from "../world/pty.ts";
import { modelEnv } from "../world/served.ts";

/** A main agent with a task that never ends, one that asks and is answered, and a worker that wants an approval. */
function company(held: Promise<void>) {
  return (request: AskedRequest): Answer => {
    const first = firstOf(request);
    const { role, text } = lastOf(request);
    if (first.startsWith("slow it")) return { ...says("never"), heldUntil: held };
    if (first.startsWith("painter it")) {
      if (text.startsWith("painter it")) return calls(["write_file", { path: "outputs/paint.txt", content: "blue" }]);
      if (text.includes("Success"))
        return calls(["send_message", { to: "parent", text: "which colour next?", wait_for_answer: true }]);
      return says(role === "tool" ? "I wait" : report("painted"));
    }
    if (first.startsWith("writer it"))
      return role === "user" ? calls(["write_file", { path: "uploads/mine.txt", content: "new" }]) : says(report(text));
    if (role === "user" && text.startsWith("go"))
      return calls(
        ["spawn_agent", { role: "slow", task: "slow it" }],
        ["spawn_agent", { role: "painter", task: "painter it", done_when: "there is paint" }],
        ["delegate_task", { task: "writer it" }],
      );
    const said = request.body.messages.map(({ content }) => String(content)).join("\n");
    if (said.includes("which colour next?") && !said.includes("Delivered to painter"))
      return calls(["send_message", { to: "painter", text: "green" }]);
    return said.includes("slow (") && said.includes("painter (") && said.includes("was stopped")
      ? says("All parts are in.")
      : says("waiting");
  };
}

test("in the terminal the tree of agents is seen, a nested approval is answered from the inbox, one is stopped and the others go on [A1][A2][H4][U1]", async (t) => {
  const held = Promise.withResolvers<void>();
  await using model = await modelServer(company(held.promise));
  const folder = folderWith(t, {});
  const chat = openPty({ args: ["--data", join(folder, "yard")], cwd: folder, env: modelEnv(model) });
  t.after(() => chat.kill());
  await chat.waitFor("You> ");
  chat.type(`go${keys.enter}`);
  const card = await chat.waitFor("[l] later ");
  assert.match(card, /\? Approval needed: write_file\n {2}Asked by: root › worker-[0-9a-f]{12}\n/);
  chat.type("l");
  await chat.waitFor(/\/inbox/);
  await until("the painter waits", () => chat.text().includes("[painter] I wait"));
  chat.type(`/agents${keys.enter}`);
  const tree = await chat.waitFor(/ends it\./);
  assert.match(tree, /\n {2}root · waits for others · 1 step · \d+ tokens/);
  assert.match(tree, /\n {4}slow · at work · 0 steps · 0 tokens {2}slow it/);
  assert.match(tree, /\n {4}painter · [^\n]*painter it/);
  assert.match(tree, /\n {4}worker-[0-9a-f]{12} · waits for you · 1 step [^\n]* {2}writer it/);
  chat.type(`/agents painter${keys.enter}`);
  const painter = await chat.waitFor(/Files of its own:\n {4}outputs\/paint\.txt\n/);
  assert.match(painter, /Task:\n {4}painter it\n {4}Done when: there is paint\n/);
  chat.type(`/agents nobody${keys.enter}`);
  await chat.waitFor(/nobody/);
  chat.type(`/agents stop slow${keys.enter}`);
  await chat.waitFor(/✓ task-[0-9a-f]{12} is being stopped\./);
  chat.type(`/inbox${keys.enter}`);
  await chat.waitFor(/1\. .*write_file/);
  chat.type(`/inbox 1${keys.enter}`);
  await chat.waitFor("[l] later ");
  chat.type("y");
  await chat.waitFor("✓ Approved");
  await chat.waitFor("All parts are in.");
  await chat.waitFor("You> ");
  chat.type(`/agents${keys.enter}`);
  const end = await chat.waitFor(/ends it\./);
  assert.match(end, /\n {4}slow · stopped /);
  assert.match(end, /\n {4}painter · done · \d steps · \d+ tokens · 2 messages · → outputs\/painter\//);
  chat.type(`/agents painter${keys.enter}`);
  await chat.waitFor(/Messages:\n {4}painter → root: which colour next\?\n {4}root → painter: green\n/);
  chat.type(`/quit${keys.enter}`);
  assert.equal(await chat.exited, 0);
  held.resolve();
});
