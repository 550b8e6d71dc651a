// `node scripts/picture-browser.ts`: makes docs/pictures/browser.png and its like: real pages of a real server with the demo model, which
// has just worked on a file, in Debian's Chromium. For the READMEs, in both languages.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openBrowser, serveYard } from "../test/world/browser.ts";
import { salesTable } from "./pictures/sales-table.ts";

const pictures = join(import.meta.dirname, "..", "docs", "pictures");
const pages = [
  {
    ending: "",
    locale: "en-US",
    field: "Message",
    ask: "Plot the revenue in this file",
    remove: "delete uploads/sales.csv",
  },
  { ending: ".zh-CN", locale: "zh-CN", field: "消息", ask: "画出这个文件里的收入", remove: "删除 uploads/sales.csv" },
] as const;

mkdirSync(pictures, { recursive: true });
const browser = await openBrowser();
try {
  for (const { ending, locale, field, ask, remove } of pages) {
    await using yard = await serveYard({ runsCode: true });
    const person = await browser.person({ locale, viewport: { width: 1180, height: 760 }, deviceScaleFactor: 1.5 });
    const page = await person.newPage();
    await page.goto(yard.address);
    const message = page.getByRole("textbox", { name: field });
    await message.fill(ask);
    const file = { name: "sales.csv", mimeType: "text/csv", buffer: Buffer.from(salesTable()) };
    await page.locator("input[type=file]").first().setInputFiles(file);
    await page.locator(".attached-chip:not([data-state])").getByText("sales.csv").waitFor();
    await message.press("Enter");
    await page.locator("img[alt^='outputs/']").first().waitFor({ timeout: 120_000 });
    await page.waitForTimeout(3000);
    await page.locator("img[alt^='outputs/']").first().scrollIntoViewIfNeeded();
    await page.screenshot({ path: join(pictures, `browser${ending}.png`), animations: "disabled", caret: "hide" });
    await message.fill(remove);
    await message.press("Enter");
    await page.getByRole("button", { name: /^(Approve once|批准一次)/ }).waitFor();
    await page.waitForTimeout(1500);
    await page.screenshot({ path: join(pictures, `decision${ending}.png`), animations: "disabled", caret: "hide" });
    await person.close();
  }
} finally {
  await browser.close();
}
