import { parsedJson, parsedObject } from "../../base/json.ts";
import { attachedWords, type Language, languages, withoutMarks } from "../../words/words.ts";
import { type ForeignTool, toldTools } from "./foreign-tools.ts";
import { replaceMentions } from "./mentions.ts";
import { type ListedSkill, skillsIn } from "./skills.ts";
import type { ChatRequest } from "./wire.ts";

/** What the demo model goes by: the last words of the user, what came with them, and what tools have said since. */
export type TalkFacts = {
  /** What the user wrote, with "it" for a file that came along: its name on their machine is not where it lies here. */
  readonly text: string;
  /** The same word for word. Neither has what AgentYard adds about attached files. */
  readonly written: string;
  /** The files of that message. */
  readonly attached: readonly AttachedFile[];
  /** The files of earlier messages, the latest first. */
  readonly earlier: readonly AttachedFile[];
  readonly language: Language;
  /** Nothing has been said to the user yet in this conversation. */
  readonly isFirst: boolean;
  /** The tools that may be called now. */
  readonly tools: ReadonlySet<string>;
  /** Those among them that others made. */
  readonly foreignTools: readonly ForeignTool[];
  /** The skills that are listed for it. */
  readonly skills: readonly ListedSkill[];
  /** Another agent has handed the user over. */
  readonly isHanded: boolean;
  /** What is left of the budget, as it was told last. */
  readonly budget: string | undefined;
  /** The calls of this turn that have a result, in order. */
  readonly done: readonly DoneCall[];
  /** The agents that ended in this turn, and told so. */
  readonly ended: readonly { readonly name: string; readonly isDone: boolean }[];
};

export type AttachedFile = { readonly name: string; readonly path: string; readonly type: string };

export type DoneCall = {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly result: string;
  /** The code of an error result, as in `Error: tool_rejected: …`. */
  readonly failure?: string | undefined;
};

type Message = ChatRequest["messages"][number];

/** How much of a result is kept: what is only passed on is short, a file is looked into. */
const resultCharactersMax: Readonly<Record<string, number>> = {
  read_file: 120_000,
  list_files: 60_000,
  find_files: 60_000,
  execute_code: 60_000,
};
const otherResultCharactersMax = 8_000;

export function readFacts({ messages, tools, tool_choice }: ChatRequest): TalkFacts {
  const asked = messages.findLastIndex((message) => isUsers(message) && wordsOf(message) !== "");
  const said = messages.filter(isUsers).map((message) => partsOf(ownWordsOf(message)));
  const { text: written, attached, language } = partsOf(ownWordsOf(messages[asked]));
  const names = attached.map(({ name }) => name);
  const before = messages.slice(0, Math.max(asked, 0)).filter(({ role }) => role === "user");
  return {
    text: attached.length === 0 ? written : replaceMentions(written, names, ` ${itIn[language ?? "en"]} `).trim(),
    written,
    attached,
    earlier: before.flatMap((message) => partsOf(wordsOf(message)).attached).toReversed(),
    language: said.map((message) => message.language).findLast((known) => known !== undefined) ?? "en",
    isFirst: !messages.some((message) => message.role === "assistant" && wordsOf(message) !== ""),
    tools: new Set(tool_choice === "none" ? [] : tools?.map((tool) => tool.function.name)),
    foreignTools: tool_choice === "none" ? [] : toldTools(tools ?? []),
    skills: skillsIn(
      messages
        .filter(({ role }) => role === "system")
        .map(wordsOf)
        .join("\n\n"),
    ),
    isHanded: handedMark.test(wordsOf(messages[asked])),
    budget: messages
      .toReversed()
      .map((message) => /^Budget: (.*? left)\. /m.exec(rawText(message))?.[1])
      .find((told) => told !== undefined),
    done: doneCalls(messages.slice(asked + 1)),
    ended: messages.slice(asked + 1).flatMap((message) => {
      const [, name, how] = endMark.exec(wordsOf(message)) ?? [];
      return message.role !== "user" || name === undefined ? [] : [{ name, isDone: how === "is done" }];
    }),
  };
}

/** What agents write to each other comes as a message of the user. */
function isUsers(message: Message): boolean {
  return message.role === "user" && !mailMark.test(wordsOf(message));
}

const mailMark =
  /^\[(?:The agent|Message from the agent|No answer will come from) |^Your answer is too short for somebody/;
const endMark = /^\[The agent (\S+) \(\S+\) ([^\]]+)\]/;

