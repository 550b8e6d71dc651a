import assert from "node:assert/strict";
import { test } from "node:test";
import { unzipSync } from "fflate";
import { gather } from "../../../test/world/file-doors.ts";
import { failed, ok } from "../../base/result.ts";
import { failure, makeFailure } from "../../protocol/failure.ts";
import { OwnerId } from "../../protocol/ids.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { BrokenOff, type FileStat } from "../../workspace/workspace.ts";
import { partsWith } from "../routes/handling.testing.ts";
import { filePlace, isBareName, type PlaceWanted } from "./file-place.ts";
import { openForm } from "./multipart.ts";
import { type Seeking, seekBareName, wantedPlace } from "./seek-file.ts";
import { archiveLimits, openArchive } from "./zip.ts";

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

const ann = OwnerId.parse("ann");
const call: Seeking = {
  ...{ actsAs: undefined, caller: { signedIn: ann, scopes: ["files"] }, params: { id: "sess-ann" }, query: {} },
  header: () => undefined,
};
const row = (id: string) => ({ id, owner: ann, cursor: `at ${id}` }) as ConversationRow;

/** Conversations, the one that changed last first, and those whose temparea has the file that is sought. */
type Given = { readonly ids: readonly string[]; readonly with?: readonly string[] };

function place({ ids, with: having = [] }: Given) {
  const done: unknown[] = [];
  const parts = partsWith({
    sandboxSettings: () => ({ uploads: {} }),
    sandbox: { sessions: { find: async () => undefined, use: async () => ok(undefined) } },
    log: {
      find: async (_, id) => (ids.includes(id) ? ok(row(id)) : failed(makeFailure("conversation_not_found", { id }))),
      async list(owner, { limit, before }) {
        const start = before === undefined ? 0 : ids.indexOf(before.slice("at ".length)) + 1;
        done.push(["list", owner, limit, before]);
        return ids.slice(start, start + limit).map(row);
      },
    },
    workspaces: {
      ofConversation: ({ id }) => ({
        stat: async (path: string) =>
          having.includes(id) ? Object(ok({})) : failed(makeFailure("file_not_found", { path, near: "" })),
      }),
    },
  });
  return { parts, done };
}

const named = (count: number) => Array.from({ length: count }, (_, n) => `c${n}`);

test("a name alone is looked for in the last thousand conversations of its user, a hundred at a time [S3]", async () => {
  const found = async (of: Given) => {
    const { parts, done } = place(of);
    const sought = await seekBareName(parts, call, "a.csv");
    return [sought.ok ? [sought.value.row.id, sought.value.path] : sought.failure.code, done.length, done.at(-1)];
  };
  const at = (id: string) => [id, "uploads/temparea/a.csv"];
  assert.deepEqual(await found({ ids: named(3), with: ["c2"] }), [at("c2"), 1, ["list", "ann", 100, undefined]]);
  assert.deepEqual(await found({ ids: named(150), with: ["c149"] }), [at("c149"), 2, ["list", "ann", 100, "at c99"]]);
  assert.deepEqual(await found({ ids: named(1_200), with: ["c999"] }), [
    at("c999"),
    10,
    ["list", "ann", 100, "at c899"],
  ]);
  assert.deepEqual((await found({ ids: named(1_200), with: ["c1000"] }))[0], "file_not_found");
  assert.deepEqual((await found({ ids: ["a.csv"] }))[0], ["a.csv", "."], "else it is a conversation of that name");
});

const entry = (path: string, bytes = 4): FileStat => ({ path, type: "file", bytes, mode: 0o644, modifiedAt: 0 });

test("a file that vanishes while the archive is made is left out, and the archive says so [S3]", async () => {
  const made = await openArchive(workspaceOf([entry("outputs/a.txt"), entry("outputs/gone.txt")]), "outputs");
  assert.ok(made.ok);
  const pieces: Uint8Array[] = [];
  for await (const piece of made.value.chunks()) pieces.push(piece);
  const held = Object.entries(unzipSync(Buffer.concat(pieces))).map(([name, bytes]) => [name, `${Buffer.from(bytes)}`]);
  assert.deepEqual(held, [
    ["a.txt", "text"],
    ["_left-out.txt", "outputs/gone.txt\n"],
  ]);
});

