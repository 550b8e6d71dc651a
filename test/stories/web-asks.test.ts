// Runs alone: it has a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { noBrowser, openBrowser, picture, seriousIssues, serveYard } from "../world/browser.ts";
import { until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { accountServer } from "../world/mcp-account-server.ts";
import { everything } from "../world/mcp-servers.ts";
import { calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { must } from "../world/yard.ts";

// What others ask of a person in the browser: a server's form, a sign-in elsewhere, and a word when nobody looks.

const skip = noBrowser;

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
  await using model = await modelServer((request) => answers[stepOf(request)] ?? says("Thank you."));
  await using yard = await serveYard({ model, data, env: { PATH: process.env.PATH ?? "" } });
  await must(yard.client.call("restartMcpServer", { params: { server: "every" } }));
  const browser = await openBrowser();
  // Before the yard: a page that is open keeps its stream.
  await using _open = { [Symbol.asyncDispose]: () => browser.close() };
  const person = await browser.person();
  await person.addInitScript(watching);
  const page = await person.newPage();

  // Signing in: the browser goes there, comes back to us, and the settings know it.
  await page.goto(`${yard.address}/settings/mcp`);
  const far = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "far" }) });
  await far
    .getByRole("button", { name: "Start again" })
    .or(far.getByRole("button", { name: "Restart" }))
    .click();
  await far.getByRole("button", { name: "Sign in" }).click();
  const opening = person.waitForEvent("page");
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
  await page.goto(yard.address);
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  await page.evaluate("globalThis.isHidden = true");
  // The call runs while its server waits for the form.
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  await must(yard.client.call("sendMessage", { params: { id }, body: { text: "go" } }));
  await until("it is told", async () => (await page.evaluate("globalThis.told.length")) === 1);
  await until("the title has a number", async () => (await page.title()).startsWith("(1) "));
  assert.deepEqual(await page.evaluate("globalThis.told.map(({ title }) => title)"), ["AgentYard waits for you"]);
  await page.evaluate("globalThis.isHidden = false");

  await page.goto(`${yard.address}/c/${id}`);
  await fillForm(page);
  await page.getByText("Thank you.").waitFor();
  const told = JSON.stringify(model.asked.at(-1)?.body.messages);
  assert.match(told, /Name: Ada/);
  assert.match(told, /Agreed to terms: true/);
  await until("nothing waits any more", async () => !(await page.title()).startsWith("("));
  await person.close();
  assert.deepEqual(browser.complaints(), []);
});

async function fillForm(page: Page): Promise<void> {
  const card = page.getByRole("region", { name: "A question for you" });
  await card.getByRole("button", { name: "Answer", exact: true }).click();
  await card.getByText("String: this is needed.").waitFor();
  await picture(page, "elicitation");
  assert.deepEqual(await seriousIssues(page), []);
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
