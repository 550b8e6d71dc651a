import { languages } from "../words/words.ts";
import type { Chat } from "./chat-state.ts";
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
