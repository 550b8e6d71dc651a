import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { step } from "../../test/world/any-log.ts";
import { folderWith } from "../../test/world/folder.ts";
import { noted, partly } from "../../test/world/partly.ts";
import { talkOf } from "../../test/world/talk.ts";
import { ok } from "../base/result.ts";
import { applyEvent, beginAgent, type History } from "../log/log.ts";
import type { NewEvent } from "../protocol/events.ts";
import { failure } from "../protocol/failure.ts";
import type { FoundSkill } from "../skills/skills.ts";
import { builtins, openToolbox } from "../tools/tools.ts";
import type { Parts } from "./parts.ts";
import { conversationRow } from "./rows.testing.ts";
import type { Run } from "./run.ts";
import { stageNews } from "./skill-news.ts";

const skill = (id: string, fileTypes: string[] = []): FoundSkill =>
  partly<FoundSkill>({ id, fileTypes, hasRequirements: false });
const pdf = skill("pdf", ["pdf"]);
const tables = skill("tables", ["spreadsheet", "tar.gz"]);
const plain = skill("plain");

type Place = {
  readonly skills?: readonly FoundSkill[];
  readonly stat?: () => unknown;
  readonly tools?: typeof builtins;
};

/** What becomes of the messages that are taken up now. */
async function newsIn(history: History, isFinal = false, { skills = [pdf, tables, plain], ...place }: Place = {}) {
  const staged: NewEvent[] = [];
  const looked: string[] = [];
  const warned: unknown[] = [];
  const ran: unknown[] = [];
  const signal = new AbortController().signal;
  const stage = (event: NewEvent) => {
    staged.push(event);
    applyEvent(history, { ...event, seq: history.head + 1, at: 0 });
  };
  const toolbox = openToolbox(place.tools ?? builtins);
  const parts = partly<Parts>({
    skills: { usable: () => skills, find: (id) => skills.find((one) => one.id === id), found: () => skills },
    agents: () => [],
    toolbox: () => toolbox,
    logger: { warn: (_, facts) => noted(warned, facts, undefined) },
    workspaces: {
      ofConversation: ({ id }) => ({
        stat: async (path: string) => noted(looked, `${id}: ${path}`, place.stat?.() ?? ok({ type: "directory" })),
      }),
    },
    sandbox: {
      run: async (_, wanted) => {
        const report = { how: "done", exitCode: 0, stdout: { text: "[]" } };
        return noted(ran, wanted.signal === signal, ok({ report: Promise.resolve(report) }));
      },
    },
  });
  const run = partly<Run>({ history, conversation: conversationRow("c"), stage, signal });
  const lines = await stageNews(run, parts, { isFinal });
  const linked = staged.map((event) => (event.type === "skill.linked" ? { ...event, type: "linked" } : event));
  return { lines, linked, looked, warned, ran };
}

function begun(text: string, more: object = {}, ...before: readonly NewEvent[]) {
  const talk = talkOf([]);
  talk.add(
    ...before,
    { type: "message.user", id: "a", text, mode: "queue", ...more },
    { type: "turn.started", turn: 1, message: "a", epoch: 1 },
  );
  return talk;
}

const file = (path: string) => ({ path, name: path, type: "text", bytes: 1 });
const forFile = (path: string, name: string) =>
  `For ${path} there is a skill: read skills/${name}/SKILL.md before you work on it.`;
const named = (name: string) => `The user named a skill: read skills/${name}/SKILL.md before you begin, and follow it.`;

test("a skill that is named, and one for a file that came, are linked once and told; what was linked before is looked after as well [K1][L4]", async () => {
  const before: NewEvent = { type: "skill.linked", turn: 0, skill: "old", because: "mention" };
  const files = [file("uploads/a.pdf"), file("uploads/Sales.XLSX"), file("uploads/b.csv")];
  const talk = begun("use @pdf and @plain", { files }, before);
  const { lines, linked, looked } = await newsIn(talk.history);
  assert.deepEqual(lines, [named("pdf"), named("plain"), forFile("uploads/Sales.XLSX", "tables")]);
  assert.deepEqual(linked, [
    { type: "linked", turn: 1, skill: "pdf", because: "mention" },
    { type: "linked", turn: 1, skill: "plain", because: "mention" },
    { type: "linked", turn: 1, skill: "tables", because: "file_type", file: "uploads/Sales.XLSX" },
  ]);
  assert.deepEqual(looked, ["c: skills/old", "c: skills/pdf", "c: skills/plain", "c: skills/tables"]);
  const again = await newsIn(talk.history);
  assert.deepEqual([again.lines, again.linked], [[named("pdf"), named("plain")], []], "who names it again is heard");
});

