import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { createClient } from "../../src/client/client.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { watchPaths } from "../world/path-watch.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

/** Each is one way out; the first makes nothing known. */
const waysOut: readonly [what: string, leak: (yard: TestYard, path: string, storage: Storage) => Promise<unknown>][] = [
  ["", async () => {}],
  [
    "database, event.body",
    (yard, path) => must(yard.client.call("sendMessage", { ...inC, body: { text: `see ${path}/x` } })),
  ],
  [
    "database, conversation.title",
    (yard, path) => must(yard.client.call("changeConversation", { ...inC, body: { title: path } })),
  ],
  ["agentyard-1.log", ({ data }, path) => writeFile(join(data, "logs", "agentyard-1.log"), `{"message":"${path}"}`)],
  [".metadata.json", ({ data }, path) => writeFile(join(data, "workspace", "c", ".metadata.json"), `{"at":"${path}"}`)],
  ["database, blob.data", (_, path, storage) => storage.putBlob(1, Buffer.from(`a long result with ${path} in it`))],
  ["the answer to ", (yard, path) => yard.client.download("c", path)],
];

test("no host path stands in what a yard answers, stores or logs; one that does is seen, however it is spelled [Q1][W7]", async (t) => {
  for (const [index, [where, leak]] of waysOut.entries()) {
    const places = await twoNames(t);
    let storage: Storage | undefined;
    const wrapStorage = (opened: Storage) => {
      storage = opened;
      return opened;
    };
    const yard = await startYard({ data: places.link, wrapStorage });
    const watch = watchPaths({ data: places.link });
    const client = createClient({ fetch: watch.fetch(yard.fetch) });
    await must(client.call("createConversation", { body: { id: "c" } }));
    assert.ok(storage);
    await leak({ ...yard, client }, places[index % 2 === 0 ? "data" : "link"], storage);
    // The yard has a watch of its own, which sees most of it as well.
    await yard[Symbol.asyncDispose]().catch(() => {});
    if (where === "") watch.check(yard);
    else assert.throws(() => watch.check(yard), new RegExp(`given away:\n(.*\n)*(the )?${where}`), where);
  }
});

test("where our own sources lie is not told either: a mistake of ours is an id, and the log file has its place [Q1]", async () => {
  const broken = () => Promise.reject(new Error("ours"));
  await using yard = await startYard({ wrapStorage: (storage) => ({ ...storage, listConversations: broken }) });
  const answer = await yard.fetch("http://localhost/api/v1/conversations", { method: "GET", headers: {} });
  assert.equal(answer.status, 500);
  const sources = join(import.meta.dirname, "..", "..");
  const places = [sources, pathToFileURL(sources).pathname];
  const said = await answer.text();
  assert.ok(!places.some((place) => said.includes(place)));
  const [fault] = await yard.faults();
  assert.ok(places.some((place) => fault?.includes(place)));
});

const inC = { params: { id: "c" } };

/** A folder, and another name for it. */
async function twoNames(t: TestContext): Promise<{ data: string; link: string }> {
  const folder = await mkdtemp(join(tmpdir(), "agentyard-test-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const [data, link] = [join(folder, "data"), join(folder, "link")];
  await mkdir(data);
  await symlink(data, link);
  return { data, link };
}
