import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { before, test } from "node:test";
import { agreement } from "../../../test/world/text-agreement.ts";
import { pdfReader } from "./pdf.ts";
import { openPdf } from "./pdf-document.ts";
import { loadPdfium, type Pdfium } from "./pdfium.ts";

// Real manuals, as Debian ships them, read by us and by another program. `npm run bench documents` does so with many.

const manuals = {
  English: "/usr/share/developers-reference/developers-reference.pdf",
  Chinese: "/usr/share/debian-reference/debian-reference.zh-cn.pdf",
};
const pages = { first: 30, last: 45 };

let pdfium: Pdfium;
before(async () => {
  pdfium = await loadPdfium();
});

/** A page each, from the first on. */
function byPdftotext(file: string): readonly string[] {
  const range = ["-f", String(pages.first), "-l", String(pages.last)];
  return execFileSync("pdftotext", [...range, "-enc", "UTF-8", file, "-"], { encoding: "utf8" }).split("\f");
}

const squashed = (text: string) => text.normalize("NFKC").replaceAll(/[^\p{L}\p{N}]+/gu, "");
const isMissing = (file: string) => !existsSync(file) || !existsSync("/usr/bin/pdftotext");

for (const [language, file] of Object.entries(manuals)) {
  const skip = isMissing(file) ? `${file} and pdftotext are needed` : false;

  test(`pages of a manual in ${language} have the characters that pdftotext finds on them [D1]`, { skip }, () => {
    const document = openPdf(pdfium, readFileSync(file));
    assert(typeof document !== "string");
    const theirs = byPdftotext(file);
    for (let page = pages.first; page <= pages.last; page += 1) {
      const ours =
        document
          .page(page - 1)
          ?.lines.map(({ text }) => text)
          .join("\n") ?? "";
      const share = agreement(ours, theirs[page - pages.first] ?? "");
      assert.ok(share >= 0.98, `page ${page}: ${share.toFixed(4)}`);
    }
    document.close();
  });

  test(`blocks of a manual in ${language} stand on the page that they name [D1]`, { skip }, async () => {
    const found = await pdfReader(pdfium)({ name: "manual.pdf", bytes: readFileSync(file) }, { onProgress() {} });
    assert(found.ok);
    const theirs = byPdftotext(file).map(squashed);
    const isInRange = ({ page = 0 }) => page >= pages.first && page <= pages.last;
    const placed = found.value.blocks.filter(({ kind, from }) => kind === "paragraph" && isInRange(from));
    const lost = placed.filter(
      ({ text, from }) => !theirs[(from.page ?? 0) - pages.first]?.includes(squashed(text).slice(0, 20)),
    );
    assert.ok(placed.length > 50);
    assert.ok(
      lost.length <= placed.length * 0.03,
      lost.map(({ text, from }) => `${from.page}: ${text.slice(0, 40)}`).join("\n"),
    );
  });
}
