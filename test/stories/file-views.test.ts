import assert from "node:assert/strict";
import { test } from "node:test";
import type { FileView } from "../../src/protocol/file-view-routes.ts";
import { gather } from "../world/file-doors.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

// What is in files and what was in them, as a page asks for it.

const params = { id: "c" };

async function view(
  yard: TestYard,
  query: { path: string; from?: number; limit?: number; plain?: boolean },
): Promise<FileView> {
  return must(yard.client.call("viewFile", { params, query }));
}

test("a table, a text and a document come page by page, in whatever encoding [F1][B1]", async () => {
  await using yard = await startYard();
  await yard.start("c");
  const rows = Array.from({ length: 3_000 }, (_, row) => `${row},"a, b",第 ${row} 行`);
  await must(yard.client.upload("c", "t.csv", Buffer.from(["n,quoted,名称", ...rows].join("\n"))));
  const table = await view(yard, { path: "uploads/t.csv", from: 2_999, limit: 2 });
  assert.deepEqual(table, {
    ...{ kind: "table", type: "csv", sheets: [""], sheet: "", total: 3_001, columns: 3, headRows: 1 },
    ...{ from: 2_999, cut: null },
    rows: [
      { number: 3_000, cells: ["2998", "a, b", "第 2998 行"] },
      { number: 3_001, cells: ["2999", "a, b", "第 2999 行"] },
    ],
  });
  const plain = await view(yard, { path: "uploads/t.csv", limit: 2, plain: true });
  assert.deepEqual(plain.kind === "text" && [plain.total, plain.lines], [3_001, ["n,quoted,名称", '0,"a, b",第 0 行']]);
  // GB18030.
  const chinese = Buffer.from("d6d0cec4cafdbedd0d0a32", "hex");
  await must(yard.client.upload("c", "中文.txt", chinese));
  const text = await view(yard, { path: "uploads/中文.txt" });
  assert.deepEqual(text, {
    ...{ kind: "text", type: "text", encoding: "gb18030", total: 2, from: 0, cut: null },
    lines: ["中文数据", "2"],
  });
  await must(yard.client.upload("c", "empty.txt", new Uint8Array()));
  assert.deepEqual((await view(yard, { path: "uploads/empty.txt" })).kind, "text");
  await must(yard.client.upload("c", "x.png", Buffer.from("89504e470d0a1a0a0000000d49484452", "hex")));
  assert.deepEqual(await view(yard, { path: "uploads/x.png" }), { kind: "other", type: "image" });
});

test("what changed is read anew, and what cannot be read says why [F1]", async () => {
  await using yard = await startYard();
  await yard.start("c");
  await must(yard.client.upload("c", "a.csv", Buffer.from("a,b\n1,2")));
  const before = await view(yard, { path: "uploads/a.csv" });
  await must(yard.client.upload("c", "a.csv", Buffer.from("a,b\n1,2\n3,4")));
  const after = await view(yard, { path: "uploads/a.csv" });
  assert.deepEqual(
    [before, after].map((one) => one.kind === "table" && one.total),
    [2, 3],
  );
  await must(yard.client.upload("c", "broken.pdf", Buffer.from("%PDF-1.7 and then nothing")));
  for (const [path, code] of [
    ["uploads/broken.pdf", "document_damaged"],
    ["uploads/none.csv", "file_not_found"],
    ["uploads", "not_a_file"],
    ["../x", "path_traversal_blocked"],
  ] as const) {
    const refused = await yard.client.call("viewFile", { params, query: { path } });
    assert.equal(!refused.ok && refused.failure.code, code, path);
  }
});

test("a file is shown as what its content is, and may do nothing there [S3][B1]", async () => {
  await using yard = await startYard();
  await yard.start("c");
  const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
  for (const [name, bytes, type, policy] of [
    ["a.png", png, "image/png", /^default-src 'none'; sandbox;/],
    [
      "a.svg",
      Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>"),
      "image/svg+xml",
      /default-src 'none'.*; sandbox;/,
    ],
    ["a.html", Buffer.from("<p>hi"), "text/html; charset=utf-8", /^default-src 'none'; style-src.*; sandbox;/],
    ["a.pdf", Buffer.from("%PDF-1.7"), "application/pdf", /^frame-ancestors 'self'$/],
    // What its name says is not what it is.
    ["page.png", Buffer.from("<script>alert(1)</script>"), "application/octet-stream", undefined],
    ["a.js", Buffer.from("alert(1)"), "application/octet-stream", undefined],
    [
      "a.xml",
      Buffer.from("<x xmlns:h='http://www.w3.org/1999/xhtml'><h:script/></x>"),
      "application/octet-stream",
      undefined,
    ],
  ] as const) {
    await must(yard.client.upload("c", name, bytes));
    const shown = await yard.app.request(`/api/v1/conversations/c/files/preview?path=uploads/${name}`);
    const { headers } = shown;
    assert.deepEqual(
      [shown.status, headers.get("content-type"), headers.get("x-content-type-options")],
      [200, type, "nosniff"],
      name,
    );
    const disposition = headers.get("content-disposition") ?? "";
    if (policy === undefined) assert.match(disposition, /^attachment/, name);
    else {
      assert.match(headers.get("content-security-policy") ?? "", policy, name);
      assert.match(disposition, /^inline/, name);
      const kept = ["x-dns-prefetch-control", "referrer-policy", "cross-origin-resource-policy"];
      assert.deepEqual(
        kept.map((header) => headers.get(header)),
        ["off", "no-referrer", "same-origin"],
        name,
      );
    }
    assert.deepEqual(Buffer.from(await shown.arrayBuffer()), Buffer.from(bytes), name);
  }
});

