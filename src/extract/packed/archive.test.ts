import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { zip } from "../../../test/world/odd-zip.ts";
import { zipped } from "../../../test/world/packed-files.ts";
import { openLosses } from "../losses.ts";
import { type Archive, archiveLimits, openArchive } from "./archive.ts";
import { depthMax, readXml } from "./xml.ts";
import { entriesMax } from "./zip-directory.ts";

function open(bytes: Uint8Array): Archive {
  const archive = openArchive(bytes, openLosses());
  assert(typeof archive !== "string");
  return archive;
}

/** How a part ends, and how much of it came. */
function taken(archive: Archive, name: string): readonly [end: string, bytes: number] {
  let bytes = 0;
  const end = archive.read(name, (piece) => {
    bytes += piece.length;
    return true;
  });
  return [end, bytes];
}

type Made = {
  readonly name: string;
  readonly data: Uint8Array;
  readonly said?: number;
  readonly flags?: number;
  readonly method?: number;
};

/** An archive by hand: what its directory says need not be so. */
function archiveOf(entries: readonly Made[], { isLarge = false, behind = "" } = {}): Uint8Array {
  const rows = entries.map(({ name, data, said = data.length, flags = 0, method = 8 }) => {
    const content = Buffer.from(data);
    const size = Buffer.from([1, 0, 8, 0, said, 0, 0, 0, 0, 0, 0, 0]);
    const sizes = isLarge ? { bytes: 0xff_ff_ff_ff, added: [size] } : { bytes: said };
    return { name, content, packed: method === 8 ? deflateRawSync(content) : content, flags, method, ...sizes };
  });
  return Buffer.concat([zip(rows, { isLarge }), Buffer.from(behind)]);
}

const text = (bytes: number) => Buffer.alloc(bytes, "a");

test("parts are found by name, with fields of 64 bits, and with something behind or in front of them [D1]", () => {
  const entries = [{ name: "Folder\\Part.XML", data: Buffer.from("hello") }];
  for (const bytes of [
    archiveOf(entries),
    archiveOf(entries, { isLarge: true }),
    archiveOf(entries, { behind: "rubbish behind" }),
    Buffer.concat([Buffer.from("in front"), archiveOf(entries)]),
  ]) {
    const archive = open(bytes);
    assert.deepEqual(archive.names, ["Folder/Part.XML"]);
    assert.deepEqual(taken(archive, "folder/part.xml"), ["whole", 5]);
    assert.deepEqual(taken(archive, "other"), ["missing", 0]);
  }
});

test("ten thousand parts are read, one more is too many; a part cut off or encrypted is told [D1]", () => {
  const many = (count: number) =>
    archiveOf(Array.from({ length: count }, (_, n) => ({ name: `${n}`, data: text(0), method: 0 })));
  assert.equal(open(many(entriesMax)).names.length, entriesMax);
  assert.equal(openArchive(many(entriesMax + 1), openLosses()), "too_many");
  assert.equal(openArchive(archiveOf([{ name: "a", data: text(9) }]).subarray(0, -30), openLosses()), "damaged");
  assert.equal(openArchive(archiveOf([{ name: "a", data: text(9), flags: 1 }]), openLosses()), "password");
  assert.equal(openArchive(Buffer.from("PK"), openLosses()), "damaged");
});

test("sizes that are not true, unknown methods and doubled names are met as what they are [D1]", () => {
  const losses = openLosses();
  const bytes = archiveOf([
    { name: "a", data: Buffer.from("first"), method: 0 },
    { name: "A", data: Buffer.from("second one"), method: 0 },
    { name: "short", data: text(100), said: 10 },
    { name: "odd", data: text(5), method: 97 },
  ]);
  const archive = openArchive(bytes, losses);
  assert(typeof archive !== "string");
  assert.deepEqual(taken(archive, "a"), ["whole", 5]);
  assert.deepEqual(taken(archive, "short"), ["damaged", 100]);
  assert.deepEqual(taken(archive, "odd"), ["damaged", 0]);
  assert.deepEqual(losses.all(), [
    { kind: "duplicate_parts", count: 1, places: [{}] },
    { kind: "damaged_parts", count: 2, places: [{}, {}] },
  ]);
});

test("a part that packs to less than a two hundredth is left after its first megabytes [D1]", () => {
  const limits = { ...archiveLimits, ratioFreeBytes: 100_000 };
  let seed = 1;
  const noise = Buffer.from(
    Array.from({ length: 2_000 }, () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed >> 8;
    }),
  );
  const opened = (data: Uint8Array) => {
    const archive = openArchive(archiveOf([{ name: "a", data }]), openLosses(), limits);
    assert(typeof archive !== "string");
    return taken(archive, "a");
  };
  const fits = Buffer.concat([noise, text(390_000)]);
  assert.deepEqual(opened(fits), ["whole", fits.length]);
  assert.deepEqual(opened(text(100_000)), ["whole", 100_000]);
  assert.equal(opened(text(400_000))[0], "limit");
});

test("a part is read up to its limit, and all parts together up to theirs [D1]", () => {
  assert.deepEqual(archiveLimits, {
    ...{ partBytesMax: 104_857_600, inflatedBytesMax: 524_288_000 },
    ...{ ratioMax: 200, ratioFreeBytes: 10_485_760 },
  });
  const part = (name: string, bytes: number) => ({ name, data: text(bytes), method: 0 });
  const bytes = archiveOf([part("fits", 1_000), part("not", 1_001)]);
  const limits = { ...archiveLimits, partBytesMax: 1_000, inflatedBytesMax: 4_001 };
  const archive = openArchive(bytes, openLosses(), limits);
  assert(typeof archive !== "string");
  assert.deepEqual(taken(archive, "fits"), ["whole", 1_000]);
  assert.deepEqual(taken(archive, "not"), ["limit", 0]);
  assert.deepEqual(taken(archive, "fits"), ["whole", 1_000]);
  assert.deepEqual(taken(archive, "fits"), ["whole", 1_000]);
  assert.deepEqual(taken(archive, "fits"), ["limit", 0]);
});

test("XML with entities of its own is refused, a plain declaration is not, and depth has an end [D1]", () => {
  const xml = (content: string | Uint8Array) => {
    const said: string[] = [];
    const end = readXml(open(zipped({ a: content })), "a", { text: (more) => said.push(more) });
    return [end, said.join("")];
  };
  assert.deepEqual(xml('<!DOCTYPE a [<!ENTITY b "bbb">]><a>&b;</a>')[0], "refused");
  assert.deepEqual(xml('<!DOCTYPE a [<!ENTITY % p SYSTEM "file:///etc/passwd">%p;]><a>x</a>')[0], "refused");
  assert.deepEqual(xml('<!DOCTYPE a PUBLIC "x" "y"><a>one &amp; two &#x4e2d;</a>'), ["whole", "one & two 中"]);
  assert.deepEqual(xml(`${"<a>".repeat(depthMax)}x`), ["whole", "x"]);
  assert.deepEqual(xml(`${"<a>".repeat(depthMax + 1)}x`), ["limit", ""]);
  assert.deepEqual(xml(Buffer.from("\ufeff<a>中</a>", "utf16le")), ["whole", "中"]);
  assert.deepEqual(xml('<?xml version="1.0" encoding="UTF-16"?><a>ö</a>'), ["whole", "ö"]);
  assert.deepEqual(xml("<a>open"), ["whole", "open"]);
});
