import assert from "node:assert/strict";
import { test } from "node:test";
import { testWorkspace } from "../../test/world/workspace.ts";
import { artifactsOf } from "./artifacts.ts";

const after = { bytes: 1, hash: "h", mode: 0o644 };

test("each file that a program made has the type of its ending, in whatever letters, and one without a known ending has none [X2]", async (t) => {
  const { workspace } = await testWorkspace(t);
  const types = {
    ...{ txt: "text/plain", log: "text/plain", csv: "text/csv", tsv: "text/tab-separated-values" },
    ...{ md: "text/markdown", html: "text/html", css: "text/css", py: "text/x-python", js: "text/javascript" },
    ...{ sh: "text/x-shellscript", json: "application/json", xml: "application/xml", yaml: "application/yaml" },
    ...{ pdf: "application/pdf", zip: "application/zip", gz: "application/gzip" },
    parquet: "application/vnd.apache.parquet",
    xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ...{ png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp" },
    ...{ svg: "image/svg+xml", PNG: "image/png", exe: "application/octet-stream" },
  };
  const changes = [];
  for (const ending of Object.keys(types)) {
    const path = `outputs/made.${ending}`;
    assert.ok((await workspace.write(path, "x")).ok);
    changes.push({ path, before: undefined, after, lost: undefined });
  }
  const found = await artifactsOf(workspace, changes);
  assert.deepEqual(Object.fromEntries(found.map(({ path, type }) => [path.split(".")[1], type])), types);
});

test("what a program removed, or what is gone by now, is no file that it made; the first five hundred are told [X2]", async (t) => {
  const { workspace } = await testWorkspace(t);
  const made = await workspace.write("outputs/made.csv", "x");
  assert.ok(made.ok);
  const change = (path: string) => ({ path, before: undefined, after, lost: undefined });
  const removed = { path: "outputs/removed", before: after, after: undefined, lost: undefined };
  const [there, gone] = [change("outputs/made.csv"), change("outputs/gone")];
  const pathsOf = async (changes: Parameters<typeof artifactsOf>[1]) =>
    (await artifactsOf(workspace, changes)).map(({ path }) => path);
  assert.deepEqual(await pathsOf([removed, gone, there]), ["outputs/made.csv"]);
  const many = (count: number) => [...Array<typeof gone>(count).fill(gone), there];
  assert.deepEqual([await pathsOf(many(499)), await pathsOf(many(500))], [["outputs/made.csv"], []]);
  assert.deepEqual(await artifactsOf(undefined, [there]), []);
  const stat = await workspace.stat("outputs/made.csv");
  assert.ok(stat.ok);
  const { modifiedAt } = stat.value;
  assert.deepEqual(await artifactsOf(workspace, [there]), [
    { path: "outputs/made.csv", bytes: 1, hash: "h", type: "text/csv", modifiedAt },
  ]);
});
