import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { talkOf } from "../../test/world/talk.ts";
import { testWorkspace } from "../../test/world/workspace.ts";
import { ok } from "../base/result.ts";
import type { History } from "../log/log.ts";
import type { NewEvent } from "../protocol/events.ts";
import { failure } from "../protocol/failure.ts";
import type { ProgramPlace } from "../sandbox/sandbox.ts";
import type { FileChange, Workspace } from "../workspace/workspace.ts";
import { endPrograms, type GuestParts, prewarm, prewarmOpened } from "./guests.ts";
import { conversationRow } from "./rows.testing.ts";

const conversation = conversationRow("c", 7);
const change: FileChange = {
  path: "outputs/a.txt",
  before: undefined,
  after: { bytes: 1, mode: 0o644 },
  lost: undefined,
};

/** A sandbox that notes what is asked of it. `files`: what agents work with. */
async function place(t: TestContext, files: Readonly<Record<string, Pick<Workspace, "id" | "kind">>> = {}) {
  const { workspace } = await testWorkspace(t);
  const noted: unknown[] = [];
  const cleaned: { at: number | undefined } = { at: undefined };
  const note =
    (what: string) =>
    ({ owner, conversation: number, workspace: at, agent }: ProgramPlace, ...more: unknown[]) =>
      void noted.push([what, owner, number, at?.id, agent, ...more]);
  const [reset, endTurn, leave] = ["reset", "end of turn", "leave"].map(note);
  const parts: GuestParts = {
    workspaces: {
      ofConversation: () => ({ ...workspace, id: "c" }),
      async ofAgent(_, agent = "root") {
        const found = files[agent];
        return found === undefined ? failure("workspace_not_assigned", { agent }) : ok({ ...workspace, ...found });
      },
      cleanedAt: async () => cleaned.at,
    },
    sandbox: {
      prewarm: note("prewarm"),
      reset: async (at) => reset?.(at),
      async endTurn(at) {
        endTurn?.(at);
        return [change];
      },
      leavePlace: async (at) => leave?.(at),
    },
  };
  return { parts, noted, cleaned };
}

test("a sandbox has Python ready where data is given or selected, or was worked on before, and not for other files [X1]", async (t) => {
  const { parts, noted } = await place(t);
  const language = (history: History) => {
    noted.length = 0;
    prewarm(parts, { conversation, history });
    return noted.map((what) => (Array.isArray(what) ? what.slice(4) : what));
  };
  const say = (more: object) => {
    const talk = talkOf([]);
    talk.add({ type: "message.user", id: "m1", text: "look", mode: "queue", ...more });
    return language(talk.history);
  };
  const file = { path: "uploads/a", name: "a", bytes: 1 };
  const [plain, python] = [[["root", undefined]], [["root", "python"]]];
  assert.deepEqual([say({}), say({ files: [{ ...file, type: "text" }] })], [plain, plain]);
  for (const type of ["csv", "spreadsheet", "json", "pickle", "data"])
    assert.deepEqual(
      say({
        files: [
          { ...file, type: "text" },
          { ...file, type },
        ],
      }),
      python,
      type,
    );
  assert.deepEqual(say({ selected: { files: ["uploads/csv/notes.txt"] } }), plain);
  assert.deepEqual(say({ selected: { files: ["uploads/notes.txt", "uploads/table.csv"] } }), python);
  const before = talkOf([{ said: "compute", steps: [] }]);
  before.ask(["look", "execute_code"]);
  assert.deepEqual(language(before.history), python);
});

test("whoever opens a conversation finds its sandbox begun, but not where its files lie in the trash [X1][W10]", async (t) => {
  const { parts, noted, cleaned } = await place(t);
  await prewarmOpened(parts, conversation);
  assert.deepEqual(noted, [["prewarm", conversation.owner, 7, "c", "root"]]);
  cleaned.at = 0;
  await prewarmOpened(parts, conversation);
  assert.equal(noted.length, 1);
});

test("with a turn ends what its programs left running, each agent's own and no other's, and what they did to files is told [X1][A2][W12]", async (t) => {
  const files = {
    w1: { id: "c", kind: "conversation" },
    t1: { id: "t1", kind: "task" },
    t2: { id: "t1", kind: "task" },
  } as const;
  const { parts, noted } = await place(t, files);
  const worked = talkOf([{ said: "go", steps: [["done"]] }]).history;
  const ended = async (agent: string | undefined, history: History = worked) => {
    noted.length = 0;
    const staged: NewEvent[] = [];
    await endPrograms(parts, { conversation, history, agent, stage: (event) => void staged.push(event) });
    return { noted: [...noted], staged };
  };
  const about = (what: string, files: string, agent: string) => [what, conversation.owner, 7, files, agent];
  const told = { type: "file.changed", path: change.path, after: change.after, by: "tool", program: true };
  assert.deepEqual(await ended(undefined), { noted: [about("end of turn", "c", "root")], staged: [told] });
  assert.deepEqual(await ended("w1"), { noted: [about("reset", "c", "w1")], staged: [] });
  assert.deepEqual(await ended("t2"), { noted: [about("reset", "t1", "t2")], staged: [] });
  assert.deepEqual(await ended("t1"), {
    noted: [about("end of turn", "t1", "t1"), about("leave", "t1", "t1")],
    staged: [{ ...told, workspace: "t1" }],
  });
  const nothing = { noted: [], staged: [] };
  assert.deepEqual(await ended("unknown"), nothing);
  for (const history of [talkOf([{ said: "go", steps: [] }]).history, talkOf([]).history])
    assert.deepEqual(await ended(undefined, history), nothing, "no program ran");
});
