import assert from "node:assert/strict";
import { test } from "node:test";
import { ok } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { localOwner } from "../protocol/ids.ts";
import type { ConversationRow } from "../storage/storage.ts";
import { adoptConversation, placeNamed } from "./conversation-named.ts";
import { noted, partsWith } from "./routes/handling.testing.ts";

type Sent = {
  readonly body?: { readonly [name: string]: unknown };
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

const places: [sent: Sent, id: string | undefined, folder?: string][] = [
  [{}, undefined],
  [{ body: { conversation_id: "a" }, query: "b" }, "a"],
  [{ query: "b", headers: { conversation_id: "c" } }, "b"],
  [{ headers: { conversation_id: "c", "x-conversation-id": "d" } }, "c"],
  [{ headers: { "x-conversation-id": "d" }, body: { event: { conversation_id: "e" } } }, "d"],
  [{ body: { event: { conversation_id: "e" }, working_directory: "f" } }, "e", "f"],
  [{ body: { event: { conversation_id: 7 } } }, undefined],
  [{ body: { working_directory: "f/outputs/x" } }, "f", "outputs/x"],
  [{ body: { working_directory: "/workspace/f" } }, "f"],
  [{ body: { working_directory: "/workspace/f/uploads/temparea/" } }, "f", "uploads/temparea"],
  [{ body: { working_directory: "/workspace" } }, undefined],
  [{ body: { working_directory: "/workspace/a/temp", conversation_id: "a" } }, "a", "temp"],
  [{ body: { working_directory: "a/./temp", conversation_id: "a" } }, "a", "temp"],
  [{ body: { working_directory: "/workspace/outputs", conversation_id: "a" } }, "a", "outputs"],
  [{ body: { working_directory: "src", conversation_id: "a" } }, "a", "src"],
  // It is for the sandbox to say what is wrong with it.
  [{ body: { working_directory: "/workspace/a/../b" } }, "a", "../b"],
];

test("a program names its conversation by one of five fields, or by the folder it works in [X2]", () => {
  const told = places.map(([sent]) => {
    const place = placeNamed(asked(sent));
    assert.ok(place.ok);
    const { id, folder } = place.value;
    return folder === undefined ? [sent, id] : [sent, id, folder];
  });
  assert.deepEqual(told, places);
});

test("a folder that is nobody's is refused with the reason [X2]", () => {
  const refused = [
    { working_directory: "/etc" },
    { working_directory: "/workspaces/a" },
    { working_directory: "outputs" },
    { working_directory: "/workspace/b/temp", conversation_id: "a" },
  ].map((body) => {
    const place = placeNamed(asked({ body }));
    return place.ok ? "taken" : place.failure.params.what;
  });
  assert.deepEqual(refused, [
    "body.working_directory: is not below /workspace",
    "body.working_directory: is not below /workspace",
    "body.working_directory: needs conversation_id",
    "body.working_directory: is another conversation's",
  ]);
});

function asked({ body = {}, query, headers = {} }: Sent) {
  return {
    body: { code: "1", language: "python", timeout: 30, ...body } as const,
    query: { conversation_id: query },
    header: (name: string) => headers[name],
  };
}

test("a conversation is the caller's own, one that nobody has had becomes theirs, and two who come at once mean the same one [C1][S7]", async () => {
  const row = { id: "c", number: 7, owner: localOwner } as ConversationRow;
  const missing = failure("conversation_not_found", { id: "c" });
  const adopted = async (
    id: string,
    { found = [ok(row)], made = ok(row) }: { found?: (typeof missing | Ok)[]; made?: Failed | Ok } = {},
  ) => {
    const done: unknown[] = [];
    const answers = [...found];
    const parts = partsWith({
      log: { find: async (...of) => noted(done, ["find", ...of], answers.shift() ?? assert.fail()) },
      engine: { create: async (...of) => noted(done, ["create", ...of], made) },
    });
    const answer = await adoptConversation(parts, localOwner, id, { title: "T" });
    return [answer.ok ? answer.value : answer.failure.code, ...done];
  };
  const find = ["find", "local", "c"];
  const create = ["create", "local", { title: "T", id: "c" }];
  assert.deepEqual(await adopted("c"), [row, find]);
  assert.deepEqual(await adopted("c", { found: [missing] }), [row, find, create]);
  const exists = failure("conversation_exists", { id: "c" });
  assert.deepEqual(await adopted("c", { found: [missing, ok(row)], made: exists }), [row, find, create, find]);
  assert.deepEqual(await adopted("c", { found: [missing, missing], made: exists }), [
    ...["conversation_not_found", find, create, find],
  ]);
  const full = failure("storage_full", {});
  assert.deepEqual(await adopted("c", { found: [missing], made: full }), ["storage_full", find, create]);
  assert.deepEqual(await adopted("no id"), ["bad_request"]);
});

type Ok = { readonly ok: true; readonly value: ConversationRow };
type Failed = { readonly ok: false; readonly failure: Failure };
