import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { skillText } from "../../test/world/skill-folder.ts";
import { ok } from "../base/result.ts";
import { emptyHistory } from "../log/log.ts";
import type { AgentRole } from "../protocol/agent.ts";
import { failure } from "../protocol/failure.ts";
import { localOwner } from "../protocol/ids.ts";
import type { Storage } from "../storage/storage.ts";
import { openDriver } from "./driver.ts";
import { leftOver } from "./left-over.testing.ts";
import { itemsOf, mentionedIn } from "./mentions.ts";
import { openMessages } from "./messages.ts";
import type { Parts } from "./parts.ts";

const names = ["write-file", "pdf-forms", "helper", "off", "pdf-form-a", "pdf-form-b", "pdf-form-c"];
const files = {
  ...Object.fromEntries(names.map((id) => [`skills/${id}/SKILL.md`, skillText(id, `Does ${id}.`)])),
  "skills/odd-one/SKILL.md": "of whatever",
};
const roles = ["main", "Helper", "Writer"].map(
  (id): AgentRole => ({ id, name: id, description: `Is ${id}.`, prompt: undefined, tools: undefined, slot: undefined }),
);
const whose = { history: emptyHistory(), owner: localOwner };

/** With skills of which one is switched off and one cannot be read; nobody has looked for them yet. */
async function unseen(t: TestContext, wrap?: (real: Storage) => Storage) {
  const off = { isEnabled: false, source: "config/skills.yaml:1", fileTypes: [] };
  const left = await leftOver(t, { files, skills: { off }, wrap });
  const parts: Parts = { ...left.parts, agents: () => roles };
  return { ...left, parts };
}

async function naming(t: TestContext) {
  const { parts } = await unseen(t);
  await parts.skills.look();
  return parts;
}

test("a tool is meant before a skill of its name, and a skill before an agent, however the name is written [L4]", async (t) => {
  const parts = await naming(t);
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

test("of what is not there at most three names are told that were probably meant, and why a skill of that name is not used [L4][K1]", async (t) => {
  const parts = await naming(t);
  const unknownOf = (name: string) => mentionedIn(`@${name}`, whose, parts).unknown[0];
  assert.equal(unknownOf("pdf-formx")?.near.length, 3);
  assert.deepEqual(unknownOf("Off"), { name: "Off", near: [], state: "disabled" });
  assert.equal(unknownOf("odd_one")?.state, "broken", "it lies there and cannot be used");
  assert.deepEqual(unknownOf("zzzzzzzz"), { name: "zzzzzzzz", near: [] });
});

test("what can be named is listed once by its first sentence, tools before skills before agents [L4]", async (t) => {
  const parts = await naming(t);
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
  const whole = parts.toolkit(localOwner).find("read_file")?.description ?? "";
  assert.ok(description.endsWith(".") && whole.startsWith(description));
  assert.ok(whole.length > description.length);
  assert.ok(items.some(({ kind, name }) => kind === "agent" && name === "Writer"));
});

test("who sends a message is told what it names and is not there, by their own words alone; without a name nobody looks [L4][R1]", async (t) => {
  const sending = async (message: { text: string; own?: number }, isFull = false) => {
    const full = async () => failure("storage_full", {});
    const { parts, start, homes } = await unseen(t, (real) => ({ ...real, ...(isFull && { append: full }) }));
    // It lives with another server: nobody here begins to answer.
    Object.assign(homes, { holds: async () => false });
    const driver = openDriver(parts);
    t.after(() => driver.close());
    const { send } = openMessages(parts, driver);
    const sent = await send(await start("c"), { id: "m", mode: "queue", ...message });
    return [sent, parts.skills.found().length > 0];
  };
  const plain = ok({ message: "m", seq: 1 });
  assert.deepEqual(await sending({ text: "hello" }), [plain, false]);
  assert.deepEqual(await sending({ text: "use @helper" }), [plain, true]);
  assert.deepEqual(await sending({ text: "hi\n@nobody said so", own: 2 }), [plain, false]);
  const unknownMentions = [{ name: "nobody", near: [] }];
  assert.deepEqual(await sending({ text: "@nobody" }), [ok({ ...plain.value, unknownMentions }), true]);
  assert.deepEqual(await sending({ text: "@nobody" }, true), [failure("storage_full", {}), false]);
});
