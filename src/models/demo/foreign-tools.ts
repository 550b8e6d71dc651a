import { z } from "zod";

// Tools that others made, of MCP servers: which of them is meant, and what to give it. By names and numbers only.

export type ForeignTool = { readonly name: string; readonly fields: readonly Field[] };
/** One argument. `type` is the word of its schema, or its values where it has only a few. */
type Field = { readonly name: string; readonly isNeeded: boolean; readonly type: string | readonly string[] };

const isForeign = /^mcp__[\w-]+$/;

const Told = z.object({
  name: z.string(),
  parameters: z.object({
    properties: z
      .record(z.string(), z.looseObject({ type: z.unknown(), enum: z.array(z.string()).optional().catch(undefined) }))
      .default({}),
    required: z.array(z.string()).default([]),
  }),
});

/** Those that a request tells of. */
export function toldTools(tools: readonly { readonly function: object }[]): readonly ForeignTool[] {
  return tools.flatMap((tool) => {
    const told = Told.safeParse(tool.function).data;
    if (told === undefined || !isForeign.test(told.name)) return [];
    const { properties, required } = told.parameters;
    const fields = Object.entries(properties).map(([name, { type, enum: values }]) => ({
      ...{ name, isNeeded: required.includes(name) },
      type: values ?? (typeof type === "string" ? type : "object"),
    }));
    return [{ name: told.name, fields }];
  });
}

/** Those that `find_tools` found: `mcp__every__get-sum {a: number, b?: number}`. */
export function foundTools(result: string): readonly ForeignTool[] {
  return Array.from(result.matchAll(/^(mcp__[\w-]+) \{(.*)\}$/gm), ([, name = "", form = ""]) => ({
    name,
    fields: partsOf(form).flatMap((part) => {
      const [, field = "", mark = "", type = ""] = /^([^:?]+)(\??): (.+)$/.exec(part) ?? [];
      return field === "" ? [] : [{ name: field, isNeeded: mark === "", type: typeIn(type) }];
    }),
  }));
}

/** Commas between brackets and in quotes part nothing. */
function partsOf(form: string): readonly string[] {
  const parts: string[] = [];
  let [depth, part, isQuoted] = [0, "", false];
  for (const sign of form) {
    if (sign === '"') isQuoted = !isQuoted;
    else if (!isQuoted && "{[".includes(sign)) depth += 1;
    else if (!isQuoted && "}]".includes(sign)) depth -= 1;
    if (sign !== "," || depth > 0 || isQuoted) part += sign;
    else {
      parts.push(part.trim());
      part = "";
    }
  }
  return [...parts, part.trim()].filter((one) => one !== "");
}

function typeIn(form: string): Field["type"] {
  if (!/^"[^"]*"( \| "[^"]*")*$/.test(form)) return form;
  return Array.from(form.matchAll(/"([^"]*)"/g), ([, value = ""]) => value);
}

export type Choice = { readonly tool: ForeignTool; readonly arguments: Readonly<Record<string, unknown>> | undefined };

/** The first that the words name or fit, one that can be given what it needs before others; `undefined`: none fits. */
export function chooseTool(text: string, tools: readonly ForeignTool[]): Choice | undefined {
  const words = wordsIn(text);
  const named = tools.filter(({ name }) => namesTool(text, name));
  const fitting = named.length > 0 ? named : tools.filter(({ name }) => fits(words, name));
  const choices = fitting.map((tool) => ({ tool, arguments: argumentsFor(text, tool) }));
  return choices.find((choice) => choice.arguments !== undefined) ?? choices[0];
}

function namesTool(text: string, name: string): boolean {
  return [name, ownName(name)].some((one) => new RegExp(`(?<![\\w-])${RegExp.escape(one)}(?![\\w-])`, "i").test(text));
}

/** One word of the tool's name that says what it is about. */
function fits(words: ReadonlySet<string>, name: string): boolean {
  return [...wordsIn(ownName(name))].some((word) => !saysLittle.has(word) && words.has(word));
}

/** What tools of all kinds are called after. */
const saysLittle: ReadonlySet<string> = new Set(
  "get set list read write create make find search add delete remove update show open run call use do a an the of and for to in with by as all new my mcp tool server file message data".split(
    " ",
  ),
);

/** `mcp__every__get-sum` → `get-sum`. */
export function ownName(name: string): string {
  return name.split("__").slice(2).join("__");
}

export function serverOf(name: string): string {
  return name.split("__")[1] ?? "";
}

function wordsIn(text: string): ReadonlySet<string> {
  const parted = text.replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2").toLowerCase();
  return new Set(Array.from(parted.matchAll(/[a-z]+/g), ([word]) => word.replace(/(?<=[a-z]{3})s$/, "")));
}

/** Numbers in their order, quoted words or those that follow the name; `undefined`: something needed is not there. */
function argumentsFor(text: string, { name, fields }: ForeignTool): Choice["arguments"] {
  const plain = text.replaceAll(name, ownName(name));
  const numbers = Array.from(plain.matchAll(/(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-])/g), ([digits]) => Number(digits));
  const needed = fields.filter(({ isNeeded }) => isNeeded);
  const texts = textsIn(plain, ownName(name), needed.filter(({ type }) => type === "string").length);
  const given: [string, unknown][] = [];
  for (const { name: field, type } of needed) {
    const value = typeof type === "string" ? nextValue(type, numbers, texts) : type.find((one) => hasWord(plain, one));
    if (value === undefined) return undefined;
    given.push([field, value]);
  }
  return Object.fromEntries(given);
}

function nextValue(type: string, numbers: number[], texts: string[]): unknown {
  if (type === "number") return numbers.shift();
  if (type === "integer") return Number.isInteger(numbers[0]) ? numbers.shift() : undefined;
  return type === "string" ? texts.shift() : undefined;
}

function hasWord(text: string, word: string): boolean {
  return text.toLowerCase().includes(word.toLowerCase());
}

const textCharactersMax = 1_000;

/** What stands in quotes; for one only, also what follows a colon or the tool's name. */
function textsIn(text: string, tool: string, count: number): string[] {
  const quoted = Array.from(text.matchAll(/["“「']([^"“”「」'\n]+)["”」']/g), ([, words = ""]) => words);
  if (quoted.length >= count) return quoted;
  const after = text.slice(text.toLowerCase().indexOf(tool.toLowerCase()) + tool.length);
  const rest = /[:：]\s*([\s\S]+)$/.exec(text)?.[1] ?? (namesTool(text, tool) ? after : "");
  const bare = rest
    .replace(/^[\s:：,，]+/, "")
    .replace(/^(with|to say|saying|the text|说|工具|的工具)\s*/i, "")
    .trim();
  return count === 1 && bare !== "" ? [bare.slice(0, textCharactersMax).toWellFormed()] : [];
}
