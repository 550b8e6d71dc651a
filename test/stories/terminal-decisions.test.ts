import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Client } from "../../src/client/client.ts";
import { until } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { keys, openTestPipe, runInPipe, startChat } from "../world/pty.ts";
import { saidOf } from "../world/said.ts";
import { effectTool } from "../world/tools.ts";
import { must, startYard } from "../world/yard.ts";

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
  const chat = startChat(marking.yard);
  await chat.waitFor("You> ");
  chat.type(`mark it${keys.enter}`);
  await chat.waitFor(card);
  assert.equal(marking.marks(), "", "nothing happens before the decision");
  chat.type("y");
  const rest = await chat.waitFor("You> ");
  assert.match(rest, /^y\n✓ Approved\n⚙ mark \{"mark":"x"\}\n✓ mark [\d.]+ m?s\nDone\.\n\nYou> $/);
  assert.match(marking.marks(), /"mark":"x"/);
  chat.leave();
  await chat.ended;
});

test("n rejects, with a reason that the model is told [H2]", async () => {
  await using marking = await markingYard("As you wish.");
  const chat = startChat({ client: marking.yard.client, language: "zh" });
  await chat.waitFor("You> ");
  chat.type(`标记${keys.enter}`);
  await chat.waitFor("[y] 批准  [n] 拒绝  [e] 修改  [a] 始终允许  [l] 以后再说 ");
  chat.type("n");
  await chat.waitFor("理由（可直接按 Enter）> ");
  chat.type(`太危险${keys.enter}`);
  await chat.waitFor("✗ mark (被拒绝)");
  await chat.waitFor("As you wish.");
  assert.match(marking.toldModel(), /太危险/);
  assert.equal(marking.marks(), "");
  chat.leave();
  await chat.ended;
});

test("e edits the arguments; what does not fit is said and asked again [H2]", async () => {
  await using marking = await markingYard();
  const chat = startChat(marking.yard);
  await chat.waitFor("You> ");
  chat.type(`mark it${keys.enter}`);
  await chat.waitFor(card);
  chat.type("e");
  await chat.waitFor('Arguments> {"mark":"x"}');
  chat.type(`!${keys.enter}`);
  await chat.waitFor(/✗ The arguments of mark are not JSON: .*\. Nothing was run; e opens what you wrote again\.\n/);
  await chat.waitFor("[l] later ");
  chat.type("e");
  await chat.waitFor('Arguments> {"mark":"x"}!');
  chat.type(`${keys.backspace.repeat(4)}yz"}${keys.enter}`);
  await chat.waitFor("✓ Approved with these arguments");
  await chat.waitFor('⚙ mark {"mark":"yz"}');
  await chat.waitFor("Done.");
  assert.match(marking.marks(), /"mark":"yz"/);
  chat.leave();
  await chat.ended;
});

test("a decision left for later stays in the inbox of every conversation and is answered there [H4]", async () => {
  await using marking = await markingYard();
  const chat = startChat(marking.yard);
  await chat.waitFor("You> ");
  chat.type(`mark it${keys.enter}`);
  await chat.waitFor(card);
  chat.type("l");
  await chat.waitFor("Left open; /inbox answers it later. The turn waits for it.");
  chat.type(`/new${keys.enter}`);
  await chat.waitFor("The turn there goes on; /load ");
  await chat.waitFor("You> ");
  chat.type(`/inbox${keys.enter}`);
  await chat.waitFor(
    / {2}1\. \? Approval needed: mark \{"mark":"x"\} {2}\[[0-9a-f]{8} mark it\] .+\n\/inbox N opens one\.\n/,
  );
  await chat.waitFor("You> ");
  chat.type(`/inbox 2${keys.enter}`);
  await chat.waitFor("✗ There is no entry 2. /inbox lists those that there are.");
  await chat.waitFor("You> ");
  chat.type(`/inbox 1${keys.enter}`);
  await chat.waitFor(card);
  chat.type("y");
  await chat.waitFor("✓ Approved");
  const { items } = await must(marking.yard.client.call("listConversations"));
  assert.equal((await marking.yard.whenAtRest(items[0]?.id ?? "")).answer, "Done.");
  assert.match(marking.marks(), /"mark":"x"/);
  chat.leave();
  await chat.ended;
});

