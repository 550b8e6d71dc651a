import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { inboxOf } from "../world/decisions.ts";
import { folderWith } from "../world/folder.ts";
import { calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { keys, openTestPipe, runInPipe, startChat } from "../world/pty.ts";
import { effectTool } from "../world/tools.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const command = "echo a\nrm outputs/b.txt";

/** A model that does what the user's message says, once in a turn. */
async function actingYard(t: TestContext): Promise<TestYard> {
  const data = folderWith(t, {});
  const model = await modelServer((request) => {
    const asked = String(request.body.messages.findLast(({ role }) => role === "user")?.content);
    if (stepOf(request) > 0) return says("Done.");
    if (/install/.test(asked)) return calls(["run_bash_command", { command: "pip install rich", timeout: 9 }]);
    if (/clean/.test(asked)) return calls(["run_bash_command", { command }]);
    const marks = /mark ([a-z ]+)/.exec(asked)?.[1]?.trim().split(" ") ?? ["x"];
    return calls(...marks.map((mark): [string, unknown] => ["mark", { mark }]));
  });
  const yard = await startYard({ model, data, tools: [effectTool("mark", "unsafe", join(data, "m"), { asks: true })] });
  t.after(async () => {
    await yard[Symbol.asyncDispose]();
    await model.close();
  });
  return yard;
}

test("a command is shown as it would be typed, with every reason in the reader's language [H2][P4]", async (t) => {
  const yard = await actingYard(t);
  const chat = startChat(yard);
  await chat.waitFor("You> ");
  chat.type(`clean up${keys.enter}`);
  await chat.waitFor(
    /\? Approval needed: run_bash_command\n {2}echo a\n {2}rm outputs\/b\.txt\n {2}Reason: deletes something outside temp\/: rm outputs\/b\.txt\n {2}Risk: \w+\n\[y\]/,
  );
  chat.type("l");
  await chat.waitFor("Left open");
  chat.leave();
  await chat.ended;
  const chinese = startChat({ client: yard.client, language: "zh" });
  await chinese.waitFor("You> ");
  chinese.type(`/inbox 1${keys.enter}`);
  await chinese.waitFor(
    /\? 需要批准：run_bash_command\n {2}echo a\n {2}rm outputs\/b\.txt\n {2}原因：[^\n]*temp\/[^\n]*\n {2}风险：[\s\S]*以后再说 /,
  );
  chinese.type("y");
  await chinese.waitFor("✓ 已批准");
  chinese.leave();
  await chinese.ended;
});

test("a shows the exact rules and where each would count; the one that is chosen is not asked again [H2]", async (t) => {
  const yard = await actingYard(t);
  const chat = startChat(yard);
  await chat.waitFor("You> ");
  chat.type(`install it${keys.enter}`);
  await chat.waitFor("  timeout: 9\n  pip install rich\n  Reason: installs packages");
  await chat.waitFor("[a] always  [l] later ");
  chat.type("a");
  await chat.waitFor(`Allow from now on without asking:
  1. exactly pip install rich · in this conversation
  2. exactly pip install rich · in all your conversations
  3. pip install * · in this conversation
  4. pip install * · in all your conversations
Which one? (Esc: back) `);
  chat.type("4");
  await chat.waitFor("✓ Approved, and allowed always: pip install * · in all your conversations; /rules revokes it");
  await chat.waitFor("Done.\n\nYou> ");
  chat.type(`install it again${keys.enter}`);
  const again = await chat.waitFor("Done.\n\nYou> ");
  assert.match(again, /✓ run_bash_command: allowed always by rule [0-9a-f]{8}\n/);
  assert.doesNotMatch(again, /Approval needed|Decided elsewhere/);

  chat.type(`/rules${keys.enter}`);
  const listed = await chat.waitFor("/rules revoke ID revokes one.");
  const id =
    / {2}([0-9a-f]{8}) {2}run_bash_command: pip install \* · in all your conversations/.exec(listed)?.[1] ?? "";
  chat.type(`/rules revoke ${id.slice(0, 6)}${keys.enter}`);
  await chat.waitFor(`✓ Rule ${id} is revoked; from now on you are asked again`);
  chat.type(`/rules${keys.enter}`);
  await chat.waitFor("Nothing is allowed always.");
  chat.type(`/rules revoke ${id}${keys.enter}`);
  await chat.waitFor(`✗ There is no rule ${id}.`);
  chat.type(`install it once more${keys.enter}`);
  await chat.waitFor("Approval needed: run_bash_command");
  await chat.waitFor("[l] later ");
  chat.type("y");
  await chat.waitFor("Done.");
  chat.leave();
  await chat.ended;
});

test("Esc goes back from the rules to the choice, and a command is edited as it is typed [H2]", async (t) => {
  const yard = await actingYard(t);
  const chat = startChat(yard);
  await chat.waitFor("You> ");
  chat.type(`install it${keys.enter}`);
  await chat.waitFor("[l] later ");
  chat.type("a");
  await chat.waitFor("Which one? (Esc: back) ");
  chat.type(keys.escape);
  await chat.waitFor("[l] later ");
  chat.type("e");
  await chat.waitFor("Command> pip install rich");
  chat.type(`${keys.backspace.repeat("install rich".length)}list${keys.enter}`);
  await chat.waitFor("✓ Approved with these arguments");
  await chat.waitFor("⚙ run_bash_command pip list");
  chat.leave();
  await chat.ended;
  assert.deepEqual((await must(yard.client.call("listRules"))).items, []);
});

test("several equal requests are answered with one key [H2]", async (t) => {
  const yard = await actingYard(t);
  const chat = startChat(yard);
  await chat.waitFor("You> ");
  chat.type(`mark x y x x${keys.enter}`);
  await chat.waitFor(/Approval needed: mark\n {2}\{"mark":"x"\}/);
  // The others may come in while the first is on the screen.
  await chat.waitFor(
    /2 more requests are the same\.\n\[y\].*\[s\] approve all 3 {2}\[x\] reject all 3 {2}\[l\] later /,
  );
  chat.type("s");
  await chat.waitFor(/✓ Approved\n {2}2 more that waited are answered with it\./);
  await chat.waitFor(/Approval needed: mark\n {2}\{"mark":"y"\}/);
  assert.deepEqual(
    (await inboxOf(yard)).map((decision) => decision.arguments),
    ['{"mark":"y"}'],
  );
  await chat.waitFor("[l] later ");
  chat.type("l");
  await chat.waitFor("Left open");
  chat.leave();
  await chat.ended;
});

test("in a pipe a, s and x are lines, too; a alone lists the rules, with the numbers of the terminal [H2][P2]", async (t) => {
  const yard = await actingYard(t);
  const first = openTestPipe("install it\na\na 5\na 4\ninstall it again\n");
  assert.equal(await runInPipe(first, yard), 0);
  assert.match(
    first.written.errors,
    /\n {2}4\. pip install \* · in all your conversations\na and the number allows one/,
  );
  assert.match(first.written.errors, /There is no rule “5” here; choose one of 1 to 4\./);
  assert.match(first.written.errors, /allowed always: pip install \* · in all your conversations/);
  assert.match(first.written.errors, /✓ run_bash_command: allowed always by rule/);
  assert.equal(first.written.output, "Done.\nDone.\n");
  const second = openTestPipe("mark x\na 1\nmark x\n");
  assert.equal(await runInPipe(second, yard), 0);
  assert.match(second.written.errors, /allowed always: exactly \{"mark":"x"\} · in this conversation/);
  const third = openTestPipe("mark z\n");
  assert.equal(await runInPipe(third, yard), 6);
});
