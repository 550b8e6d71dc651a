import assert from "node:assert/strict";
import { test } from "node:test";
import { ok } from "../../base/result.ts";
import { failure } from "../../protocol/failure.ts";
import { OwnerId } from "../../protocol/ids.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { wordsFor } from "../../words/words.ts";
import { asked, noted, partsWith } from "./handling.testing.ts";
import { skillHandlers } from "./skills.ts";

const ann = OwnerId.parse("ann");
const row = { id: "c", number: 7, owner: ann } as ConversationRow;
const missing = failure("conversation_not_found", { id: "x" });
const { why } = wordsFor("en").skills;
const pdf = {
  ...{ id: "pdf", shown: "~/.agents/skills/pdf", place: { kind: "user" }, problems: [], fileTypes: ["pdf", "docx"] },
  skill: { description: "Reads.", license: "MIT", compatibility: undefined, allowedTools: ["run_code"] },
};

/** A skill in this state, and what the engine was asked. */
function having(of: object, done: unknown[] = []) {
  const listed = { found: pdf, state: "offered", use: undefined, ...of };
  return skillHandlers(
    partsWith({
      log: { find: async (owner, id) => (owner === ann && id === "c" ? ok(row) : missing) },
      engine: {
        skills: async (...asking) => noted(done, asking, { items: [listed], tokensMax: 9 }),
        explainSkill: async (...asking) => noted(done, asking, ok({ ...listed, tokensMax: 9 })),
        mentions: async (...asking) => noted(done, asking, { items: [] }),
      },
    }),
  );
}

async function reasons(of: object): Promise<unknown> {
  const call = { owner: ann, params: { skill: "pdf" }, query: {} };
  const answer = await having(of).explainSkill(asked("explainSkill", call));
  return answer.ok && answer.value.reasons;
}

test("why a skill is offered or not is told first, and what became of it in the conversation only where it can be used [K1][P4]", async () => {
  const used = { linked: null, isRead: false };
  const kept = {
    ...{ broken: why.broken(), untrusted: why.untrusted(), disabled: why.disabled({ source: "skills.yaml" }) },
    shadowed: why.shadowed({ by: "" }),
  };
  for (const [state, reason] of Object.entries(kept)) assert.deepEqual(await reasons({ state, use: used }), [reason]);
  const named = { ...pdf, source: "config/skills.yaml:4", by: "./skills" };
  assert.deepEqual(await reasons({ state: "disabled", found: named }), [why.disabled({ source: named.source })]);
  assert.deepEqual(await reasons({ state: "shadowed", found: named }), [why.shadowed({ by: "./skills" })]);
  assert.deepEqual(await reasons({}), [why.offered()], "where no conversation is named");
  const trigger = why.trigger({ types: ".pdf, .docx" });
  assert.deepEqual(await reasons({ use: used }), [why.offered(), why.notLinked(), trigger, why.notRead()]);
  assert.deepEqual(await reasons({ state: "cut", use: { ...used, isRead: true } }), [
    ...[why.cut({ max: 9 }), why.notLinked(), trigger, why.read()],
  ]);
  const plain = { use: used, found: { ...pdf, fileTypes: [] } };
  assert.deepEqual(await reasons(plain), [why.offered(), why.notLinked(), why.noTrigger(), why.notRead()]);
  const linked = (because: string, file?: string) => ({ use: { linked: { turn: 2, because, file }, isRead: true } });
  assert.deepEqual(await reasons(linked("mention")), [why.offered(), why.mention({ turn: 2 }), why.read()]);
  assert.deepEqual(await reasons(linked("file_type", "a.pdf")), [
    ...[why.offered(), why.file_type({ turn: 2, file: "a.pdf" }), why.read()],
  ]);
});

test("a skill is told with what its file says, what is wrong in it and what to write, and one that cannot be read as well [K1][P4]", async () => {
  const told = async (of: object) => {
    const answer = await having(of).listSkills(asked("listSkills", { owner: ann, query: {} }));
    return answer.ok && [answer.value.items[0], answer.value.tokensMax];
  };
  const shown = {
    ...{ id: "pdf", state: "offered", place: "~/.agents/skills/pdf", kind: "user", description: "Reads.", use: null },
    ...{ license: "MIT", compatibility: null, allowedTools: ["run_code"], fileTypes: ["pdf", "docx"], notes: [] },
  };
  assert.deepEqual(await told({}), [shown, 9]);
  const problems = [
    { fault: "no_front_matter", grade: "error", line: 3 },
    { fault: "no_front_matter", grade: "warning" },
  ];
  const [what, instead] = wordsFor("en").skills.fault({ fault: "no_front_matter" });
  assert.deepEqual(await told({ state: "broken", found: { ...pdf, skill: undefined, problems } }), [
    {
      ...{ ...shown, state: "broken", description: "", license: null, allowedTools: [] },
      notes: [
        { fault: "no_front_matter", grade: "error", line: 3, what, instead },
        { fault: "no_front_matter", grade: "warning", line: null, what, instead },
      ],
    },
    9,
  ]);
});

test("skills and names are those of the caller's conversation where one is named, and of none that is not there [K1][S7]", async () => {
  const done: unknown[] = [];
  const { listSkills, explainSkill, listMentions } = having({}, done);
  const all = async (conversation?: string) => {
    const query = { conversation };
    const answers = [
      await listSkills(asked("listSkills", { owner: ann, query })),
      await explainSkill(asked("explainSkill", { owner: ann, params: { skill: "pdf" }, query })),
      await listMentions(asked("listMentions", { owner: ann, query: { ...query, prefix: "p" } })),
    ];
    return answers.map((answer) => answer.ok || answer.failure.code);
  };
  assert.deepEqual(await all("c"), [true, true, true]);
  assert.deepEqual(done.splice(0), [
    [ann, row],
    [ann, "pdf", row],
    [ann, { conversation: "c", prefix: "p" }, row],
  ]);
  assert.deepEqual(
    [await all(), done.splice(0)[0]],
    [
      [true, true, true],
      [ann, undefined],
    ],
  );
  assert.deepEqual([await all("x"), done], [Array(3).fill("conversation_not_found"), []]);
});
