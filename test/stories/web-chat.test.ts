import assert from "node:assert/strict";
import { linkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { noBrowser, openBrowser, picture, serveYard, type TestBrowser } from "../world/browser.ts";
import { until } from "../world/events.ts";
import { type Answer, calls, type ModelServer, modelServer, says, stepOf } from "../world/model-server.ts";
import { must } from "../world/yard.ts";

// The browser app as people use it: Debian's Chromium against the real server, with a scripted model.

const skip = noBrowser;
let browser: TestBrowser;
let model: ModelServer;
let yard: Awaited<ReturnType<typeof serveYard>>;

before(async () => {
  if (skip !== undefined) return;
  browser = await openBrowser();
  model = await modelServer(({ body }, seen) => {
    const said = seen().messages.findLast(({ role }) => role === "user")?.text ?? "";
    const step = stepOf({ text: "", body, headers: {} });
    return script(said, step);
  });
  yard = await serveYard({ model });
});
after(async () => {
  await browser?.close();
  await yard?.[Symbol.asyncDispose]();
  await model?.close();
});

const words = (count: number, from = 1) => Array.from({ length: count }, (_, at) => `word${from + at}`).join(" ");

let answers = 0;
/** What the model says depends on what it was told, and on nothing else, but for a number that counts. */
function script(said: string, step: number): Answer {
  answers += 1;
  if (said.startsWith("never end")) return { text: words(5), fault: { after: 4, kind: "stall" } };
  if (said.startsWith("write slowly")) return { text: words(60), paceMs: 25 };
  if (said.startsWith("use tools") && step === 0)
    return {
      ...calls(
        ["write_file", { path: "outputs/report.md", content: "# Report\n" }],
        ["todo_write", { todos: [todo("read the data", "completed"), todo("write the report", "in_progress")] }],
        ["read_file", { path: "outputs/nothing.md" }],
      ),
      text: "I will write a report.",
      reasoning: "First I think about what to write.",
    };
  return says(`answer ${answers} to: ${said.split("\n")[0]}`);
}

const todo = (content: string, status: string) => ({ content, status, priority: "medium" });

const open = (t: Ending, options?: Parameters<TestBrowser["person"]>[0]) => openChat(t, { browser, yard }, options);

test("what agents do is shown: reasoning folded, calls as cards with their files, a failure, the to-do list [B1][O2]", {
  skip,
}, async (t) => {
  const { page, say, answer } = await open(t);
  await say("use tools please");
  await answer(/to: use tools/).waitFor();
  await page.getByText("I will write a report.").waitFor();
  await page.getByText("First I think about").waitFor({ state: "hidden" });
  await page.getByText("Reasoning", { exact: true }).click();
  await page.getByText("First I think about").waitFor();
  const card = page.getByRole("button", { name: /done: write_file/ });
  assert.equal(await card.getAttribute("aria-expanded"), "false");
  await card.click();
  await page.getByText("# Report").waitFor();
  await page.getByRole("link", { name: /outputs\/report\.md/ }).waitFor();
  await page.getByRole("button", { name: /failed: read_file/ }).waitFor();
  await page.getByText("There is no file outputs/nothing.md.").waitFor();
  await page.getByText("To-do list: 1 of 2").waitFor();
  await picture(page, "chat-tools");
});

test("whoever has scrolled up and says something sees what comes of it [B1]", { skip }, async (t) => {
  const { page, say, answer, over } = await open(t);
  const long = Array.from({ length: 80 }, (_, at) => `line ${at}`).join("\n");
  await say(`first\n${long}`);
  await answer(/to: first/).waitFor();
  await over.waitFor();
  const toNewest = page.getByRole("button", { name: "To the newest" });
  // The list may still be on its way to its end.
  await until("one has scrolled up", async () => {
    await page.locator(".message-list").evaluate((list) => list.scrollTo(0, 0));
    return toNewest.isVisible();
  });
  await say("second");
  await answer(/to: second/).waitFor();
  await toNewest.waitFor({ state: "detached" });
});

test("while a turn runs, a message waits and can be withdrawn, or steers it; stopped, it can be asked again [B1][L6][L7]", {
  skip,
}, async (t) => {
  const { page, field, say, answer, stop } = await open(t);
  await say("never end, I add");
  await answer("word2").waitFor();
  await say("for later");
  const queue = page.getByRole("list", { name: "Waiting messages" });
  await queue.getByText("for later").waitFor();
  await picture(page, "chat-queue");
  await queue.getByRole("button", { name: "Withdraw" }).click();
  await queue.waitFor({ state: "hidden" });
  await until("it is in the field again", async () => (await field.inputValue()) === "for later");
  await field.press("Control+Enter");
  await queue.getByText("steers").waitFor();
  await stop.click();
  await answer(/to: for later/).waitFor();
  await say("never end this");
  await answer("word2").nth(1).waitFor();
  await page.keyboard.press("Escape");
  await page
    .getByText(/^Stopped\./)
    .last()
    .waitFor();
  await stop.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Try again" }).waitFor();
});

test("a message is edited, answered again, quoted, and a conversation branched off [B1][L9]", { skip }, async (t) => {
  const { page, say, answer, field } = await open(t);
  await say("the first");
  await answer(/to: the first/).waitFor();
  const again = new RegExp(`answer ${answers + 1} to: the first`);
  await page.getByRole("button", { name: "Answer again" }).click();
  await answer(again).waitFor();
  await page.getByRole("article", { name: "You" }).hover();
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "Edit" }).fill("the edited");
  await page.getByRole("textbox", { name: "Edit" }).press("Control+Enter");
  await answer(/to: the edited/).waitFor();
  assert.equal(await page.getByText("to: the first").count(), 0);
  await page.getByRole("button", { name: "Quote" }).click();
  assert.match(await field.inputValue(), /^> answer \d+ to: the edited\n\n$/);
  await field.fill("");
  const before = page.url();
  await page.getByRole("button", { name: "New conversation from here" }).click();
  await page.getByText("This conversation was branched off").waitFor();
  assert.notEqual(page.url(), before);
  await answer(/to: the edited/).waitFor();
});

