import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { noSandbox } from "../../test/world/sandbox.ts";
import { testWorkspace } from "../../test/world/workspace.ts";
import { ok } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import { localOwner, OwnerId } from "../protocol/ids.ts";
import type { ProgramOutput, ProgramReport, ProgramWanted, RunningProgram, Sandbox } from "../sandbox/sandbox.ts";
import type { FileChange } from "../workspace/workspace.ts";
import { watchPrograms } from "./call-programs.ts";

const change: FileChange = { path: "a.txt", before: undefined, after: { bytes: 1, mode: 0o644 }, lost: undefined };
const shown = { text: "", cutBytes: 0, path: undefined, bytes: 0 };
const report: ProgramReport = {
  ...{ how: "done", exitCode: 0, signal: undefined, stdout: shown, stderr: shown, value: undefined },
  ...{ returned: undefined, figures: [], changes: [change], startedAt: 0, endedAt: 0 },
  metrics: { durationMs: 0, cpuMs: 0, memoryPeakBytes: 0, readBytes: 0, writtenBytes: 0 },
};
const piece = (text: string): ProgramOutput => ({ stream: "stdout", text, cutBytes: 0, at: { stdout: 0, stderr: 0 } });
const wanted: ProgramWanted = { language: "python", code: "1", timeoutMs: 1 };

/** The programs of one call, in a sandbox that runs them so. */
async function call(t: TestContext, run: Sandbox["run"], { kind = "task" }: { kind?: "task" | "conversation" } = {}) {
  const { workspace } = await testWorkspace(t, { kind });
  const [said, logged] = [[] as string[], [] as unknown[]];
  const stop = new AbortController();
  const sandbox: Sandbox = { ...noSandbox(), run };
  const programs = watchPrograms(sandbox, {
    ...{ call: "c1", stop: stop.signal, show: ({ text }: ProgramOutput) => void said.push(text) },
    logger: { error: (message, facts) => void logged.push([message, facts?.call]) },
  });
  const place = { owner: localOwner, conversation: 1, workspace, agent: "root" };
  return { programs, place, box: programs.at(place), said, logged, stop, workspace };
}

const running = (more: Partial<RunningProgram> = {}): RunningProgram => ({
  ...{ id: "p1", report: Promise.resolve(report), kill: () => {}, output: outputOf() },
  ...more,
});
async function* outputOf(...texts: string[]) {
  for (const text of texts) yield piece(text);
}

test("what a program of a call says is shown piece by piece, and what it did to files is told of the call when its report is there, not before [X2][W12]", async (t) => {
  const ended = Promise.withResolvers<ProgramReport>();
  const asked: unknown[] = [];
  const run: Sandbox["run"] = async (place, given) => {
    asked.push([place, given]);
    return ok(running({ report: ended.promise, output: outputOf("one", "two") }));
  };
  const { programs, place, box, said, logged, stop, workspace } = await call(t, run);
  const begun = await box.run(wanted);
  assert.ok(begun.ok);
  assert.deepEqual(asked, [[place, { ...wanted, signal: stop.signal }]]);
  let isSettled = false;
  const settled = programs.settled().then(() => {
    isSettled = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([said, isSettled, programs.untold([])], [["one", "two"], false, []]);
  ended.resolve(report);
  await settled;
  const line = { type: "file.changed", path: "a.txt", after: change.after, by: "tool", program: true, call: "c1" };
  assert.deepEqual(programs.untold([]), [{ ...line, workspace: workspace.id }]);
  assert.deepEqual(logged, []);
  const own = await call(t, run, { kind: "conversation" });
  await own.box.run(wanted);
  await own.programs.settled();
  assert.deepEqual(own.programs.untold([]), [line]);
});

test("a program that could not begin, or broke down, leaves nobody waiting; what is not known of it is in the log file [X2][Q2][O1]", async (t) => {
  const refused = await call(t, async () => failure("sandbox_unavailable", { reason: "none", fix: "none" }));
  const begun = await refused.box.run(wanted);
  await refused.programs.settled();
  assert.deepEqual([begun.ok || begun.failure.code, refused.logged], ["sandbox_unavailable", []]);
  const broken = await call(t, async () => {
    async function* torn() {
      yield piece("one");
      throw new Error("planted");
    }
    return ok(running({ report: Promise.reject(new Error("planted")), output: torn() }));
  });
  assert.equal((await broken.box.run(wanted)).ok, true);
  await broken.programs.settled();
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([broken.said, broken.programs.untold([])], [["one"], []]);
  assert.deepEqual(broken.logged.toSorted(), [
    ["what a program changed is not known", "c1"],
    ["what a program said was not shown", "c1"],
  ]);
});

test("a call may name its user's own session, by whatever name, and nobody else's [X1][Q1]", async (t) => {
  const { box, programs, place } = await call(t, async () => assert.fail("nothing is run"));
  const codes = async (of: typeof box) =>
    Promise.all(
      ["sess-agent-default", `sess-${localOwner}`, "sess-someone", "mine"].map(
        async (id) => (await of.checkSession(id))?.code,
      ),
    );
  const other = "session_of_another";
  assert.deepEqual(await codes(box), [undefined, undefined, other, other]);
  const someone = OwnerId.parse("someone");
  assert.deepEqual(await codes(programs.at({ ...place, owner: someone })), [undefined, other, undefined, other]);
  const refused = await box.checkSession("sess-someone");
  assert.deepEqual(refused?.params, { id: "sess-someone", user: localOwner });
});
