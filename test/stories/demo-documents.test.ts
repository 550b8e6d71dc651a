import assert from "node:assert/strict";
import { test } from "node:test";
import { docx } from "../world/packed-files.ts";
import { paragraph, pdf, printed } from "../world/pdf-files.ts";
import { must, startYard } from "../world/yard.ts";

const manual = pdf(
  [
    ["1 Unpacking", "Take the machine out of its box."],
    ["2 Maintenance", "Replace the filter every ninety days."],
  ].map(([title = "", text = ""]) => ({
    content: printed([{ text: title, at: [72, 780], font: "F2", size: 20 }, ...paragraph(700, [text])]),
  })),
);
const report = docx(
  ["年度报告", "设备的滤芯每九十天更换一次。"].map((text) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`).join(""),
);

test("the demo model finds something in a document, with its page and a quotation, in both languages [M5][D3]", async () => {
  await using yard = await startYard();
  const { client } = yard;
  await yard.start("manual");
  await must(client.upload("manual", "manual.pdf", manual));
  const quotation =
    "`uploads/manual.pdf`, page 2 (2 Maintenance):\n\n> 2 Maintenance Replace the **filter** every ninety days.";
  for (const question of [
    "find filter in this document",
    "search the manual for filter",
    "find filter in manual.pdf",
  ]) {
    const { answer } = await yard.ask(question, { conversation: "manual" });
    assert.ok(answer.includes(`“filter” stands here:\n\n${quotation}`), `${question}: ${answer}`);
  }
  const chinese = await yard.ask("在这个文档里找 filter", { conversation: "manual" });
  assert.match(
    chinese.answer,
    /`uploads\/manual\.pdf` 第 2 页（2 Maintenance）：\n\n> .*\*\*filter\*\* every ninety days\./,
  );
  const nothing = await yard.ask("find zeppelin in this document", { conversation: "manual" });
  assert.match(nothing.answer, /I found “zeppelin” in none of these files\./);

  await yard.start("report");
  await must(client.upload("report", "报告.docx", report));
  const { answer } = await yard.ask("请在这份报告中查找滤芯", { conversation: "report" });
  assert.match(answer, /`uploads\/报告\.docx` 第 1–2 段：\n\n> 年度报告 设备的\*\*滤芯\*\*每九十天更换一次。/);
});
