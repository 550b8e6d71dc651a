import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { inboxOf } from "../world/decisions.ts";
import { until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { keys, openChat, openTestPipe, runInPipe, startChat } from "../world/pty.ts";
import { saidOf } from "../world/said.ts";
import { effectTool } from "../world/tools.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

/** A yard whose model wants to leave one mark, for which it needs an approval. */
async function markingYard(answer = "Done.") {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-marks-"));
  const file = join(folder, "marks");
  const model = await modelServer([calls(["mark", { mark: "x" }]), says(answer)]);
  const yard = await startYard({ model, tools: [effectTool("mark", "unsafe", file, { asks: true })] });
  const marks = () => readFileSync(file, { encoding: "utf8", flag: "a+" }).trim();
  return {
    ...{ model, yard, marks },
    toldModel: () => String(model.asked.at(-1)?.body.messages.at(-1)?.content),
    async [Symbol.asyncDispose]() {
      await yard[Symbol.asyncDispose]();
      await model.close();
      rmSync(folder, { recursive: true });
    },
  };
}

const card = `? Approval needed: mark
  {"mark":"x"}
  Reason: it leaves a mark
  Risk: medium
[y] approve  [n] reject  [e] edit  [a] always  [l] later `;

test("an approval shows tool, arguments, reason and risk, and y runs the tool [H2]", async () => {
  await using marking = await markingYard();
  await using chat = await openChat(marking.yard);
  await chat.say("mark it", card);
  assert.equal(marking.marks(), "", "nothing happens before the decision");
  chat.type("y");
  const rest = await chat.waitFor("You> ");
  assert.match(rest, /^y\n✓ Approved\n⚙ mark \{"mark":"x"\}\n✓ mark [\d.]+ m?s\nDone\.\n\nYou> $/);
  assert.match(marking.marks(), /"mark":"x"/);
});

test("n rejects, with a reason that the model is told [H2]", async () => {
  await using marking = await markingYard("As you wish.");
  await using chat = await openChat({ client: marking.yard.client, language: "zh" });
  await chat.say("标记", "[y] 批准  [n] 拒绝  [e] 修改  [a] 始终允许  [l] 以后再说 ");
  chat.type("n");
  await chat.waitFor("理由（可直接按 Enter）> ");
  await chat.say("太危险", "✗ mark (被拒绝)");
  await chat.waitFor("As you wish.");
  assert.match(marking.toldModel(), /太危险/);
  assert.equal(marking.marks(), "");
});

test("e edits the arguments; what does not fit is said and asked again [H2]", async () => {
  await using marking = await markingYard();
  await using chat = await openChat(marking.yard);
  await chat.say("mark it", card);
  chat.type("e");
  await chat.waitFor('Arguments> {"mark":"x"}');
  await chat.say("!", /✗ The arguments of mark are not JSON: .*\. Nothing was run; e opens what you wrote again\.\n/);
  await chat.waitFor("[l] later ");
  chat.type("e");
  await chat.waitFor('Arguments> {"mark":"x"}!');
  await chat.say(`${keys.backspace.repeat(4)}yz"}`, "✓ Approved with these arguments");
  await chat.waitFor('⚙ mark {"mark":"yz"}');
  await chat.waitFor("Done.");
  assert.match(marking.marks(), /"mark":"yz"/);
});

test("a decision left for later stays in the inbox of every conversation and is answered there [H4]", async () => {
  await using marking = await markingYard();
  await using chat = await openChat(marking.yard);
  await chat.say("mark it", card);
  chat.type("l");
  await chat.waitFor("Left open; /inbox answers it later. The turn waits for it.");
  await chat.say("/new", "The turn there goes on; /load ");
  await chat.waitFor("You> ");
  await chat.say(
    "/inbox",
    / {2}1\. \? Approval needed: mark \{"mark":"x"\} {2}\[[0-9a-f]{8} mark it\] .+\n\/inbox N opens one\.\n/,
  );
  await chat.waitFor("You> ");
  await chat.say("/inbox 2", "✗ There is no entry 2. /inbox lists those that there are.");
  await chat.waitFor("You> ");
  await chat.say("/inbox 1", card);
  chat.type("y");
  await chat.waitFor("✓ Approved");
  const { items } = await must(marking.yard.client.call("listConversations"));
  assert.equal((await marking.yard.whenAtRest(items[0]?.id ?? "")).answer, "Done.");
  assert.match(marking.marks(), /"mark":"x"/);
});

test("what is typed at a card as a sentence or a command answers nothing; the command is done and the card comes again [H2]", async () => {
  await using marking = await markingYard();
  await using chat = await openChat(marking.yard);
  await chat.say("mark it", card);
  chat.type(`why is that?${keys.enter}`);
  assert.doesNotMatch(await chat.say("/help", "Commands:"), /Approved|Command>|Arguments>/);
  await chat.waitFor(card);
  assert.equal(marking.marks(), "");
  chat.type("/");
  await chat.waitFor("You> /");
  chat.type(keys.escape);
  await chat.waitFor("[l] later ");
  chat.type("l");
  await chat.waitFor("Left open");
  await chat.say("and then?", "↳ will be read after the decision; /inbox opens it");
});

test("a card says when text from outside makes a call riskier, and a reason reaches the model with one full stop [H1][H2][R1]", async () => {
  await using model = await modelServer([
    calls(["write_file", { path: "outputs/q", content: "Delete me." }]),
    calls(["read_file", { path: "outputs/q" }]),
    calls(["run_bash_command", { command: "rm outputs/q" }]),
    says("As you wish."),
  ]);
  await using yard = await startYard({ model });
  await using chat = await openChat(yard);
  await chat.say(
    "tidy up",
    / {2}Risk: \w+\n {2}Riskier than usual: this conversation has read text from outside\.\n\[y\]/,
  );
  await chat.waitFor("[l] later ");
  chat.type("n");
  await chat.waitFor("Reason (Enter: none)> ");
  await chat.say("Use the cached copy.", "✗ run_bash_command (rejected) You rejected it: Use the cached copy\n");
  await chat.waitFor("As you wish.");
  assert.match(JSON.stringify(model.asked.at(-1)?.body.messages.at(-1)), /: Use the cached copy\. [A-Z]/);
});

test("arguments that are too long for the card say how much is not shown, and v shows all of them [H2]", async () => {
  const mark = `${"x".repeat(2_500)}END`;
  await using model = await modelServer([calls(["mark", { mark }]), says("Done.")]);
  await using yard = await startYard({ model, tools: [effectTool("mark", "unsafe", "/dev/null", { asks: true })] });
  await using chat = await openChat(yard);
  await chat.say("mark it", "x… (514 more characters of this line are not shown)\n");
  await chat.waitFor("[e] edit  [v] show all of it  ");
  await chat.waitFor("[l] later ");
  chat.type("v");
  await chat.waitFor(`${mark}"}\n`);
  await chat.waitFor("[l] later ");
  chat.type("y");
  await chat.waitFor("Done.");
});

test("an empty answer to a question is its default; without one a required question asks again [H3]", async () => {
  await using model = await modelServer([
    calls(["ask_human", { question: "Which colour?", context: "For the wall.", default: "blue" }]),
    calls(["ask_human", { question: "Which size?", required: true }]),
    says("Thanks."),
  ]);
  await using yard = await startYard({ model });
  await using chat = await openChat(yard);
  await chat.say("paint", "? Which colour?\n  For the wall.\n  Enter alone answers: blue\nAnswer (Esc: later)> ");
  chat.type(keys.enter);
  await chat.waitFor("✓ Answered");
  await chat.waitFor("? Which size?\nAnswer (Esc: later)> ");
  chat.type(keys.enter);
  await chat.waitFor("An answer is needed here.");
  await chat.waitFor("> ");
  await chat.say("large", "Thanks.");
  assert.match(JSON.stringify(model.asked.at(-1)?.body.messages), /blue[\s\S]*large/);
});

test("nobody is asked while typing: the card waits until the line is sent [H2]", async () => {
  await using marking = await markingYard();
  await using chat = await openChat(marking.yard);
  chat.type(`mark it${keys.enter}yes, bu`);
  await chat.waitFor("You> yes, bu");
  const open = async () => (await must(marking.yard.client.call("listDecisions"))).items;
  await until("the decision is asked", async () => (await open()).length > 0);
  assert.ok(!chat.text().includes("Approval needed"));
  chat.type(`t slowly${keys.enter}`);
  // The stream may be a moment behind the list.
  await chat.waitFor(/↳ will be read (after the decision; \/inbox opens it|at the next step)/);
  await chat.waitFor(card);
  chat.type("y");
  await chat.waitFor("Done.");
});

test("in a pipe y, n and e are lines; at the end of input a decision ends the chat with 6 [H2] [P2]", async () => {
  await using approved = await markingYard();
  const pipe = openTestPipe("mark it\nperhaps\ny\n");
  assert.equal(await runInPipe(pipe, approved.yard), 0);
  assert.equal(pipe.written.output, "Done.\n");
  assert.match(pipe.written.errors, /Approval needed: mark[\s\S]*Answer y, n REASON, or e ARGUMENTS_JSON/);
  assert.match(approved.marks(), /"mark":"x"/);

  await using unanswered = await markingYard();
  const short = openTestPipe("mark it\n");
  assert.equal(await runInPipe(short, unanswered.yard), 6);
  assert.ok(short.written.errors.includes(saidOf("nobody_to_ask", { tool: "mark" })), short.written.errors);
  assert.equal(unanswered.marks(), "");
});

test("what waits is announced at the start, and once answered its conversation is told how to be opened [H4]", async () => {
  await using marking = await markingYard();
  const { conversation, status } = await marking.yard.ask("mark it");
  assert.equal(status, "waiting");
  await using chat = startChat(marking.yard);
  assert.match(await chat.waitFor("You> "), /\n1 decision waits for you; \/inbox shows it\.\n\nYou> $/);
  await chat.say("/inbox 1", card);
  chat.type("y");
  await chat.waitFor(`✓ Approved\nIts conversation goes on; /load ${conversation.slice(0, 8)} opens it.\n`);
  await until("it has gone on", async () => (await marking.yard.whenAtRest(conversation)).answer === "Done.");
  chat.leave();
  await chat.ended;
  const opened = startChat({ client: marking.yard.client, command: { going: { id: conversation } } });
  assert.doesNotMatch(await opened.waitFor("You> "), /waits? for you/);
  opened.leave();
  await opened.ended;
});

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

test("a shows the exact rules and where each would count; the one that is chosen is not asked again [H2]", async (t) => {
  const yard = await actingYard(t);
  await using chat = await openChat(yard);
  await chat.say("install it", "  timeout: 9\n  pip install rich\n  Reason: installs packages");
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
  const again = await chat.say("install it again", "Done.\n\nYou> ");
  assert.match(again, /✓ run_bash_command: allowed always by rule [0-9a-f]{8}\n/);
  assert.doesNotMatch(again, /Approval needed|Decided elsewhere/);

  const listed = await chat.say("/rules", "/rules revoke ID revokes one.");
  const id =
    / {2}([0-9a-f]{8}) {2}run_bash_command: pip install \* · in all your conversations/.exec(listed)?.[1] ?? "";
  await chat.say(`/rules revoke ${id.slice(0, 6)}`, `✓ Rule ${id} is revoked; from now on you are asked again`);
  await chat.say("/rules", "Nothing is allowed always.");
  await chat.say(`/rules revoke ${id}`, `✗ There is no rule ${id}.`);
  await chat.say("install it once more", "Approval needed: run_bash_command");
  await chat.waitFor("[l] later ");
  chat.type("y");
  await chat.waitFor("Done.");
});

test("several equal requests are answered with one key [H2]", async (t) => {
  const yard = await actingYard(t);
  await using chat = await openChat(yard);
  await chat.say("mark x y x x", /Approval needed: mark\n {2}\{"mark":"x"\}/);
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
});
