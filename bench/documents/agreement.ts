/** Characters of each page against pdftotext, and whether blocks stand on the page that they name. */
import { spawnSync } from "node:child_process";
import { openPdf } from "../../src/extract/pdf/pdf-document.ts";
import { loadPdfium } from "../../src/extract/pdf/pdfium.ts";
import { agreement } from "../../test/world/text-agreement.ts";
import type { Figure } from "../figure.ts";
import type { Sizes } from "./sizes.ts";
import type { Manual, World } from "./world.ts";

const missingMost = 2;
const misplacedMost = 0.5;

export async function measureAgreement({ manuals, extract }: World, sizes: Sizes): Promise<Figure[]> {
  const pdfium = await loadPdfium();
  const figures: Figure[] = [];
  for (const manual of manuals(sizes)) {
    const theirs = pagesOf(manual);
    const document = theirs === undefined ? "damaged" : openPdf(pdfium, manual.bytes);
    if (theirs === undefined || typeof document === "string") {
      figures.push({ what: manual.name, unit: "%", value: Number.NaN, skipped: "pdftotext is needed" });
      continue;
    }
    let [shared, all] = [0, 0];
    for (let page = 0; page < document.pageCount; page += 1) {
      const ours =
        document
          .page(page)
          ?.lines.map(({ text }) => text)
          .join("\n") ?? "";
      const length = squeezed(theirs[page] ?? "").length;
      shared += agreement(ours, theirs[page] ?? "") * length;
      all += length;
    }
    document.close();
    const missing = 100 * (1 - shared / all);
    figures.push({ what: `${manual.name}, characters that differ`, unit: "%", value: missing, atMost: missingMost });
    const { blocks } = await extract(manual);
    const pages = theirs.map(squeezed);
    const placed = blocks.filter(({ kind, text }) => kind === "paragraph" && squeezed(text).length > 20);
    // What stands nowhere as we read it was put into another order by one of the two.
    const lost = placed.filter(({ text, from }) => {
      // pdftotext reads the numbers of a list before its entries.
      const words = squeezed(text.replace(/^\d+\s+/, "")).slice(0, 20);
      return !pages[(from.page ?? 0) - 1]?.includes(words) && pages.some((page) => page.includes(words));
    });
    const share = (100 * lost.length) / Math.max(placed.length, 1);
    figures.push({
      what: `${manual.name}, paragraphs on another page`,
      unit: "%",
      value: share,
      atMost: misplacedMost,
    });
  }
  return figures;
}

function pagesOf({ bytes }: Manual): readonly string[] | undefined {
  const done = spawnSync("pdftotext", ["-enc", "UTF-8", "-", "-"], { input: bytes, maxBuffer: 2 ** 28 });
  return done.status === 0 ? done.stdout.toString("utf8").split("\f") : undefined;
}

function squeezed(text: string): string {
  return text.normalize("NFKC").replaceAll(/[^\p{L}\p{N}]+/gu, "");
}
