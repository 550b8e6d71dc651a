import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Route } from "playwright-core";
import {
  lanName,
  noBrowser,
  openBrowser,
  picture,
  seriousIssues,
  serveYard,
  type TestBrowser,
} from "../world/browser.ts";
import { all, until } from "../world/events.ts";
import { modelServer, says } from "../world/model-server.ts";
import { makeHome } from "../world/program.ts";
import { modelEnv } from "../world/served.ts";
import { must, startYard } from "../world/yard.ts";

// The browser app and the server it comes from: addresses, languages, sizes, and a server that goes away.

const skip = noBrowser;
let browser: TestBrowser;
before(async () => {
  if (skip === undefined) browser = await openBrowser();
});
after(() => browser?.close());

test("a page that is open while the server is killed and started again goes on by itself, and loses no text [B1][L2][C3]", {
  skip,
}, async (t) => {
  await using model = await modelServer(({ text }) =>
    text.includes("hold on") && !text.includes("again please")
      ? { text: "half an answer", fault: { after: 3, kind: "stall" } }
      : says("a whole answer"),
  );
  const home = makeHome(t, { env: modelEnv(model) });
  const service = home.start("serve", "--port", "0");
  const [, address = ""] = await service.until("output", /listens on (http:\S+) [\s\S]*Ctrl\+C/);
  const { port } = new URL(address);
  const person = await browser.person();
  t.after(() => person.close());
  const page = await person.newPage();
  await page.goto(address);
  const field = page.getByRole("textbox", { name: "Message" });
  await field.fill("hold on");
  await field.press("Enter");
  await page.getByText("half an").waitFor();
  await field.fill("typed meanwhile");
  service.child.kill("SIGKILL");
  await service.ended;
  await page.getByText("The server cannot be reached").waitFor();
  await picture(page, "server-away");
  assert.equal(await field.inputValue(), "typed meanwhile");
  await home.start("serve", "--port", port).until("output", /Ctrl\+C/);
  await page.getByText("AgentYard was started again; the turn goes on.").waitFor();
  await page.getByText("The server cannot be reached").waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByText(/^Stopped\./).waitFor();
  await field.fill("again please");
  await field.press("Enter");
  await page.getByText("a whole answer").waitFor();
  assert.deepEqual(browser.complaints(), []);
});

test("a message whose answer was lost on the way and that is sent again is said once; changed, it is another one [B1][L2]", {
  skip,
}, async () => {
  await using model = await modelServer((_, seen) => says(`heard: ${seen().messages.at(-1)?.text}`));
  await using yard = await serveYard({ model });
  const person = await browser.person();
  const page = await person.newPage();
  await page.goto(yard.address);
  const field = page.getByRole("textbox", { name: "Message" });
  const send = async (text: string) => {
    await field.fill(text);
    await field.press("Enter");
  };
  const sendUnanswered = async (text: string) => {
    const loseAnswer = async (route: Route) => {
      await route.fetch();
      await route.abort("connectionreset");
    };
    await page.route("**/messages", loseAnswer, { times: 1 });
    const lost = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/messages"));
    await send(text);
    await lost;
    await until("the text is back", async () => (await field.inputValue()) === text);
  };
  const sendAgain = async () => {
    const answered = page.waitForResponse((response) => response.url().endsWith("/messages"));
    await field.press("Enter");
    await answered;
  };
  await sendUnanswered("the first");
  await sendAgain();
  await page.getByText("heard: the first").first().waitFor();
  await sendUnanswered("the second");
  await send("the second, changed");
  await page.getByText("heard: the second, changed").waitFor();
  const { items } = await must(yard.client.call("listConversations"));
  const said = all(await yard.events(items[0]?.id ?? ""), "message.user");
  const texts = ["the first", "the second", "the second, changed"];
  assert.deepEqual([items.length, said.map(({ text }) => text)], [1, texts]);
  await person.close();
  // That the conversation is there already is an answer with an error's status: browsers write a line about each.
  assert.deepEqual(
    browser.complaints().filter((line) => !line.includes("409")),
    [],
  );
});

test("below another path everything works, deep links too [B1]", { skip }, async () => {
  await using yard = await serveYard({ basePath: "/yard/one" });
  const person = await browser.person();
  const page = await person.newPage();
  await page.goto(`${yard.address}/`);
  const field = page.getByRole("textbox", { name: "Message" });
  await field.fill("what time is it?");
  await field.press("Enter");
  await page.getByText("I am AgentYard's demo model").waitFor();
  assert.match(new URL(page.url()).pathname, /^\/yard\/one\/c\/[\w-]{36}$/);
  await page.reload();
  await page.getByText("I am AgentYard's demo model").waitFor();
  await page.getByRole("link", { name: "Inbox" }).click();
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  assert.equal(new URL(page.url()).pathname, "/yard/one/inbox");
  await page.goBack();
  await page.getByText("I am AgentYard's demo model").waitFor();
  await person.close();
  assert.deepEqual(browser.complaints(), []);
});