test("a page runs its scripts only where somebody asks for it, and only in a frame [S3][B1]", async () => {
  await using yard = await startYard();
  await yard.start("c");
  await must(yard.client.upload("c", "a.html", Buffer.from("<p>hi")));
  const rights = async (query: string, headers: Record<string, string> = {}) => {
    const address = `/api/v1/conversations/c/files/preview?path=uploads/a.html${query}`;
    const policy = (await yard.app.request(address, { headers })).headers.get("content-security-policy") ?? "";
    return /; (sandbox[^;]*);/.exec(policy)?.[1];
  };
  assert.deepEqual(
    [
      await rights(""),
      await rights("&scripts=true", { "sec-fetch-dest": "iframe" }),
      // Over plain http browsers do not say for what they ask.
      await rights("&scripts=true"),
      await rights("&scripts=true", { "sec-fetch-dest": "document" }),
    ],
    ["sandbox", "sandbox allow-scripts", "sandbox allow-scripts", "sandbox"],
  );
});

test("a file has a history, and an earlier state or a deleted file comes back with its bytes [W12][S3]", async () => {
  await using model = await modelServer([
    calls(["write_file", { path: "outputs/a.txt", content: "one" }]),
    calls(["write_file", { path: "outputs/a.txt", content: "two, longer" }]),
    says("done"),
  ]);
  await using yard = await startYard({ model, approves: true });
  const { conversation } = await yard.ask("write");
  const at = { id: conversation };
  const history = async (path?: string) =>
    (await must(yard.client.call("listFileHistory", { params: at, query: path === undefined ? {} : { path } }))).items;
  const shape = (await history("outputs/a.txt")).map(({ change, bytes, by, turn, canRestore }) => ({
    change,
    bytes,
    by,
    turn,
    canRestore,
  }));
  assert.deepEqual(shape, [
    { change: "changed", bytes: 11, by: "tool", turn: 1, canRestore: false },
    { change: "made", bytes: 3, by: "tool", turn: 1, canRestore: true },
  ]);
  const read = async () => {
    const file = await must(yard.client.download(conversation, "outputs/a.txt"));
    return (await gather(file.chunks)).toString("utf8");
  };
  const restore = async (seq: number, path = "outputs/a.txt") =>
    yard.client.call("restoreFile", { params: at, body: { path, seq } });
  const first = (await history("outputs/a.txt")).at(-1)?.seq ?? 0;
  assert.deepEqual(await must(restore(first)), { path: "outputs/a.txt", bytes: 3 });
  assert.equal(await read(), "one");
  await must(yard.client.call("removeFile", { params: at, query: { path: "outputs/a.txt" } }));
  const [removed, last] = await history("outputs/a.txt");
  assert.deepEqual(
    [removed?.change, removed?.by, removed?.turn, removed?.bytes, last?.canRestore],
    ["removed", "person", null, null, true],
  );
  await must(restore(last?.seq ?? 0));
  assert.equal(await read(), "one");
  assert.deepEqual(
    (await history()).map(({ path, change }) => [path, change]),
    [["outputs/a.txt", "made"]],
  );
  // No change of this file, none at all, and one that left nothing.
  for (const seq of [1, 9_999, removed?.seq ?? 0]) {
    const refused = await restore(seq);
    assert.equal(!refused.ok && refused.failure.code, "content_not_kept");
  }
  const other = await restore(first, "outputs/b.txt");
  assert.equal(!other.ok && other.failure.code, "content_not_kept");
});

test("the history of a file is whole in a conversation of thousands of events, the newest first and as many as were asked for [F3][S3]", async () => {
  await using yard = await startYard();
  const { number } = await yard.start("c");
  const upload = (name: string, text: string) => must(yard.client.upload("c", name, Buffer.from(text)));
  await upload("a.txt", "first");
  await upload("b.txt", "b");
  // With these it is more than is read from the log at once.
  const titles = Array.from({ length: 2_000 }, (_, n) => ({ type: "conversation.renamed", title: `${n}` }) as const);
  await must(yard.log.append(number, titles));
  await upload("a.txt", "second one");
  const history = async (query: { path?: string; limit?: number }) =>
    (await must(yard.client.call("listFileHistory", { params, query }))).items.map(({ path, bytes }) => [path, bytes]);
  const path = "uploads/a.txt";
  assert.deepEqual(await history({ path }), [
    [path, 10],
    [path, 5],
  ]);
  assert.deepEqual(await history({ path, limit: 1 }), [[path, 10]]);
  assert.deepEqual(await history({}), [
    [path, 10],
    ["uploads/b.txt", 1],
  ]);
  assert.deepEqual(await history({ limit: 1 }), [[path, 10]]);
});
