import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { partly } from "../../test/world/partly.ts";
import type { NewEvent } from "../protocol/events.ts";
import { failure } from "../protocol/failure.ts";
import { localOwner } from "../protocol/ids.ts";
import type { FoundSkill } from "../skills/skills.ts";
import { leftOver } from "./left-over.testing.ts";
import type { Parts } from "./parts.ts";
import { openSkillList } from "./skills.ts";

const skill = (id: string, state: FoundSkill["state"], shown = `~/${id}`) =>
  partly<FoundSkill>({ id, state, shown, fileTypes: [], skill: { description: `Does ${id}.` } });
const all = [
  ...[skill("pdf", "shadowed", "~/far/pdf"), skill("pdf", "usable"), skill("off", "disabled", "~/off here")],
  ...[skill("tables", "usable"), skill("torn", "broken")],
];

async function listing(t: TestContext) {
  const { parts: own, start } = await leftOver(t);
  let looks = 0;
  const found = () => (looks === 0 ? [] : all);
  const parts = partly<Parts>({
    ...own,
    skills: {
      async look() {
        looks += 1;
      },
      found,
      usable: () => found().filter(({ state }) => state === "usable"),
      missing: (name) => failure("skill_not_found", { skill: name, near: "" }),
    },
  });
  return { ...openSkillList(parts), start };
}

test("all skills are listed as they lie there now, with what became of each in a conversation [K1]", async (t) => {
  const { skills, start } = await listing(t);
  const { items, tokensMax } = await skills(localOwner);
  assert.deepEqual(
    items.map(({ found, state, use }) => [found.id, state, use]),
    [
      ["pdf", "shadowed", undefined],
      ["pdf", "offered", undefined],
      ["off", "disabled", undefined],
      ["tables", "offered", undefined],
      ["torn", "broken", undefined],
    ],
  );
  assert.ok(tokensMax > 0);
  const linked = { type: "skill.linked", turn: 2, skill: "pdf", because: "mention" } as const;
  const events: NewEvent[] = [linked, { type: "file.known", path: "skills/tables/SKILL.md", hash: "h" }];
  const here = await skills(localOwner, await start("c", ...events));
  assert.deepEqual(
    here.items.slice(1, 4).map(({ use }) => use),
    [
      { linked: { turn: 2, because: "mention", file: null }, isRead: false },
      { linked: null, isRead: false },
      { linked: null, isRead: true },
    ],
  );
});

test("of several skills of one name the one that is used is explained; one that is not used is found by its folder [K1]", async (t) => {
  const { explainSkill } = await listing(t);
  const explained = async (name: string) => {
    const answer = await explainSkill(localOwner, name);
    return answer.ok ? [answer.value.found.shown, answer.value.state, answer.value.tokensMax > 0] : answer.failure.code;
  };
  assert.deepEqual(
    [await explained("pdf"), await explained("~/far/pdf"), await explained("off"), await explained("none")],
    [["~/pdf", "offered", true], ["~/far/pdf", "shadowed", true], ["~/off here", "disabled", true], "skill_not_found"],
  );
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