test("it speaks Chinese where the browser does, fits a phone, and keeps nobody out [B1][P4]", { skip }, async () => {
  await using yard = await serveYard();
  const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
  const person = await browser.person({ ...phone, locale: "zh-CN", colorScheme: "dark" });
  const page = await person.newPage();
  await page.goto(yard.address);
  await page.getByRole("textbox", { name: "消息" }).fill("现在几点？");
  await page.getByRole("button", { name: "发送" }).click();
  await page.getByRole("button", { name: "引用" }).waitFor();
  await picture(page, `phone-zh-dark`);
  assert.deepEqual(await seriousIssues(page), []);
  const isWide = await page.locator("html").evaluate((html) => html.scrollWidth > html.clientWidth);
  assert.equal(isWide, false, "nothing hangs over the edge");
  await page.getByRole("button", { name: "对话", exact: true }).click();
  await page.getByRole("link", { name: "新对话" }).first().waitFor();
  await picture(page, `phone-zh-rail-dark`);
  await person.close();

  assert.deepEqual(browser.complaints(), []);
});

test("every page is without a serious fault for those who cannot see or use a mouse [B1]", { skip }, async () => {
  await using model = await modelServer([says("**an answer**"), says("another")]);
  await using yard = await serveYard({ model });
  await yard.ask("hello");
  const person = await browser.person();
  const page = await person.newPage();
  await page.goto(yard.address);
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  assert.deepEqual(await seriousIssues(page), []);
  await picture(page, `new-light`);
  await page.getByRole("navigation", { name: "Conversations" }).getByText("hello").click();
  await page.getByRole("button", { name: "Quote" }).waitFor();
  assert.deepEqual(await seriousIssues(page), []);
  await picture(page, `chat-light`);
  for (const place of ["inbox", "tasks", "files", "settings"]) {
    await page.goto(`${yard.address}/${place}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    assert.deepEqual(await seriousIssues(page), [], place);
  }
  await person.close();

  assert.deepEqual(browser.complaints(), []);
});

test("where there are users, a browser is asked to sign in, and comes to the app, also from another machine without TLS [B1][C6]", {
  skip,
}, async () => {
  await using yard = await serveYard({ server: { trustedHosts: [lanName] } });
  const address = yard.address.replace("127.0.0.1", lanName);
  await must(yard.client.call("addUser", { body: { id: "ada" } }));
  const { path } = await must(yard.client.call("makeSignInLink", { params: { user: "ada" } }));
  const person = await browser.person();
  const page = await person.newPage();
  await page.goto(`${address}/inbox`);
  assert.equal(new URL(page.url()).pathname, "/sign-in");
  assert.equal(await page.evaluate<boolean>("isSecureContext"), false);
  await page.goto(address + path);
  await page.getByRole("button").click();
  await page.getByRole("textbox", { name: "Message" }).fill("what time is it?");
  await page.keyboard.press("Enter");
  await page.getByText("fixed rules").waitFor();
  // Without TLS a browser has no clipboard to write to; what is copied is pasted all the same.
  // It says so for a moment only.
  await Promise.all([
    page.getByRole("button", { name: "Copied" }).waitFor(),
    page.getByRole("button", { name: "Copy" }).first().click(),
  ]);
  await page.getByRole("textbox", { name: "Message" }).press("ControlOrMeta+V");
  assert.match(await page.getByRole("textbox", { name: "Message" }).inputValue(), /fixed rules|what time/);
  await person.close();
  // Browsers say so themselves of any page without TLS.
  assert.deepEqual(
    browser.complaints().filter((line) => !line.includes("Cross-Origin-Opener-Policy")),
    [],
  );
});

test("the page and its files come packed, with a strict policy, and are kept as long as they may be [B1]", {
  skip,
}, async () => {
  await using yard = await serveYard({ basePath: "/yard" });
  const page = await fetch(`${yard.address}/c/some-conversation`);
  const html = await page.text();
  assert.match(html, /<base href="\/yard\/">/);
  const policy = page.headers.get("content-security-policy") ?? "";
  const rules = ["default-src 'none'", "script-src 'self'", "style-src 'self'", "require-trusted-types-for 'script'"];
  for (const rule of rules) assert.ok(policy.split("; ").includes(rule), rule);
  assert.deepEqual([page.status, page.headers.get("cache-control")], [200, "no-store"]);
  const [, script = ""] = /src="\.\/(assets\/index-[\w-]+\.js)"/.exec(html) ?? [];
  const ask = (file: string, encoding: string) =>
    fetch(`${yard.address}/${file}`, { headers: { "accept-encoding": encoding } });
  const seen = await Promise.all(
    ["br, gzip", "gzip", "identity", "br;q=0"].map(async (encoding) => {
      const { status, headers, body } = await ask(script, encoding);
      await body?.cancel();
      return [status, headers.get("content-encoding"), headers.get("content-type"), headers.get("cache-control")];
    }),
  );
  const type = "text/javascript; charset=utf-8";
  const kept = "private, max-age=31536000, immutable";
  assert.deepEqual(
    seen,
    ["br", "gzip", null, null].map((encoding) => [200, encoding, type, kept]),
  );
  const elsewhere = "assets/none.js assets/..%2findex.html assets/%2e%2e%2fstamp.txt stamp.txt index.html";
  for (const file of elsewhere.split(" ")) assert.equal((await ask(file, "br")).status, 404, file);
});

test("without a build the address says what to run, in both languages, and deep links lead there [B1][P4]", async () => {
  await using yard = await startYard({ webDir: join(import.meta.dirname, "nothing-here") });
  const page = async (language: string) =>
    (await yard.app.request("/", { headers: { "accept-language": language } })).text();
  assert.match(await page("en"), /run <code>npm start<\/code>/);
  assert.match(await page("zh"), /浏览器界面还没有构建/);
  const places = ["/c/abc/files/a", "/inbox", "/tasks/1", "/settings/x", "/setup"];
  for (const place of places) {
    const deep = await yard.app.request(place);
    assert.deepEqual([deep.status, deep.headers.get("location")], [302, "/"], place);
  }
});

test("the docs page finds routes by their words, writes each as a command, and sends it from where it stands [C7][B1]", {
  skip,
}, async () => {
  await using yard = await serveYard({ basePath: "/yard" });
  const person = await browser.person();
  const page = await person.newPage();
  await page.goto(`${yard.address}/docs#health`);
  const entry = (id: string) => page.locator(`details#${id}`);
  const send = async (id: string) => {
    await entry(id).locator("button[type=submit]").click();
    const result = entry(id).locator(".result");
    await until(`${id} is answered`, async () => ((await result.textContent()) ?? "").includes("{"));
    return result.textContent();
  };
  assert.match(
    (await send("health")) ?? "",
    /^200 application\/json\n\n\{"status":"ok"/,
    "the one that the address names",
  );

  const shown = () => page.locator("details:not([hidden])").evaluateAll((found) => found.map(({ id }) => id));
  await page.fill("#search", "CHECKPOINT  under");
  assert.deepEqual(await shown(), ["saveCheckpoint"]);
  assert.deepEqual(await page.locator("section:not([hidden])").count(), 1);
  assert.equal(await page.isVisible("#none"), false);
  await page.fill("#search", "nothing of the kind");
  assert.deepEqual([await shown(), await page.isVisible("#none")], [[], true]);
  await page.fill("#search", "");

  const command = (id: string) => entry(id).locator(".curl:not(:empty)").textContent(); // Written a moment after it opens.
  const open = (id: string) => entry(id).locator("summary").click();
  await open("getConversation");
  await page.fill("#getConversation input[name=id]", "a b/c");
  await page.fill("#getConversation input[name=prefix]", "true");
  await page.fill("#key", "k'1");
  const address = `${yard.address}/api/v1/conversations`;
  assert.equal(
    await command("getConversation"),
    `curl '${address}/a%20b/c?prefix=true' \\\n  -H 'authorization: Bearer k'\\''1'`,
  );
  await page.fill("#key", "");
  await open("createConversation");
  await page.fill("#createConversation textarea", '{"id":"made-here"}');
  assert.equal(
    await command("createConversation"),
    `curl -X POST '${address}' \\\n  -H 'content-type: application/json' \\\n  -d '{"id":"made-here"}'`,
  );
  assert.match((await send("createConversation")) ?? "", /^201 application\/json\n\n\{"id":"made-here"/);
  await must(yard.client.call("getConversation", { params: { id: "made-here" } }));
  await open("uploadSandboxFile");
  assert.match((await command("uploadSandboxFile")) ?? "", /-F file=@FILE$/);
  await open("uploadFile");
  assert.match((await command("uploadFile")) ?? "", /^curl -X PUT .*--data-binary @FILE$/s);
  assert.deepEqual(browser.complaints(), []);
});
