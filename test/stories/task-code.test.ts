import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { LogEvent } from "../../src/protocol/events.ts";
import { withoutMarks } from "../../src/words/words.ts";
import { firstOf, lastOf, report, textOf } from "../world/company.ts";
import { all, until } from "../world/events.ts";
import { type Answer, type AskedRequest, calls, modelServer, says } from "../world/model-server.ts";
import { cannotRunCode } from "../world/sandbox.ts";
import { filesOf } from "../world/undo.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

// Code of a task runs in a guest of its own, which has that task's files and nobody else's.

const real = { runsCode: true, approves: true } as const;
const skip = { skip: cannotRunCode };
const bash = (command: string): Answer => calls(["run_bash_command", { command }]);
const spawn = (name: string): [string, unknown] => ["spawn_agent", { role: name, task: `${name} it` }];
/** Everything of others that it could find, in a line each. */
const look =
  "ls -A /workspace; ls -AR . ; find / -path /proc -prune -o -path /usr -prune -o -name '*-secret.txt' -print 2>/dev/null; true";

/** What a call of this agent told its model. */
function outputsOf(events: readonly LogEvent[], name: string): string[] {
  const id = all(events, "agent.spawned").find((spawned) => spawned.name === name)?.id;
  return all(events, "call.finished")
    .filter(({ agent }) => agent === id)
    .map(({ text }) => withoutMarks(text));
}

/** Of two servers either answers, and the conversation's home has its guests. */
const asks = process.env.AGENTYARD_TEST_REPLICAS === undefined ? 1 : 20;
const guestsOf = async (yard: TestYard) => {
  const told = Array.from({ length: asks }, () => must(yard.client.call("healthDetailed", {})));
  return Math.max(...(await Promise.all(told)).map(({ dependencies }) => dependencies.sandbox.guests ?? 0));
};

test(
  "programs of two tasks and of the main agent find their own files and no others; a worker finds those of its caller [X1][W2][W3][W13]",
  skip,
  async () => {
    await using model = await modelServer(companyWithCode);
    await using yard = await startYard({ model, ...real });
    await yard.start("c");
    const { answer, events } = await yard.ask("go", { conversation: "c" });
    assert.equal(answer, "seen");
    const idOf = (name: string) => all(events, "agent.spawned").find((spawned) => spawned.name === name)?.id ?? "";
    const looks = outputsOf(events, "alpha").filter((text) => text.includes("[exit code") && !text.startsWith("42"));
    assert.equal(looks.length, 2);
    const own = (name: string) => new RegExp(`^${idOf(name)}\\n`);
    // Before the other one wrote, and after it did.
    for (const seen of looks) {
      assert.match(seen, own("alpha"));
      assert.doesNotMatch(seen, /secret|beta|outputs/);
    }
    const [betas = ""] = outputsOf(events, "beta").filter((text) => text.includes("beta-secret"));
    assert.match(betas, own("beta"));
    assert.match(betas, new RegExp(`/workspace/${idOf("beta")}/beta-secret\\.txt`));
    assert.doesNotMatch(betas, /root-secret/);
    assert.ok(outputsOf(events, "beta").some((text) => text.includes("the worker read beta")));
    const roots = all(events, "call.finished").filter(({ agent }) => agent === undefined);
    const seen = withoutMarks(roots.at(-1)?.text ?? "");
    assert.match(seen, /root-secret\.txt/);
    assert.doesNotMatch(seen, /beta-secret/);
    // What was written is there, and nothing that was not.
    assert.deepEqual(filesOf(yard, "c"), { "beta/result.txt": "644 result\n", "root-secret.txt": "644 root\n" });
    assert.deepEqual(readdirSync(join(yard.data, "workspaces")), [idOf("beta")]);
    assert.deepEqual(readdirSync(join(yard.data, "workspaces", idOf("beta"))).toSorted(), [
      "beta-secret.txt",
      "outputs",
    ]);
    assert.deepEqual(
      all(events, "file.changed")
        .filter(({ workspace }) => workspace !== undefined)
        .map(({ path, workspace }) => [path, workspace]),
      [
        ["beta-secret.txt", idOf("beta")],
        ["outputs/result.txt", idOf("beta")],
      ],
    );
    assert.deepEqual(readdirSync(join(yard.data, "staging")), [], "nothing waits any more");
    assert.equal(await guestsOf(yard), 1, "with a task goes its guest; the conversation's stays for a while");
  },
);

