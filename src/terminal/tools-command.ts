import type { BrokenToolFile, ListedTool } from "../protocol/tool.ts";
import type { TerminalWords } from "../words/words.ts";
import { type Chat, sayFailure } from "./chat-state.ts";
import { safeLine } from "./safe-text.ts";

const textMax = 70;

/** `/tools` lists what there is, `/tools WORD` what has that word; `/tools load NAME` tells the model of one here. */
export async function tools(chat: Chat, argument: string): Promise<undefined> {
  const { client, console, current, words } = chat;
  const texts = words.terminal.tools;
  const [word = "", name = ""] = argument.split(/\s+/);
  if (word === "load" && name === "") return void console.say(texts.loadWhat());
  if (word === "load" && !current.isStored) return void console.say(texts.notYet());
  if (word === "load") {
    const loaded = await client.call("loadTool", { params: { id: current.id, tool: name } });
    return loaded.ok
      ? void console.say(texts.loaded({ name: safeLine(name, textMax) }))
      : sayFailure(chat, loaded.failure);
  }
  const listed = await client.call("listTools", { query: current.isStored ? { conversation: current.id } : {} });
  if (!listed.ok) return sayFailure(chat, listed.failure);
  for (const line of toolLines(listed.value, argument.toLowerCase(), words.terminal)) console.say(line);
}

type Listed = { readonly items: readonly ListedTool[]; readonly broken: readonly BrokenToolFile[] };

function toolLines({ items, broken }: Listed, word: string, { tools: texts }: TerminalWords): string[] {
  const wanted = items.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(word));
  const lines = (["loaded", "on_demand", "off"] as const).flatMap((tier) => {
    const found = wanted.filter((tool) => tool.tier === tier);
    return found.length === 0
      ? []
      : [texts.tier[tier]({ count: found.length }), ...found.map((tool) => toolLine(tool, texts))];
  });
  const files = broken.map(({ file, line, why }) =>
    texts.broken({
      place: safeLine(line === undefined ? file : `${file}:${line}`, textMax),
      why: safeLine(why, 2 * textMax),
    }),
  );
  const listed = lines.length === 0 ? [texts.none({ word: safeLine(word, textMax) })] : lines;
  return [...listed, ...files, ...(files.length === 0 ? [] : [texts.mendBroken()]), texts.hint()];
}

function toolLine({ name, origin, description, why, takenBy }: ListedTool, texts: TerminalWords["tools"]): string {
  const from = texts.origin[origin];
  const about =
    why === undefined ? safeLine(description, textMax) : texts.why[why]({ by: takenBy && texts.origin[takenBy] });
  return `  ${safeLine(name, 64)}${origin === "builtin" ? "" : ` (${from})`}  ${about}`;
}
