import type { Failure } from "../protocol/failure.ts";
import { failureWords, forModels, wordsFor } from "../words/words.ts";
import { unpacked } from "./arguments.ts";
import { shortened } from "./output.ts";

/** A failure as a model reads it: the code first, then what happened, then what to do next. */
export function errorForModel(failure: Failure): string {
  const reason = { code: failure.code, params: inOneLine(failure.params) };
  const [what, nextForPeople] = failureWords(wordsFor("en"), reason);
  return `Error: ${reason.code}: ${what} ${nextStep(reason) ?? nextForPeople}`;
}

type Params = Readonly<Record<string, string | number>>;

const foreign: readonly string[] = ["path", "near", "pattern"];
const foreignBytesMax = 160;

/** What others wrote, fit to stand inside a sentence of ours. */
function inOneLine(params: Params): Params {
  const entries = Object.entries(params).map(([name, value]) => {
    const isForeign = typeof value === "string" && foreign.includes(name);
    return [name, isForeign ? shortened(value.replaceAll(/\s+/g, " "), foreignBytesMax) : value];
  });
  return Object.fromEntries(entries);
}

function nextStep({ code, params: given }: { code: string; params: Params }): string | undefined {
  const steps: Readonly<Record<string, string>> = forModels.nextSteps;
  const inside = code === "path_traversal_blocked" ? pathInside(given.path) : undefined;
  if (inside !== undefined) return forModels.files.relative(inside);
  const chosen = steps[`${code}.${given.why}`] ?? steps[code];
  const step = chosen?.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(given[name]));
  const { near = "" } = given;
  return step === undefined || near === "" ? step : `${forModels.didYouMean(String(near))} ${step}`;
}

/** A file by its full path, as programs see it: how file tools take it. What is cut, or leads out, is no path. */
function pathInside(shown: string | number | undefined): string | undefined {
  const [, inside] = fullPath.exec(String(unpacked(shown))) ?? [];
  return inside === undefined || /\.\.|…/.test(inside) ? undefined : inside;
}

/** With the conversation's id or without. */
const fullPath = /^\/workspace\/(?:[^/]+\/)??((?:uploads|outputs|temp|skills)(?:\/.*)?)$/;