/** Alpha looks, waits until beta has written and ended, and looks again. */
function companyWithCode(request: AskedRequest): Answer {
  const [who = ""] = firstOf(request).split(" ");
  const said = textOf(request);
  const last = lastOf(request);
  if (who === "go") {
    if (!said.includes('"agent"'))
      return calls(
        ["run_bash_command", { command: "echo root > outputs/root-secret.txt" }],
        spawn("alpha"),
        spawn("beta"),
      );
    const isTold = said.includes("now look");
    if (!isTold && said.includes("[The agent beta ") && said.includes("alpha has looked"))
      return calls(["send_message", { to: "alpha", text: "now look" }]);
    if (!said.includes("[The agent alpha ")) return says("waiting");
    return said.includes("root-secret.txt\\n") || last.role === "tool" ? says("seen") : bash(look);
  }
  if (who === "alpha") {
    if (!said.includes("[exit code"))
      return calls(["run_bash_command", { command: look }], ["execute_code", { code: "print(6 * 7)" }]);
    if (!said.includes("alpha has looked"))
      return calls(["send_message", { to: "parent", text: "alpha has looked", wait_for_answer: true }]);
    if (!said.includes("now look")) return says("waiting");
    return said.split("[exit code").length > 3 ? says(report("alpha")) : bash(look);
  }
  if (who === "beta") {
    if (!said.includes("[exit code"))
      return bash(`echo beta > beta-secret.txt; mkdir outputs; echo result > outputs/result.txt; ${look}`);
    return said.includes("context_id") ? says(report("beta")) : calls(["delegate_task", { task: "worker it" }]);
  }
  return last.role === "tool"
    ? says(report(`the worker read ${last.text.includes("beta") ? "beta" : "nothing"}`))
    : bash("cat beta-secret.txt");
}

test(
  "a task that is ended in the middle of a program takes its guest along, and what the program wrote so far stays [X1][A1][L6]",
  skip,
  async () => {
    await using model = await modelServer((request) => {
      const said = textOf(request);
      if (firstOf(request).startsWith("busy")) return bash("echo begun > begun.txt; echo running; sleep 600");
      if (!said.includes('"agent"')) return calls(spawn("busy"));
      return says("waiting");
    });
    await using yard = await startYard({ model, ...real });
    await yard.start("c");
    await must(yard.client.call("sendMessage", { params: { id: "c" }, body: { text: "go", mode: "queue" } }));
    await until("the program has begun, and written", async () => {
      const [id] = all(await yard.events("c"), "agent.spawned").map((spawned) => spawned.id);
      const listed =
        id && (await yard.client.call("listFiles", { params: { id: "c" }, query: { agent: id, path: "." } }));
      return (
        typeof listed === "object" &&
        listed.ok &&
        listed.value.items.some(({ name, bytes }) => name === "begun.txt" && bytes > 0)
      );
    });
    const [busy] = all(await yard.events("c"), "agent.spawned");
    assert.ok(existsSync(join(yard.data, "workspaces", busy?.id ?? "", "begun.txt")), "seen while the program runs");
    await must(yard.client.call("stopAgent", { params: { id: "c", agent: "busy" } }));
    const { events } = await yard.whenAtRest("c");
    assert.deepEqual(
      all(events, "agent.ended").map(({ outcome, folder }) => [outcome, folder]),
      [["terminated", "outputs/busy"]],
    );
    assert.deepEqual(filesOf(yard, "c"), { "busy/begun.txt": "644 begun\n" });
    await until("its guest is gone", async () => (await guestsOf(yard)) <= 1);
  },
);
