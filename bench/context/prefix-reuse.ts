import { systemClock } from "../../src/base/clock.ts";
import { type Answer, type AskedRequest, modelServer } from "../../test/world/model-server.ts";
import { must, startYard } from "../../test/world/yard.ts";
import { longTalk } from "./resting.ts";

// How much of each request a provider has in its cache already, because the one before it began with the same bytes.

export type Layout = "ours" | "all of these" | "a clock in the prompt" | "reminders that move" | "tools in any order";
export type Reuse = { readonly layout: Layout; readonly share: number; readonly bytes: number };

const layouts: readonly Layout[] = [
  "ours",
  "a clock in the prompt",
  "reminders that move",
  "tools in any order",
  "all of these",
];

/** One conversation, its requests laid out as we send them and as one would without thinking of the cache. */
export async function prefixReuse(wanted: { readonly turns: number; readonly stepsPerTurn: number }): Promise<Reuse[]> {
  const requests = await conversation(wanted);
  return layouts.map((layout) => {
    const prompts = requests.map((request, index) => promptOf(request, layout, index));
    const bytes = prompts.reduce((sum, { length }) => sum + length, 0);
    const reused = prompts.reduce((sum, prompt, index) => sum + commonBytes(prompt, prompts[index - 1]), 0);
    return { layout, share: reused / bytes, bytes };
  });
}

/** With files that are mentioned, a list that changes, a new day, and room made once, in the middle. */
async function conversation({ turns, stepsPerTurn }: Parameters<typeof prefixReuse>[0]): Promise<AskedRequest[]> {
  const asked: AskedRequest[] = [];
  let step = 0;
  await using server = await modelServer();
  server.answerWith((request) => {
    if (request.body.tools === undefined) return { text: summary, usage: null };
    asked.push(request);
    step += 1;
    return { usage: null, ...answerAt(step, stepsPerTurn) };
  });
  let shiftMs = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + shiftMs };
  await using yard = await startYard({ model: server, clock });
  const talk = await longTalk(yard);
  for (let turn = 0; turn < turns; turn += 1) {
    const { path } = await must(yard.client.upload(talk.id, `table-${turn}.csv`, Buffer.from(`a,b\n${turn},2\n`)));
    await talk.say(`Look at part ${turn} of it.`, { files: [path] });
    shiftMs += dayMs / 4;
    if (turn !== Math.floor(turns / 2)) continue;
    await must(yard.client.call("compactConversation", { params: { id: talk.id }, body: {} }));
  }
  return asked;
}

const dayMs = 86_400_000;
const summary = Array.from(
  { length: 7 },
  (_, n) => `## ${n + 1}. Part\n- ${"what was said and done ".repeat(10)}`,
).join("\n");

/** Mostly results of a page, now and then the list. */
function answerAt(step: number, stepsPerTurn: number): Answer {
  if (step % stepsPerTurn === 0) return { text: `That was step ${step}. ${"And so it is. ".repeat(20)}` };
  const call = (name: string, input: object): Answer => ({ calls: [{ name, arguments: JSON.stringify(input) }] });
  const todos = ["look", "count", "write"].map((content, index) => ({
    content: `${content} (${step})`,
    status: index === 0 ? "in_progress" : "pending",
  }));
  if (step % stepsPerTurn === 1 || step % 9 === 0) return call("todo_write", { todos });
  return call("write_file", { path: `outputs/page-${step}.md`, content: `line ${step} of a page\n`.repeat(100) });
}

/** As providers read it: tools, then the prompt, then the messages. */
function promptOf({ body }: AskedRequest, layout: Layout, index: number): string {
  const isNaive = (one: Layout) => layout === one || layout === "all of these";
  const tools = (body.tools ?? []).map((tool) => JSON.stringify(tool));
  if (isNaive("tools in any order")) tools.push(...tools.splice(0, index % tools.length));
  const messages = body.messages.map((message) => JSON.stringify(message));
  const told = isNaive("reminders that move") ? messages.map(withoutReminders) : messages;
  if (isNaive("reminders that move")) told.push(newestReminder(messages));
  const seconds = new Date(index * 7_000).toISOString();
  const timed = isNaive("a clock in the prompt")
    ? told.map((text, place) =>
        place === 0 ? text.replace(/<current_datetime>[^<]*/, `<current_datetime>${seconds}`) : text,
      )
    : told;
  return [...tools, ...timed].join("\n");
}

const reminder = /(?:\\n)*<system_reminder>.*?<\/system_reminder>/gs;

function withoutReminders(text: string): string {
  return text.replace(reminder, "");
}

/** At the very end, in every request anew. */
function newestReminder(messages: readonly string[]): string {
  return (
    messages
      .findLast((text) => text.includes("<system_reminder>"))
      ?.match(reminder)
      ?.at(-1) ?? ""
  );
}

function commonBytes(prompt: string, before = ""): number {
  const most = Math.min(prompt.length, before.length);
  let [low, high] = [0, most];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (prompt.startsWith(before.slice(0, middle))) low = middle;
    else high = middle - 1;
  }
  return low;
}
