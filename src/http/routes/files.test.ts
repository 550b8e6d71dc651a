import assert from "node:assert/strict";
import { test } from "node:test";
import { failed, ok } from "../../base/result.ts";
import { failure, makeFailure } from "../../protocol/failure.ts";
import { localOwner } from "../../protocol/ids.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { fileViewHandlers } from "./file-views.ts";
import { fileHandlers } from "./files.ts";
import { asked, noted, partsWith } from "./handling.testing.ts";

const row = { id: "c", number: 7, owner: localOwner } as ConversationRow;
const find = async () => ok(row);
const at = { params: { id: "c" } };

test("a folder comes page by page, each page behind the last name of the one before, also where that file is gone [F3]", async () => {
  const names = ["a", "b", "d", "e"];
  const entries = names.map((name) => ({ name, type: "file", bytes: 1, modifiedAt: 1.7 }));
  const listed: unknown[] = [];
  const { listFiles } = fileHandlers(
    partsWith({
      log: { find },
      engine: {
        agentFiles: async (_, agent) =>
          ok({
            list: async (path: string, how: object) =>
              noted(listed, [agent, path, how], ok({ path, entries: path === "none" ? [] : entries })),
          }),
      },
    }),
  );
  const page = async (query: { path?: string; after?: string; limit: number; hidden?: boolean; agent?: string }) => {
    const answer = await listFiles(asked("listFiles", { ...at, query: { path: ".", ...query } }));
    return answer.ok && [answer.value.items.map(({ path }) => path).join(" "), answer.value.next];
  };
  assert.deepEqual(
    [await page({ limit: 3 }), await page({ limit: 4 })],
    [
      ["a b d", "d"],
      ["a b d e", null],
    ],
  );
  assert.deepEqual(
    [await page({ limit: 2, after: "b" }), await page({ limit: 1, after: "c" })],
    [
      ["d e", null],
      ["d", "d"],
    ],
  );
  assert.deepEqual(
    [await page({ limit: 10, after: "e" }), await page({ limit: 2, path: "none" })],
    [
      ["", null],
      ["", null],
    ],
  );
  assert.deepEqual(await page({ limit: 1, path: "uploads", hidden: true, agent: "h" }), ["uploads/a", "a"]);
  assert.deepEqual(listed.at(-1), ["h", "uploads", { hidden: true }]);
  const whole = await listFiles(asked("listFiles", { ...at, query: { path: ".", limit: 1 } }));
  assert.equal(whole.ok && whole.value.items[0]?.modifiedAt, 1, "times are whole milliseconds");
});

test("an upload is answered at once, or with what became of it where the caller waits for that [F3][D1]", async () => {
  const done: unknown[] = [];
  const uploaded = { name: "a.pdf", path: "uploads/a.pdf", type: "pdf", bytes: 3, replaced: false };
  const stat = { path: "uploads/a.pdf", bytes: 3, modifiedAt: 1 };
  let described: unknown = ok({ stat, type: "pdf" });
  let stored: unknown = ok(uploaded);
  const { uploadFile } = fileHandlers(
    partsWith({
      log: { find },
      engine: {
        files: () => ({ name: "7" }),
        upload: async (_, { chunks: __, ...file }) => noted(done, file, stored),
      },
      documents: { describe: async (_, path, { waitMs }) => noted(done, [path, waitMs], described) },
    }),
  );
  const put = async (wait: number) => {
    const answer = await uploadFile(
      asked("uploadFile", {
        ...{ params: { id: "c", name: "a.pdf" }, query: { keep: true, wait } },
        bytes: { chunks: (async function* () {})(), announced: 3 },
      }),
    );
    return [answer.ok ? answer.value.details?.type : answer.failure.code, ...done.splice(0)];
  };
  const file = { name: "a.pdf", keep: true, announcedBytes: 3 };
  assert.deepEqual(await put(0), [undefined, file]);
  assert.deepEqual(await put(2), ["pdf", file, ["uploads/a.pdf", 2_000]]);
  described = failed(makeFailure("storage_full", {}));
  assert.deepEqual(await put(2), [undefined, file, ["uploads/a.pdf", 2_000]], "it is stored all the same");
  stored = failure("storage_full", {});
  assert.deepEqual(await put(2), ["storage_full", file]);
});

