import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { makeFailure } from "../../src/protocol/failure.ts";
import { noBrowser, openBrowser, picture, seriousIssues, serveYard, type TestBrowser } from "../world/browser.ts";
import { paragraph, pdf, printed } from "../world/pdf-files.ts";
import { problemFor } from "../world/problem.ts";
import { cannotRunCode } from "../world/sandbox.ts";
import { must, type TestYard } from "../world/yard.ts";

// Files in the browser app, with the demo model and a real sandbox.

const skip = noBrowser ?? (cannotRunCode || undefined);
let browser: TestBrowser;
let yard: TestYard & { readonly address: string };
before(async () => {
  if (skip !== undefined) return;
  browser = await openBrowser();
  yard = await serveYard({ runsCode: true });
});
after(async () => {
  await yard?.[Symbol.asyncDispose]();
  await browser?.close();
});

const sales = Array.from({ length: 60 }, (_, row) => `2026-${(row % 12) + 1},${row * 17},华东 ${row}`);
const csv = Buffer.from(["月份,金额,region", ...sales].join("\n"));

async function conversation(id: string): Promise<string> {
  await must(yard.client.call("createConversation", { body: { id } }));
  return id;
}

const shown = (page: Page, name: string) => page.getByRole("link", { name, exact: true });

test("a CSV is uploaded, asked about, its plot appears and is downloaded [B1][F3][S3]", { skip }, async () => {
  const person = await browser.person({ acceptDownloads: true });
  const page = await person.newPage();
  await page.goto(yard.address);
  // What is typed before the first file stays.
  await page.getByRole("textbox", { name: "Message" }).fill("Plot the numbers of this file, please.");
  await page
    .locator("input[type=file]")
    .first()
    .setInputFiles({ name: "sales.csv", mimeType: "text/csv", buffer: csv });
  await page.getByRole("list", { name: "Goes with the next message" }).getByText("sales.csv").waitFor();
  assert.equal(
    await page.getByRole("textbox", { name: "Message" }).inputValue(),
    "Plot the numbers of this file, please.",
  );
  // Twice, as people do: it is sent once.
  await page.getByRole("textbox", { name: "Message" }).press("Enter");
  await page.getByRole("textbox", { name: "Message" }).press("Enter");
  const plot = page.locator("img[alt^='outputs/']").first();
  await plot.waitFor({ timeout: 120_000 });
  await page.getByText("There are no gaps.").waitFor();
  assert.equal(await page.getByRole("article", { name: "You" }).count(), 1);
  await page.waitForFunction(`document.querySelector("img[alt^='outputs/']")?.naturalWidth > 100`);
  await picture(page, "files-plot");
  // It stands in the list at once, said to be the agent's.
  await page.getByRole("link", { name: "Files", exact: true }).last().click();
  await shown(page, "sales-chart.png").waitFor();
  await picture(page, "files-list");
  assert.match((await page.locator(".file-row", { hasText: "sales-chart.png" }).textContent()) ?? "", /agent|program/);
  assert.deepEqual(await seriousIssues(page, "aside.pane"), []);
  await shown(page, "sales-chart.png").click();
  await page.locator(".picture-box img").waitFor();
  await picture(page, "files-picture");
  const downloading = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download", exact: true }).click();
  const file = await downloading;
  assert.equal(file.suggestedFilename(), "sales-chart.png");
  const saved = join(tmpdir(), `downloaded-${process.pid}.png`);
  await file.saveAs(saved);
  assert.equal((await readFile(saved)).subarray(1, 4).toString("latin1"), "PNG");
  await page.getByRole("link", { name: "All files" }).click();
  const zipping = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download all as ZIP" }).click();
  assert.match((await zipping).suggestedFilename(), /\.zip$/);
  await person.close();
  assert.deepEqual(browser.complaints(), []);
});

test("what may not come in says why, in the server's words, and can be taken off; of many files at once all others come in [F3]", {
  skip,
}, async () => {
  const id = await conversation("refused");
  const person = await browser.person({ locale: "zh-CN" });
  const page = await person.newPage();
  await page.goto(`${yard.address}/c/${id}/f`);
  await page.locator(".files input[type=file]").setInputFiles({
    ...{ name: "程序.exe", mimeType: "application/octet-stream", buffer: Buffer.from("MZ\x90\x00\x03") },
  });
  const why = page.locator(".files .attached-why");
  await why.waitFor();
  assert.match((await why.textContent()) ?? "", /程序\.exe/);
  await picture(page, "files-refused-zh");
  await page.locator(".files .attached-chip").getByRole("button", { name: "从列表中移除" }).click();
  await why.waitFor({ state: "detached" });
  // Dropped anywhere on the page, more than are sent at a time: each of them arrives.
  await page.evaluate(`
    const dropped = new DataTransfer();
    for (const name of ["一", "二", "三", "四", "五"]) dropped.items.add(new File(["一,二\\n1,2"], name + ".csv"));
    dispatchEvent(new DragEvent("drop", { dataTransfer: dropped, bubbles: true, cancelable: true }));
  `);
  for (const name of ["一", "二", "三", "四", "五"]) await shown(page, `${name}.csv`).waitFor();
  await person.close();
  // The refusal is an answer with an error's status: browsers write a line about each.
  assert.deepEqual(
    browser.complaints().filter((line) => !line.includes("415")),
    [],
  );
});

