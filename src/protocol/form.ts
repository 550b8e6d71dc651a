import { z } from "zod";
import { parsedJson } from "../base/json.ts";
import { failed, ok, type Result } from "../base/result.ts";

/** One thing that somebody else's server wants to know of a person. */
export const FormField = z.strictObject({
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  kind: z.enum(["text", "number", "integer", "boolean", "choice", "choices"]),
  /** Choice and choices: what there is, and how people call it. */
  choices: z.array(z.strictObject({ value: z.string(), title: z.string() })).optional(),
  required: z.boolean(),
  /** As it would be typed. */
  default: z.string().optional(),
});
export type FormField = z.infer<typeof FormField>;

export type FormContent = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** The field that an answer does not fit; `missing` where it says nothing about it. */
export type FormFault = { readonly field: string; readonly why: "missing" | FormField["kind"] };

/**
 * What a person answered, as the server wants it. An object of JSON; `name: value` in lines; or the value alone where
 * there is one field. What is left out has its default.
 */
export function readForm(fields: readonly FormField[], answer: string): Result<FormContent, FormFault> {
  const given = givenIn(fields, answer);
  const content: Record<string, FormContent[string]> = {};
  for (const field of fields) {
    const own = Object.hasOwn(given, field.name) ? given[field.name] : undefined;
    const said = own === undefined || own === null || own === "" ? field.default : own;
    if (said === undefined) {
      if (field.required) return failed({ field: field.name, why: "missing" });
      continue;
    }
    const value = readValue(field, said);
    if (value === undefined) return failed({ field: field.name, why: field.kind });
    content[field.name] = value;
  }
  return ok(content);
}

function givenIn(fields: readonly FormField[], answer: string): Readonly<Record<string, unknown>> {
  const text = answer.trim();
  const json = text.startsWith("{") ? parsedJson(text) : undefined;
  if (typeof json === "object" && json !== null) return { ...json };
  const names = new Set(fields.map(({ name }) => name));
  const lines = text.split("\n").map((line) => /^\s*([^:=]+?)\s*[:=]\s*(.*)$/.exec(line));
  if (text !== "" && lines.every((line) => line !== null && names.has(line[1] ?? "")))
    return Object.fromEntries(lines.map((line) => [line?.[1] ?? "", line?.[2]?.trim() ?? ""]));
  const [only, ...others] = fields;
  return only !== undefined && others.length === 0 ? { [only.name]: text } : {};
}

function readValue({ kind, choices = [] }: FormField, said: unknown): FormContent[string] | undefined {
  const text = typeof said === "object" ? "" : String(said).trim();
  const chosen = (word: string) =>
    choices.find(({ value, title }) => [value, title].some((one) => one.toLowerCase() === word.trim().toLowerCase()))
      ?.value;
  switch (kind) {
    case "text":
      return typeof said === "object" ? undefined : String(said);
    case "number":
      return text !== "" && Number.isFinite(Number(text)) ? Number(text) : undefined;
    case "integer":
      return /^[+-]?\d{1,15}$/.test(text) ? Number(text) : undefined;
    case "boolean":
      return /^(?:true|yes|y|on|1|是)$/i.test(text)
        ? true
        : /^(?:false|no|n|off|0|否)$/i.test(text)
          ? false
          : undefined;
    case "choice":
      return chosen(text);
    case "choices": {
      const words = Array.isArray(said) ? said.map(String) : text.split(/[,，]/).filter((word) => word.trim() !== "");
      const values = words.map(chosen);
      return values.every((value) => value !== undefined) ? values : undefined;
    }
  }
}
