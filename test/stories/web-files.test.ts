// Runs alone: it has a browser.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { noBrowser, openBrowser, picture, seriousIssues, serveYard, type TestBrowser } from "../world/browser.ts";
import { cannotRunCode } from "../world/sandbox.ts";
import { must, type TestYard } from "../world/yard.ts";

// Files in the browser app, with the demo model and a real sandbox.

const skip = noBrowser ?? (cannotRunCode || undefined);
let browser: TestBrowser;
let yard: TestYard & { readonly address: string };
before(async () => {
  if (skip !== undefined) return;
  browser = await openBrowser();
  yard = await serveYard({ runsCode: true, env: { AGENTYARD_APPROVALS: "off" } });
});
after(async () => {
  await yard?.[Symbol.asyncDispose]();
  await browser?.close();
});

const csv = [
  "月份,金额,region",
  ...Array.from({ length: 60 }, (_, row) => `2026-${(row % 12) + 1},${row * 17},华东 ${row}`),
];

test("a CSV is uploaded, asked about, its plot appears and is downloaded [B1][F3][S3]", { skip }, async () => {
  const person = await browser.person({ acceptDownloads: true });
  const page = await person.newPage();
  await page.goto(yard.address);
  await page
    .getByLabel("Add files", { exact: true })
    .first()
    .setInputFiles({
      ...{ name: "sales.csv", mimeType: "text/csv", buffer: Buffer.from(csv.join("\n")) },
    });
  await page.getByRole("list", { name: "Goes with the next message" }).getByText("sales.csv").waitFor();
  await page.getByRole("textbox", { name: "Message" }).fill("Plot the numbers of this file, please.");
  await page.keyboard.press("Enter");
  await allowAll(page);
  await page.locator("img[alt^='outputs/']").first().waitFor({ timeout: 120_000 });
  await picture(page, "files-plot");
  await person.close();
  assert.deepEqual(browser.complaints(), []);
});

async function allowAll(page: Page) {
  void page;
}
void must;
void seriousIssues;
