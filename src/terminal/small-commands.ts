import { languages } from "../words/words.ts";
import { type Chat, sayFailure } from "./chat-state.ts";
import { connectLines } from "./model-view.ts";
import { safeLine } from "./safe-text.ts";

/** `/lang [en|zh]`: the language of this terminal, until it is closed. */
export async function changeLanguage(chat: Chat, argument: string): Promise<undefined> {
  const { console, words } = chat;
  const known = languages.join(", ");
  if (argument === "") return void console.say(words.terminal.commands.lang.now({ known }));
  const language = languages.find((one) => one === argument.toLowerCase());
  if (language === undefined)
    return void console.say(words.terminal.commands.lang.unknown({ value: safeLine(argument, 20), known }));
  chat.speak(language);
  console.say(words.terminal.commands.lang.set());
}

/** `/doctor`: what this machine can do. */
export async function examine({ console, machine, words }: Chat): Promise<undefined> {
  const lines = await machine?.examine(words);
  if (lines === undefined) return void console.say(words.terminal.commands.doctor.elsewhere());
  for (const line of lines) console.say(line);
}

/** `/connect`: how a model gets connected, with what was found on this machine. */
export async function connect(chat: Chat): Promise<undefined> {
  const { client, console, words } = chat;
  const { connect: texts } = words.terminal.commands;
  const listed = await client.call("listModels", { query: { detect: true } });
  if (!listed.ok) return sayFailure(chat, listed.failure);
  const base = listed.value.slots.find(({ slot }) => slot === "base");
  if (base !== undefined && !base.isDemo)
    console.say(texts.connected({ id: safeLine(base.id, 60), server: safeLine(base.server, 60) }));
  for (const line of connectLines(listed.value, words, { isAll: true })) console.say(line);
  console.say(texts.test());
}
