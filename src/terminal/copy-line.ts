import { ok } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import type { TerminalWords } from "../words/words.ts";
import type { Typed, UsageResult } from "./command-line.ts";

/** `agentyard backup` and `agentyard restore`. */
export type CopyCommand = { readonly file: string; readonly json: boolean } & (
  | { readonly name: "backup"; readonly includesKey: boolean }
  | { readonly name: "restore"; readonly replaces: boolean }
);

export function readCopy(
  name: CopyCommand["name"],
  [file, ...more]: readonly string[],
  typed: Typed,
  { usage: says }: TerminalWords,
): UsageResult<CopyCommand> {
  const usage = (what: string) => failure("usage", { what, command: name });
  if (file === undefined) return usage(says.argumentMissing({ command: name, name: "FILE" }));
  if (file.trim() === "") return usage(says.pathEmpty({ name }));
  if (more[0] !== undefined) return usage(says.argumentUnwanted({ command: name, value: more[0] }));
  const json = typed.has("json");
  if (name === "backup") return ok({ name, file, json, includesKey: typed.has("include-key") });
  return ok({ name, file, json, replaces: typed.has("replace") });
}
