import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { TestBrowser } from "./browser.ts";

/** What closes it when the test is over. */
export type Ending = { after(action: () => Promise<void>): void };
type Place = { readonly browser: TestBrowser; readonly yard: { readonly address: string } };

/** A page of a new person, at a new conversation. */
export async function openChat(
  t: Ending,
  { browser, yard }: Place,
  options: Parameters<TestBrowser["person"]>[0] = {},
) {
  const person = await browser.person(options);
  t.after(async () => {
    await person.close();
    assert.deepEqual(browser.complaints(), []);
  });
  const page = await person.newPage();
  await page.goto(yard.address);
  // Whoever comes can type at once.
  await page.locator("#composer:focus").waitFor();
  return { person, page, ...handles(page) };
}

export function handles(page: Page) {
  const field = page.getByRole("textbox", { name: "Message" });
  return {
    field,
    say: async (text: string) => {
      await field.fill(text);
      await field.press("Enter");
    },
    answer: (text: string | RegExp) =>
      page.getByRole("article", { name: "Agent", exact: true }).filter({ hasText: text }),
    stop: page.getByRole("button", { name: "Stop", exact: true }),
    /** What stands below a turn that is over, and not below one that still runs. */
    over: page.getByRole("button", { name: "Quote" }),
    rail: page.getByRole("navigation", { name: "Conversations" }),
  };
}
