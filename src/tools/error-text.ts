import type { Failure } from "../protocol/failure.ts";
import { failureWords, forModels, wordsFor } from "../words/words.ts";

/** A failure as a model reads it: the code first, then what happened, then what to do next. */
export function errorForModel(reason: Failure): string {
  const [what, nextForPeople] = failureWords(wordsFor("en"), reason);
  return `Error: ${reason.code}: ${what} ${nextStep(reason) ?? nextForPeople}`;
}

function nextStep({ code, params }: Failure): string | undefined {
  const steps: Readonly<Record<string, string>> = forModels.nextSteps;
  const given: Readonly<Record<string, string | number>> = params;
  return steps[code]?.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(given[name]));
}
