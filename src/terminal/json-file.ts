import { readFile } from "node:fs/promises";
import type { z } from "zod";
import { systemCodeOrThrow, thrownText } from "../base/fault.ts";
import { failed, ok, type Result } from "../base/result.ts";
import { issueWords, type Words } from "../words/words.ts";

/** A JSON file that the command line names; what is wrong with it is said in the user's language. */
export async function readJsonFile<Parsed>(
  path: string,
  schema: z.ZodType<Parsed>,
  { faults }: Words,
): Promise<Result<Parsed, string>> {
  const text = await readFile(path, "utf8").then(ok, (error: unknown) => failed(systemCodeOrThrow(error)));
  if (!text.ok) return failed(text.failure === "ENOENT" ? faults.noFile() : faults.unreadable({ said: text.failure }));
  let json: unknown;
  try {
    json = JSON.parse(text.value);
  } catch (error) {
    return failed(faults.noJson({ said: thrownText(error) }));
  }
  const parsed = schema.safeParse(json, { error: (issue) => issueWords(issue, faults) });
  if (parsed.success) return ok(parsed.data);
  const said = parsed.error.issues.map(({ path: at, message }) => [...(at.length > 0 ? [at.join(".")] : []), message]);
  return failed(said.map((parts) => parts.join(": ")).join("; "));
}
