import { parseEnv } from "node:util";
import { type ConfigFile, readText } from "./files.ts";
import type { Problem } from "./problems.ts";
import type { Environment, SourceLine } from "./sources.ts";

export type EnvFile = { readonly variables: Environment; placeOf(name: string): SourceLine };

/** Reads `.env`. Names that we do not know are none of our business: other programs read this file too. */
export async function readEnvFile(file: ConfigFile, known: ReadonlySet<string>, problems: Problem[]): Promise<EnvFile> {
  const text = (await readText(file, problems)) ?? "";
  const lines = new Map<string, number>();
  for (const [index, line] of text.split("\n").entries()) {
    const [, name = "", sign] = /^\s*(?:export\s+)?(\w+)\s*([=:])/.exec(line) ?? [];
    // Of several lines with one name the last counts, for the parser as well.
    if (sign === "=") lines.set(name, index + 1);
    // The parser passes over such a line in silence, and a key that was written would seem to be missing.
    if (sign === ":" && known.has(name)) problems.push({ fault: "colon", name, place: placeIn(file, index + 1) });
  }
  return { variables: parseEnv(text), placeOf: (name) => placeIn(file, lines.get(name) ?? 1) };
}

function placeIn(file: ConfigFile, line: number): SourceLine {
  return { file: file.shown, line };
}
