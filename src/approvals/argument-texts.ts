import type { JudgedCall } from "./approvals.ts";

/** Contents of files. A note about passwords is no password, so patterns read them only where they name the argument. */
const contents: Readonly<Record<string, readonly string[]>> = {
  write_file: ["content"],
  edit_file: ["old_string", "new_string"],
};

/** The texts of one argument, or of all but the contents of files; also those inside lists and objects. */
export function argumentTexts(call: Pick<JudgedCall, "tool" | "arguments">, argument?: string): readonly string[] {
  const left = contents[call.tool] ?? [];
  return Object.entries(call.arguments)
    .filter(([name]) => (argument === undefined ? !left.includes(name) : name === argument))
    .flatMap(([, value]) => textsOf(value));
}

function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number" || typeof value === "boolean") return [String(value)];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}

/** One argument, where it is a text. */
export function textOf({ arguments: given }: Pick<JudgedCall, "arguments">, name: string): string {
  const { [name]: text } = given;
  return typeof text === "string" ? text : "";
}

const whatCharactersMax = 300;

/** As it stands in a finding. */
export function shortened(text: string): string {
  return text.length > whatCharactersMax ? `${text.slice(0, whatCharactersMax - 1).toWellFormed()}…` : text;
}