test("files that a branch could not have are named, and where they still are [B1][L9]", { skip }, async (t) => {
  const { page, say, answer } = await open(t);
  await say("the first");
  await answer(/to: the first/).waitFor();
  const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  const outputs = join(yard.data, "workspace", id, "outputs");
  writeFileSync(join(yard.data, "elsewhere"), "x");
  linkSync(join(yard.data, "elsewhere"), join(outputs, "hard"));
  await page.getByRole("button", { name: "New conversation from here" }).click();
  await page.getByText("These files could not be copied: outputs/hard. They are still in the conversation").waitFor();
  await page.getByText("This conversation was branched off").waitFor();
});

test("a page that is loaded again in the middle of an answer goes on with it, and nothing comes twice [B1][C3]", {
  skip,
}, async (t) => {
  const { page, say, answer } = await open(t);
  await say("write slowly");
  await answer("word10").waitFor();
  await page.reload();
  await answer("word12").waitFor();
  await page.getByRole("button", { name: "Quote" }).waitFor();
  assert.equal(await answer("word60").innerText(), words(60));
});

test("two tabs are in step, and so is what was typed in one of them [B1][C3]", { skip }, async (t) => {
  const { person, page, say, answer } = await open(t);
  await say("for two tabs");
  await answer(/to: for two tabs/).waitFor();
  assert.match(new URL(page.url()).pathname, /^\/c\/[\w-]{36}$/);
  const other = await person.newPage();
  await other.goto(page.url());
  const second = handles(other);
  await second.answer(/to: for two tabs/).waitFor();
  await second.say("from the other");
  await answer(/to: from the other/).waitFor();
  await second.field.fill("half a sent");
  await until("the other tab has it", async () => (await handles(page).field.inputValue()) === "half a sent");
  await page.reload();
  assert.equal(await handles(page).field.inputValue(), "half a sent");
});

