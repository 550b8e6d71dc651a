import type { Document, Node } from "yaml";
import { thrownText } from "../base/fault.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { SkillFault } from "../words/words.ts";

/** Something that is wrong with a skill. With an error it cannot be used; a warning tells what to put right. */
export type SkillProblem = SkillFault & {
  readonly grade: "error" | "warning";
  /** Of the file it is about; undefined where it is about the folder. */
  readonly line?: number | undefined;
};

/** A value as YAML has it, without anything that could grow when it is read. */
export type PlainValue = string | number | boolean | null | readonly PlainValue[] | PlainMap;
export type PlainMap = { readonly [key: string]: PlainValue };
export type Field = { readonly value: PlainValue; readonly line: number };

export type FrontMatter = {
  readonly fields: ReadonlyMap<string, Field>;
  readonly body: string;
  readonly warnings: readonly SkillProblem[];
};

const frontMatterCharactersMax = 16 * 1024;

/**
 * The head of a SKILL.md and what follows it. Files of Windows and files with a byte order mark are read like others;
 * the first mistake that leaves no meaning is told with its line.
 */
export async function readFrontMatter(text: string): Promise<Result<FrontMatter, SkillProblem>> {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\n|\r/);
  if (lines[0]?.trimEnd() !== "---") return problem({ fault: "no_front_matter" }, 1);
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === "---");
  if (end === -1) return problem({ fault: "front_matter_open" }, 1);
  const head = lines.slice(1, end);
  if (head.join("\n").length > frontMatterCharactersMax) return problem({ fault: "front_matter_long" }, 1);
  const tab = head.findIndex((line) => /^ *\t/.test(line));
  if (tab !== -1) return problem({ fault: "tab" }, tab + 2);
  const read = await readFields(head);
  if (!read.ok) return read;
  const body = lines.slice(end + 1).join("\n");
  return ok({ ...read.value, body: body.trim() === "" ? "" : body });
}

type Fields = Pick<FrontMatter, "fields" | "warnings">;

/** Many descriptions have a colon and no quotes, which is no YAML; what was meant is plain all the same. */
async function readFields(head: readonly string[]): Promise<Result<Fields, SkillProblem>> {
  const asWritten = await parseFields(head.join("\n"));
  if (asWritten.ok || asWritten.failure.fault !== "yaml") return asWritten;
  const quoted = head.map((line) =>
    line.replace(bareText, (_, key, blank, value) => `${key}:${blank}${inQuotes(value)}`),
  );
  const again = await parseFields(quoted.join("\n"));
  if (!again.ok) return asWritten;
  const changed = quoted.flatMap((line, index) => (line === head[index] ? [] : [index]));
  const warnings = changed.map((index): SkillProblem => {
    const key = /^[\w-]+/.exec(head[index] ?? "")?.[0] ?? "";
    return { grade: "warning", fault: "colon", key, line: index + 2 };
  });
  return ok({ fields: again.value.fields, warnings: [...again.value.warnings, ...warnings] });
}

/** `description: Use it when: …`, on one line and with nothing that says how to read it. */
const bareText = /^(name|description|license|compatibility):([ ]+)(?!["'|>[{&*!])(.*(?::\s|:$|\s#).*)$/;

function inQuotes(value: string): string {
  return JSON.stringify(value.trim());
}

async function parseFields(text: string): Promise<Result<Fields, SkillProblem>> {
  const { LineCounter, isMap, isScalar, parseDocument } = await import("yaml");
  const counter = new LineCounter();
  let document: Document.Parsed;
  try {
    document = parseDocument(text, { lineCounter: counter, prettyErrors: false, uniqueKeys: true });
  } catch (error) {
    // Hundreds of brackets within each other are more than its parser can follow.
    return problem({ fault: "yaml", why: thrownText(error) }, 2);
  }
  // The first line of the text is the second one of the file.
  const lineAt = (node: Pick<Node, "range">) => counter.linePos(node.range?.[0] ?? 0).line + 1;
  const [error] = document.errors;
  if (error !== undefined) {
    const line = counter.linePos(error.pos[0]).line + 1;
    const key = /^[\w-]+/.exec(text.split("\n")[line - 2] ?? "")?.[0] ?? "";
    if (error.code === "DUPLICATE_KEY") return problem({ fault: "twice", key }, line);
    return problem({ fault: "yaml", why: error.message.split("\n")[0] ?? "" }, line);
  }
  const { contents } = document;
  if (!isMap(contents)) return problem({ fault: "no_map" }, 2);
  const fields = new Map<string, Field>();
  for (const { key, value } of contents.items) {
    const line = isScalar(key) ? lineAt(key) : 2;
    const plain = await plainOf(value);
    if (plain === undefined) return problem({ fault: "alias" }, line);
    if (isScalar(key)) fields.set(String(key.value), { value: plain.value, line });
  }
  return ok({ fields, warnings: [] });
}

/** Undefined where something stands for something else: a few aliases of aliases would fill the memory. */
async function plainOf(node: unknown): Promise<{ readonly value: PlainValue } | undefined> {
  const { isMap, isPair, isScalar, isSeq } = await import("yaml");
  const read = (inside: unknown): PlainValue | undefined => {
    if (inside === null || inside === undefined) return null;
    if (isScalar(inside)) return scalarOf(inside.value);
    if (isSeq(inside)) return allOf(inside.items.map(read));
    if (!isMap(inside)) return undefined;
    const entries = inside.items.map((pair): [string, PlainValue | undefined] => {
      const key = isPair(pair) && isScalar(pair.key) ? String(pair.key.value) : "";
      return [key, read(pair.value)];
    });
    return entries.some(([, value]) => value === undefined) ? undefined : (Object.fromEntries(entries) as PlainMap);
  };
  const value = read(node);
  return value === undefined ? undefined : { value };
}

function allOf(values: readonly (PlainValue | undefined)[]): PlainValue | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === values.length ? known : undefined;
}

function scalarOf(value: unknown): PlainValue {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null;
}

function problem(fault: SkillFault, line: number): { readonly ok: false; readonly failure: SkillProblem } {
  return failed({ grade: "error", line, ...fault });
}
