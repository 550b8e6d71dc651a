import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { open, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { type DocumentSource, openExtractor } from "../../src/extract/extract.ts";
import { hostileFiles } from "../world/hostile-files.ts";
import { quietLogger, testWorkspace } from "../world/workspace.ts";

const signal = new AbortController().signal;
/** What the process may have, threads and all. */
const memoryMegabytesMax = 1_500;

test("no file harms its reader: each is read as far as it makes sense, or says what it is [D1]", async (t) => {
  const logged: string[] = [];
  const extractor = openExtractor({ clock: systemClock, logger: quietLogger(logged) });
  t.after(extractor.close);
  assert.ok(hostileFiles.length >= 50);
  const wrong: string[] = [];
  await Promise.all(
    hostileFiles.map(async ([what, name, make, becomes]) => {
      const bytes = new Uint8Array(make());
      const found = await extractor.extract({ name, bytes, sizeBytes: bytes.length }, { signal });
      const came = found.ok ? found.value.blocks.map(({ text }) => text).join("\n") : found.failure.code;
      const isRight = typeof becomes === "string" ? came === becomes : becomes.test(came);
      if (!isRight) wrong.push(`${what}: ${came.slice(0, 200)}`);
    }),
  );
  assert.deepEqual([wrong, logged], [[], []]);
  assert.ok(process.resourceUsage().maxRSS / 1024 < memoryMegabytesMax);
});

test("pipes, devices, files of a terabyte and files that are cut while they are read are no trouble [D1]", async (t) => {
  const { workspace, folder } = await testWorkspace(t);
  const extractor = openExtractor({ clock: systemClock, logger: quietLogger([]) });
  t.after(extractor.close);
  const uploads = join(folder, "uploads");
  execFileSync("mkfifo", [join(uploads, "pipe.pdf")]);
  const sparse = await open(join(uploads, "sparse.pdf"), "w");
  await sparse.truncate(1024 ** 4);
  await sparse.close();
  await writeFile(join(uploads, "cut.txt"), "x".repeat(100_000));
  const opened = await workspace.openDescriptor("uploads");
  assert(opened.ok && opened.value !== undefined);
  const { fd, path, close } = opened.value;
  const codeOf = async (name: string) => {
    const source: DocumentSource = { name, root: fd, path: `${path === "" ? "" : `${path}/`}${name}`, sizeBytes: 0 };
    const found = await extractor.extract(source, { signal });
    return found.ok ? found.value.format : found.failure.code;
  };
  assert.equal(await codeOf("pipe.pdf"), "not_a_file");
  assert.equal(await codeOf("sparse.pdf"), "document_too_large");
  const reading = codeOf("cut.txt");
  await truncate(join(uploads, "cut.txt"), 10);
  assert.match(await reading, /^(text|not_a_file)$/);
  close();
});