test("Enter belongs to the input method while one composes [B1][P4]", { skip }, async (t) => {
  const { person, page, field } = await open(t, { locale: "en-US" });
  await field.focus();
  const tools = await person.newCDPSession(page);
  await tools.send("Input.imeSetComposition", { text: "nihao", selectionStart: 5, selectionEnd: 5 });
  await page.keyboard.press("Enter");
  await tools.send("Input.insertText", { text: "你好" });
  assert.match(new URL(page.url()).pathname, /^\/$/);
  assert.match(await field.inputValue(), /你好/);
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("第二行");
  await page.keyboard.press("Enter");
  await page.getByRole("article", { name: "You" }).getByText("第二行").waitFor();
});

test("how full the window is and what is left of a budget stand above the messages [B1]", { skip }, async (t) => {
  const { page, say, answer, over } = await open(t);
  await say("a word");
  await answer(/to: a word/).waitFor();
  await over.waitFor();
  const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  const state = async () => must(yard.client.call("getState", { params: { id } }));
  const { tokens } = await state();
  const percent = Math.round((tokens.used / tokens.window) * 100);
  const window = page.getByRole("meter", {
    name: new RegExp(`tokens of the model's window are used \\(${percent} %\\)`),
  });
  await window.waitFor();
  assert.ok(Math.abs(Number(await window.getAttribute("value")) - tokens.used / tokens.window) < 0.005);
  const budget = page.getByRole("meter", { name: /^Budget/ });
  assert.equal(await budget.count(), 0, "without a limit there is none");

  await must(yard.client.call("setBudget", { params: { id }, body: { tokens: 4_000_000 } }));
  await page.reload();
  await budget.waitFor();
  const before = Number(await budget.getAttribute("value"));
  await say("and a word");
  await answer(/to: and a word/).waitFor();
  const grown = async () => Number(await budget.getAttribute("value")) > before;
  await until("what was spent is seen", grown);
  await until("of the limit", async () => {
    const { limits, left } = (await state()).budget;
    const spent = (limits.tokens ?? 0) - (left.tokens ?? 0);
    return Math.abs(Number(await budget.getAttribute("value")) - spent / 4_000_000) < 1e-6;
  });
  await picture(page, "chat-meters");
  // The way to what it was spent for.
  await page.getByRole("link", { name: /^Budget/ }).click();
  await page.locator(".pane").getByText("Tokens", { exact: true }).waitFor();
  assert.equal(new URL(page.url()).pathname, `/tasks/${id}/root`);
});

test("everything is done with the keyboard alone [B1]", { skip }, async (t) => {
  const { page, over, rail } = await open(t);
  await page.keyboard.type("keys only");
  await page.keyboard.press("Enter");
  await page.getByText("to: keys only").waitFor();
  await over.waitFor();
  await rail.getByRole("button", { name: "Menu of keys only" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("keys");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.locator("[role=menuitem]:focus", { hasText: "Rename" }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.locator("[role=menuitem]:focus", { hasText: "Pin" }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Pinned" }).getByText("keys only").waitFor();
  await page.keyboard.press("Alt+ArrowUp");
  assert.match(await page.locator("article:focus").innerText(), /to: keys only/);
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await picture(page, "keys");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "hidden" });
  await page.keyboard.press("n");
  await page.getByRole("heading", { name: "New conversation" }).waitFor();
  await page.keyboard.press("Escape");
});

// The list of conversations beside the chat, as people use it.

test("conversations are searched, renamed, pinned, and deleted with a moment to undo it [B1]", { skip }, async (t) => {
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
});

/** What closes it when the test is over. */
type Ending = { after(action: () => Promise<void>): void };
type Place = { readonly browser: TestBrowser; readonly yard: { readonly address: string } };

/** A page of a new person, at a new conversation. */
async function openChat(t: Ending, { browser, yard }: Place, options: Parameters<TestBrowser["person"]>[0] = {}) {
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

function handles(page: Page) {
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
