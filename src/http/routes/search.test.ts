import assert from "node:assert/strict";
import { test } from "node:test";
import { ok } from "../../base/result.ts";
import { makeFailure } from "../../protocol/failure.ts";
import { asked, partsWith } from "./handling.testing.ts";
import { searchHandlers } from "./search.ts";

const conversation = { id: "c", title: "T", number: 7, owner: "local" };
const usual = { hits: [], missing: [], repaired: [], unsearched: [], total: 0 };

async function found(of: object) {
  const { search } = searchHandlers(partsWith({ lookup: { find: async () => ok({ ...usual, ...of }) } }));
  const answer = await search(asked("search", { query: { q: "w", in: "all", limit: 5 } }));
  assert.ok(answer.ok);
  return answer.value;
}

test("what is found is told with its conversation by id and title alone, words and passages alike [D2][Q1]", async () => {
  const message = { kind: "message", conversation, seq: 3, text: "a" };
  const passage = { kind: "passage", conversation, path: "a.md", headings: ["H"], text: "b" };
  const named = { conversation: { id: "c", title: "T" } };
  assert.deepEqual((await found({ hits: [message, passage] })).items, [
    { ...message, ...named },
    { ...passage, ...named },
  ]);
});

test("what could not be searched yet is told with why, what was read since is not, and so is what a search by meaning lacks [D2][P4]", async () => {
  const file = { conversation: "c", path: "a.pdf", state: "failed", done: 1, of: 2 };
  const failure = makeFailure("document_locked", { name: "a.pdf", why: "password" });
  const told = await found({
    unsearched: [
      { ...file, failure },
      { ...file, state: "waiting" },
      { ...file, state: "indexed" },
    ],
    missing: ["x"],
    repaired: [{ said: "wrod", meant: "word", extra: 1 }],
  });
  assert.deepEqual(told.unsearched, [
    { ...file, code: "document_locked" },
    { ...file, state: "waiting" },
  ]);
  assert.deepEqual([told.missing, told.repaired, told.meaning], [["x"], [{ said: "wrod", meant: "word" }], undefined]);
  const meaning = async (trouble?: object) => (await found({ meaning: { passages: 4, embedded: 3, trouble } })).meaning;
  assert.deepEqual(await meaning(), { passages: 4, embedded: 3 });
  assert.deepEqual(await meaning({ why: "limit" }), { passages: 4, embedded: 3, trouble: "limit" });
  assert.deepEqual(await meaning({ why: "error", error: { kind: "network" } }), {
    ...{ passages: 4, embedded: 3, trouble: "network" },
  });
});
