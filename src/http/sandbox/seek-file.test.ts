import assert from "node:assert/strict";
import { test } from "node:test";
import { failed, ok } from "../../base/result.ts";
import { makeFailure } from "../../protocol/failure.ts";
import { OwnerId } from "../../protocol/ids.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { noted, partsWith } from "../routes/handling.testing.ts";
import { type Seeking, seekBareName, seekFile, seekRoom } from "./seek-file.ts";

const ann = OwnerId.parse("ann");
const uploads = { fileBytesMax: 10, filesMax: 2, types: ["csv"] };
const row = (id: string) => ({ id, owner: ann, cursor: `at ${id}` }) as ConversationRow;
const call: Seeking = {
  ...{ actsAs: undefined, caller: { signedIn: ann, scopes: ["files"] }, params: { id: "sess-ann" }, query: {} },
  header: () => undefined,
};

type Given = {
  /** Conversations, the one that changed last first; those whose temparea has the file that is sought. */
  readonly ids: readonly string[];
  readonly with?: readonly string[];
  readonly session?: { readonly id: string; readonly uploads: typeof uploads };
  readonly isAway?: boolean;
};

function place({ ids, with: having = [], session, isAway = false }: Given) {
  const done: unknown[] = [];
  const gone = makeFailure("storage_busy", {});
  const parts = partsWith({
    sandboxSettings: () => ({ uploads }),
    sandbox: {
      sessions: {
        find: async () => session,
        use: async (owner) => noted(done, ["use", owner], isAway ? failed(gone) : ok(session)),
      },
    },
    log: {
      async find(owner, id) {
        done.push(["find", owner, id]);
        return ids.includes(id) ? ok(row(id)) : failed(makeFailure("conversation_not_found", { id }));
      },
      async list(owner, { limit, before }) {
        const start = before === undefined ? 0 : ids.indexOf(before.slice("at ".length)) + 1;
        done.push(["list", owner, limit, before]);
        return ids.slice(start, start + limit).map(row);
      },
    },
    engine: { create: async (owner, { id }) => noted(done, ["create", owner, id], ok(row(id ?? ""))) },
    workspaces: {
      ofConversation: ({ id }) => ({
        stat: async (path: string) =>
          having.includes(id) ? noted(done, path, ok({})) : failed(makeFailure("file_not_found", { path, near: "" })),
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
    const lists = done.filter((one) => Array.isArray(one) && one[0] === "list");
    return [sought.ok ? [sought.value.row.id, sought.value.path] : sought.failure.code, lists.length, lists.at(-1)];
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

test("a name that several conversations have is told with ten of them at the most, and nobody looks on [S3]", async () => {
  const told = async (count: number) => {
    const { parts, done } = place({ ids: named(count + 5), with: named(count) });
    const sought = await seekBareName(parts, call, "a.csv");
    assert.ok(!sought.ok && sought.failure.code === "file_ambiguous");
    return [sought.failure.params, done.filter((one) => typeof one === "string").length];
  };
  const of = (count: number) => ({ name: "a.csv", conversations: named(count).join(", ") });
  assert.deepEqual(
    [await told(2), await told(10)],
    [
      [of(2), 2],
      [of(10), 10],
    ],
  );
  assert.deepEqual(await told(30), [of(10), 11]);
  const { parts } = place({ ids: ["c1"] });
  const above = await seekBareName(parts, call, "..");
  assert.equal(!above.ok && above.failure.code, "path_traversal_blocked");
});

test("what may be uploaded is what the session says, else the settings, also where no code can be run; its time begins anew [F4][S1]", async () => {
  const own = { id: "mine", uploads: { ...uploads, filesMax: 1 } };
  const sought = async (of: Partial<Given>) => {
    const { parts, done } = place({ ids: ["c1"], ...of });
    const found = await seekFile(parts, call, { conversationId: "c1" });
    assert.ok(found.ok);
    assert.deepEqual(done, [
      ["use", "ann"],
      ["find", "ann", "c1"],
    ]);
    const { sessionId, policy, path } = found.value;
    return [sessionId, policy.filesMax, policy.settings?.filesMax, path];
  };
  const rest = ["sandbox_platform.file_upload_config.max_file_count", "uploads/temparea"];
  assert.deepEqual(await sought({}), ["sb-session-ann", 2, ...rest]);
  assert.deepEqual(await sought({ session: own }), ["mine", 1, ...rest]);
  assert.deepEqual(await sought({ session: own, isAway: true }), ["mine", 1, ...rest]);
});

test("nothing is made by looking, nor for a place where nothing may be put; a conversation nobody had is made for what may [S3][S7]", async () => {
  const { parts, done } = place({ ids: [] });
  const code = async (sought: ReturnType<typeof seekFile>) => {
    const answer = await sought;
    return answer.ok ? answer.value.path : answer.failure.code;
  };
  const [conversationId, path] = ["c9", "skills/a"];
  assert.deepEqual(
    [
      await code(seekFile(parts, call, { conversationId })),
      await code(seekFile(parts, call, { conversationId: "no id" })),
      await code(seekRoom(parts, call, { conversationId, path })),
      await code(seekRoom(parts, call, { conversationId, path: "/workspace/c9/a.csv" })),
    ],
    ["conversation_not_found", "bad_request", "permission_denied", "permission_denied"],
  );
  assert.equal(done.filter((one) => Array.isArray(one) && one[0] === "create").length, 0);
  assert.equal(await code(seekRoom(parts, call, { conversationId, path: "outputs/a.csv" })), "outputs/a.csv");
  assert.deepEqual(done.at(-1), ["create", "ann", "c9"]);
  const refused = await seekRoom(parts, call, { conversationId, path: "skills/a/b" });
  assert.deepEqual(!refused.ok && refused.failure.params, {
    ...{ path: "skills/a/b", folder: "skills", why: "not_writable" },
  });
});
