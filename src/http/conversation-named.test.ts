import assert from "node:assert/strict";
import { test } from "node:test";
import { placeNamed } from "./conversation-named.ts";

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
