import { pathToFileURL } from "node:url";
import { createContext, Script } from "node:vm";
import { z } from "zod";
import { whenOver } from "../base/background.ts";
import { thrownText } from "../base/fault.ts";
import { ok, type Result } from "../base/result.ts";
import { Risk } from "../protocol/approval.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { wordsFor } from "../words/words.ts";
import type { CallFacts, JudgedCall } from "./approvals.ts";
import { shortened } from "./argument-texts.ts";
import type { CheckerDefinition } from "./checker-definition.ts";
import type { Opinion } from "./layers.ts";
import { actions } from "./rules.ts";

/** A checker that was loaded; `name` is its file for people. */
export type Checker = { readonly name: string; readonly definition: CheckerDefinition };

/** Loads the operator's own files. One that cannot be used stops the start: without it, less would be asked than was meant. */
export async function loadCheckers(
  files: readonly { readonly path: string; readonly shown: string }[],
): Promise<Result<readonly Checker[], Failure<"checker_broken">>> {
  const checkers: Checker[] = [];
  for (const { path, shown } of files) {
    const broken = (why: string) => failure("checker_broken", { file: shown, why: why.split("\n", 1)[0] ?? "" });
    let loaded: { readonly default?: unknown };
    try {
      loaded = await import(pathToFileURL(path).href);
    } catch (error) {
      return broken(thrownText(error));
    }
    const { default: definition } = loaded;
    if (!isDefinition(definition))
      return failure("checker_broken", { file: shown, why: english.noDefinition(), because: "no_definition" });
    checkers.push({ name: shown, definition });
  }
  return ok(checkers);
}

const Definition = z.object({
  tool: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
  check: z.custom((value) => typeof value === "function"),
});

function isDefinition(value: unknown): value is CheckerDefinition {
  return Definition.safeParse(value).success;
}

/** What the operator's own files say of a call. */
export function askCheckers(checkers: readonly Checker[], call: JudgedCall, facts: CallFacts): Opinion[] {
  return checkers.flatMap((checker) => {
    const { tool } = checker.definition;
    const isMeant = tool === "*" || tool === call.tool || (Array.isArray(tool) && tool.includes(call.tool));
    return isMeant ? askChecker(checker, call, facts) : [];
  });
}

const checkMsMax = 1_000;
const Answer = z.strictObject({ action: z.enum(actions), risk: Risk.optional(), reason: z.string().min(1) });
const english = wordsFor("en").approvals.checker;

/** One that breaks down, does not end or answers something else has not allowed anything: a person is asked. */
function askChecker({ name, definition }: Checker, call: JudgedCall, facts: CallFacts): Opinion[] {
  const { contained, network, tainted } = facts;
  const about = { layer: "checker", source: name, what: shortened(call.tool) } as const;
  const silent = (kind: "checker_broke" | "checker_slow" | "checker_unclear", what: string): Opinion[] => [
    { ...about, kind, what: shortened(what), action: "ask", risk: "medium" },
  ];
  // A copy: a checker must not change what runs.
  const given = structuredClone(call.arguments);
  const run = () => definition.check(given, { tool: call.tool, contained, network, tainted });
  let answer: unknown;
  try {
    // The only way to stop a program that is not asynchronous from within its own process.
    answer = new Script("run()").runInContext(createContext({ run }), { timeout: checkMsMax });
  } catch (error) {
    // This one error is made in the script's own world, where `Error` is another one.
    const isHanging = Reflect.get(Object(error), "code") === "ERR_SCRIPT_EXECUTION_TIMEOUT";
    const why = String(error).split("\n", 1)[0] ?? "";
    return isHanging ? silent("checker_slow", name) : silent("checker_broke", `${name} (${why})`);
  }
  if (answer === undefined) return [];
  // An asynchronous one is too late; what it would have said is nobody's business any more.
  if (answer instanceof Promise) void whenOver(answer);
  const read = Answer.safeParse(answer);
  if (!read.success) return silent("checker_unclear", name);
  const { action, risk, reason } = read.data;
  if (action === "allow") return [{ action, layer: "checker", risk: risk ?? "low", said: reason, source: name }];
  return [{ ...about, kind: "rule", action, risk: risk ?? riskOf[action], said: reason }];
}

const riskOf = { ask: "medium", deny: "high" } as const;
