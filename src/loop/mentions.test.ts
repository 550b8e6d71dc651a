import assert from "node:assert/strict";
import { test } from "node:test";
import { noted, partly } from "../../test/world/partly.ts";
import { ok } from "../base/result.ts";
import { emptyHistory } from "../log/log.ts";
import type { AgentRole } from "../protocol/agent.ts";
import { failure } from "../protocol/failure.ts";
import { localOwner } from "../protocol/ids.ts";
import type { FoundSkill } from "../skills/skills.ts";
import { builtins, openToolbox } from "../tools/tools.ts";
import { itemsOf, mentionedIn, namingUnknown } from "./mentions.ts";
import type { Parts } from "./parts.ts";
import { conversationRow } from "./rows.testing.ts";

const skill = (id: string, state: FoundSkill["state"] = "usable") =>
  partly<FoundSkill>({ id, state, skill: { description: `Does ${id}.` } });
const found = [
  ...[skill("write-file"), skill("pdf-forms"), skill("helper"), skill("off", "disabled"), skill("odd-one")],
  ...["pdf-form-a", "pdf-form-b", "pdf-form-c"].map((id) => skill(id)),
];
const usable = found.filter(({ id, state }) => state === "usable" && id !== "odd-one");
const roles = ["main", "Helper", "Writer"].map((id) => partly<AgentRole>({ id, description: `Is ${id}.` }));
const toolbox = openToolbox(builtins);
const parts = partly<Parts>({
  agents: () => roles,
  toolbox: () => toolbox,
  skills: {
    found: () => found,
    usable: () => usable,
    find: (name) => usable.find(({ id }) => id === name),
  },
});
const whose = { history: emptyHistory(), owner: localOwner };

test("a tool is meant before a skill of its name, and a skill before an agent, however the name is written [L4]", () => {
  const { tools, skills, agents, unknown } = mentionedIn(
    "@write-file @Read_File @PDF_Forms @helper @WRITER @nobody",
    whose,
    parts,
  );
  assert.deepEqual(
    [tools, skills.map(({ id }) => id), agents.map(({ id }) => id), unknown.map(({ name }) => name)],
    [["write_file", "read_file"], ["pdf-forms", "helper"], ["Writer"], ["nobody"]],
  );
});

test("of what is not there at most three names are told that were probably meant, and why a skill of that name is not used [L4][K1]", () => {
  const unknownOf = (name: string) => mentionedIn(`@${name}`, whose, parts).unknown[0];
  assert.equal(unknownOf("pdf-formx")?.near.length, 3);
  assert.deepEqual(unknownOf("Off"), { name: "Off", near: [], state: "disabled" });
  assert.equal(unknownOf("odd_one")?.state, "broken", "it lies there and cannot be used");
  assert.deepEqual(unknownOf("zzzzzzzz"), { name: "zzzzzzzz", near: [] });
});

test("what can be named is listed once by its first sentence, tools before skills before agents [L4]", () => {
  const items = itemsOf(whose, parts);
  const kinds = items.map(({ kind }) => kind);
  const order = ["tool", "skill", "agent"];
  assert.deepEqual([...new Set(kinds)], order);
  assert.deepEqual(
    kinds,
    kinds.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)),
  );
  assert.equal(new Set(items.map(({ name }) => name)).size, items.length);
  const { description } = items.find(({ name }) => name === "read_file") ?? assert.fail();
  const whole = toolbox.find("read_file")?.description ?? "";
  assert.ok(description.endsWith(".") && whole.startsWith(description));
  assert.ok(whole.length > description.length);
  assert.ok(items.some(({ kind, name }) => kind === "agent" && name === "Writer"));
});

test("who sends a message is told what it names and is not there, by their own words alone; without a name nobody looks [L4][R1]", async () => {
  const sending = async (message: { text: string; own?: number }, sent: unknown = ok({ message: "m", seq: 3 })) => {
    const done: unknown[] = [];
    const more = partly<Parts>({
      ...parts,
      skills: { ...parts.skills, look: async () => noted(done, "look", undefined) },
      log: { history: async (number) => noted(done, number, emptyHistory()) },
    });
    const send = namingUnknown(more, async () => sent as ReturnType<typeof ok<{ message: string; seq: number }>>);
    return [await send(conversationRow("c", 7), { mode: "queue", ...message }), done];
  };
  const plain = ok({ message: "m", seq: 3 });
  assert.deepEqual(await sending({ text: "hello" }), [plain, []]);
  assert.deepEqual(await sending({ text: "use @helper" }), [plain, ["look", 7]]);
  assert.deepEqual(await sending({ text: "hi\n@nobody said so", own: 2 }), [plain, []]);
  const unknownMentions = [{ name: "nobody", near: [] }];
  assert.deepEqual(await sending({ text: "@nobody" }), [ok({ ...plain.value, unknownMentions }), ["look", 7]]);
  const full = failure("storage_full", {});
  assert.deepEqual(await sending({ text: "@nobody" }, full), [full, []]);
});
