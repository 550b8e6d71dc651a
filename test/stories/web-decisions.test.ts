import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { BrowserContext, Locator, Page } from "playwright-core";
import type { EventOf } from "../../src/protocol/events.ts";
import { noBrowser, openBrowser, picture, seriousIssues, serveYard, type TestBrowser } from "../world/browser.ts";
import { firstOf, report } from "../world/company.ts";
import { all, until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { accountServer } from "../world/mcp-account-server.ts";
import { everything } from "../world/mcp-servers.ts";
import {
  type Answer,
  type AskedRequest,
  calls,
  type ModelServer,
  modelServer,
  says,
  stepOf,
} from "../world/model-server.ts";
import { effectTool } from "../world/tools.ts";
import { must } from "../world/yard.ts";

// What people are asked in the browser: cards in the chat, the inbox, the keyboard, two tabs.

const skip = noBrowser;
let browser: TestBrowser;
let model: ModelServer;
let yard: Awaited<ReturnType<typeof serveYard>>;
let person: BrowserContext;
before(async () => {
  if (skip !== undefined) return;
  browser = await openBrowser();
  model = await modelServer((request) =>
    /^(plan the trip|task |pay the hotel)/.test(firstOf(request)) ? companyAnswers(request) : answerTo(request),
  );
  yard = await serveYard({ model, tools: [effectTool("pay", "pure", "/dev/null", { asks: true })] });
  person = await browser.person();
});
after(async () => {
  await person?.close();
  await yard?.[Symbol.asyncDispose]();
  await model?.close();
  await browser?.close();
});

/** The first word of what a person says is what the model does. */
function answerTo(request: AskedRequest) {
  const { body } = request;
  const said = body.messages.findLast(({ role }) => role === "user")?.content;
  const text = typeof said === "string" ? said : JSON.stringify(said);
  if (stepOf(request) > 0) return says(`all done: ${/delete|pay|ask/.exec(text)?.[0] ?? ""}`);
  if (text.includes("delete"))
    return calls(["run_bash_command", { command: "rm -rf outputs/old && echo gone", timeout: 20 }]);
  if (text.includes("pay")) return calls(["pay", { mark: "一百元" }]);
  if (text.includes("edit"))
    return calls([
      "edit_file",
      { path: "uploads/notes.txt", old_string: "one\ntwo\nthree", new_string: "one\nzwei\nthree" },
    ]);
  return calls(["ask_human", { question: "Which colour?", context: "For the cover.", default: "blue" }]);
}

const madeIn = async (id: string) =>
  (await yard.events(id)).flatMap((event) =>
    event.type === "decision.made" ? [{ verdict: event.verdict, ...pick(event) }] : [],
  );
const pick = ({ reason, arguments: edited, answer }: EventOf<"decision.made">) => ({
  ...(reason !== undefined && { reason }),
  ...(edited !== undefined && { edited }),
  ...(answer !== undefined && { answer }),
});

async function openAt(conversation: string): Promise<Page> {
  const page = await person.newPage();
  await page.goto(`${yard.address}/c/${conversation}`);
  return page;
}

test("an approval shows the exact effect, rule and risk, and is edited, all else of the call as it was; the record stays [B1][H2]", {
  skip,
}, async () => {
  const { conversation } = await yard.ask("delete the old things");
  const page = await openAt(conversation);
  const card = page.getByRole("region", { name: "Needs approval: run a command" });
  await card.getByText("rm -rf outputs/old && echo gone", { exact: true }).waitFor();
  await card.getByText("deletes something outside temp/").waitFor();
  await card.getByText("what holds by default").waitFor();
  await card.getByText(/^(Medium|High|Critical) risk$/).waitFor();
  await picture(page, "approval-light");
  assert.deepEqual(await seriousIssues(page), []);
  await card.getByRole("button", { name: "Edit…" }).click();
  await card.getByRole("textbox").fill("ls outputs");
  await picture(page, "approval-edit");
  await card.getByRole("button", { name: "Approve this instead" }).click();
  await page.getByText("changed and approved by you").waitFor();
  assert.equal((await yard.whenAtRest(conversation)).answer, "all done: delete");
  assert.deepEqual(await madeIn(conversation), [{ verdict: "edit", edited: '{"command":"ls outputs","timeout":20}' }]);
  await picture(page, "approval-decided");
  await page.reload();
  await page.getByText("changed and approved by you").waitFor();
  await page.close();
  assert.deepEqual(browser.complaints(), []);
});

test("allow always shows the rule, stores it for all conversations, and settings revoke it [H2]", {
  skip,
}, async () => {
  const { conversation } = await yard.ask("pay again");
  const page = await openAt(conversation);
  const card = page.getByRole("region", { name: "Needs approval: pay" });
  await card.getByRole("button", { name: "Allow always…" }).click();
  await card.getByRole("radio", { name: "in all your conversations" }).check();
  await picture(page, "approval-always");
  await card.getByRole("button", { name: "Approve and allow always" }).click();
  await page.getByText("approved by you").waitFor();
  assert.equal((await yard.ask("pay once more")).status, "idle", "the rule answers by itself");
  await page.goto(`${yard.address}/settings/permissions`);
  await page.getByText("in all your conversations").waitFor();
  await picture(page, "settings-permissions");
  await page.getByRole("button", { name: "Revoke" }).click();
  await page.getByText("Nothing is allowed always.").waitFor();
  assert.equal((await yard.ask("pay yet again")).status, "waiting");
  await page.close();
  assert.deepEqual(browser.complaints(), []);
});

test("a question is answered in the chat [H3]", { skip }, async () => {
  const { conversation } = await yard.ask("ask me");
  const page = await openAt(conversation);
  const card = page.getByRole("region", { name: "A question for you" });
  await card.getByText("Which colour?").waitFor();
  await card.getByText("An empty answer means: blue").waitFor();
  await picture(page, "question");
  await card.getByRole("textbox", { name: "Your answer" }).fill("绿色");
  await page.keyboard.press("Enter");
  await page.getByText("answered by you").waitFor();
  assert.deepEqual(await madeIn(conversation), [{ verdict: "answer", answer: "绿色" }]);
  await page.close();
  assert.deepEqual(browser.complaints(), []);
});

test("the inbox has what waits in all conversations; answered in one tab it closes in the other [H4]", {
  skip,
}, async () => {
  for (const { id, conversation } of await open()) await decide(conversation, id);
  const first = await yard.ask("pay the rent");
  const second = await yard.ask("delete it all");
  const [inbox, chat] = [await person.newPage(), await openAt(second.conversation)];
  await inbox.goto(`${yard.address}/inbox`);
  await inbox.getByText("2 waiting", { exact: true }).first().waitFor();
  await until("the title has a number", async () => /^\(\d+\) /.test(await inbox.title()));
  const badge = inbox.locator(".rail-link .badge");
  await badge.filter({ hasText: /^2/ }).waitFor({ state: "attached" });
  await chat.getByRole("region", { name: "Needs approval: run a command" }).waitFor();
  await picture(inbox, "inbox-light");
  // Another conversation is answered from here, and the page that shows it follows.
  await inbox
    .getByRole("region", { name: "Needs approval: run a command" })
    .getByRole("button", { name: "Approve once" })
    .click();
  await chat.getByText("approved by you").waitFor();
  // A letter decides what is left; the number in the rail goes.
  await inbox.getByRole("region", { name: "Needs approval: pay" }).waitFor();
  await inbox.getByRole("region", { name: "Needs approval: run a command" }).waitFor({ state: "detached" });
  await badge.getByText("1 waiting").waitFor({ state: "attached" });
  await inbox.keyboard.press("j");
  await inbox.locator("[data-decision]:focus").waitFor();
  await whenKeysCount(inbox);
  await inbox.keyboard.press("r");
  await inbox.locator(":is(textarea, input):focus").waitFor();
  await inbox.keyboard.type("no money");
  await inbox.keyboard.press("Control+Enter");
  await inbox.getByText("No approvals waiting.", { exact: false }).waitFor();
  await badge.waitFor({ state: "detached" });
  await inbox.getByText("rejected by you · no money").waitFor();
  await picture(inbox, "inbox-decided");
  await yard.whenAtRest(first.conversation);
  assert.deepEqual(await madeIn(first.conversation), [{ verdict: "reject", reason: "no money" }]);
  await inbox.close();
  await chat.close();
  assert.deepEqual(browser.complaints(), []);
});

test("with the keyboard alone: a letter never decides while somebody types, then it does; in the dark, too [B1]", {
  skip,
}, async () => {
  const { conversation } = await yard.ask("edit the notes");
  const page = await openAt(conversation);
  await page.emulateMedia({ colorScheme: "dark" });
  const card = page.getByRole("region", { name: "Needs approval: edit a file" });
  await card.getByText("- two").waitFor();
  await card.getByText("+ zwei").waitFor();
  await whenKeysCount(page);
  const field = page.getByRole("textbox", { name: "Message" });
  await field.focus();
  await page.keyboard.type("yes yes n y");
  assert.equal(await field.inputValue(), "yes yes n y");
  assert.equal((await open()).length, 1, "typed words decide nothing");
  await picture(page, "approval-dark");
  assert.deepEqual(await seriousIssues(page), []);
  await page.keyboard.press("Alt+a");
  await page.locator("[data-decision]:focus").waitFor();
  await page.keyboard.press("n");
  await page.locator("[data-decision] textarea:focus").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("[data-decision]:focus").waitFor();
  await page.keyboard.press("y");
  await page.getByText("approved by you").waitFor();
  await yard.whenAtRest(conversation);
  assert.deepEqual(await madeIn(conversation), [{ verdict: "approve" }]);
  await page.close();
  assert.deepEqual(browser.complaints(), []);
});

async function open() {
  const answer = await yard.client.call("listDecisions", {});
  return answer.ok ? answer.value.items : [];
}

async function decide(id: string, decision: string): Promise<void> {
  await yard.client.call("decide", { params: { id, decision }, body: { verdict: "reject" } });
  await yard.whenAtRest(id);
}

/** A key that comes as soon as something is shown is ignored: it was meant for something else. */
async function whenKeysCount(page: Page): Promise<void> {
  const now = async () => Number(await page.evaluate("performance.now()"));
  const shownAt = await now();
  await until("it has been there for a while", async () => (await now()) - shownAt > 400);
}

// Agents that agents made, in the browser: their tree in the chat, what they ask, the page of tasks.

let blue = Promise.withResolvers<void>();

const hotel = "pay the hotel and say what it cost";
const tasks = ["amber", "blue", "coral"];

/** Three tasks: amber has a worker that asks, blue is held until the test lets it go, coral writes and never ends. */
function companyAnswers(request: AskedRequest): Answer {
  const said = saidIn(request);
  const first = firstOf(request);
  if (first.startsWith("task coral"))
    return { text: "Beaches: the first is long, the second one is", fault: { after: 8, kind: "ping" } };
  if (first.startsWith("task blue")) return { text: report("blue has the trains"), heldUntil: blue.promise };
  if (first.startsWith("task amber")) {
    if (!said.includes("context_id")) return calls(["delegate_task", { task: hotel }]);
    if (!said.includes("Delivered to"))
      return calls(["send_message", { to: "parent", text: "amber wants to be praised" }]);
    if (!said.includes("Success:")) return calls(["write_file", { path: "outputs/hotel.txt", content: "one hundred" }]);
    return says("amber is **done**");
  }
  if (first.startsWith(hotel))
    return said.includes("left") ? says(report("the hotel is paid")) : calls(["pay", { mark: "一百元" }]);
  if (!said.includes('"ok":true,"agent"'))
    return calls(
      ...tasks.map((name): [string, unknown] => [
        "spawn_agent",
        { role: name, task: `task ${name}: look at the ${name} part of the trip` },
      ]),
    );
  const ended = tasks.filter((name) => said.includes(`[The agent ${name} `));
  return says(ended.length < tasks.length ? "I wait for them." : "The trip is planned.");
}

function saidIn({ body }: AskedRequest): string {
  return body.messages.map(({ content }) => String(content)).join("\n");
}

async function begin(page: Page): Promise<string> {
  blue = Promise.withResolvers<void>();
  await page.goto(yard.address);
  await page.getByRole("textbox", { name: "Message" }).fill("plan the trip");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/c\//);
  return /\/c\/([^/]+)/.exec(page.url())?.[1] ?? "";
}

test("the tree of agents opens in the chat, a nested approval is answered from the inbox, one is stopped and the others go on [B1][A1][H4]", {
  skip,
}, async () => {
  const page = await person.newPage();
  const id = await begin(page);
  const amber = page.getByRole("listitem").filter({ has: page.getByRole("button", { name: /^amber/ }) });
  const worker = amber.getByRole("button", { name: /^worker/ });
  await worker.getByText("waits for you").waitFor();
  // What one writes is seen as it comes, closed and open.
  const coral = page.getByRole("button", { name: /^coral/ });
  await page.getByText("Beaches: the first is long").waitFor();
  await coral.click();
  await page.getByText("task coral: look at", { exact: false }).first().waitFor();
  await worker.click();
  await amber.getByText("pay", { exact: true }).first().waitFor();
  const asked = "Asked by: main agent › amber › worker “pay the hotel and say what it cost”";
  await page.getByText(asked).first().waitFor();
  await picture(page, "agents-chat");
  assert.deepEqual(await seriousIssues(page), []);

  await page.goto(`${yard.address}/inbox`);
  const card = page.getByRole("region", { name: "Needs approval: pay" });
  await card.getByText(asked).waitFor();
  await picture(page, "agents-inbox");
  await card.getByRole("button", { name: "Approve once" }).click();
  await page.getByText("No approvals waiting.", { exact: false }).waitFor();

  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Tasks" }).click();
  const tree = page.getByRole("tree");
  const row = (name: string) => tree.getByRole("treeitem").filter({ hasText: name }).first();
  await page.getByText("Shown is the conversation where something happened last.").waitFor();
  await row("amber").getByText("done", { exact: true }).waitFor();
  await row("coral").getByText("at work").waitFor();
  // With the keyboard alone: down to coral, and its transcript in the pane.
  await row("root").or(row("main agent")).focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  const pane = page.locator(".pane");
  await pane.getByRole("heading", { name: "coral" }).waitFor();
  await pane.getByText("Beaches: the first is long").waitFor();
  await picture(page, "tasks-light");
  assert.deepEqual(await seriousIssues(page), []);
  await pane.getByRole("button", { name: "Stop coral" }).click();
  await row("coral").getByText("stopped").waitFor();
  assert.ok(await row("blue").getByText("at work").isVisible(), "the others go on");
  blue.resolve();
  await row("blue").getByText("done", { exact: true }).waitFor();
  const { answer, outcome, events } = await yard.whenAtRest(id);
  assert.deepEqual([answer, outcome], ["The trip is planned.", "done"]);
  const ends = all(events, "agent.ended").map(({ outcome: how }) => how);
  assert.deepEqual(ends.toSorted(), ["done", "done", "done", "terminated"]);
  // What a task made and wrote is there at its end: mail, files, the worker's own history.
  await row("amber").click();
  await pane.getByText("amber → main agent").first().waitFor();
  await pane.getByRole("link", { name: /hotel\.txt/ }).waitFor();
  await pane.getByRole("link", { name: "Its files are in outputs/amber of the conversation." }).waitFor();
  await row("worker").click();
  await pane.getByText("the hotel is paid").first().waitFor();
  await picture(page, "tasks-worker");
  await page.goBack();
  await pane.getByRole("heading", { name: "amber" }).waitFor();
  await timelineHasAll(page, id);
  await page.close();
  assert.deepEqual(browser.complaints(), []);
});

/** What agents did stands in the turn that they worked for, under their names, and is counted with it. */
async function timelineHasAll(page: Page, id: string): Promise<void> {
  await page.goto(`${yard.address}/c/${id}/timeline`);
  const timeline = page.getByRole("region", { name: "Timeline" });
  const entries = timeline.getByRole("listitem");
  await entries
    .filter({ hasText: "amber · Step 1" })
    .getByText(/in, .* out/)
    .waitFor();
  await entries.filter({ hasText: "amber · delegate_task" }).getByText("done", { exact: true }).waitFor();
  await entries.filter({ hasText: "worker · pay" }).getByText("waited for a person").waitFor();
  await entries.filter({ hasText: /^Step 1/ }).waitFor();
  const { items } = await must(yard.client.call("listConversationAgents", { params: { id } }));
  const steps = items.reduce((sum, agent) => sum + agent.steps, 0);
  await timeline.getByText(new RegExp(`^${steps} steps · `)).waitFor();
  await picture(page, "timeline-agents");
}

test("stop all ends everybody, and a decision nobody waits for says so; on a phone and in Chinese, too [B1][P4]", {
  skip,
}, async () => {
  const page = await person.newPage();
  const id = await begin(page);
  await page.getByText("waits for you").first().waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole("button", { name: /^coral/ }).waitFor();
  // What waits for a person is in sight, above the field for the next message, also where cards grow a moment later.
  const topOf = async (part: Locator) => (await part.boundingBox())?.y ?? Number.NaN;
  const reject = page.getByRole("region", { name: "Needs approval: pay" }).getByRole("button", { name: /^Reject/ });
  await until("the end is in sight", async () => (await topOf(reject)) < (await topOf(page.locator("#composer"))));
  await picture(page, "agents-phone");
  await page.setViewportSize({ width: 1360, height: 860 });
  await page.getByRole("button", { name: "中文" }).click();
  // From a conversation to its own agents.
  await page.getByRole("link", { name: "任务", exact: true }).first().click();
  await page.waitForURL(`**/tasks/${id}`);
  await page.getByRole("treeitem").filter({ hasText: "等待您的决定" }).first().waitFor();
  await page.getByRole("button", { name: "全部停止" }).click();
  await page.getByRole("treeitem").filter({ hasText: "coral" }).getByText("已停止").waitFor();
  await page.getByRole("link", { name: "前往对话" }).click();
  await page.getByText("不再需要决定").first().waitFor();
  assert.equal((await yard.whenAtRest(id)).outcome, "cancelled");
  await page.getByRole("button", { name: "English" }).click();
  await page.close();
  assert.deepEqual(browser.complaints(), []);
});

// What others ask of a person in the browser: a server's form, a sign-in elsewhere, and a word when nobody looks.

test("a server's form is filled in, one signs in to another server, and a hidden page tells of what waits [B1][G1][H3][H4]", {
  skip,
}, async (t) => {
  const account = await accountServer(t);
  const { reached } = everything();
  const every = reached.by === "program" ? { command: reached.command, args: reached.args } : {};
  const servers = JSON.stringify({ servers: { every, far: { url: account.url } } });
  const data = folderWith(t, { ".config/agentyard/mcp_servers.yaml": servers });
  // Looked for first: each of several servers gets to know a tool by itself.
  const answers = [
    calls(["find_tools", { query: "trigger elicitation request" }]),
    calls(["mcp__every__trigger-elicitation-request", {}]),
  ];
  await using asking = await modelServer((request) => answers[stepOf(request)] ?? says("Thank you."));
  await using place = await serveYard({ model: asking, data, env: { PATH: process.env.PATH ?? "" } });
  await must(place.client.call("restartMcpServer", { params: { server: "every" } }));
  // Before the yard: a page that is open keeps its stream.
  const asked = await browser.person();
  await using _open = { [Symbol.asyncDispose]: () => asked.close() };
  await asked.addInitScript(watching);
  const page = await asked.newPage();

  // Signing in: the browser goes there, comes back to us, and the settings know it.
  await page.goto(`${place.address}/settings/mcp`);
  const far = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "far" }) });
  await far
    .getByRole("button", { name: "Start again" })
    .or(far.getByRole("button", { name: "Restart" }))
    .click();
  await far.getByRole("button", { name: "Sign in" }).click();
  const opening = asked.waitForEvent("page");
  await far.getByRole("link").click();
  const there = await opening;
  await there.getByText("You are signed in to the MCP server far", { exact: false }).waitFor();
  await picture(there, "mcp-signed-in");
  await there.close();
  // A text alone names no icon, and the browser asks for one all the same.
  assert.deepEqual(
    browser.complaints().filter((line) => !line.includes("404")),
    [],
  );
  await far.getByRole("button", { name: "Look again" }).click();
  await far.getByRole("button", { name: "Sign out" }).waitFor();
  await picture(page, "mcp-settings");
  assert.deepEqual(await seriousIssues(page), []);

  // Nobody looks at the page while an agent's server asks: the browser says so, once, and the title has a number.
  await page.goto(place.address);
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  await page.evaluate("globalThis.isHidden = true");
  // The call runs while its server waits for the form.
  const { id } = await must(place.client.call("createConversation", { body: {} }));
  await must(place.client.call("sendMessage", { params: { id }, body: { text: "go" } }));
  await until("it is told", async () => (await page.evaluate("globalThis.told.length")) === 1);
  await until("the title has a number", async () => (await page.title()).startsWith("(1) "));
  assert.deepEqual(await page.evaluate("globalThis.told.map(({ title }) => title)"), ["AgentYard waits for you"]);
  await page.evaluate("globalThis.isHidden = false");

  await page.goto(`${place.address}/c/${id}`);
  await fillForm(page);
  await page.getByText("Thank you.").waitFor();
  const told = JSON.stringify(asking.asked.at(-1)?.body.messages);
  assert.match(told, /Name: Ada/);
  assert.match(told, /Agreed to terms: true/);
  await until("nothing waits any more", async () => !(await page.title()).startsWith("("));
  assert.deepEqual(browser.complaints(), []);
});

async function fillForm(page: Page): Promise<void> {
  const card = page.getByRole("region", { name: "A question for you" });
  await card.getByRole("button", { name: "Answer", exact: true }).click();
  await card.getByText("String: this is needed.").waitFor();
  await picture(page, "elicitation");
  await card.getByLabel("String (needed)").fill("Ada");
  await card.getByLabel("Boolean").selectOption("Yes");
  await card.getByRole("button", { name: "Answer", exact: true }).click();
}

/** The platform's own ways to be hidden and to tell: a page without a window has neither. */
const watching = `
  globalThis.told = [];
  globalThis.isHidden = false;
  Object.defineProperty(Document.prototype, "hidden", { get: () => globalThis.isHidden });
  globalThis.Notification = class extends EventTarget {
    static permission = "granted";
    constructor(title, { body, tag }) {
      super();
      globalThis.told.push({ title, body, tag });
    }
  };
`;
