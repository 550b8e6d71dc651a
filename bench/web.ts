/** `npm run bench web`: what the browser app weighs, how long conversations take to open, and whether streaming holds the page up. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import type { NewEvent } from "../src/protocol/events.ts";
import { noBrowser, openBrowser, serveYard } from "../test/world/browser.ts";
import { modelServer } from "../test/world/model-server.ts";
import { type Figure, inTurns } from "./figure.ts";
import { tasksDuring } from "./long-tasks.ts";
import { runParts } from "./run-parts.ts";

type Sizes = { readonly messages: number; readonly runs: number; readonly streamBytes: number };
type World = { close(): Promise<void> };

const full: Sizes = { messages: 5_000, runs: 5, streamBytes: 100_000 };
const short: Sizes = { messages: 200, runs: 1, streamBytes: 5_000 };
const built = join(import.meta.dirname, "..", "dist-web");
const longTaskMs = 50;
/** That are scrolled through. */
const screens = 60;

const parts = { size: measureSize, opening: measureOpening, streaming: measureStreaming };
await runParts<World, Sizes>({ name: "web", full, short, parts, openWorld: async () => ({ close: async () => {} }) });

/** Everything that is loaded before the first message can be typed, packed. */
async function measureSize(): Promise<readonly Figure[]> {
  if (noBrowser !== undefined) return [skipped("script before the first message", "KB")];
  await (await openBrowser()).close();
  const html = readFileSync(join(built, "index.html"), "utf8");
  const scripts = [...html.matchAll(/"\.\/((?:assets\/)?[\w.-]+\.js)"/g)].map(([, path = ""]) => path);
  // The words come in one language.
  const words = globSync("assets/en-*.js", { cwd: built });
  const sizes = [...scripts, ...words].map((path) => readFileSync(join(built, `${path}.gz`)).length / 1024);
  return [
    {
      what: "script before the first message, gzip",
      unit: "KB",
      value: sizes.reduce((sum, size) => sum + size, 0),
      from: sizes,
      atMost: 200,
    },
  ];
}

async function measureOpening(_: World, { messages, runs }: Sizes): Promise<readonly Figure[]> {
  if (noBrowser !== undefined) return [skipped("opening a long conversation", "ms")];
  const browser = await openBrowser();
  await using yard = await serveYard();
  const ids = [50, messages].map((count) => ({ id: `c${count}`, count }));
  for (const { id, count } of ids) {
    const { number } = await yard.start(id);
    for (let at = 0; at < count / 2; at += 1) await yard.log.append(number, turnOf(at + 1));
  }
  const person = await browser.person();
  const open =
    ({ id, count }: { id: string; count: number }) =>
    async () => {
      const page = await person.newPage();
      await page.goto(yard.address);
      await page.locator("#composer").waitFor();
      const startedAt = performance.now();
      await page.goto(`${yard.address}/c/${id}`);
      await page.getByText(`answer ${count / 2}.`).waitFor();
      const ms = performance.now() - startedAt;
      await page.close();
      return ms;
    };
  const [few, many] = await inTurns(runs, ids.map(open));
  const scrolled = await scrollBack(await person.newPage(), `${yard.address}/c/c${messages}`);
  await browser.close();
  if (few === undefined || many === undefined) return [];
  return [
    {
      what: `opening a conversation of ${messages} messages`,
      unit: "ms",
      value: many,
      against: { what: "one of 50", value: few },
      atMost: 2,
    },
    ...longOf(scrolled, `while ${messages} messages are scrolled`),
  ];
}

/** Back through many screens as fast as a wheel turns, older messages read on the way, and to the end again. */
async function scrollBack(page: Page, address: string): Promise<number[]> {
  await page.goto(address);
  await page.locator(".message-list").hover();
  return tasksDuring(page, async () => {
    for (let screen = 0; screen < screens; screen += 1) {
      await page.mouse.wheel(0, -900);
      await page.evaluate("new Promise(requestAnimationFrame)");
    }
    await page.getByRole("button", { name: "To the newest" }).click();
    await page.evaluate("new Promise(requestAnimationFrame)");
  });
}

function turnOf(turn: number): NewEvent[] {
  const id = `m${turn}`;
  const step = {
    turn,
    step: 1,
    attempt: 1,
    slot: "base",
    model: "m",
    reason: "r",
    hash: "h",
    bytes: 1,
    reused: 0,
  } as const;
  return [
    { type: "message.user", id, text: `question ${turn}`, mode: "queue" },
    { type: "turn.started", turn, message: id, epoch: 1 },
    { type: "step.started", ...step },
    {
      ...{ type: "message.assistant", turn, step: 1, finish: "stop", usage: { input: 1, output: 1 }, durationMs: 1 },
      text: `## Part\n\nThis is **answer ${turn}**: answer ${turn}.\n\n- one\n- two\n`,
    },
    { type: "turn.finished", turn, outcome: "done" },
  ];
}

async function measureStreaming(_: World, { streamBytes }: Sizes): Promise<readonly Figure[]> {
  if (noBrowser !== undefined) return [skipped("streaming", "tasks")];
  const browser = await openBrowser();
  const part =
    "## 标题 heading\n\nSome words of an answer, `code` and a list:\n\n- one\n- two\n\n```ts\nconst a = 1;\n```\n\n";
  const text = part.repeat(Math.ceil(streamBytes / part.length));
  await using model = await modelServer([{ text: `${text}The end of it.`, paceMs: 0 }]);
  await using yard = await serveYard({ model });
  const person = await browser.person();
  const page = await person.newPage();
  await page.goto(yard.address);
  await page.locator("#composer").fill("write");
  const tasks = await tasksDuring(page, async () => {
    await page.locator("#composer").press("Enter");
    // Looking for a text in the page again and again would be most of its work.
    await page.waitForURL(/\/c\//);
    await yard.whenAtRest(/\/c\/([^/]+)/.exec(page.url())?.[1] ?? "");
    await page.locator("footer.end").waitFor({ timeout: 300_000 });
  });
  await browser.close();
  return longOf(tasks, `while ${streamBytes} bytes stream`);
}

/** Tasks that keep the page from answering somebody. */
function longOf(tasks: readonly number[], when: string): readonly Figure[] {
  const long = tasks.filter((ms) => ms > longTaskMs);
  return [
    { what: `tasks over ${longTaskMs} ms ${when}`, unit: "tasks", value: long.length, atMost: 0 },
    { what: `the longest task ${when}`, unit: "ms", value: Math.max(0, ...tasks) },
  ];
}

function skipped(what: string, unit: string): Figure {
  return { what, unit, value: 0, skipped: noBrowser };
}
