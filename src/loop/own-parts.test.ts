import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type TestContext, test } from "node:test";
import type { NewEvent } from "../protocol/events.ts";
import { localOwner } from "../protocol/ids.ts";
import { readOwnParts } from "./own-parts.ts";
import type { Parts } from "./parts.ts";
import { keepOne } from "./tenure.testing.ts";

const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");
const upload = (path: string, text = path, bytes = text.length): NewEvent => ({
  ...{ type: "file.changed", path, by: "upload", after: { hash: hashOf(text), bytes, mode: 0o644 } },
});

type Lying = { files?: Record<string, string>; recipe?: object; facts?: string[] };

/** What is the user's own after these uploads; `files`: what lies there now, where it is not what was uploaded. */
async function ownAfter(
  t: TestContext,
  events: readonly NewEvent[],
  { files = {}, recipe, facts = ["likes tea"] }: Lying = {},
) {
  const made = { type: "recipe.set", cause: "start", tools: "[]", startedAt: 0, ...recipe } as NewEvent;
  const before = [...events, ...(recipe === undefined ? [] : [made])];
  const kept = await keepOne(t, { before });
  const { parts: all, tenure, conversation, real } = kept;
  for (const fact of facts)
    assert.ok((await real.putMemory({ owner: localOwner, id: fact, fact, conversation: undefined, at: 1 })).ok);
  const workspace = all.workspaces.ofConversation(conversation);
  for (const event of events) {
    const { path } = event as Extract<NewEvent, { type: "file.changed" }>;
    const text = files[path] ?? path;
    if (text !== "") assert.ok((await workspace.write(path, text)).ok);
  }
  /** What was looked at, which answers as it does. */
  const read: unknown[] = [];
  const parts: Parts = {
    ...all,
    storage: {
      ...all.storage,
      listMemory(...given) {
        read.push("memory");
        return all.storage.listMemory(...given);
      },
    },
    workspaces: {
      ...all.workspaces,
      ofConversation: () => ({
        ...workspace,
        read(...given) {
          read.push(given);
          return workspace.read(...given);
        },
      }),
    },
  };
  return { ...(await readOwnParts(tenure.root, parts)), read };
}

test("of several files of instructions the one that is meant for agents, in the user's own folder and spelt as usual is in force; of equals the newest [Z3]", async (t) => {
  const ranked = [
    ...["uploads/AGENTS.md", "uploads/agents.md", "uploads/temparea/AGENTS.md", "uploads/temparea/Agents.md"],
    ...["uploads/CLAUDE.md", "uploads/Claude.md", "uploads/temparea/CLAUDE.md", "uploads/temparea/claude.md"],
  ];
  for (const [index, path] of ranked.entries()) {
    const { instructions } = await ownAfter(
      t,
      ranked
        .slice(index)
        .toReversed()
        .map((one) => upload(one)),
    );
    assert.equal(instructions?.path, path);
  }
  const equal = ["uploads/agents.md", "uploads/Agents.md"];
  for (const paths of [equal, equal.toReversed()])
    assert.equal(
      (
        await ownAfter(
          t,
          paths.map((path) => upload(path)),
        )
      ).instructions?.path,
      paths[1],
    );
});

test("instructions are in force as the user put them there; what is too large or was changed by others is not, unless it was in force before [Z3][R1]", async (t) => {
  const path = "uploads/AGENTS.md";
  const { instructions, read } = await ownAfter(t, [upload(path, "be kind")], { files: { [path]: "be kind" } });
  assert.match(instructions?.text ?? "", /be kind/);
  assert.deepEqual(read.at(-1), [path, { bytesMax: 4 * 1024 * 1024 }]);
  const changed = { files: { [path]: "be rude" } };
  assert.equal((await ownAfter(t, [upload(path, "be kind")], changed)).instructions, undefined);
  assert.equal((await ownAfter(t, [upload(path, "be kind")], { files: { [path]: "" } })).instructions, undefined);
  const limit = 4 * 1024 * 1024;
  const sized = async (bytes: number) => (await ownAfter(t, [upload(path, path, bytes)])).instructions?.path;
  assert.deepEqual([await sized(limit), await sized(limit + 1)], [path, undefined]);

  const inForce = (of: string, hash: string) => ({
    ...changed,
    recipe: { system: "We say: be kind.", instructions: { at: 8, length: 7, path: of, hash } },
  });
  const kept = await ownAfter(t, [upload(path, "be kind")], inForce(path, hashOf("be kind")));
  assert.deepEqual(kept.instructions, { path, hash: hashOf("be kind"), text: "be kind" });
  for (const before of [inForce("uploads/CLAUDE.md", hashOf("be kind")), inForce(path, hashOf("be calm"))])
    assert.equal((await ownAfter(t, [upload(path, "be kind")], before)).instructions, undefined);
  assert.equal((await ownAfter(t, [], inForce(path, hashOf("be kind")))).instructions, undefined);
});

test("what is to be known in every conversation stands in the prompt as it was at its start, and is not looked up again [Z4][L3]", async (t) => {
  const fresh = await ownAfter(t, []);
  assert.match(fresh.notes ?? "", /likes tea/);
  assert.deepEqual(fresh.read, ["memory"]);
  assert.equal("notes" in (await ownAfter(t, [], { facts: [] })), false);
  const recipe = { system: "We say: likes milk.", notes: { at: 8, length: 10 } };
  const later = await ownAfter(t, [], { recipe });
  assert.deepEqual([later.notes, later.read], ["likes milk", []]);
  assert.equal((await ownAfter(t, [], { recipe: { system: "We say." } })).notes, undefined);
});
