import { redact } from "../observe/observe.ts";
import { type Failure, makeFailure } from "../protocol/failure.ts";
import { type ConfigWords, type Language, type PatternFault, wordsFor } from "../words/words.ts";
import type { Setting } from "./settings.ts";
import type { SourceLine } from "./sources.ts";

/** What is wrong with a configuration. Told in words only at the end, when the language is known. */
export type Problem =
  | {
      readonly fault: "value";
      readonly name: string;
      readonly value: unknown;
      readonly setting: Setting<unknown>;
      readonly place?: SourceLine;
    }
  | ({ readonly place: SourceLine } & FileFault);

type FileFault =
  | { readonly fault: "unknown_key"; readonly name: string; readonly near: string }
  | { readonly fault: "no_group"; readonly name: string; readonly example: string }
  | { readonly fault: "syntax" | "unreadable" | "unlisted"; readonly why: string }
  | { readonly fault: "not_utf8" }
  | { readonly fault: "colon"; readonly name: string }
  | { readonly fault: "key_would_leave"; readonly urlName: string; readonly keyName: string }
  | { readonly fault: "service_elsewhere" | "pattern_missing"; readonly name: string }
  | { readonly fault: "no_list"; readonly name: string; readonly example: string }
  | { readonly fault: "pattern"; readonly pattern: string; readonly why: PatternFault }
  | { readonly fault: "variable_missing"; readonly name: string; readonly variable: string }
  | { readonly fault: "brings_server"; readonly name: string; readonly userFile: string }
  | { readonly fault: "server_way"; readonly name: string }
  | { readonly fault: "unknown_tool"; readonly name: string; readonly near: string }
  | { readonly fault: "unknown_argument"; readonly tool: string; readonly name: string; readonly near: string }
  | {
      readonly fault:
        | "loosens"
        | "opens_data"
        | "opens_server"
        | "opens_web"
        | "opens_budget"
        | "opens_sandbox"
        | "changes_agent"
        | "switches_on";
      readonly name: string;
      readonly userFile: string;
    };

export type ConfigFailure = Failure<"config_invalid" | "setting_invalid">;

/** First what stands in no file, then by file and line. */
export function toFailures(problems: readonly Problem[], language: Language): ConfigFailure[] {
  const order = ({ place }: Problem) => (place ? `${place.file}:${String(place.line).padStart(9, "0")}` : "");
  return problems
    .toSorted((a, b) => (order(a) < order(b) ? -1 : Number(order(a) > order(b))))
    .map((problem) => toFailure(problem, language));
}

function toFailure(problem: Problem, language: Language): ConfigFailure {
  const words = wordsFor(language).config;
  if (problem.fault !== "value") return inFile(problem.place, tellFault(problem, words));
  const { name, setting, place } = problem;
  const value = setting.isSecret ? "••••" : show(problem.value);
  const instead = words.expected(setting.kind.expected);
  if (place === undefined) return makeFailure("setting_invalid", { name, value, instead });
  return inFile(place, words.value(name, value, instead));
}

function tellFault(problem: FileFault, words: ConfigWords): readonly [what: string, instead: string] {
  switch (problem.fault) {
    case "unknown_key":
      return words.unknownKey(show(problem.name), problem.near);
    case "no_group":
      return words.noGroup(problem.name, problem.example);
    case "syntax":
      return words.syntax(problem.why);
    case "unreadable":
      return words.unreadable(problem.why);
    case "unlisted":
      return words.unlisted(problem.why);
    case "not_utf8":
      return words.notUtf8();
    case "colon":
      return words.colon(problem.name);
    case "key_would_leave":
      return words.keyWouldLeave(problem.urlName, problem.keyName);
    case "service_elsewhere":
      return words.serviceElsewhere(problem.name);
    case "no_list":
      return words.noList(problem.name, problem.example);
    case "pattern":
      return words.pattern(show(problem.pattern), problem.why);
    case "pattern_missing":
      return words.patternMissing(problem.name);
    case "unknown_tool":
      return words.unknownTool(show(problem.name), problem.near);
    case "unknown_argument":
      return words.unknownArgument(problem.tool, show(problem.name), problem.near);
    case "loosens":
      return words.loosens(problem.name, problem.userFile);
    case "opens_data":
      return words.opensData(problem.name, problem.userFile);
    case "opens_server":
      return words.opensServer(problem.name, problem.userFile);
    case "switches_on":
      return words.switchesOn(problem.name, problem.userFile);
    case "opens_web":
      return words.opensWeb(problem.name, problem.userFile);
    case "opens_sandbox":
      return words.opensSandbox(problem.name, problem.userFile);
    case "opens_budget":
      return words.opensBudget(problem.name, problem.userFile);
    case "variable_missing":
      return words.variableMissing(problem.name, problem.variable);
    case "brings_server":
      return words.bringsServer(problem.name, problem.userFile);
    case "server_way":
      return words.serverWay(problem.name);
    case "changes_agent":
      return words.changesAgent(problem.name, problem.userFile);
  }
}

function inFile({ file, line }: SourceLine, [what, instead]: readonly [string, string]): ConfigFailure {
  return makeFailure("config_invalid", { file, line, what, instead });
}

/** On one line, short, and without the password of a proxy or server. */
function show(value: unknown): string {
  const shown = redact(String(value), []).replaceAll(/\s+/g, " ").trim();
  return shown.length > 60 ? `${shown.slice(0, 60)}…` : shown;
}
