import { makeFailure } from "../protocol/failure.ts";
import { type Chat, sayFailure } from "./chat-state.ts";
import { ruleLine } from "./rule-text.ts";
import { safeLine } from "./safe-text.ts";

/** `/rules` lists what is allowed always; `/rules revoke ID` revokes one, by the beginning of its id. */
export async function rules(chat: Chat, argument: string): Promise<undefined> {
  const { console, words } = chat;
  const texts = words.terminal.decision.rule;
  const [word = "", id = ""] = argument.split(/\s+/);
  if (word === "") return listRules(chat);
  if (word !== "revoke") return void console.say(texts.usage({ word: safeLine(word, 40) }));
  return id === "" ? void console.say(texts.revokeWhat()) : revoke(chat, id);
}

async function listRules(chat: Chat): Promise<undefined> {
  const { client, console, current, words } = chat;
  const texts = words.terminal.decision.rule;
  const listed = await client.call("listRules");
  if (!listed.ok) return sayFailure(chat, listed.failure);
  if (listed.value.items.length === 0) return void console.say(texts.none());
  for (const rule of listed.value.items) console.say(ruleLine(rule, words, current.id));
  console.say(texts.hint());
}

async function revoke(chat: Chat, prefix: string): Promise<undefined> {
  const { client, console, words } = chat;
  const listed = await client.call("listRules");
  if (!listed.ok) return sayFailure(chat, listed.failure);
  const [rule, ...others] = listed.value.items.filter(({ id }) => id.startsWith(prefix));
  if (rule === undefined || others.length > 0)
    return sayFailure(chat, makeFailure("rule_not_found", { id: safeLine(prefix, 40) }));
  const revoked = await client.call("revokeRule", { params: { rule: rule.id } });
  if (!revoked.ok) return sayFailure(chat, revoked.failure);
  console.say(words.terminal.decision.rule.revoked({ id: rule.id }));
}
