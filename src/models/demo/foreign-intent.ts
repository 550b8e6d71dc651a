import type { DoneCall, TalkFacts } from "./facts.ts";
import { type Choice, chooseTool, foundTools, ownName, serverOf } from "./foreign-tools.ts";
import { type DemoWords, paragraphs, type WantedCall } from "./intent.ts";
import { fenced, shown } from "./shown-text.ts";

/** A longer text is no order, and is not looked for among tools. */
const orderCharactersMax = 500;
const queryCharactersMax = 200;

/** What no rule knows may be what a connected service is for: looks there as any model does, and calls what fits. */
export function foreignCalls(facts: TalkFacts): readonly WantedCall[] {
  const { text, tools, done } = facts;
  if (calledTool(done) !== undefined) return [];
  const { tool, arguments: given } = choiceOf(facts) ?? {};
  if (tool !== undefined) return given === undefined ? [] : [{ name: tool.name, arguments: given }];
  const canLook = tools.has("find_tools") && tools.has("use_tool") && text.length <= orderCharactersMax;
  if (!canLook || text === "" || done.length > 0) return [];
  return [{ name: "find_tools", arguments: { query: text.slice(0, queryCharactersMax).toWellFormed() } }];
}

/** What the tool answered, or why it was not called; nothing where none fits. */
export function foreignText(facts: TalkFacts, words: DemoWords): string {
  const call = calledTool(facts.done);
  if (call !== undefined) {
    const about = { tool: ownName(call.name), server: serverOf(call.name), input: JSON.stringify(call.input) };
    return paragraphs(words.foreign.called(about), fenced(shown(call.result)), words.foreign.chosen);
  }
  const { tool } = choiceOf(facts) ?? {};
  if (tool === undefined) return "";
  const needed = tool.fields.filter(({ isNeeded }) => isNeeded).map(({ name }) => `\`${name}\``);
  return words.foreign.unfilled({ tool: ownName(tool.name), server: serverOf(tool.name), needed: needed.join(", ") });
}

function choiceOf({ text, foreignTools, done }: TalkFacts): Choice | undefined {
  const found = done.filter(({ name }) => name === "find_tools").flatMap(({ result }) => foundTools(result));
  return chooseTool(text, [...foreignTools, ...found]);
}

function calledTool(done: readonly DoneCall[]): DoneCall | undefined {
  return done.find(({ name, failure }) => name.startsWith("mcp__") && failure === undefined);
}
