// Runs alone: it has a browser.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page, Route } from "playwright-core";
import { makeFailure } from "../../src/protocol/failure.ts";
import type { Problem } from "../../src/protocol/resources.ts";
import { noBrowser, openBrowser, picture, serveYard, type TestBrowser } from "../world/browser.ts";
import { type Ending, openChat } from "../world/chat-page.ts";
import { until } from "../world/events.ts";
import { type ModelServer, modelServer, says } from "../world/model-server.ts";
import { problemFor } from "../world/problem.ts";
import { must } from "../world/yard.ts";

// The list of conversations beside the chat, as people use it.

const skip = noBrowser;
let browser: TestBrowser;
let model: ModelServer;
let yard: Awaited<ReturnType<typeof serveYard>>;

before(async () => {
  if (skip !== undefined) return;
  browser = await openBrowser();
  model = await modelServer((_, seen) =>
    says(`answer to: ${seen().messages.findLast(({ role }) => role === "user")?.text ?? ""}`),
  );
  yard = await serveYard({ model });
});
after(async () => {
  await browser?.close();
  await yard?.[Symbol.asyncDispose]();
  await model?.close();
});

const open = (t: Ending) => openChat(t, { browser, yard });

test("conversations are searched, renamed, pinned, and deleted with a moment to undo it [B1]", {
  skip,
}, async (t) => {
  const { page, say, answer, rail: list } = await open(t);
  await say("apples and pears");
  await answer(/to: apples/).waitFor();
  await list.getByRole("button", { name: "Menu of apples and pears" }).click();
  await page.getByRole("menuitem", { name: "Rename" }).click();
  await page.getByRole("textbox", { name: "New title" }).fill("水果");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "水果" }).waitFor();
  await page.getByRole("dialog", { name: "Rename" }).waitFor({ state: "hidden" });
  await page.getByRole("searchbox", { name: "Search conversations" }).fill("水");
  await list.getByText("水果").waitFor();
  assert.equal(await list.getByRole("listitem").count(), 1);
  await page.getByRole("searchbox", { name: "Search conversations" }).fill("pears");
  await list.getByRole("region", { name: "In messages and files" }).getByText("pears").first().waitFor();
  await page.getByRole("searchbox", { name: "Search conversations" }).fill("");
  await list.getByRole("button", { name: "Menu of 水果" }).click();
  await page.getByRole("menuitem", { name: "Pin" }).click();
  await list.getByRole("region", { name: "Pinned" }).getByText("水果").waitFor();
  await picture(page, "chat-rail");
  await list.getByRole("button", { name: "Menu of 水果" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await list.getByText("水果").waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "Undo" }).click();
  await list.getByText("水果").waitFor();
});

test("what is pinned, and what is new since one looked, is so in another browser as well [B1]", { skip }, async (t) => {
  const { page, say, answer, over } = await open(t);
  await say("pin me: plums");
  await answer(/to: pin me: plums/).waitFor();
  await over.waitFor();
  const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  const rowIn = (of: Page) => of.getByRole("navigation", { name: "Conversations" }).getByText("pin me: plums");
  await page.getByRole("button", { name: "Menu of pin me: plums" }).first().click();
  await page.getByRole("menuitem", { name: "Pin" }).click();
  const pinnedIn = (of: Page) => of.getByRole("region", { name: "Pinned" }).getByText("pin me: plums");
  await pinnedIn(page).waitFor();
  // Looked at to its end: by the server's clock, wherever the browser's stands.
  const isSeen = async () => {
    const { seenAt, updatedAt } = await must(yard.client.call("getConversation", { params: { id } }));
    return seenAt === updatedAt;
  };
  await until("it is known that it was looked at", isSeen);
  // The rail's own link stands before all rows; one without a title yet has the same name.
  await page.getByRole("link", { name: "New conversation" }).first().click();

  const elsewhere = await open(t);
  await pinnedIn(elsewhere.page).waitFor();
  const unreadIn = (of: Page) => of.getByRole("link", { name: "New since you looked: pin me: plums" });
  assert.equal(await unreadIn(elsewhere.page).count(), 0);
  await yard.ask("and pears", { conversation: id });
  for (const shown of [page, elsewhere.page]) {
    await shown.reload();
    await unreadIn(shown).waitFor();
  }
  await rowIn(elsewhere.page).click();
  await elsewhere.answer(/to: and pears/).waitFor();
  await until("it is known that it was looked at elsewhere", isSeen);
  await page.reload();
  await pinnedIn(page).waitFor();
  assert.equal(await unreadIn(page).count(), 0);

  // What a browser kept for itself, before the server did, is handed over once.
  await must(yard.client.call("changeConversation", { params: { id }, body: { pinned: false } }));
  await page.evaluate(`localStorage.setItem("agentyard.pinned", '[7, "${id}"]')`);
  await page.reload();
  await until("it is pinned there", async () => {
    return (await must(yard.client.call("getConversation", { params: { id } }))).pinned;
  });
  await pinnedIn(page).waitFor();
  await until(
    "it is forgotten here",
    async () => (await page.evaluate(`localStorage.getItem("agentyard.pinned")`)) === null,
  );
});

