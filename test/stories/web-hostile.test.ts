import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { after, before, test } from "node:test";
import type { BrowserContext, Page } from "playwright-core";
import { noBrowser, openBrowser, picture, serveYard, type TestBrowser } from "../world/browser.ts";
import { until } from "../world/events.ts";
import { callingPages, files, markdown, names, scripts } from "../world/hostile-markup.ts";
import { calls, type ModelServer, modelServer, says } from "../world/model-server.ts";
import { must, type TestYard } from "../world/yard.ts";

// Nothing that a model, a tool or a file says runs in the page, loads anything, or looks like something of ours.

const skip = noBrowser;
let browser: TestBrowser;
let model: ModelServer;
let yard: TestYard & { readonly address: string };
let person: BrowserContext;
let page: Page;
const left: string[] = [];
const all = [...scripts, ...markdown];

/** With a NUL it would be no text, and no upload. */
const inFile = (texts: readonly string[]) => Buffer.from(texts.join("\n").replaceAll("\0", ""));

before(async () => {
  if (skip !== undefined) return;
  browser = await openBrowser();
  const text = all.join("\n\n");
  model = await modelServer([
    calls(
      ["write_file", { path: "outputs/<img src=x onerror=window.hit=1>.txt", content: scripts.join("\n") }],
      ["read_file", { path: "uploads/all.txt" }],
    ),
    { ...says(text), reasoning: scripts.join("\n") },
  ]);
  yard = await serveYard({ model, approves: true });
  person = await browser.person();
  // What leaves is counted before it could.
  await person.route(
    (url) => /^https?:$/.test(url.protocol) && url.hostname !== "127.0.0.1",
    (route) => {
      left.push(route.request().url());
      return route.abort();
    },
  );
  await person.addInitScript(`
    globalThis.violations = [];
    addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
      violations.push(violatedDirective + " " + blockedURI),
    );
  `);
  page = await person.newPage();
});
after(async () => {
  await person?.close();
  await yard?.[Symbol.asyncDispose]();
  await model?.close();
  await browser?.close();
});

type Harm = {
  readonly hit: unknown;
  readonly violations: readonly string[];
  readonly composers: number;
  readonly styled: number;
  readonly foreign: readonly string[];
  readonly links: readonly string[];
  readonly pictures: readonly string[];
};

/** Runs in the page: what ran there, what the policy had to stop, and what stands there that no text may put there. */
const look = `(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  return {
    hit: globalThis.hit,
    violations,
    composers: all("#composer").length,
    styled: all(".prose [style]:not(math *), .prose [id]:not(math *)").length,
    foreign: all("script, iframe, object, embed, link[rel=prefetch], form")
      .filter((element) => element.closest("main, aside.pane") && !element.matches("form.composer-box, iframe.frame"))
      .map((element) => element.outerHTML.slice(0, 80)),
    links: all("main a[href], aside.pane a[href]")
      .filter(({ href }) => !/^(https?:|mailto:)/.test(href))
      .map((link) => link.outerHTML.slice(0, 120)),
    pictures: [...document.images]
      .map(({ src }) => src)
      .filter((src) => !src.startsWith("data:image/") && new URL(src).host !== location.host),
  };
})()`;

async function harm() {
  return { ...(await page.evaluate<Harm>(look)), left: left.slice() };
}

const harmless = {
  hit: undefined,
  violations: [],
  composers: 1,
  styled: 0,
  foreign: [],
  links: [],
  pictures: [],
  left: [],
};

test(`${all.length} hostile texts in an answer, its reasoning, a tool's arguments and result do nothing [B1]`, {
  skip,
}, async () => {
  const conversation = "hostile";
  await must(yard.client.call("createConversation", { body: { id: conversation } }));
  await must(yard.client.upload(conversation, "all.txt", inFile(all)));
  await page.goto(`${yard.address}/c/${conversation}`);
  await yard.ask(`look at this: ${scripts.join(" ")}`, { conversation });
  await page.getByText("＜script＞window.hit=1＜/script＞").last().waitFor();
  // In one stroke: what is closed when it is counted may be open, or gone, when it is clicked.
  const openClosed = `(() => {
    const closed = [...document.querySelectorAll(".call-line[aria-expanded=false]")];
    for (const line of closed) line.click();
    return closed.length;
  })()`;
  while ((await page.evaluate<number>(openClosed)) > 0);
  await page.locator("summary.call-line").first().click();
  await page.getByText("deep").last().waitFor();
  // Each link that is there leads to the web, in a window of its own.
  for (const link of await page.locator(".prose a[target]").all())
    assert.equal(await link.getAttribute("rel"), "noopener noreferrer nofollow");
  await picture(page, "hostile-answer");
  assert.deepEqual(await harm(), harmless);
});

