import type { SkillInfo } from "../protocol/skill.ts";
import { type Chat, sayFailure } from "./chat-state.ts";
import { safeLine } from "./safe-text.ts";

const nameShownMax = 64;
const sentenceShownMax = 400;

/**
 * `/skills` lists what was found; `/skills why NAME` tells why one was offered and used here, or why not; `/skills install
 * NAME` has the packages installed that it wants.
 */
export async function skills(chat: Chat, argument: string): Promise<undefined> {
  const { console, words } = chat;
  const [, word = "", name = ""] = /^(\S*)\s*(.*)$/s.exec(argument) ?? [];
  if (word === "") return listSkills(chat);
  if (word === "install") return install(chat, name.replace(/^@/, ""));
  if (word !== "why") return void console.say(words.skills.usage({ word: safeLine(word, nameShownMax) }));
  return name === "" ? void console.say(words.skills.whyWhat()) : explain(chat, name.replace(/^@/, ""));
}

async function listSkills(chat: Chat): Promise<undefined> {
  const { client, console, words, style } = chat;
  const { skills: texts } = words;
  const listed = await client.call("listSkills", { query: inConversation(chat) });
  if (!listed.ok) return sayFailure(chat, listed.failure);
  const { items } = listed.value;
  if (items.length === 0) return void console.say(texts.none());
  for (const { id, state, place, kind, use, notes } of items) {
    const where = `${texts.place[kind]}: ${safeLine(place, sentenceShownMax)}`;
    const used = use?.linked || use?.isRead ? texts.inUse : "";
    console.say(texts.entry({ id: safeLine(id, nameShownMax), state: texts.state[state], place: where, used }));
    const wrong = notes.filter(({ grade }) => grade === "error" && state === "broken");
    for (const note of wrong) console.say(style.bad(`    ✗ ${noteText(note)}`));
  }
  console.say(texts.hint());
}

async function explain(chat: Chat, name: string): Promise<undefined> {
  const { client, console, words, style } = chat;
  const { skills: texts } = words;
  const told = await client.call("explainSkill", { params: { skill: name }, query: inConversation(chat) });
  if (!told.ok) return sayFailure(chat, told.failure);
  const { id, description, place, kind, state, reasons, notes } = told.value;
  console.say(
    `@${safeLine(id, nameShownMax)} · ${texts.state[state]} · ${texts.place[kind]}: ${safeLine(place, sentenceShownMax)}`,
  );
  if (description !== "") console.say(style.dim(`  ${safeLine(description, sentenceShownMax)}`));
  for (const reason of reasons) console.say(`  ${safeLine(reason, sentenceShownMax)}`);
  for (const grade of ["error", "warning"] as const) {
    const told = notes.filter((note) => note.grade === grade);
    if (grade === "warning" && told.length > 0) console.say(`  ${texts.why.warnings()}`);
    for (const note of told)
      console.say(grade === "error" ? style.bad(`    ✗ ${noteText(note)}`) : `    - ${noteText(note)}`);
  }
}

/** The one way in which packages come for a skill: a person asks for it. */
async function install(chat: Chat, name: string): Promise<undefined> {
  const { client, console, words, style } = chat;
  const { skills: texts } = words;
  if (name === "") return void console.say(texts.installWhat());
  console.say(style.dim(texts.installing({ name: safeLine(name, nameShownMax) })));
  const done = await client.call("installSkillPackages", { params: { skill: name } });
  if (!done.ok) return sayFailure(chat, done.failure);
  const { installed, leftOut } = done.value;
  const names = installed.map(
    ({ name: one, version }) => `${safeLine(one, nameShownMax)} ${safeLine(version, nameShownMax)}`,
  );
  console.say(names.length === 0 ? texts.nothingToInstall() : texts.installed({ names: names.join(", ") }));
  for (const line of leftOut) console.say(texts.leftOut({ line: safeLine(line, sentenceShownMax) }));
}

/** `SKILL.md:4: what is wrong. What to write.` */
function noteText({ line, what, instead }: SkillInfo["notes"][number]): string {
  return safeLine(`${line === null ? "" : `SKILL.md:${line}: `}${what} ${instead}`, sentenceShownMax);
}

function inConversation({ current }: Chat): { conversation?: string } {
  return current.isStored ? { conversation: current.id } : {};
}
