import assert from "node:assert/strict";
import { test } from "node:test";
import { makeFailure } from "../protocol/failure.ts";
import { toldReceipt } from "./told-receipt.ts";

const plain = { characters: 1_200, tables: 0, images: 0, losses: [] };

test("what became of a file is told in one line, and each thing that could not be read in a sentence [F1][P4]", () => {
  const told = toldReceipt(
    {
      receipt: {
        ...{ parts: { kind: "page", count: 3 }, characters: 1_200, tables: 2, images: 1 },
        ...{ language: "zh", encoding: "gb18030", stopped: { limit: "100 pages", at: {} } },
        losses: [
          { kind: "running_heads", count: 9, places: [{ page: 1 }] },
          { kind: "damaged_pages", count: 3, places: [{ page: 2 }, { page: 5 }] },
          { kind: "hidden_slides", count: 1, places: [{ slide: 4 }] },
          { kind: "embedded_parts", count: 1, places: [{}] },
          { kind: "toString", count: 2, places: [] },
        ],
      },
      failure: makeFailure("storage_full", {}),
    },
    "en",
  );
  assert.equal(told.summary, "3 pages, 1,200 characters, 2 tables, Chinese, gb18030");
  assert.deepEqual(told.notes.slice(0, -1), [
    "3 pages are damaged and were (2, 5, …) left out: export the file again",
    "1 slide is hidden in the file; it was (4) read, too",
    "1 embedded file was not read: send it by itself",
    "2 × toString",
    "only a part of it was read: there is a limit of 100 pages",
  ]);
  assert.match(told.notes.at(-1) ?? "", /\. [A-Z]/);
});

test("of a plain text nothing is told but how long it is, and of one that cannot be read only why [F1][P4]", () => {
  const nothing = { failure: undefined };
  assert.deepEqual(toldReceipt({ ...nothing, receipt: { ...plain, encoding: "utf-8" } }, "en"), {
    ...{ summary: "1,200 characters", notes: [] },
  });
  const failure = makeFailure("storage_full", {});
  const { summary, notes } = toldReceipt({ receipt: undefined, failure }, "zh");
  assert.deepEqual([summary, notes.length, /。 /.test(notes.join())], ["", 1, false]);
});
