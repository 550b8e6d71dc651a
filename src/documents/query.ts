import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";

/** One reading of a query: which lines it means, and what is marked in them. */
export type Plan = {
  /** Leads from one line that may match to the next, in a whole text; without it every line is looked at. */
  readonly finder: RegExp | undefined;
  /** A line matches when all of these do, each on the line alone. */
  readonly needs: readonly RegExp[];
  readonly marks: RegExp;
  /** Whatever it finds is made of ASCII: bytes without it hold no match in any encoding that keeps ASCII as it is. */
  readonly isAscii: boolean;
  /** A pattern that somebody wrote can take for ever. */
  readonly mayHang: boolean;
};

const patternCharactersMax = 1_000;

/** The readings of a query, the closest first; the next one counts only where the one before finds nothing at all. */
export function plansFor(query: string, isRegex: boolean): Result<readonly Plan[], Failure<"pattern_invalid">> {
  const pattern = query.slice(0, patternCharactersMax);
  if (query.trim() === "") return failure("pattern_invalid", { pattern, why: "empty" });
  if (query.length > patternCharactersMax)
    return failure("pattern_invalid", { pattern, why: "too_long", max: patternCharactersMax });
  if (!isRegex) return ok(plainPlans(query));
  const plan = regexPlan(query);
  return typeof plan === "string" ? failure("pattern_invalid", { pattern, why: "syntax", said: plan }) : ok([plan]);
}

/** As it is written; then all its phrases in quotes and words, in any order. */
function plainPlans(query: string): Plan[] {
  const terms = Array.from(query.matchAll(/"([^"]+)"|\S+/g), ([term, phrase]) => phrase ?? term).filter(
    (term) => term.trim() !== "",
  );
  const literal = query.trim();
  const isSame = terms.length === 0 || (terms.length === 1 && terms[0] === literal);
  return [textPlan([literal]), ...(isSame ? [] : [textPlan(terms)])];
}

function textPlan(terms: readonly string[]): Plan {
  // The longest word is in the fewest lines.
  const sources = [...terms].sort((one, other) => other.length - one.length).map((term) => RegExp.escape(term));
  const isAscii = terms.every((term) => /^\p{ASCII}*$/u.test(term));
  // Without `u` no letter outside of ASCII counts as one of ASCII; with it, letters of all scripts fold their case.
  const flags = isAscii ? "i" : "iu";
  const [longest = "", ...others] = sources;
  return {
    finder: new RegExp(longest, `${flags}g`),
    needs: others.map((source) => new RegExp(source, flags)),
    marks: new RegExp(sources.join("|"), `${flags}g`),
    isAscii,
    mayHang: false,
  };
}

/** A plan, or what is wrong with the pattern. */
function regexPlan(source: string): Plan | string {
  const flags = isPattern(source, "iu") === true ? "iu" : "i";
  const fault = isPattern(source, flags);
  if (fault !== true) return fault;
  return {
    finder: seesBeyondTheLine.test(source) ? undefined : new RegExp(source, `${flags}gm`),
    needs: [new RegExp(source, flags)],
    marks: new RegExp(source, `${flags}g`),
    isAscii: false,
    mayHang: true,
  };
}

/**
 * In a whole text, what must not follow may stand in the next line, and "anything but" may run through all lines: such
 * patterns are tried line by line. For all others a line that matches alone is also found in the whole.
 */
const seesBeyondTheLine = /\(\?(?:!|<!|[a-z-])|\[\^|\\[WDSPn]/;

function isPattern(source: string, flags: string): true | string {
  try {
    new RegExp(source, flags);
    return true;
  } catch (error) {
    return error instanceof SyntaxError ? (error.message.split(": ").at(-1) ?? error.message) : String(error);
  }
}
