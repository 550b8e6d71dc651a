// Runs alone: it has a browser.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { noBrowser, openBrowser, picture, seriousIssues, serveYard, type TestBrowser } from "../world/browser.ts";
import { firstOf, report } from "../world/company.ts";
import { all, until } from "../world/events.ts";
import { type Answer, type AskedRequest, calls, type ModelServer, modelServer, says } from "../world/model-server.ts";
import { effectTool } from "../world/tools.ts";
import { must } from "../world/yard.ts";

// Agents that agents made, in the browser: their tree in the chat, what they ask, the page of tasks.

const skip = noBrowser;
let browser: TestBrowser;
let model: ModelServer;
let yard: Awaited<ReturnType<typeof serveYard>>;
let person: BrowserContext;
let blue = Promise.withResolvers<void>();
before(async () => {
  if (skip !== undefined) return;
  browser = await openBrowser();
  model = await modelServer(answerTo);
  yard = await serveYard({ model, tools: [effectTool("pay", "pure", "/dev/null", { asks: true })] });
  person = await browser.person();
});
after(async () => {
  await person?.close();
  await yard?.[Symbol.asyncDispose]();
  await model?.close();
  await browser?.close();
});

const hotel = "pay the hotel and say what it cost";
const tasks = ["amber", "blue", "coral"];

/** Three tasks: amber has a worker that asks, blue is held until the test lets it go, coral writes and never ends. */
function answerTo(request: AskedRequest): Answer {
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
  assert.deepEqual(
    all(events, "agent.ended")
      .map(({ outcome: how }) => how)
      .toSorted(),
    ["done", "done", "done", "terminated"],
  );
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
  assert.deepEqual(await seriousIssues(page, ".pane"), []);
}

test("tasks in the dark, in Chinese and on a phone; stop all ends everybody, and a decision nobody waits for says so [B1][P4]", {
  skip,
}, async () => {
  const page = await person.newPage();
  const id = await begin(page);
  await page.getByText("waits for you").first().waitFor();
  await page.emulateMedia({ colorScheme: "dark" });
  await page.goto(`${yard.address}/tasks/${id}`);
  await page.getByRole("treeitem").filter({ hasText: "worker" }).click();
  await page.locator(".pane").getByRole("region", { name: "Needs approval: pay" }).waitFor();
  await picture(page, "tasks-dark");
  assert.deepEqual(await seriousIssues(page), []);
  await page.setViewportSize({ width: 390, height: 844 });
  await picture(page, "tasks-phone-pane");
  assert.deepEqual(await seriousIssues(page), []);
  await page.locator(".pane").getByRole("button", { name: "Close" }).click();
  await picture(page, "tasks-phone");
  await page.goto(`${yard.address}/c/${id}`);
  await page.getByRole("button", { name: /^coral/ }).waitFor();
  // What waits for a person is in sight, above the field for the next message, also where cards grow a moment later.
  const topOf = async (part: Locator) => (await part.boundingBox())?.y ?? Number.NaN;
  const reject = page.getByRole("region", { name: "Needs approval: pay" }).getByRole("button", { name: /^Reject/ });
  await until("the end is in sight", async () => (await topOf(reject)) < (await topOf(page.locator("#composer"))));
  await picture(page, "agents-phone");
  assert.deepEqual(await seriousIssues(page), []);
  await page.setViewportSize({ width: 1360, height: 860 });
  await page.getByRole("button", { name: "中文" }).click();
  // From a conversation to its own agents.
  await page.getByRole("link", { name: "任务", exact: true }).first().click();
  assert.equal(new URL(page.url()).pathname, `/tasks/${id}`);
  assert.equal(await page.getByRole("combobox", { name: "显示哪个对话的智能体" }).inputValue(), id);
  await page.getByRole("treeitem").filter({ hasText: "等待您的决定" }).first().waitFor();
  await picture(page, "tasks-zh-dark");
  await page.getByRole("button", { name: "全部停止" }).click();
  await page.getByRole("treeitem").filter({ hasText: "coral" }).getByText("已停止").waitFor();
  await page.getByRole("link", { name: "前往对话" }).click();
  await page.getByText("不再需要决定").first().waitFor();
  await picture(page, "agents-zh-dark");
  assert.equal((await yard.whenAtRest(id)).outcome, "cancelled");
  await page.getByRole("button", { name: "English" }).click();
  await page.close();
  assert.deepEqual(browser.complaints(), []);
});