test("more files or bytes than one archive holds are refused before it is begun [S3]", async () => {
  const { filesMax, bytesMax } = archiveLimits;
  const many = Array.from({ length: filesMax + 1 }, (_, number) => entry(`outputs/${number}`));
  const large = [entry("outputs/a", bytesMax), entry("outputs/b", 1)];
  assert.deepEqual(
    [await openArchive(workspaceOf(many), "outputs"), await openArchive(workspaceOf(large), "outputs")],
    [
      failure("archive_too_large", { name: "outputs", what: "files", limit: filesMax }),
      failure("archive_too_large", { name: "outputs", what: "bytes", limit: bytesMax }),
    ],
  );
});

function workspaceOf(entries: readonly FileStat[]): Parameters<typeof openArchive>[0] {
  return {
    id: "c1",
    async walk(path, how) {
      assert.deepEqual(how, { hidden: true });
      if (path === "nowhere") return failure("file_not_found", { path, near: "" });
      return ok(
        (async function* () {
          yield* entries;
        })(),
      );
    },
    async stream(path) {
      if (path.includes("gone")) return failure("file_not_found", { path, near: "" });
      const text = (async function* () {
        yield Buffer.from("text");
        return undefined;
      })();
      const chunks = {
        [Symbol.asyncIterator]: () => text,
        next: () => text.next(),
        return: () => text.return(undefined),
      };
      return ok({ stat: entry(path), chunks });
    },
  };
}

const type = "multipart/form-data; boundary=b";
const field = (name: string, value: string) =>
  `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const file = (name: string, content = "text") =>
  `--b\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\n${content}\r\n`;
const end = "--b--\r\n";

/** A sender, and how far it has come: how many pieces were taken, and whether nobody wants more. */
function sender(pieces: Iterable<string>) {
  const seen = { taken: 0, isOver: false };
  async function* source() {
    try {
      for (const piece of pieces) {
        seen.taken += 1;
        yield Buffer.from(piece);
      }
    } finally {
      seen.isOver = true;
    }
  }
  return { source: source(), seen };
}

async function told(...pieces: string[]) {
  const form = await openForm(sender(pieces).source, type);
  if (!form.ok) return form.failure.params.why;
  try {
    const content = await gather(form.value.file.chunks);
    return [form.value.file.name, content.toString(), Object.fromEntries(form.value.fields)];
  } catch (error) {
    assert.ok(error instanceof BrokenOff);
    return form.value.fault()?.params.why;
  }
}

test("a form may have as many fields, and fields as long, as the limits say, before its file and behind it [F4]", async () => {
  const fields = Array.from({ length: 33 }, (_, n) => field(`f${n}`, "x"));
  const all = Object.fromEntries(fields.slice(0, 32).map((_, n) => [`f${n}`, "x"]));
  assert.deepEqual(await told(fields.slice(0, 32).join("") + file("a.txt") + end), ["a.txt", "text", all]);
  assert.deepEqual(await told(file("a.txt") + fields.slice(0, 32).join("") + end), ["a.txt", "text", all]);
  assert.equal(await told(fields.join("") + file("a.txt") + end), "too_many_parts");
  assert.equal(await told(file("a.txt") + fields.join("") + end), "too_many_parts");
  const longest = "x".repeat(8 * 1024);
  assert.deepEqual(await told(field("f", longest) + file("a.txt") + end), ["a.txt", "text", { f: longest }]);
  assert.equal(await told(`${field("f", `${longest}x`)}${file("a.txt")}${end}`), "field_too_long");
  assert.equal(await told(`${file("a.txt")}${field("f", `${longest}x`)}${end}`), "field_too_long");
  assert.equal(await told(file("a.txt") + file("b.txt") + end), "several_files");
  const late = await told(file("a.txt"), "--b\r\n", field("f", "x").slice(5), end);
  assert.deepEqual(late, ["a.txt", "text", { f: "x" }], "the file ends with the form, not before");
  assert.equal(await told(file("a.txt"), "--b\r\n", file("b.txt").slice(5), end), "several_files");
});
