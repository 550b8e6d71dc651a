// Runs alone: it has a browser.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { noBrowser, openBrowser, picture, seriousIssues, serveYard, type TestBrowser } from "../world/browser.ts";

// The browser app as people use it: Debian's Chromium against the real server.

const skip = noBrowser;
let browser: TestBrowser;
before(async () => {
  if (skip === undefined) browser = await openBrowser();
});
after(() => browser?.close());

test("whoever opens the address and types gets the demo model's answer [B1][P1][M5]", { skip }, async () => {
  await using yard = await serveYard();
  const person = await browser.person();
  const page = await person.newPage();
  await page.goto(yard.address);
  await page.getByRole("textbox", { name: "Message" }).fill("what time is it?");
  await page.keyboard.press("Enter");
  await page.getByText("not an AI").first().waitFor();
  assert.match(new URL(page.url()).pathname, /^\/c\/[\w-]{36}$/);
  await picture(page, "first-answer");
  assert.deepEqual(await seriousIssues(page), []);
  await person.close();
  assert.deepEqual(browser.complaints(), []);
});
