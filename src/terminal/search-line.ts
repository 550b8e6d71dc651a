import { ok } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import type { TerminalWords } from "../words/words.ts";
import type { Typed, UsageResult } from "./command-line.ts";

/** `agentyard search`: one query, or a file with a query in each line. */
export type SearchCommand = {
  readonly name: "search";
  readonly asked: { readonly query: string } | { readonly file: string };
  readonly paths: readonly string[];
  readonly limit: number;
  readonly json: boolean;
};

const limitDefault = 10;
const limitMax = 100;

export function readSearch(
  rest: readonly string[],
  typed: Typed,
  { usage: says }: TerminalWords,
): UsageResult<SearchCommand> {
  const name = "search";
  const usage = (what: string) => failure("usage", { what, command: name });
  const file = typed.value("queries");
  const [query, ...paths] = file === undefined ? rest : ["", ...rest];
  if (file?.trim() === "") return usage(says.pathEmpty({ name: "--queries" }));
  if (query === undefined || (file === undefined && query.trim() === ""))
    return usage(says.argumentMissing({ command: name, name: "QUERY" }));
  if (paths.length === 0) return usage(says.argumentMissing({ command: name, name: "PATH" }));
  if (paths.some((path) => path.trim() === "")) return usage(says.pathEmpty({ name: "PATH" }));
  const limit = typed.value("limit") ?? String(limitDefault);
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > limitMax)
    return usage(says.valueUnfit({ name: "--limit", value: limit, known: `1–${limitMax}` }));
  const asked = file === undefined ? { query } : { file };
  return ok({ name, asked, paths, limit: Number(limit), json: typed.has("json") });
}
