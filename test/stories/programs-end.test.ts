import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { ProgramPlace } from "../../src/sandbox/sandbox.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { firstOf, lastOf, report, textOf } from "../world/company.ts";
import { all } from "../world/events.ts";
import { type Answer, type AskedRequest, calls, modelServer, says } from "../world/model-server.ts";
import { noSandbox } from "../world/sandbox.ts";
import { startYard } from "../world/yard.ts";

/** A root whose task gives work to two workers, of which one calls no tool. */
function smallCompany(request: AskedRequest): Answer {
  const [who = ""] = firstOf(request).split(" ");
  const said = textOf(request);
  const isNew = lastOf(request).role !== "tool";
  if (who === "idle") return says(report("idle"));
  if (who === "worker") return isNew ? calls(["now", {}]) : says(report("worked"));
  if (who === "task" && said.includes("context_id")) return says(report("task"));
  if (who === "task")
    return isNew
      ? calls(["now", {}])
      : calls(["delegate_task", { task: "worker it" }], ["delegate_task", { task: "idle it" }]);
  if (said.includes("[The agent ")) return says("done");
  return isNew ? calls(["spawn_agent", { role: "painter", task: "task it" }]) : says("I wait.");
}

/** So much happens meanwhile that whoever did not wait would be done. */
async function aWhile(): Promise<void> {
  for (let count = 0; count < 40; count += 1) await setImmediate();
}

test("an agent has ended when its programs have: a worker's own Python, a task's sandbox with what it still did to files, and the turn's programs [X1][A1][W12]", async () => {
  const trace: string[] = [];
  const kindOf = (id: string | undefined) => id?.split("-")[0] ?? "root";
  const noted = async (what: string, { agent, workspace }: ProgramPlace) => {
    const line = `${what} ${kindOf(agent)} in ${kindOf(workspace?.id)}`;
    trace.push(line);
    await aWhile();
    trace.push(`${line}: over`);
  };
  const after = { bytes: 3, mode: 0o644, hash: "late" };
  const openSandbox = () => ({
    ...noSandbox(),
    reset: (place: ProgramPlace) => noted("reset", place),
    leavePlace: (place: ProgramPlace) => noted("leave", place),
    async endTurn(place: ProgramPlace) {
      await noted("end", place);
      return [{ path: `outputs/${kindOf(place.agent)}.txt`, before: undefined, after, lost: undefined }];
    },
  });
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    append(batch) {
      for (const { type, body } of batch.events)
        if (type === "turn.finished") trace.push(`${kindOf(JSON.parse(body).agent)} is done`);
      return storage.append(batch);
    },
  });
  await using model = await modelServer(smallCompany);
  await using yard = await startYard({ model, openSandbox, wrapStorage, isOneProcess: true });
  await yard.start("c");
  const { answer, events } = await yard.ask("go", { conversation: "c" });
  assert.equal(answer, "done");
  const withEnd = (line: string) => [line, `${line}: over`];
  assert.deepEqual(
    trace.filter((line) => line !== "root is done" || trace.at(-1) === line),
    [
      ...["worker is done", ...withEnd("reset worker in task"), "worker is done"],
      ...[...withEnd("end task in task"), ...withEnd("leave task in task"), "task is done"],
      ...[...withEnd("end root in c"), "root is done"],
    ],
  );
  const task = all(events, "agent.spawned").find(({ mode }) => mode === "task")?.id;
  assert.deepEqual(
    all(events, "file.changed").map(({ path, by, program, workspace, agent }) => [path, by, program, workspace, agent]),
    [
      ["outputs/task.txt", "tool", true, task, task],
      ["outputs/root.txt", "tool", true, undefined, undefined],
    ],
  );
});