test("in the middle of a turn only what joins it is looked at, and in its last step nothing is [K1][L1]", async () => {
  const talk = begun("use @plain");
  talk.add(step(1));
  const nothing = { lines: [], linked: [], looked: [], warned: [], ran: [] };
  assert.deepEqual(await newsIn(talk.history), nothing);
  talk.add({ type: "message.user", id: "b", text: "@tables later", mode: "queue" });
  assert.deepEqual(await newsIn(talk.history), nothing, "it waits for a turn of its own");
  talk.add({ type: "message.user", id: "c", text: "@pdf", mode: "steer" });
  assert.deepEqual(await newsIn(talk.history, true), nothing);
  const { lines, looked } = await newsIn(talk.history);
  assert.deepEqual([lines, looked], [[named("pdf")], ["c: skills/pdf"]]);
  const final = begun("use @plain");
  assert.deepEqual((await newsIn(final.history, true)).lines, [named("plain")], "what the turn is about counts");
});

test("a task sees no skills, for they lie in files that are not its own; a worker does [K1][A2][W3]", async () => {
  const talk = begun("go");
  const made = (mode: "task" | "worker") => {
    const id = mode;
    const spawned = { type: "agent.spawned", seq: 9, at: 0, id, mode, role: "writer", brief: "use @pdf" } as const;
    const history = beginAgent(talk.history, spawned);
    const begins = { type: "turn.started", agent: id, turn: 1, message: `${id}-brief`, epoch: 1 } as const;
    applyEvent(history, { ...begins, seq: 10, at: 0 });
    return newsIn(history);
  };
  assert.deepEqual([(await made("task")).lines, (await made("worker")).lines], [[], [named("pdf")]]);
});

test("a file is of a skill's type by its ending or its kind, wherever it came from; the one that came last with words comes first [K1]", async () => {
  const fileOf = async (more: object, ...before: readonly NewEvent[]) =>
    (await newsIn(begun("go", more, ...before).history)).linked.map((event) => Object(event).file);
  const upload = (path: string): NewEvent => ({
    ...{ type: "file.changed", path, by: "upload", after: { hash: "h", bytes: 1, mode: 0o644 } },
  });
  assert.deepEqual(await fileOf({ files: [file("uploads/x.tar.gz")] }), ["uploads/x.tar.gz"]);
  assert.deepEqual(await fileOf({ files: [file("uploads/a.pdf/notes.txt"), file("uploads/apdf")] }), []);
  const selected = { root: "/workspace/c/uploads/temparea/", session: "s", files: ["/workspace/c/uploads/a.pdf"] };
  assert.deepEqual(await fileOf({ selected }), ["uploads/a.pdf"]);
  assert.deepEqual(await fileOf({}, upload("uploads/old.pdf"), upload("uploads/old.txt")), ["uploads/old.pdf"]);
  assert.deepEqual(await fileOf({ selected }, upload("uploads/old.pdf")), ["uploads/a.pdf"]);
  const made: NewEvent = { ...upload("outputs/own.pdf"), by: "tool" } as NewEvent;
  assert.deepEqual(await fileOf({}, made), [], "what the agent made itself calls for nothing");
});

test("packages that a skill lacks are told with the way to have them, and a link that cannot be made is in the log file [K1][W9]", async (t: TestContext) => {
  const folder = folderWith(t, { "requirements.txt": "greeter<2\n" });
  const wanting: FoundSkill = { ...skill("wanting"), folder, hasRequirements: true };
  const stat = () => failure("file_not_found", { path: "skills", near: "" });
  const place: Place = { skills: [wanting, pdf], stat };
  const { lines, warned, ran } = await newsIn(begun("@wanting @pdf").history, false, place);
  assert.deepEqual([lines.length, lines[1], ran], [3, named("pdf"), [true]], "its run can stop the look");
  assert.match(lines[2] ?? "", /wanting wants .* greeter<2\. .*install_packages/);
  assert.deepEqual(warned, [
    { skill: "wanting", why: "file_not_found" },
    { skill: "pdf", why: "file_not_found" },
  ]);
  const tools = builtins.filter(({ name }) => name !== "install_packages");
  const without = await newsIn(begun("@wanting").history, false, { skills: [wanting], tools });
  assert.match(without.lines[1] ?? "", /tell the user, who can have them installed with \/skills install wanting/);
});