test("a table of 100,000 rows scrolls to its end, and a line or page that is named is opened [S3][B1]", {
  skip,
}, async () => {
  const id = await conversation("large");
  const rows = Array.from({ length: 100_000 }, (_, row) => `${row},名称 ${row},${(row * 7) % 1000}.50`);
  await must(yard.client.upload(id, "large.csv", Buffer.from(["nr,name,amount", ...rows].join("\n"))));
  const code = Array.from({ length: 3_000 }, (_, n) => `x${n} = "${n}"`);
  await must(yard.client.upload(id, "code.py", Buffer.from(code.join("\n"))));
  const pages = ["first", "second", "third"].map((word) => ({
    content: printed(paragraph(700, [`Words of the ${word} page`])),
  }));
  await must(yard.client.upload(id, "report.pdf", pdf(pages)));
  const person = await browser.person();
  const page = await person.newPage();
  await page.goto(`${yard.address}/c/${id}/f/uploads/large.csv`);
  await page.getByText("名称 0", { exact: true }).waitFor();
  await page.getByText("100,000 rows, 3 columns").waitFor();
  await picture(page, "preview-table");
  await page.evaluate(`document.querySelector(".grid-box").scrollTo(0, 10_000_000)`);
  await page.getByText("名称 99999", { exact: true }).waitFor();
  assert.ok((await page.locator(".grid-row").count()) < 120, "only what is seen is there");
  await page.setViewportSize({ width: 390, height: 800 });
  assert.equal(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true, "no way sideways");
  await page.setViewportSize({ width: 1360, height: 860 });
  await page.goto(`${yard.address}/c/${id}/f/uploads/code.py#line%3D2500`);
  await page.getByText('x2499 = "2499"').waitFor();
  await picture(page, "preview-code");
  await page.goto(`${yard.address}/c/${id}/f/uploads/report.pdf#page%3D3`);
  await page.locator("iframe.frame").waitFor();
  assert.match((await page.locator("iframe.frame").getAttribute("src")) ?? "", /#page=3&navpanes=0$/);
  await picture(page, "preview-pdf");
  await page.getByRole("button", { name: "Text", exact: true }).click();
  await page.locator(".document [data-marked]").getByText("third page").waitFor();
  await page.getByText("3 pages").waitFor();
  // Found by its words, it opens at its place.
  await page.goto(`${yard.address}/c/${id}/f`);
  await page.getByRole("searchbox", { name: "Search names and contents" }).fill("second page");
  await page.getByRole("link", { name: /report\.pdf page 1/ }).click();
  await page.locator("iframe.frame[src$='#page=1&navpanes=0']").waitFor();
  await person.close();
  assert.deepEqual(browser.complaints(), []);
});

test("a deleted file comes back, and so does an earlier state [W12][F3]", { skip }, async () => {
  const id = await conversation("history");
  for (const text of ["first", "the second one"]) await must(yard.client.upload(id, "a.txt", Buffer.from(text)));
  const person = await browser.person();
  const page = await person.newPage();
  await page.goto(`${yard.address}/c/${id}/f`);
  await page.getByRole("button", { name: "More for a.txt" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await shown(page, "a.txt").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).click();
  await shown(page, "a.txt").click();
  await page.getByText("the second one").waitFor();
  await page.getByRole("button", { name: "History", exact: true }).click();
  await picture(page, "files-history");
  assert.deepEqual(await seriousIssues(page, "aside.pane"), []);
  await page.getByRole("button", { name: "Restore this state" }).last().click();
  await page.getByText("a.txt is again as it was.").waitFor();
  await page.getByRole("button", { name: "Preview", exact: true }).click();
  await page.getByText("first", { exact: true }).waitFor();
  await person.close();
  assert.deepEqual(browser.complaints(), []);
});

test("what cannot be told of files is said with why: their history, what stands in them, an undo [F3]", {
  skip,
}, async () => {
  const id = await conversation("untold");
  await must(yard.client.upload(id, "a.txt", Buffer.from("first")));
  const busy = problemFor(makeFailure("storage_busy", {}), 503, "en");
  const person = await browser.person();
  const page = await person.newPage();
  let isBusy = true;
  await page.route(/\/files\/(history|search)/, (route) =>
    isBusy
      ? route.fulfill({ status: 503, contentType: "application/problem+json", body: JSON.stringify(busy) })
      : route.fallback(),
  );
  const why = page.getByRole("alert").filter({ hasText: busy.detail });
  await page.goto(`${yard.address}/c/${id}/f`);
  await page.getByRole("searchbox", { name: "Search names and contents" }).fill("first");
  await why.waitFor();
  await page.getByRole("searchbox", { name: "Search names and contents" }).fill("");
  await page.getByRole("button", { name: "More for a.txt" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.locator(".toast[data-kind=trouble]", { hasText: busy.detail }).waitFor();
  await must(yard.client.upload(id, "b.txt", Buffer.from("second")));
  await page.goto(`${yard.address}/c/${id}/f/uploads/b.txt#history`);
  await why.waitFor();
  isBusy = false;
  await why.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("list", { name: "History" }).waitFor();
  await person.close();
  assert.deepEqual(
    browser.complaints().filter((line) => !/status of 503/.test(line)),
    [],
  );
});