test("a page that is looked at runs its scripts in a frame of the app alone, and only where that is wanted [F3][Q1]", async () => {
  let type = "file";
  const { previewFile, restoreFile } = fileViewHandlers(
    partsWith({
      log: { find },
      engine: {
        files: () => ({ stat: async () => ok({ path: "a.html", type, bytes: 1, modifiedAt: 1 }) }),
        restoreFile: async (_, { seq }) => ok({ path: "a.html", after: seq === 1 ? { bytes: 5 } : undefined }),
      },
      documents: { typeOf: async () => ok({ mime: "text/html", stat: { path: "a.html" } }) },
    }),
  );
  const policy = async (scripts: boolean, dest: string | undefined) => {
    const header = (name: string) => (name === "sec-fetch-dest" ? dest : undefined);
    const answer = await previewFile(asked("previewFile", { ...at, query: { path: "a.html", scripts }, header }));
    if (!answer.ok) return answer.failure.code;
    return /allow-scripts/.test("shown" in answer.value ? (answer.value.shown?.policy ?? "") : "");
  };
  assert.deepEqual(
    [
      await policy(true, "iframe"),
      await policy(true, undefined),
      await policy(true, "document"),
      await policy(false, "iframe"),
    ],
    [true, true, false, false],
  );
  type = "folder";
  assert.equal(await policy(true, "iframe"), "not_a_file");
  const restored = async (seq: number) => restoreFile(asked("restoreFile", { ...at, body: { path: "a.html", seq } }));
  assert.deepEqual(
    [await restored(1), await restored(2)],
    [ok({ path: "a.html", bytes: 5 }), ok({ path: "a.html", bytes: 0 })],
  );
});

test("a file is handed out as it is now or in a part, a folder is none, and what became of it is waited for in seconds [F3][D1]", async () => {
  const done: unknown[] = [];
  const stat = { path: "a.pdf", bytes: 3, modifiedAt: 1.7 };
  const files = {
    stat: async (path: string) => ok({ ...stat, path, type: path === "d" ? "folder" : "file" }),
    stream: async (...of: unknown[]) => noted(done, of, ok("bytes")),
  };
  const { readFile, describeFile } = fileHandlers(
    partsWith({
      log: { find },
      engine: { files: () => files, agentFiles: async (_, agent) => noted(done, ["of", agent], ok(files)) },
      documents: { describe: async (_, path, { waitMs }) => noted(done, [path, waitMs], ok({ stat, type: "pdf" })) },
    }),
  );
  const read = async (path: string) => {
    const answer = await readFile(asked("readFile", { ...at, query: { path, agent: "h" } }));
    if (!answer.ok) return answer.failure.params;
    assert.ok("stat" in answer.value);
    return [answer.value.stat.bytes, await answer.value.open({ offset: 1, length: 2 })];
  };
  assert.deepEqual(await read("a.pdf"), [3, ok("bytes")]);
  assert.deepEqual(done.splice(0), [
    ["of", "h"],
    ["a.pdf", { offset: 1, length: 2 }],
  ]);
  assert.deepEqual(await read("d"), { path: "d" });
  done.length = 0;
  const described = await describeFile(asked("describeFile", { ...at, query: { path: "a.pdf", wait: 3 } }));
  assert.deepEqual(
    [described.ok && described.value, done],
    [
      {
        ...{ path: "a.pdf", type: "pdf", bytes: 3, modifiedAt: 1, code: null, indexing: null, receipt: null },
        ...{ summary: "", notes: [] },
      },
      [["a.pdf", 3_000]],
    ],
  );
});

test("files are searched by what was asked for, and what could not be searched yet is told with why [D2][F3]", async () => {
  const wanted: unknown[] = [];
  const file = { path: "b.pdf", state: "failed", done: 1, of: 2 };
  const hit = { path: "a.md", line: 3, text: "a" };
  const passage = { path: "b.md", headings: ["H"], text: "b" };
  const found = {
    ...{ hits: [hit, passage], stopped: undefined, missing: ["x"], repaired: [{ said: "a", meant: "b", more: 1 }] },
    unsearched: [
      { ...file, failure: { code: "document_locked" } },
      { ...file, state: "indexed" },
    ],
    total: 2,
  };
  const { searchFiles } = fileHandlers(
    partsWith({
      log: { find },
      engine: { files: () => ({}) },
      documents: { search: async (_, { signal: __, ...of }) => noted(wanted, of, ok(found)) },
    }),
  );
  const query = { q: "w", regex: true, limit: 7, context: 40 };
  const answer = await searchFiles(asked("searchFiles", { ...at, query }));
  assert.deepEqual(wanted, [{ q: "w", isRegex: true, hitsMax: 7, contextCharacters: 40 }]);
  assert.deepEqual(answer.ok && answer.value, {
    ...{ hits: [hit, passage], stopped: null, total: 2, missing: ["x"], repaired: [{ said: "a", meant: "b" }] },
    unsearched: [{ ...file, code: "document_locked" }],
  });
});
