import assert from "node:assert/strict";
import { test } from "node:test";
import { filePlace, isBareName, type PlaceWanted } from "./file-place.ts";
import { type Seeking, wantedPlace } from "./seek-file.ts";

/** Below a conversation, or why there is no such place. */
const places: readonly (readonly [PlaceWanted, string])[] = [
  [{}, "conversation_not_named"],
  [{ subdir: "outputs" }, "conversation_not_named"],
  [{ conversationId: "c" }, "c uploads/temparea"],
  [{ conversationId: "c", subdir: "temparea/deep" }, "c uploads/temparea/deep"],
  [{ conversationId: "c", subdir: "uploads" }, "c uploads"],
  [{ conversationId: "c", subdir: "outputs/x" }, "c outputs/x"],
  [{ conversationId: "c", subdir: "temp" }, "c temp"],
  [{ conversationId: "c", subdir: "skills" }, "bad_request"],
  [{ conversationId: "c", subdir: "/workspace/outputs" }, "c outputs"],
  [{ path: "c/outputs/a.txt" }, "c outputs/a.txt"],
  [{ path: "/workspace/c/outputs/a.txt" }, "c outputs/a.txt"],
  [{ path: "c" }, "c ."],
  [{ path: "/workspace" }, "conversation_not_named"],
  [{ path: "uploads/a.txt" }, "conversation_not_named"],
  [{ path: "outputs/a.txt" }, "conversation_not_named"],
  [{ path: "temp/a.txt" }, "conversation_not_named"],
  [{ path: "skills/a.txt" }, "conversation_not_named"],
  [{ path: "/workspaces/a.txt" }, "path_traversal_blocked"],
  [{ conversationId: "c", path: "a.txt" }, "c uploads/temparea/a.txt"],
  [{ conversationId: "c", path: "a.txt", subdir: "outputs" }, "c outputs/a.txt"],
  [{ conversationId: "c", path: "x/a.txt", subdir: "temparea" }, "c uploads/temparea/x/a.txt"],
  [{ conversationId: "c", path: "outputs/a.txt" }, "c outputs/a.txt"],
  [{ conversationId: "c", path: "skills/a.txt" }, "c skills/a.txt"],
  [{ conversationId: "c", path: "outputs/a.txt", subdir: "temp" }, "c temp/outputs/a.txt"],
  [{ conversationId: "c", path: "c/outputs/a.txt" }, "c outputs/a.txt"],
  [{ conversationId: "c", path: "c" }, "c ."],
  [{ conversationId: "c", path: "." }, "c ."],
  [{ conversationId: "c", path: ".", subdir: "outputs" }, "c outputs"],
  [{ conversationId: "c", path: "/workspace/temp/a.txt" }, "c temp/a.txt"],
  [{ conversationId: "c", path: "/workspace/temp/a.txt", subdir: "outputs" }, "bad_request"],
  [{ conversationId: "c", path: "/workspace/c2/outputs/a.txt" }, "bad_request"],
  [{ conversationId: "c", path: "../c2/a.txt" }, "path_traversal_blocked"],
  [{ conversationId: "c", path: "a.txt", subdir: "../c2" }, "path_traversal_blocked"],
];

test("a file is where its path, its folder and its conversation say together, however they say it [S3][S4]", () => {
  const found = places.map(([wanted]) => {
    const place = filePlace(wanted);
    return [wanted, place.ok ? `${place.value.conversationId} ${place.value.path}` : place.failure.code];
  });
  assert.deepEqual(found, places);
  const names = ["a.txt", "c/a.txt", "", ".", "/a.txt"];
  assert.deepEqual(names.filter(isBareName), ["a.txt"]);
});

test("a place is named in the query, else in a form, else in headers of either spelling [S3][S4]", () => {
  const seeking = (query: Seeking["query"], headers: Readonly<Record<string, string>>): Seeking => ({
    ...{ actsAs: undefined, caller: { signedIn: undefined, scopes: [] }, params: { id: "s" }, query },
    header: (name) => headers[name],
  });
  const query = { conversation_id: "q", subdir: "of-q" };
  const fields = new Map([
    ["conversation_id", "f"],
    ["subdir", "of-f"],
  ]);
  const plain = { conversation_id: "h", subdir: "of-h" };
  const odd = { "x-conversation-id": "x", "x-subdir": "of-x" };
  const both = { ...plain, ...odd };
  assert.deepEqual(
    [
      wantedPlace(seeking(query, both), fields),
      wantedPlace(seeking({}, both), fields),
      wantedPlace(seeking({}, both)),
      wantedPlace(seeking({}, odd)),
      wantedPlace(seeking({}, {})),
    ],
    [
      { conversationId: "q", subdir: "of-q" },
      { conversationId: "f", subdir: "of-f" },
      { conversationId: "h", subdir: "of-h" },
      { conversationId: "x", subdir: "of-x" },
      { conversationId: undefined, subdir: undefined },
    ],
  );
});
