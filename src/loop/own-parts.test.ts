import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { noted, partly } from "../../test/world/partly.ts";
import { talkOf } from "../../test/world/talk.ts";
import { ok } from "../base/result.ts";
import type { Recipe } from "../log/log.ts";
import type { NewEvent } from "../protocol/events.ts";
import { failure } from "../protocol/failure.ts";
import { readOwnParts } from "./own-parts.ts";
import type { Parts } from "./parts.ts";
import { conversationRow } from "./rows.testing.ts";
import type { Run } from "./run.ts";

const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");
const upload = (path: string, text = path, bytes = text.length): NewEvent => ({
  ...{ type: "file.changed", path, by: "upload", after: { hash: hashOf(text), bytes, mode: 0o644 } },
});

type Lying = { files?: Record<string, string>; recipe?: object; facts?: string[] };

/** What is the user's own after these uploads; `files`: what lies there now, where it is not what was uploaded. */
async function ownAfter(events: readonly NewEvent[], { files = {}, recipe, facts = ["likes tea"] }: Lying = {}) {
  const talk = talkOf([]);
  talk.add(...events);
  talk.history.recipe = recipe && partly<Recipe>({ systemMessage: {}, ...recipe });
  const read: unknown[] = [];
  const parts = partly<Parts>({
    models: { get: (slot) => noted(read, slot, { windowTokens: 16_000 }) },
    storage: {
      listMemory: async (owner) =>
        noted(
          read,
          owner,
          facts.map((fact) => ({ fact })),
        ),
    },
    workspaces: {
      ofConversation: () => ({
        read: async (path: string, options: object) => {
          const text = files[path] ?? path;
          const found = text === "" ? failure("file_not_found", { path, near: "" }) : ok({ bytes: Buffer.from(text) });
          return noted(read, [path, options], found);
        },
      }),
    },
  });
  const own = await readOwnParts(partly<Run>({ conversation: conversationRow("c"), history: talk.history }), parts);
  return { ...own, read };
}

test("of several files of instructions the one that is meant for agents, in the user's own folder and spelt as usual is in force; of equals the newest [Z3]", async () => {
  const ranked = [
    ...["uploads/AGENTS.md", "uploads/agents.md", "uploads/temparea/AGENTS.md", "uploads/temparea/Agents.md"],
    ...["uploads/CLAUDE.md", "uploads/Claude.md", "uploads/temparea/CLAUDE.md", "uploads/temparea/claude.md"],
  ];
  for (const [index, path] of ranked.entries()) {
    const { instructions } = await ownAfter(
      ranked
        .slice(index)
        .toReversed()
        .map((one) => upload(one)),
    );
    assert.equal(instructions?.path, path);
  }
  const equal = ["uploads/agents.md", "uploads/Agents.md"];
  for (const paths of [equal, equal.toReversed()])
    assert.equal((await ownAfter(paths.map((path) => upload(path)))).instructions?.path, paths[1]);
});

test("instructions are in force as the user put them there; what is too large or was changed by others is not, unless it was in force before [Z3][R1]", async () => {
  const path = "uploads/AGENTS.md";
  const { instructions, read } = await ownAfter([upload(path, "be kind")], { files: { [path]: "be kind" } });
  assert.match(instructions?.text ?? "", /be kind/);
  assert.deepEqual(read.at(-1), [path, { bytesMax: 4 * 1024 * 1024 }]);
  const changed = { files: { [path]: "be rude" } };
  assert.equal((await ownAfter([upload(path, "be kind")], changed)).instructions, undefined);
  assert.equal((await ownAfter([upload(path, "be kind")], { files: { [path]: "" } })).instructions, undefined);
  const limit = 4 * 1024 * 1024;
  const sized = async (bytes: number) => (await ownAfter([upload(path, path, bytes)])).instructions?.path;
  assert.deepEqual([await sized(limit), await sized(limit + 1)], [path, undefined]);

  const inForce = (of: string, hash: string) => ({
    ...changed,
    recipe: { system: "We say: be kind.", instructions: { at: 8, length: 7, path: of, hash } },
  });
  const kept = await ownAfter([upload(path, "be kind")], inForce(path, hashOf("be kind")));
  assert.deepEqual(kept.instructions, { path, hash: hashOf("be kind"), text: "be kind" });
  for (const before of [inForce("uploads/CLAUDE.md", hashOf("be kind")), inForce(path, hashOf("be calm"))])
    assert.equal((await ownAfter([upload(path, "be kind")], before)).instructions, undefined);
  assert.equal((await ownAfter([], inForce(path, hashOf("be kind")))).instructions, undefined);
});

test("what is to be known in every conversation stands in the prompt as it was at its start, and is not looked up again [Z4][L3]", async () => {
  const fresh = await ownAfter([]);
  assert.match(fresh.notes ?? "", /likes tea/);
  assert.deepEqual(fresh.read, ["local", "base"]);
  assert.equal("notes" in (await ownAfter([], { facts: [] })), false);
  const recipe = { system: "We say: likes milk.", notes: { at: 8, length: 10 } };
  const later = await ownAfter([], { recipe });
  assert.deepEqual([later.notes, later.read], ["likes milk", ["base"]]);
  assert.equal((await ownAfter([], { recipe: { system: "We say." } })).notes, undefined);
});