test("hostile names and contents of files do nothing in the list and in previews [B1][S3]", { skip }, async () => {
  const conversation = "hostile-files";
  await must(yard.client.call("createConversation", { body: { id: conversation } }));
  for (const [name, text] of Object.entries(files))
    await must(yard.client.upload(conversation, name, Buffer.from(text)));
  for (const name of names) await must(yard.client.upload(conversation, name, inFile(scripts)));
  await page.goto(`${yard.address}/c/${conversation}/f`);
  await page.getByRole("link", { name: "code.js" }).waitFor();
  await picture(page, "hostile-names");
  assert.deepEqual(await harm(), harmless);
  const links = await page.locator(".file-row a.file-name").all();
  assert.equal(links.length, Object.keys(files).length + names.length);
  // A name that turns itself around is shown as it is: it ends in `.txt`.
  assert.ok(!(await page.locator("aside.pane").innerText()).includes("\u202e"));
  // What a name may do it does in the list; AGENTYARD_HOSTILE_NAMES=all opens each of them, too.
  const opened = process.env.AGENTYARD_HOSTILE_NAMES === "all" ? names : names.slice(0, 2);
  for (const name of [...Object.keys(files).filter((one) => one !== "page.html"), ...opened]) {
    await page.goto(`${yard.address}/c/${conversation}/f/uploads/${encodeURIComponent(name)}`);
    await page.locator(".picture-box img, .grid-row td, .lines-page, .document .prose").first().waitFor();
    assert.deepEqual(await harm(), harmless, name);
    const source = page.getByRole("button", { name: "Source" });
    if (!(await source.isVisible())) continue;
    await source.click();
    await page.locator(".lines-page").first().waitFor();
    assert.deepEqual(await harm(), harmless, `${name}: source`);
  }
});

test("a page in its frame stands still, leads nowhere and tells nobody anything until somebody runs its scripts [S3]", {
  skip,
}, async (t) => {
  const heard: string[] = [];
  const stun = createSocket("udp4", (message) => heard.push(message.toString("hex")));
  t.after(() => void stun.close());
  await new Promise<void>((resolve) => stun.bind(0, "127.0.0.1", resolve));
  const frame = page.frameLocator("iframe.frame");
  for (const [name, text] of Object.entries(callingPages(stun.address().port))) {
    await must(yard.client.upload("hostile-files", name, Buffer.from(text)));
    await page.goto(`${yard.address}/c/hostile-files/f/uploads/${name}`);
    await frame.getByText("stands still").waitFor();
    assert.deepEqual(await harm(), harmless);
    // As a page of its own it stands still as well, also where the address asks for scripts.
    for (const more of ["", "&scripts=true"]) {
      const address = `/api/v1/conversations/hostile-files/files/preview?path=uploads/${name}${more}`;
      await page.goto(`${yard.address}${address}`);
      await page.getByText("stands still").waitFor();
    }
  }
  assert.deepEqual([left, heard], [[], []]);
  await page.goto(`${yard.address}/c/hostile-files/f/uploads/calling.html`);
  await frame.getByText("stands still").waitFor();
  await picture(page, "hostile-page-still");
  await page.getByRole("button", { name: "Run its scripts" }).click();
  await frame.getByText("runs").waitFor();
  // What the words beside the button say: were it ever wrong, they could go.
  await until("it has told somebody", () => heard.length > 0);
  await page.getByRole("button", { name: "Without scripts" }).click();
  await frame.getByText("stands still").waitFor();
  assert.deepEqual(left, []);
});

test("a page in its frame runs in a place of its own: no cookie, no storage, no way out, no way to ours [S3]", {
  skip,
}, async () => {
  await page.goto(`${yard.address}/c/hostile-files/f/uploads/page.html`);
  await page.getByRole("button", { name: "Run its scripts" }).click();
  const frame = page.frameLocator("iframe.frame");
  await frame.getByText("ran in its own place").waitFor();
  assert.deepEqual(await harm(), harmless);
  const inner = page.frames().find((one) => one.url().includes("files/preview"));
  const own = await inner?.evaluate(`(() => {
    const tried = (work) => {
      try {
        return String(work());
      } catch {
        return "refused";
      }
    };
    return [origin, tried(() => document.cookie), tried(() => localStorage.length), tried(() => parent.document.title)];
  })()`);
  assert.deepEqual(own, ["null", "refused", "refused", "refused"]);
  await picture(page, "hostile-page");
  // Opened as a page of its own it has no more rights.
  for (const name of ["page.html", "drawing.svg"]) {
    await page.goto(`${yard.address}/api/v1/conversations/hostile-files/files/preview?path=uploads/${name}`);
    assert.equal(await page.evaluate("origin"), "null", name);
  }
  assert.deepEqual(left, []);
});

test("whoever looks for harm here would see it", { skip }, async () => {
  await page.goto(`${yard.address}/c/hostile-files/f`);
  await page.locator("aside.pane").waitFor();
  await page.evaluate(`
    const picture = document.createElement("img");
    picture.src = "https://evil.example/seen.png";
    document.querySelector("main").append(picture, document.createElement("iframe"));
    globalThis.hit = 1;
  `);
  await page.waitForFunction("violations.length > 0");
  const { hit, violations, foreign, pictures } = await harm();
  assert.deepEqual([hit, foreign.length, pictures], [1, 1, ["https://evil.example/seen.png"]]);
  assert.match(String(violations), /img-src|script-src/);
  const other = await person.newPage();
  await other.goto("https://evil.example/").catch(() => undefined);
  assert.deepEqual(left, ["https://evil.example/"]);
});
