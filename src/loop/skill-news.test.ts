import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { step } from "../../test/world/any-log.ts";
import type { Play } from "../../test/world/played-provider.ts";
import { skillText } from "../../test/world/skill-folder.ts";
import type { NewEvent } from "../protocol/events.ts";
import { builtins, openToolkit } from "../tools/tools.ts";
import { stageNews } from "./skill-news.ts";
import { keepOne, spawned, started } from "./tenure.testing.ts";

const forTypes = (...fileTypes: string[]) => ({ isEnabled: true, source: undefined, fileTypes });
const skills = { pdf: forTypes("pdf"), tables: forTypes("spreadsheet", "tar.gz") };
const files = {
  ...Object.fromEntries(
    ["pdf", "tables", "plain", "old", "wanting"].map((id) => [`skills/${id}/SKILL.md`, skillText(id)]),
  ),
  "skills/wanting/requirements.txt": "greeter<2\n",
};

type Place = {
  readonly isFinal?: boolean;
  readonly who?: string;
  readonly tools?: typeof builtins;
  /** No link can be made. */
  readonly isInTheWay?: boolean;
};

/** A conversation in which this happened, and its folder of skills. */
async function placed(t: TestContext, before: readonly NewEvent[], play?: Play) {
  const kept = await keepOne(t, { before, skills, files, play });
  const { parts, dataDir, conversation } = kept;
  assert.ok((await parts.workspaces.create(conversation)).ok);
  await parts.skills.look();
  return { ...kept, links: join(dataDir, "workspace/c/skills") };
}

/** What becomes of the messages that are taken up now. */
async function newsIn(t: TestContext, before: readonly NewEvent[], place: Place = {}) {
  const { isFinal = false, who = "root", tools = builtins, isInTheWay = false } = place;
  const kept = await placed(t, before, () => ({ code: 0, says: "[]" }));
  const { parts, agent, log, number, links, warned, provider } = kept;
  if (isInTheWay) {
    rmdirSync(links);
    writeFileSync(links, "");
  }
  const toolkit = openToolkit(tools);
  const run = agent(who);
  const head = await log.headOf(number);
  const lines = await stageNews(run, { ...parts, toolkit: () => toolkit }, { isFinal });
  assert.ok((await run.commit()).ok);
  const staged = await log.read(number, { after: head, limit: 10 });
  const linked = staged.map(({ seq: _, at: __, ...event }) => event);
  const looked = isInTheWay ? [] : readdirSync(links).toSorted();
  return { lines, linked, looked, warned, ran: provider.guests.length };
}

const begun = (text: string, more: object = {}, ...before: readonly NewEvent[]): NewEvent[] => [
  ...before,
  { type: "message.user", id: "m1", text, mode: "queue", ...more },
  started,
];

const file = (path: string) => ({ path, name: path, type: "text", bytes: 1 });
const forFile = (path: string, name: string) =>
  `For ${path} there is a skill: read skills/${name}/SKILL.md before you work on it.`;
const named = (name: string) => `The user named a skill: read skills/${name}/SKILL.md before you begin, and follow it.`;

test("a skill that is named, and one for a file that came, are linked once and told; what was linked before is looked after as well [K1][L4]", async (t) => {
  const before: NewEvent = { type: "skill.linked", turn: 0, skill: "old", because: "mention" };
  const files = [file("uploads/a.pdf"), file("uploads/Sales.XLSX"), file("uploads/b.csv")];
  const events = begun("use @pdf and @plain", { files }, before);
  const { lines, linked, looked } = await newsIn(t, events);
  assert.deepEqual(lines, [named("pdf"), named("plain"), forFile("uploads/Sales.XLSX", "tables")]);
  const all: NewEvent[] = [
    { type: "skill.linked", turn: 1, skill: "pdf", because: "mention" },
    { type: "skill.linked", turn: 1, skill: "plain", because: "mention" },
    { type: "skill.linked", turn: 1, skill: "tables", because: "file_type", file: "uploads/Sales.XLSX" },
  ];
  assert.deepEqual([linked, looked], [all, ["old", "pdf", "plain", "tables"]]);
  const again = await newsIn(t, [...events, ...all]);
  assert.deepEqual([again.lines, again.linked], [[named("pdf"), named("plain")], []], "who names it again is heard");
});

test("in the middle of a turn only what joins it is looked at, and in its last step nothing is [K1][L1]", async (t) => {
  const events = [...begun("use @plain"), step(1)];
  const nothing = { lines: [], linked: [], looked: [], warned: [], ran: 0 };
  assert.deepEqual(await newsIn(t, events), nothing);
  events.push({ type: "message.user", id: "b", text: "@tables later", mode: "queue" });
  assert.deepEqual(await newsIn(t, events), nothing, "it waits for a turn of its own");
  events.push({ type: "message.user", id: "c", text: "@pdf", mode: "steer" });
  assert.deepEqual(await newsIn(t, events, { isFinal: true }), nothing);
  const { lines, looked } = await newsIn(t, events);
  assert.deepEqual([lines, looked], [[named("pdf")], ["pdf"]]);
  const final = await newsIn(t, begun("use @plain"), { isFinal: true });
  assert.deepEqual(final.lines, [named("plain")], "what the turn is about counts");
});

test("a task sees no skills, for they lie in files that are not its own; a worker does [K1][A2][W3]", async (t) => {
  const made = async (mode: "task" | "worker") => {
    const begins: NewEvent = { type: "turn.started", agent: "w", turn: 1, message: "w-brief", epoch: 1 };
    const agent = { ...spawned("w"), mode, brief: "use @pdf" } as NewEvent;
    return (await newsIn(t, [...begun("go"), agent, begins], { who: "w" })).lines;
  };
  assert.deepEqual([await made("task"), await made("worker")], [[], [named("pdf")]]);
});

test("a file is of a skill's type by its ending or its kind, wherever it came from; the one that came last with words comes first [K1]", async (t) => {
  const fileOf = async (more: object, ...before: readonly NewEvent[]) =>
    (await newsIn(t, begun("go", more, ...before))).linked.map((event) => Object(event).file);
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

test("packages that a skill lacks are told with the way to have them, and a link that cannot be made is in the log file [K1][W9]", async (t) => {
  const { lines, warned, ran } = await newsIn(t, begun("@wanting @pdf"), { isInTheWay: true });
  assert.deepEqual([lines.length, lines[1], ran], [3, named("pdf"), 1]);
  assert.match(lines[2] ?? "", /wanting wants .* greeter<2\. .*install_packages/);
  const why = "the skill {skill} cannot be linked";
  assert.deepEqual(warned, [
    [why, { skill: "wanting", why: "not_a_folder" }],
    [why, { skill: "pdf", why: "not_a_folder" }],
  ]);
  const tools = builtins.filter(({ name }) => name !== "install_packages");
  const without = await newsIn(t, begun("@wanting"), { tools });
  assert.match(without.lines[1] ?? "", /tell the user, who can have them installed with \/skills install wanting/);
});

test("who stops an agent that looks for packages does not wait for that [K1][L6]", async (t) => {
  const begins = Promise.withResolvers<void>();
  const { parts, tenure } = await placed(t, begun("@wanting"), async ({ signal }) => {
    begins.resolve();
    if (signal !== undefined) await once(signal, "abort");
    return { code: 0, how: "cancelled" };
  });
  const staged = stageNews(tenure.root, parts, { isFinal: false });
  await Promise.race([begins.promise, staged]);
  tenure.root.stop();
  assert.deepEqual(await staged, [named("wanting")]);
});