/** What stands behind a task that was handed over. */
const handedMark = /\n\n\(You were handed this by another agent[^\n]*\)$/;

/** Without it. */
function ownWordsOf(message: Message | undefined): string {
  return wordsOf(message).replace(handedMark, "").trim();
}

/** A message without the reminders that AgentYard attaches to it. */
function wordsOf(message: Message | undefined): string {
  return rawText(message)
    .replace(/<system_reminder>[\s\S]*?<\/system_reminder>/g, "")
    .trim();
}

function rawText(message: Message | undefined): string {
  const content = message?.content ?? "";
  return typeof content === "string" ? content : content.map((part) => part.text ?? "").join("\n");
}

const itIn: Readonly<Record<Language, string>> = { en: "it", zh: "它" };

type Written = {
  readonly text: string;
  readonly attached: readonly AttachedFile[];
  readonly language: Language | undefined;
};

/** The user's own words, without the list of files that AgentYard put behind them and the texts of small ones. */
function partsOf(message: string): Written {
  const whole = `\n\n${message}`;
  for (const language of languages) {
    const { list, inline } = attachedWords[language];
    const heading = `\n\n${list}\n`;
    const listAt = whole.lastIndexOf(heading);
    const lines = listAt < 0 ? [] : whole.slice(listAt + heading.length).split("\n");
    const named = lines.flatMap((line) => {
      const [, name, path, type] = /^- (.+) → (.+) \(([^()]*)\)$/.exec(line) ?? [];
      return name === undefined || path === undefined || type === undefined ? [] : [{ name, path, type }];
    });
    if (named.length === 0 || named.length !== lines.length) continue;
    const places = named
      .flatMap(({ path }) => ["<data source=", "```"].map((begin) => whole.indexOf(`\n\n${inline(path)}\n${begin}`)))
      .filter((at) => at >= 0);
    const attached = named.map(({ name, path, type }) => ({ name: plainName(name), path: plainName(path), type }));
    const text = whole.slice(0, Math.min(listAt, ...places)).trim();
    const names = attached.map(({ name }) => name);
    // Files alone say nothing by their names: then the language is that of the list.
    return { text, attached, language: languageOfText(replaceMentions(text, names, " ")) ?? language };
  }
  return { text: message, attached: [], language: languageOfText(message) };
}

/** A name as it is: what could be taken for something else is written in quotes, with escapes. */
export function plainName(shown: string): string {
  if (!shown.startsWith('"')) return shown;
  const escaped = shown.replaceAll(/\\u\{([0-9a-f]+)\}/g, (_, code: string) =>
    String.fromCodePoint(Number.parseInt(code, 16)),
  );
  const name = parsedJson(escaped);
  return typeof name === "string" ? name : shown;
}

/** Chinese when Han characters weigh enough against words in letters; unknown without either. Paths are no words. */
function languageOfText(said: string): Language | undefined {
  const text = said.replaceAll(/(?<![\w-])[\w-]*[./][\w./*-]+/g, " ");
  const han = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  const words = text.match(/\p{Script=Latin}+/gu)?.length ?? 0;
  if (han + words === 0) return undefined;
  return han / (han + words) >= 0.4 ? "zh" : "en";
}

function doneCalls(messages: readonly Message[]): readonly DoneCall[] {
  const calls = new Map(
    messages.flatMap(({ tool_calls }) => (tool_calls ?? []).map((call) => [call.id, call.function])),
  );
  return messages.flatMap((message) => {
    const call = message.role === "tool" ? calls.get(message.tool_call_id ?? "") : undefined;
    if (call === undefined) return [];
    const { name, input } = calledBy(call);
    const charactersMax = resultCharactersMax[name] ?? otherResultCharactersMax;
    const result = withoutMarks(wordsOf(message)).slice(0, charactersMax).toWellFormed();
    return [{ name, input, result, failure: /^Error: ([a-z_]+)/.exec(result)?.[1] }];
  });
}

/** What was called through use_tool counts as itself. */
function calledBy({
  name,
  arguments: written,
}: {
  name: string;
  arguments?: string | null | undefined;
}): Pick<DoneCall, "name" | "input"> {
  const input = parsedObject(written ?? "") ?? {};
  if (name !== "use_tool" || typeof input.name !== "string") return { name, input };
  return { name: input.name, input: parsedObject(String(input.arguments)) ?? {} };
}