test("what is typed at a card as a sentence or a command answers nothing; the command is done and the card comes again [H2]", async () => {
  await using marking = await markingYard();
  const chat = startChat(marking.yard);
  await chat.waitFor("You> ");
  chat.type(`mark it${keys.enter}`);
  await chat.waitFor(card);
  chat.type(`why is that?${keys.enter}`);
  chat.type(`/help${keys.enter}`);
  assert.doesNotMatch(await chat.waitFor("Commands:"), /Approved|Command>|Arguments>/);
  await chat.waitFor(card);
  assert.equal(marking.marks(), "");
  chat.type("/");
  await chat.waitFor("You> /");
  chat.type(keys.escape);
  await chat.waitFor("[l] later ");
  chat.type("l");
  await chat.waitFor("Left open");
  chat.type(`and then?${keys.enter}`);
  await chat.waitFor("↳ will be read after the decision; /inbox opens it");
  chat.leave();
  await chat.ended;
});

test("a card says when text from outside makes a call riskier, and a reason reaches the model with one full stop [H1][H2][R1]", async () => {
  await using model = await modelServer([
    calls(["write_file", { path: "outputs/q", content: "Delete me." }]),
    calls(["read_file", { path: "outputs/q" }]),
    calls(["run_bash_command", { command: "rm outputs/q" }]),
    says("As you wish."),
  ]);
  await using yard = await startYard({ model });
  const chat = startChat(yard);
  await chat.waitFor("You> ");
  chat.type(`tidy up${keys.enter}`);
  await chat.waitFor(/ {2}Risk: \w+\n {2}Riskier than usual: this conversation has read text from outside\.\n\[y\]/);
  await chat.waitFor("[l] later ");
  chat.type("n");
  await chat.waitFor("Reason (Enter: none)> ");
  chat.type(`Use the cached copy.${keys.enter}`);
  await chat.waitFor("✗ run_bash_command (rejected) You rejected it: Use the cached copy\n");
  await chat.waitFor("As you wish.");
  assert.match(JSON.stringify(model.asked.at(-1)?.body.messages.at(-1)), /: Use the cached copy\. [A-Z]/);
  chat.leave();
  await chat.ended;
});

test("of several that wait in another conversation the next is named, not that it goes on [H4]", async () => {
  await using model = await modelServer([calls(["mark", { mark: "x" }], ["mark", { mark: "y" }]), says("Done.")]);
  await using yard = await startYard({ model, tools: [effectTool("mark", "unsafe", "/dev/null", { asks: true })] });
  const { conversation } = await yard.ask("mark both");
  const chat = startChat(yard);
  await chat.waitFor("You> ");
  chat.type(`/inbox 1${keys.enter}`);
  await chat.waitFor("[l] later ");
  chat.type("y");
  const id = conversation.slice(0, 8);
  await chat.waitFor(`Its conversation waits for one more decision; /inbox shows what, /load ${id} opens it.`);
  chat.leave();
  await chat.ended;
});

test("a rule that is allowed from another conversation says which one it is for [H2]", async () => {
  await using marking = await markingYard();
  const { conversation } = await marking.yard.ask("mark it");
  const chat = startChat(marking.yard);
  await chat.waitFor("You> ");
  chat.type(`/inbox 1${keys.enter}`);
  await chat.waitFor(card);
  chat.type("a");
  await chat.waitFor(`  1. exactly {"mark":"x"} · in conversation ${conversation.slice(0, 8)}
  2. exactly {"mark":"x"} · in all your conversations
Which one? (Esc: back) `);
  chat.type("1");
  await chat.waitFor(`allowed always: exactly {"mark":"x"} · in conversation ${conversation.slice(0, 8)}; /rules`);
  chat.leave();
  await chat.ended;
});

test("arguments that are too long for the card say how much is not shown, and v shows all of them [H2]", async () => {
  const mark = `${"x".repeat(2_500)}END`;
  await using model = await modelServer([calls(["mark", { mark }]), says("Done.")]);
  await using yard = await startYard({ model, tools: [effectTool("mark", "unsafe", "/dev/null", { asks: true })] });
  const chat = startChat(yard);
  await chat.waitFor("You> ");
  chat.type(`mark it${keys.enter}`);
  await chat.waitFor("x… (514 more characters of this line are not shown)\n");
  await chat.waitFor("[e] edit  [v] show all of it  ");
  await chat.waitFor("[l] later ");
  chat.type("v");
  await chat.waitFor(`${mark}"}\n`);
  await chat.waitFor("[l] later ");
  chat.type("y");
  await chat.waitFor("Done.");
  chat.leave();
  await chat.ended;
});

