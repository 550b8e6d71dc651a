import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { skillText } from "../../test/world/skill-folder.ts";
import type { NewEvent } from "../protocol/events.ts";
import { localOwner } from "../protocol/ids.ts";
import { leftOver } from "./left-over.testing.ts";
import { openSkillList } from "./skills.ts";

const files = {
  "near/pdf/SKILL.md": "torn",
  ...Object.fromEntries(
    ["near/tables", "skills/off", "skills/pdf", "skills/tables"].map((path) => [
      `${path}/SKILL.md`,
      skillText(path.slice(path.indexOf("/") + 1)),
    ]),
  ),
};

async function listing(t: TestContext) {
  const off = { isEnabled: false, source: "config/skills.yaml:1", fileTypes: [] };
  const { parts, start } = await leftOver(t, { files, skills: { off } });
  return { ...openSkillList(parts), start };
}

test("all skills are listed as they lie there now, with what became of each in a conversation [K1]", async (t) => {
  const { skills, start } = await listing(t);
  const { items, tokensMax } = await skills(localOwner);
  assert.deepEqual(
    items.map(({ found, state, use }) => [found.shown, state, use]),
    [
      ["near/pdf", "broken", undefined],
      ["near/tables", "offered", undefined],
      ["skills/off", "disabled", undefined],
      ["skills/pdf", "offered", undefined],
      ["skills/tables", "shadowed", undefined],
    ],
  );
  assert.ok(tokensMax > 0);
  const linked = { type: "skill.linked", turn: 2, skill: "pdf", because: "mention" } as const;
  const events: NewEvent[] = [linked, { type: "file.known", path: "skills/tables/SKILL.md", hash: "h" }];
  const here = await skills(localOwner, await start("c", ...events));
  assert.deepEqual(
    here.items.slice(1, 4).map(({ use }) => use),
    [
      { linked: null, isRead: true },
      { linked: null, isRead: false },
      { linked: { turn: 2, because: "mention", file: null }, isRead: false },
    ],
  );
});

test("of several skills of one name the one that is used is explained; one that is not used is found by its folder [K1]", async (t) => {
  const { explainSkill } = await listing(t);
  const explained = async (name: string) => {
    const answer = await explainSkill(localOwner, name);
    return answer.ok ? [answer.value.found.shown, answer.value.state, answer.value.tokensMax > 0] : answer.failure.code;
  };
  assert.deepEqual(await explained("pdf"), ["skills/pdf", "offered", true]);
  assert.deepEqual(await explained("near/pdf"), ["near/pdf", "broken", true]);
  assert.deepEqual(await explained("skills/tables"), ["skills/tables", "shadowed", true]);
  assert.deepEqual(await explained("off"), ["skills/off", "disabled", true]);
  assert.equal(await explained("none"), "skill_not_found");
});

test("what can be named is found by how it begins, with an @ before it or not and however it is written, and is counted beyond the page [L4]", async (t) => {
  const { mentions } = await listing(t);
  const named = async (prefix: string, limit: number) => {
    const { items, total } = await mentions(localOwner, { prefix, limit });
    return [items.map(({ kind, name }) => `${kind} ${name}`), total];
  };
  assert.deepEqual(await named("PD", 5), [["skill pdf"], 1]);
  assert.deepEqual(await named("@pd", 5), [["skill pdf"], 1]);
  assert.deepEqual(await named("off", 5), [[], 0]);
  const [names, total] = await named("", 2);
  assert.deepEqual([Object(names).length, Number(total) > 2], [2, true]);
});
