import assert from "node:assert/strict";
import { test } from "node:test";
import { unzipSync } from "fflate";
import { gather } from "../../../test/world/file-doors.ts";
import { ok } from "../../base/result.ts";
import { failure } from "../../protocol/failure.ts";
import type { FileStat } from "../../workspace/workspace.ts";
import { archiveLimits, openArchive } from "./zip.ts";

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

test("an archive has every file below what was asked for, by its path from there, and the name of that [S3]", async () => {
  const folder = (path: string): FileStat => ({ ...entry(path, 0), type: "folder" });
  const held = async (entries: readonly FileStat[], path: string) => {
    const made = await openArchive(workspaceOf(entries), path);
    assert.ok(made.ok);
    const bytes = await gather(made.value.chunks());
    return [made.value.name, ...Object.keys(unzipSync(bytes))];
  };
  const below = ["outputs/set/b.txt", "outputs/set/a/.hidden", "outputs/set/a/c.txt"].map((path) => entry(path));
  const sorted = ["a/.hidden", "a/c.txt", "b.txt"];
  assert.deepEqual(await held([folder("outputs/set/a"), ...below], "outputs/set"), ["set.zip", ...sorted]);
  assert.deepEqual(await held(below, "./outputs/set/"), ["set.zip", ...sorted]);
  const own = [entry(".metadata.json"), entry("uploads/.metadata.json"), entry("a.txt")];
  assert.deepEqual(await held(own, "."), ["c1.zip", "a.txt", "uploads/.metadata.json"]);
  assert.deepEqual(await held([entry("outputs/a.txt")], "outputs/a.txt"), ["a.txt.zip", "a.txt"]);
  assert.deepEqual(await held([entry("a.txt")], "a.txt"), ["a.txt.zip", "a.txt"]);
  const late = { ...entry("a.txt"), modifiedAt: Date.UTC(2150, 0) };
  assert.deepEqual(await held([late], "."), ["c1.zip", "a.txt"], "of a time that the format does not know");
});

test("as many files and bytes as one archive holds are no more than that [S3]", async () => {
  const { filesMax, bytesMax } = archiveLimits;
  const most = Array.from({ length: filesMax }, (_, number) => entry(`outputs/${number}`));
  const largest = [entry("outputs/a", bytesMax - 1), entry("outputs/b", 1)];
  assert.ok((await openArchive(workspaceOf(most), "outputs")).ok);
  assert.ok((await openArchive(workspaceOf(largest), "outputs")).ok);
});

test("each file of an archive has the time at which it was changed, as near as the format comes to it [S3]", async () => {
  const times = [Date.UTC(1975, 5, 15), Date.UTC(2024, 5, 15, 12), Date.UTC(2150, 5, 15)];
  const entries = times.map((modifiedAt, n) => ({ ...entry(`file-${n}`), modifiedAt }));
  const made = await openArchive(workspaceOf(entries), ".");
  assert.ok(made.ok);
  const bytes = await gather(made.value.chunks());
  const years = entries.map(({ path }) => {
    // The date stands before the checksum, the sizes and the lengths that come before the name.
    const date = bytes.readUInt16LE(bytes.indexOf(path) - 18);
    return [1980 + (date >> 9), (date >> 5) & 15];
  });
  assert.deepEqual(years.slice(0, 2), [
    [1980, 1],
    [2024, 6],
  ]);
  assert.deepEqual(years[2], [2099, 12]);
});

test("a folder that is not there is told as that, and no empty archive is sent for it [S3]", async () => {
  const made = await openArchive(workspaceOf([]), "nowhere");
  assert.deepEqual(made, failure("file_not_found", { path: "nowhere", near: "" }));
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
