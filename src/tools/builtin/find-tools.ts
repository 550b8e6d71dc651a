import { z } from "zod";
import { nearest } from "../../base/nearest.ts";
import { ok } from "../../base/result.ts";
import { forModels } from "../../words/words.ts";
import { fitEntries } from "../fit-entries.ts";
import { shortened } from "../output.ts";
import { type JsonSchema, signature } from "../schema.ts";
import { defineTool, type Outside, type Tool } from "../tool.ts";

const hitsMax = 5;
const nearMax = 5;
const kindsMax = 20;
const queryBytesMax = 200;
const descriptionBytesMax = 300;
const formBytesMax = 700;
const argumentsMax = 12;
const argumentBytesMax = 120;

export const findTools = defineTool({
  name: "find_tools",
  description:
    "Find more tools than those you are told of: of connected services (MCP), tool boxes, the user's own, and rarely needed ones. Use it before you say that something cannot be done. Not for files or the web: this looks for tools only. Returns up to 5 tools with their arguments; call them with use_tool.",
  class: "pure",
  input: z.object({
    query: z.string().min(1).describe('What the tool should do, in a few words, such as "create calendar event".'),
  }),
  otherNames: { q: "query", search: "query", text: "query", task: "query", keyword: "query", keywords: "query" },
  async run({ query }, { furtherTools, outputBytesMax }) {
    const toolkit = await furtherTools();
    const { onDemand } = toolkit;
    const { tools: words } = forModels;
    const hits = toolkit.search(query, hitsMax);
    if (hits.length === 0) {
      const names = onDemand.map(({ name }) => name);
      const near = nearest(query, names, nearMax, { onlyLikely: true });
      const tried = shortened(query.replaceAll(/\s+/g, " "), queryBytesMax);
      return ok({ text: words.noneFound({ query: tried, near, kinds: kindsOf(names), all: names.length }) });
    }
    const { shown } = fitEntries(hits.map(entryOf), { countMax: hitsMax, bytesMax: outputBytesMax });
    let text = words.found(shown.length, onDemand.length);
    const outside: Outside[] = [];
    for (const [index, entry] of shown.entries()) {
      const from = text.length + 1;
      text += `\n${entry}`;
      const tool = hits[index];
      // What others say of their tool is shown as theirs; that the agent may use it the operator has said.
      if (tool?.isForeign) outside.push({ source: tool.name, from, to: text.length, isSeen: true });
    }
    return ok({ text, outside });
  },
});

function entryOf({ name, description, parameters }: Tool): string {
  const line = (text: string, bytesMax: number) => shortened(text.replaceAll(/\s+/g, " ").trim(), bytesMax);
  const { properties = {} } = parameters;
  const told = Object.entries(properties)
    .filter(([, { description: about = "" }]) => about !== "")
    .slice(0, argumentsMax)
    .map(([argument, { description: about = "" }]) => `  ${argument}: ${line(about, argumentBytesMax)}`);
  return [
    `${name} ${line(formOf(parameters), formBytesMax)}`,
    `  ${line(description, descriptionBytesMax)}`,
    ...told,
  ].join("\n");
}

function formOf(parameters: JsonSchema): string {
  return signature({ ...parameters, properties: parameters.properties ?? {} });
}

/** Names of one service begin alike: `github_list_issues`, `mcp__github__list_issues`. */
function kindsOf(names: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const name of names) {
    const [kind = name] = name.replace(/^mcp__/, "").split(/__|_|-/, 1);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const most = [...counts].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1));
  return most.slice(0, kindsMax).map(([kind, count]) => (count === 1 ? kind : `${kind} (${count})`));
}
