import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createClient } from "../../src/client/client.ts";
import { folderWith } from "../world/folder.ts";
import { modelServer, says } from "../world/model-server.ts";
import { paragraph, pdf, printed } from "../world/pdf-files.ts";
import { keys, startChat } from "../world/pty.ts";
import { startYard } from "../world/yard.ts";

const scanned = { content: "q 100 0 0 100 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID x EI Q" };
const scan = pdf([{ content: printed(paragraph(700, ["Words of a first page"])) }, scanned]);

const texts = {
  en: {
    summary: "  2 pages, 21 characters\n",
    scanned: "  ! 1 page is a picture (2) without text, a scan say",
    damaged: "  ! uploads/torn.pdf cannot be read as PDF: it is damaged or not whole.",
  },
  zh: {
    summary: "  2 页，21 个字符\n",
    scanned: "  ! 1 页（2）是没有文字的图片（例如扫描件），无法搜索：请先做文字识别（OCR）",
    damaged: "  ! uploads/torn.pdf",
  },
} as const;

for (const language of ["en", "zh"] as const) {
  test(`who sends a document is told what was read of it and what was not, and what would help (${language}) [D4][F3]`, async (t) => {
    const words = texts[language];
    const folder = folderWith(t, { "plain.txt": "words" });
    writeFileSync(join(folder, "scan.pdf"), scan);
    writeFileSync(join(folder, "torn.pdf"), scan.subarray(0, 60));
    await using model = await modelServer(() => says("Read."));
    await using yard = await startYard({ model });
    const client = createClient({ fetch: yard.fetch, language });
    const chat = startChat({ client, language, place: { folder, homeDir: folder } });
    await chat.waitFor("You> ");
    chat.type(`look #scan.pdf #torn.pdf #plain.txt${keys.enter}`);
    await chat.waitFor("scan.pdf → uploads/scan.pdf (pdf)");
    await chat.waitFor(words.summary);
    await chat.waitFor(words.scanned);
    await chat.waitFor("torn.pdf → uploads/torn.pdf (pdf)");
    await chat.waitFor(words.damaged);
    const rest = await chat.waitFor("Read.");
    assert.doesNotMatch(rest, /plain\.txt \(text\)\n {2}/);
    chat.leave();
    await chat.ended;
  });
}
