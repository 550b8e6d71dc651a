import { type Chat, openStored, sayFailure } from "./chat-state.ts";
import { safeLine } from "./safe-text.ts";
import { readAll } from "./said-before.ts";
import { turnsOf } from "./timeline.ts";

/** `/branch [N]`: goes on in a new conversation that has the same history, all of it or up to the end of turn N. */
export async function branch(chat: Chat, argument: string): Promise<undefined> {
  const { client, console, current, style, words } = chat;
  const { branch: texts } = words.terminal.commands;
  if (argument !== "" && !/^\d{1,9}$/.test(argument)) return void console.say(texts.how());
  await current.whenSent;
  if (!current.isStored) return void console.say(texts.nothing());
  const { id } = current;
  const events = await readAll(client, id);
  if (!events.ok) return sayFailure(chat, events.failure);
  const finished = turnsOf(events.value).filter(({ endSeq }) => endSeq !== undefined);
  if (finished.length === 0) return void console.say(texts.nothing());
  const at = argument === "" ? undefined : finished.find(({ turn }) => turn === Number(argument))?.endSeq;
  if (argument !== "" && at === undefined) {
    return void console.say(texts.noTurn({ turn: argument, count: finished.length }));
  }
  const made = await client.call("branchConversation", { params: { id }, body: at === undefined ? {} : { at } });
  if (!made.ok) return sayFailure(chat, made.failure);
  const heading = texts.made({ id: made.value.id, from: id.slice(0, 8) });
  const failure = await openStored(chat, { id: made.value.id, heading });
  if (failure !== undefined) return sayFailure(chat, failure);
  const { filesLeftOut } = made.value;
  const [from, files] = [id.slice(0, 8), filesLeftOut.map((file) => safeLine(file, 120)).join(", ")];
  const isNone = filesLeftOut.includes(".");
  if (files !== "") console.say(style.attention(isNone ? texts.noneCopied({ from }) : texts.leftOut({ files, from })));
}
