import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { firstOf, lastOf, report } from "../world/company.ts";
import { say, waitingIn } from "../world/decisions.ts";
import { all, until } from "../world/events.ts";
import { calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { newConversation, place } from "../world/undo.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

type Call = [tool: string, input: unknown];
const write = (path: string, content: string): Call => ["write_file", { path, content }];
const bash = (command: string): Call => ["run_bash_command", { command }];
const list: Call = ["list_files", { path: "outputs" }];

/** In each turn the model gives one answer after the other, as the test has planned them. */
async function planned() {
  let answers: readonly Call[][] = [];
  const model = await modelServer((request) => {
    const next = answers[stepOf(request)];
    return next === undefined ? says("done") : calls(...next);
  });
  const plan = (...next: Call[][]) => {
    answers = next;
  };
  return { model, plan };
}

/** What a person is asked about in a conversation. */
async function asked(yard: TestYard, conversation: string): Promise<string[]> {
  const open = await waitingIn(yard, conversation);
  return open.flatMap(({ findings = [] }) => findings.map(({ what }) => what));
}

/** What the model was told last. */
function toldLast(events: Parameters<typeof all>[0]): string {
  return all(events, "call.finished").at(-1)?.text ?? "";
}

test("a script that has another text when it would start is asked about anew, with what is in it now [H1][H2]", async () => {
  const { model, plan } = await planned();
  await using yard = await startYard({ model, runsCode: true });
  plan(
    [write("outputs/precious.txt", "x"), write("outputs/t.sh", "rm -f outputs/old.txt\n")],
    [bash("bash outputs/t.sh")],
    [list],
  );
  const { conversation } = await yard.ask("go");
  assert.deepEqual(await asked(yard, conversation), ["rm -f outputs/old.txt"]);
  const [first] = await waitingIn(yard, conversation);
  const script = join(yard.data, "workspace", conversation, "outputs/t.sh");
  writeFileSync(script, "rm -f outputs/precious.txt\n");
  assert.deepEqual(await say(yard, first, { verdict: "approve" }), []);
  assert.equal((await yard.whenAtRest(conversation)).status, "waiting");
  assert.deepEqual(await asked(yard, conversation), ["rm -f outputs/precious.txt"]);
  const [second] = await waitingIn(yard, conversation);
  writeFileSync(script, "echo harmless\n");
  assert.deepEqual(await say(yard, second, { verdict: "approve" }), []);
  const { events, answer } = await yard.whenAtRest(conversation);
  // By then there is nothing in it that anybody need be asked about.
  assert.equal(answer, "done");
  assert.match(all(events, "call.finished").at(-2)?.text ?? "", /harmless/);
  assert.match(toldLast(events), /precious/);
  assert.deepEqual(
    all(events, "decision.asked").map(({ id, instead, scripts }) => [id, instead, scripts?.length]),
    [
      [first?.id, undefined, 32],
      [second?.id, first?.id, 32],
    ],
  );
  await model.close();
});

test("a yes to all equal requests is about one text of a script: the same command with another text still waits [H1][H2]", async () => {
  const changed = Promise.withResolvers<void>();
  await using model = await modelServer((request) => {
    const [who] = firstOf(request).split(" ");
    if (lastOf(request).role === "tool") return says(report("done"));
    if (who === "go") return calls(["delegate_task", { task: "early it" }], ["delegate_task", { task: "late it" }]);
    const run = calls(bash("bash outputs/t.sh"));
    return who === "late" ? { ...run, heldUntil: changed.promise } : run;
  });
  await using yard = await startYard({ model });
  const conversation = await newConversation(yard);
  place(yard, conversation, "t.sh", "rm -f outputs/old.txt\n");
  await must(yard.client.call("sendMessage", { params: { id: conversation }, body: { text: "go", mode: "queue" } }));
  await until("the first one asks", async () => (await waitingIn(yard, conversation)).length === 1);
  place(yard, conversation, "t.sh", "rm -f outputs/precious.txt\n");
  changed.resolve();
  await until("the second one asks", async () => (await waitingIn(yard, conversation)).length === 2);
  assert.deepEqual(await asked(yard, conversation), ["rm -f outputs/old.txt", "rm -f outputs/precious.txt"]);
  const [early, late] = await waitingIn(yard, conversation);
  assert.equal(early?.arguments, late?.arguments);
  assert.deepEqual(await say(yard, early, { verdict: "approve", equal: true }), []);
  const open = await waitingIn(yard, conversation);
  assert.ok(open.some(({ id }) => id === late?.id));
});

test("in one answer a script and whatever could change it run one after the other [H1][L5]", async () => {
  const { model, plan } = await planned();
  await using yard = await startYard({ model, runsCode: true });
  const change: Call = [
    "edit_file",
    { path: "outputs/u.sh", old_string: "true", new_string: "rm outputs/precious.txt" },
  ];
  plan(
    [
      write("outputs/precious.txt", "x"),
      write("outputs/t.sh", "rm -f outputs/old.txt\n"),
      write("outputs/u.sh", "true"),
    ],
    [bash("bash outputs/t.sh"), write("outputs/t.sh", "rm -f outputs/precious.txt\n")],
    [bash("bash outputs/u.sh"), change],
    [list],
  );
  const { conversation } = await yard.ask("go");
  assert.deepEqual(await asked(yard, conversation), ["rm -f outputs/old.txt"]);
  const [open] = await waitingIn(yard, conversation);
  assert.deepEqual(await say(yard, open, { verdict: "approve" }), []);
  const { events, answer } = await yard.whenAtRest(conversation);
  assert.equal(answer, "done");
  assert.match(toldLast(events), /precious/);
  const order = events.flatMap((event) =>
    event.type === "call.started" || event.type === "call.finished" ? [event.type.slice(5)] : [],
  );
  assert.deepEqual(order.slice(6), Array(5).fill(["started", "finished"]).flat());
  await model.close();
});

test("a script inside a script is looked at, and an allow always ends when any of them changes [H1][H2]", async () => {
  const { model, plan } = await planned();
  await using yard = await startYard({ model, runsCode: true });
  const [a, b] = [write("outputs/a.sh", "bash outputs/b.sh\n"), write("outputs/b.sh", "bash outputs/c.sh\n")];
  plan([a, b, write("outputs/c.sh", "rm -f outputs/x\n")], [bash("bash outputs/a.sh")]);
  const { conversation } = await yard.ask("go");
  assert.deepEqual(await asked(yard, conversation), ["rm -f outputs/x"]);
  const [open] = await waitingIn(yard, conversation);
  assert.deepEqual(await say(yard, open, { verdict: "approve", always: { scope: "conversation" } }), []);
  assert.equal((await yard.whenAtRest(conversation)).answer, "done");
  plan([bash("bash outputs/a.sh")]);
  assert.equal((await yard.ask("again", { conversation })).status, "idle");
  writeFileSync(join(yard.data, "workspace", conversation, "outputs/c.sh"), "rm -f outputs/y\n");
  assert.equal((await yard.ask("again", { conversation })).status, "waiting");
  assert.deepEqual(await asked(yard, conversation), ["rm -f outputs/y"]);
  await model.close();
});

test("a script that is there but cannot be read to its end is asked about, and never allowed always [H1][H2]", async () => {
  const { model, plan } = await planned();
  await using yard = await startYard({ model });
  const conversation = await newConversation(yard);
  const scripts = Array.from({ length: 40 }, (_, index) => `s${index}.sh`);
  for (const name of scripts) place(yard, conversation, name, "true\n");
  plan([bash(scripts.map((name) => `bash outputs/${name}`).join("; "))]);
  assert.equal((await yard.ask("many", { conversation })).status, "waiting");
  const [open] = await waitingIn(yard, conversation);
  assert.deepEqual([open?.findings?.[0]?.kind, open?.always], ["run_unseen", []]);
  const other = await newConversation(yard);
  place(yard, other, "large.sh", `true\n#${"x".repeat(300_000)}\n`);
  plan([bash("bash outputs/large.sh")]);
  assert.equal((await yard.ask("large", { conversation: other })).status, "waiting");
  plan([bash("bash outputs/none.sh; true")]);
  assert.equal((await yard.ask("none")).status, "idle");
  await model.close();
});
