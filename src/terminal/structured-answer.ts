import { z } from "zod";
import { thrownText } from "../base/fault.ts";
import { parsedJson } from "../base/json.ts";
import { failed, ok, type Result } from "../base/result.ts";
import { callersForModels, issueWords, type Words } from "../words/words.ts";
import { readJsonFile } from "./json-file.ts";
import { safeLine } from "./safe-text.ts";

/** What an answer must be. */
export type AnswerShape = {
  /** Put behind the message. */
  readonly instruction: string;
  /** The value that the answer is, or what is wrong with it. */
  check(answer: string): Result<{ readonly value: unknown }, string>;
};

const AnySchema = z.record(z.string(), z.unknown());
const issuesMax = 5;

/** Of a file with a JSON Schema; what is wrong with it is said in the user's language. */
export async function readAnswerShape(path: string, words: Words): Promise<Result<AnswerShape, string>> {
  const read = await readJsonFile(path, AnySchema, words);
  if (!read.ok) return read;
  const schema = compiled(read.value);
  if (!schema.ok) return schema;
  const instruction = callersForModels.fitsSchema(JSON.stringify(read.value));
  return ok({ instruction, check: (answer) => checkAnswer(answer, schema.value, words) });
}

function compiled(json: Record<string, unknown>): Result<z.ZodType, string> {
  try {
    return ok(z.fromJSONSchema(json));
  } catch (error) {
    return failed(safeLine(thrownText(error), 200));
  }
}

/** Models like to put a fence around it, or a word before it. */
function checkAnswer(
  answer: string,
  schema: z.ZodType,
  { faults }: Words,
): Result<{ readonly value: unknown }, string> {
  const fenced = /```(?:json)?\s*\n([\s\S]*?)\n\s*```/.exec(answer)?.[1];
  const json = parsedJson(answer.trim()) ?? (fenced === undefined ? undefined : parsedJson(fenced));
  if (json === undefined) return failed(faults.noJson({ said: safeLine(answer, 60) }));
  const parsed = schema.safeParse(json, { error: (issue) => issueWords(issue, faults) });
  if (parsed.success) return ok({ value: parsed.data });
  const issues = parsed.error.issues.slice(0, issuesMax);
  return failed(
    issues.map(({ path, message }) => [...(path.length > 0 ? [path.join(".")] : []), message].join(": ")).join("; "),
  );
}