test("a decision made elsewhere disappears with a line, and the turn goes on [H4]", async () => {
  await using marking = await markingYard();
  const { client } = marking.yard;
  const chat = startChat(marking.yard);
  await chat.waitFor("You> ");
  chat.type(`mark it${keys.enter}`);
  await chat.waitFor(card);
  const [open] = (await must(client.call("listDecisions"))).items;
  const params = { id: open?.conversation ?? "", decision: open?.id ?? "" };
  await must(client.call("decide", { params, body: { verdict: "approve" } }));
  await chat.waitFor("Decided elsewhere: approved");
  await chat.waitFor("Done.\n\nYou> ");
  chat.leave();
  await chat.ended;
});

test("Ctrl+C at a decision stops the turn; the call is answered and the tool never ran [L6]", async () => {
  await using marking = await markingYard();
  const chat = startChat(marking.yard);
  await chat.waitFor("You> ");
  chat.type(`mark it${keys.enter}`);
  await chat.waitFor(card);
  chat.type(keys.interrupt);
  await chat.waitFor("✗ mark (not run)");
  await chat.waitFor("■ Stopped\n\nYou> ");
  assert.equal(marking.marks(), "");
  chat.leave();
  await chat.ended;
});

test("an empty answer to a question is its default; without one a required question asks again [H3]", async () => {
  await using model = await modelServer([
    calls(["ask_human", { question: "Which colour?", context: "For the wall.", default: "blue" }]),
    calls(["ask_human", { question: "Which size?", required: true }]),
    says("Thanks."),
  ]);
  await using yard = await startYard({ model });
  const chat = startChat(yard);
  await chat.waitFor("You> ");
  chat.type(`paint${keys.enter}`);
  await chat.waitFor("? Which colour?\n  For the wall.\n  Enter alone answers: blue\nAnswer (Esc: later)> ");
  chat.type(keys.enter);
  await chat.waitFor("✓ Answered");
  await chat.waitFor("? Which size?\nAnswer (Esc: later)> ");
  chat.type(keys.enter);
  await chat.waitFor("An answer is needed here.");
  await chat.waitFor("> ");
  chat.type(`large${keys.enter}`);
  await chat.waitFor("Thanks.");
  assert.match(JSON.stringify(model.asked.at(-1)?.body.messages), /blue[\s\S]*large/);
  chat.leave();
  await chat.ended;
});

test("nobody is asked while typing: the card waits until the line is sent [H2]", async () => {
  await using marking = await markingYard();
  const chat = startChat(marking.yard);
  await chat.waitFor("You> ");
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
  chat.leave();
  await chat.ended;
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

test("a question that was answered is not asked again while its event is under way, as in a second terminal [H2]", async () => {
  await using marking = await markingYard();
  const { client } = marking.yard;
  const arrived = Promise.withResolvers<void>();
  const slow: Client = {
    ...client,
    async *follow(...input) {
      for await (const frame of client.follow(...input)) {
        if (frame.frame === "event" && frame.event.type === "decision.made") await arrived.promise;
        yield frame;
      }
    },
  };
  const chat = startChat({ client: slow });
  await chat.waitFor("You> ");
  chat.type(`mark it${keys.enter}`);
  await chat.waitFor(card);
  chat.type("y");
  await chat.waitFor("✓ Approved");
  await until("the tool has run", () => marking.marks() !== "");
  arrived.resolve();
  assert.doesNotMatch(await chat.waitFor("Done."), /Approval needed|Decided elsewhere/);
  chat.leave();
  await chat.ended;
});

test("what waits is announced at the start, and once answered its conversation is told how to be opened [H4]", async () => {
  await using marking = await markingYard();
  const { conversation, status } = await marking.yard.ask("mark it");
  assert.equal(status, "waiting");
  const chat = startChat(marking.yard);
  assert.match(await chat.waitFor("You> "), /\n1 decision waits for you; \/inbox shows it\.\n\nYou> $/);
  chat.type(`/inbox 1${keys.enter}`);
  await chat.waitFor(card);
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
