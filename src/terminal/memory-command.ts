import { contextLimits } from "../protocol/context-routes.ts";
import type { Memory } from "../protocol/resources.ts";
import { type Chat, sayFailure } from "./chat-state.ts";
import { formatTime } from "./format.ts";
import { safeLine } from "./safe-text.ts";

/** `/memory` lists what is remembered; `add TEXT`, `edit N TEXT` and `forget N` change it. */
export async function memory(chat: Chat, argument: string): Promise<undefined> {
  const { console, words } = chat;
  const texts = words.terminal.memory;
  const [, word = "", rest = ""] = /^(\S*)\s*(.*)$/s.exec(argument) ?? [];
  if (word === "") return listMemories(chat);
  if (word === "add") return addMemory(chat, rest);
  if (word === "edit" || word === "forget") return changeMemory(chat, word, rest);
  return void console.say(texts.usage({ word: safeLine(word, 40) }));
}

const memoryShownMax = contextLimits.memoryCharactersMax;

async function listMemories(chat: Chat): Promise<undefined> {
  const { client, console, words } = chat;
  const texts = words.terminal.memory;
  const listed = await client.call("listMemory");
  if (!listed.ok) return sayFailure(chat, listed.failure);
  const { items } = listed.value;
  if (items.length === 0) return void console.say(texts.none());
  for (const [index, { fact, at, conversation }] of items.entries()) {
    const who = conversation === null ? texts.byYou : texts.byAgent({ conversation: conversation.slice(0, 8) });
    console.say(texts.entry({ number: index + 1, fact: safeLine(fact, memoryShownMax), at: formatTime(at), who }));
  }
  console.say(texts.hint());
}

async function addMemory(chat: Chat, fact: string): Promise<undefined> {
  const { client, console, words } = chat;
  const texts = words.terminal.memory;
  if (fact === "") return void console.say(texts.whatText({ form: "/memory add TEXT" }));
  if (isTooLong(chat, fact)) return;
  const added = await client.call("addMemory", { body: { fact } });
  if (!added.ok) return sayFailure(chat, added.failure);
  const listed = await client.call("listMemory");
  console.say(texts.added({ count: listed.ok ? listed.value.items.length : 1 }));
}

/** By its number in the list: the numbers are those of the moment. */
async function changeMemory(chat: Chat, word: "edit" | "forget", rest: string): Promise<undefined> {
  const { client, console, words } = chat;
  const texts = words.terminal.memory;
  const listed = await client.call("listMemory");
  if (!listed.ok) return sayFailure(chat, listed.failure);
  const [, number = "", fact = ""] = /^(\d+)\.?\s*(.*)$/s.exec(rest) ?? [];
  const entry: Memory | undefined = listed.value.items[Number(number) - 1];
  if (number === "" || entry === undefined) return void console.say(texts.which({ word }));
  const params = { memory: entry.id };
  if (word === "forget") {
    const gone = await client.call("forgetMemory", { params });
    return gone.ok
      ? void console.say(texts.forgotten({ fact: safeLine(entry.fact, memoryShownMax) }))
      : sayFailure(chat, gone.failure);
  }
  if (fact === "") return void console.say(texts.whatText({ form: "/memory edit N TEXT" }));
  if (isTooLong(chat, fact)) return;
  const changed = await client.call("changeMemory", { params, body: { fact } });
  return changed.ok ? void console.say(texts.changed({ number: Number(number) })) : sayFailure(chat, changed.failure);
}

function isTooLong({ console, words }: Chat, fact: string): boolean {
  const { memoryCharactersMax: max } = contextLimits;
  if (fact.length <= max) return false;
  console.say(words.terminal.memory.tooLong({ max }));
  return true;
}
