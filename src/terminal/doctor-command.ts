import { createInterface } from "node:readline/promises";
import type { Writable } from "node:stream";
import type { Words } from "../words/words.ts";
import type { InputStream, OutputStream } from "./console.ts";
import { type Check, type DoctorFacts, diagnose, isFit } from "./doctor-report.ts";
import { exitCodes } from "./exit-codes.ts";
import { jsonLine } from "./format.ts";
import { asTyped } from "./own-command.ts";
import { safeLine } from "./safe-text.ts";

export type DoctorParts = {
  readonly input: InputStream;
  readonly output: OutputStream;
  readonly errors: Writable;
  readonly words: Words;
  readonly version: string;
  /** Finds out the facts; again after something was changed. */
  look(): Promise<DoctorFacts>;
  /** Runs a shell command in this terminal; answers its exit code. */
  run(command: string): Promise<number>;
};

/** Says what this machine can do. `fix` runs the commands that mend it, each after a yes. Answers the exit code. */
export async function doctor(
  { json, fix }: { readonly json: boolean; readonly fix: boolean },
  parts: DoctorParts,
): Promise<number> {
  const { words, output, version, look } = parts;
  const checks = diagnose(await look(), words);
  const code = isFit(checks) ? exitCodes.done : exitCodes.failed;
  if (json) {
    output.write(jsonLine({ version, ok: isFit(checks), checks }));
    return code;
  }
  output.write(`${asTyped(words, [words.doctor.title({ version }), ...report(checks, words)].join("\n"))}\n`);
  const commands = commandsOf(checks);
  if (fix) return commands.length > 0 ? mend(checks, parts) : sayNothingToMend(code, parts);
  if (commands.length > 0) output.write(`${asTyped(words, words.doctor.fixHint())}\n`);
  return code;
}

/** The same in lines, where somebody asks in a chat. */
export function doctorLines(facts: DoctorFacts, words: Words): readonly string[] {
  return asTyped(words, report(diagnose(facts, words), words).join("\n")).split("\n");
}

const marks = { ok: "✓", degraded: "!", missing: "✗" } as const;
const cellsMax = 1_000;

function report(checks: readonly Check[], { doctor: texts }: Words): string[] {
  const count = (status: Check["status"]) => checks.filter((check) => check.status === status).length;
  const [missing, degraded] = [count("missing"), count("degraded")];
  const rest = degraded > 0 ? texts.fit({ count: degraded }) : texts.fine();
  return [
    ...checks.flatMap(({ status, text, advice, command }, index) => [
      `${marks[status]} ${safeLine(text, cellsMax)}`,
      // Advice for several lines in a row stands below the last of them.
      ...(advice === null || advice === checks[index + 1]?.advice ? [] : [`  → ${safeLine(advice, cellsMax)}`]),
      ...(command === null ? [] : [`  $ ${safeLine(command, cellsMax)}`]),
    ]),
    "",
    missing > 0 ? texts.unfit({ count: missing }) : rest,
  ];
}

function commandsOf(checks: readonly Check[]): readonly string[] {
  return [...new Set(checks.flatMap(({ command }) => (command === null ? [] : [command])))];
}

function sayNothingToMend(code: number, { output, words }: DoctorParts): number {
  output.write(`${words.doctor.fixNothing()}\n`);
  return code;
}

/** Asks about each command once. What was run may bring to light what else is missing, so it is looked again. */
async function mend(first: readonly Check[], parts: DoctorParts): Promise<number> {
  const { input, output, errors, words } = parts;
  if (input.isTTY !== true || output.isTTY !== true) {
    errors.write(`${[words.doctor.fixNobody(), ...commandsOf(first).map((command) => `  ${command}`)].join("\n")}\n`);
    return exitCodes.approval_needed;
  }
  const asked = new Set<string>();
  let checks = first;
  for (;;) {
    const fresh = commandsOf(checks).filter((command) => !asked.has(command));
    let isChanged = false;
    for (const command of fresh) {
      asked.add(command);
      if (await offer(command, parts)) isChanged = true;
    }
    if (!isChanged) return isFit(checks) ? exitCodes.done : exitCodes.failed;
    checks = diagnose(await parts.look(), words);
    output.write(`\n${[words.doctor.lookAgain(), ...report(checks, words)].join("\n")}\n`);
  }
}

/** True when it was run, however it ended. */
async function offer(command: string, { input, output, words, run }: DoctorParts): Promise<boolean> {
  output.write(`\n  $ ${safeLine(command, cellsMax)}\n`);
  // A new one each time: in between the terminal belongs to the command.
  const asking = createInterface({ input, output, terminal: false });
  const gone = new AbortController();
  asking.once("close", () => gone.abort());
  const question = words.doctor.ask();
  const answer = await asking.question(question, { signal: gone.signal }).catch(() => "");
  asking.close();
  if (!/^\s*y(es)?\s*$/i.test(answer)) {
    output.write(`${words.doctor.skipped()}\n`);
    return false;
  }
  const code = await run(command);
  output.write(`${code === 0 ? words.doctor.ran() : words.doctor.ranBadly({ code })}\n`);
  return true;
}
