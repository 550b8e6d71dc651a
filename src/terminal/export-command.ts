import { lstat } from "node:fs/promises";
import { resolve } from "node:path";
import { failed, ok, type Result } from "../base/result.ts";
import type { LogEvent } from "../protocol/events.ts";
import type { Failure } from "../protocol/failure.ts";
import type { Words } from "../words/words.ts";
import { type Chat, sayFailure } from "./chat-state.ts";
import { formatBytes, formatTime, jsonLine } from "./format.ts";
import { saidText } from "./own-words.ts";
import { hereFault, lookHere, putHere } from "./put-here.ts";
import { safeLine } from "./safe-text.ts";
import { readAll } from "./said-before.ts";
import { unquoted } from "./unquoted.ts";

/** `/export [-f] [FILE]`: what was said here as Markdown in a file of this machine; `.jsonl`: all events, one a line. */
export async function exportConversation(chat: Chat, argument: string): Promise<undefined> {
  const { client, console, current, place, words } = chat;
  const { export: texts } = words.terminal.commands;
  const [, forced, given = ""] = /^(-f(?:\s+|$))?(.*)$/s.exec(argument) ?? [];
  const name = unquoted(given.trim());
  if (name.startsWith("-") || name.endsWith("/")) return void console.say(texts.how());
  await current.whenSent;
  if (!current.isStored) return void console.say(texts.nothing());
  const events = await readAll(client, current.id);
  if (!events.ok) return sayFailure(chat, events.failure);
  const conversation = await client.call("getConversation", { params: { id: current.id } });
  if (!conversation.ok) return sayFailure(chat, conversation.failure);
  const file = resolve(place.folder, name === "" ? `conversation-${current.id.slice(0, 8)}.md` : name);
  const about = { ...conversation.value, at: chat.clock.now() };
  const text = file.endsWith(".jsonl") ? events.value.map(jsonLine).join("") : markdown(events.value, about, words);
  const path = safeLine(file, 200);
  const there = forced === undefined ? await lookHere(chat, lstat, file) : ok(undefined);
  if (!there.ok) return sayFailure(chat, there.failure);
  if (there.value !== undefined) return void console.say(texts.exists({ path }));
  const written = await write(chat, file, text);
  if (!written.ok) return sayFailure(chat, written.failure);
  console.say(texts.written({ path, size: formatBytes(Buffer.byteLength(text), words) }));
}

type About = { readonly id: string; readonly title: string; readonly at: number };

function markdown(events: readonly LogEvent[], { id, title, at }: About, { terminal }: Words): string {
  const { export: texts } = terminal.commands;
  const names = new Map<string, string>();
  const parts: { readonly seq: number; readonly text: string }[] = [];
  for (const event of standing(events)) {
    const say = (text: string) => parts.push({ seq: event.seq, text });
    if ("agent" in event && event.agent !== undefined) continue;
    if (event.type === "message.user") say(`## ${texts.person}\n\n${saidText(event.text)}`);
    if (event.type === "message.assistant") {
      for (const call of event.calls ?? []) names.set(call.id, call.name);
      if (event.text.trim() !== "") say(`## ${texts.agent}\n\n${event.text.trim()}`);
    }
    if (event.type === "call.finished") {
      const end = terminal.turn.outcome[event.outcome];
      say(`> ${texts.tool({ name: names.get(event.call) ?? "?", end })}`);
    }
  }
  const head = texts.title({ title: title === "" ? terminal.command.untitled : safeLine(title, 200) });
  return `${[head, texts.about({ id, at: formatTime(at) }), ...parts.map(({ text }) => text)].join("\n\n")}\n`;
}

/** Without what somebody went back behind. */
function standing(events: readonly LogEvent[]): readonly LogEvent[] {
  let kept: LogEvent[] = [];
  for (const event of events) {
    if (event.type === "rewound") kept = kept.filter(({ seq }) => seq <= event.to);
    kept.push(event);
  }
  return kept;
}

async function write(chat: Chat, file: string, text: string): Promise<Result<void, Failure>> {
  try {
    return await putHere(chat, file, async (handle) => ok(await handle.writeFile(text)));
  } catch (error) {
    return failed(hereFault(chat, file, error));
  }
}
