import type { FormField } from "../protocol/form.ts";
import type { Words } from "../words/words.ts";
import { safeLine } from "./safe-text.ts";

/** What a person types for one field; anything else ends the questions. */
export type Typed<Other> = { readonly text: string } | { readonly other: Other };

/** A form as questions, one after another. The answer is an object of JSON; what is left empty is left to its default. */
export async function askFields<Other>(
  fields: readonly FormField[],
  words: Words,
  read: (prompt: string) => Promise<Typed<Other>>,
): Promise<{ readonly answer: string } | { readonly other: Other }> {
  const given: Record<string, string> = {};
  for (const field of fields) {
    const typed = await read(promptOf(field, words));
    if ("other" in typed) return typed;
    if (typed.text.trim() !== "") given[field.name] = typed.text.trim();
  }
  return { answer: JSON.stringify(given) };
}

const nameMax = 60;

function promptOf({ name, title, kind, required, choices, default: usual }: FormField, words: Words): string {
  const { field } = words.mcp;
  const listed = choices?.map(({ value, title: called }) => (called === value ? value : `${value} = ${called}`));
  return field({
    name: safeLine(title === undefined ? name : `${title} (${name})`, nameMax),
    wanted: words.mcp.kind[kind],
    required,
    choices: listed === undefined ? undefined : safeLine(listed.join(", "), 4 * nameMax),
    usual: usual === undefined ? undefined : safeLine(usual, nameMax),
  });
}