test("an open menu stays while other conversations come before its own [B1]", { skip }, async (t) => {
  const { page, say, answer, rail: list } = await open(t);
  const { conversation: id } = await yard.ask("the other one");
  await must(yard.client.call("changeConversation", { params: { id }, body: { seenAt: Date.now() } }));
  await say("mine");
  await answer(/to: mine/).waitFor();
  const first = () => list.getByRole("region", { name: "Today" }).locator(".row-title").first().innerText();
  await until("both are listed", async () => (await first()) === "mine");
  await list.getByRole("button", { name: "Menu of mine" }).click();
  const focused = page.locator("[role=menuitem]:focus", { hasText: "Rename" });
  await focused.waitFor();
  await yard.ask("more", { conversation: id });
  await page.getByRole("link", { name: "New since you looked: the other one" }).waitFor();
  assert.deepEqual([await focused.count(), await first()], [1, "mine"], "still open, in its place");
  await page.keyboard.press("Escape");
  await page.locator("#composer").focus();
  await until("the newest stands first", async () => (await first()) === "the other one");
});

test("a conversation keeps its newest name, also when an older answer is the slower one, and however far one goes back [B1]", {
  skip,
}, async (t) => {
  const { page, say, answer } = await open(t);
  await say("first name");
  await answer(/to: first name/).waitFor();
  const heading = (name: string) => page.getByRole("heading", { name, exact: true });
  await heading("first name").waitFor();
  const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  const rename = (title: string) => must(yard.client.call("changeConversation", { params: { id }, body: { title } }));
  await rename("second name");
  await heading("second name").waitFor();
  const older = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const isAnswered = page.waitForResponse((response) => response.url().endsWith("/state"));
  await page.route("**/state", async (route) => {
    const response = await route.fetch();
    asked.resolve();
    await older.promise;
    await route.fulfill({ response });
  });
  await say("go on");
  await asked.promise;
  await rename("third name");
  await heading("third name").waitFor();
  older.resolve();
  await (await isAnswered).finished();
  await page.unroute("**/state");
  assert.deepEqual([await heading("third name").count(), await heading("second name").count()], [1, 0]);

  await must(yard.client.call("undoTurn", { params: { id } }));
  await page.getByText("answer to: go on").waitFor({ state: "hidden" });
  assert.deepEqual([await heading("third name").count(), await heading("second name").count()], [1, 0]);
});

test("what the server refuses in the list is told at the edge of the page, with what to do [B1][P4]", {
  skip,
}, async (t) => {
  const { page, say, answer, rail: list } = await open(t);
  await say("keep me: figs");
  await answer(/to: keep me: figs/).waitFor();
  const pinning = problemFor(makeFailure("storage_full", {}), 507);
  const renaming = problemFor(makeFailure("storage_read_only", {}), 503);
  const removing = problemFor(makeFailure("storage_busy", {}), 503);
  const refuse = (route: Route, { status, ...rest }: Problem) =>
    route.fulfill({ status, contentType: "application/problem+json", body: JSON.stringify({ status, ...rest }) });
  await page.route(/\/conversations\/[^/]+$/, (route) => {
    const request = route.request();
    if (request.method() === "DELETE") return refuse(route, removing);
    const change = request.method() === "PATCH" ? request.postDataJSON() : {};
    if ("pinned" in change) return refuse(route, pinning);
    return "title" in change ? refuse(route, renaming) : route.fallback();
  });
  const isTold = ({ detail }: Problem) => page.locator(".toast[data-kind=trouble]", { hasText: detail }).waitFor();
  const choose = async (entry: string) => {
    await list.getByRole("button", { name: "Menu of keep me: figs" }).click();
    await page.getByRole("menuitem", { name: entry }).click();
  };
  await choose("Pin");
  await isTold(pinning);
  await choose("Rename");
  await page.getByRole("textbox", { name: "New title" }).fill("dates");
  await page.keyboard.press("Enter");
  await isTold(renaming);
  await choose("Delete");
  await list.getByText("keep me: figs").waitFor({ state: "hidden" });
  // Whoever leaves does not take it back any more.
  await page.evaluate(`dispatchEvent(new Event("pagehide"))`);
  await isTold(removing);
  await list.getByText("keep me: figs").waitFor();

  await page.route(/\/conversations\?/, (route) => refuse(route, removing));
  await page.reload();
  await list.getByText(`The list could not be loaded. ${removing.detail}`).waitFor();
  await page.close();
  assert.deepEqual(
    browser.complaints().filter((line) => !/status of 50[37]/.test(line)),
    [],
  );
});
