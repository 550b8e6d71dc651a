import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPdfium } from "./pdfium.ts";

test("PDFs are read wherever the program lies, also in a folder with a Chinese name [D1]", async (t) => {
  const [, program = ""] = process.argv;
  t.after(() => {
    process.argv[1] = program;
  });
  process.argv[1] = "/家/我的 程序/agentyard.mjs";
  const { call } = await loadPdfium();
  assert.ok(call("malloc", 8) > 0);
});
