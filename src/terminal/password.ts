import type { Writable } from "node:stream";
import { ok } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import type { Words } from "../words/words.ts";
import type { UsageResult } from "./command-line.ts";
import type { InputStream } from "./console.ts";
import { readAll } from "./lines.ts";

type Asking = { readonly input: InputStream; readonly errors: Writable; readonly words: Words };

/** A password as it was piped in or typed twice, without being shown; empty where none is wanted and none was given. */
export async function askPassword(
  parts: Asking,
  { isPasswordPiped, isNeeded }: { readonly isPasswordPiped: boolean; readonly isNeeded: boolean },
): Promise<UsageResult<string>> {
  const { users: texts } = parts.words.terminal;
  const isTyped = !isPasswordPiped && parts.input.isTTY === true;
  const given = isPasswordPiped ? await readPiped(parts.input) : "";
  if (!isTyped) return given === "" && (isNeeded || isPasswordPiped) ? usage(texts.passwordMissing()) : ok(given);
  const typed = await readHidden(parts, isNeeded ? texts.passwordPrompt() : texts.passwordPromptNone());
  if (typed === undefined || (typed === "" && isNeeded)) return usage(texts.passwordMissing());
  if (typed === "") return ok("");
  const again = await readHidden(parts, texts.passwordAgain());
  return again === typed ? ok(typed) : usage(texts.passwordsDiffer());
}

/** The line's end belongs to `echo`, not to the password. */
async function readPiped(input: InputStream): Promise<string> {
  return (await readAll(input)).replace(/\r?\n$/, "");
}

/** What is typed up to Enter, shown nowhere. Undefined: Ctrl+C or Ctrl+D. */
async function readHidden({ input, errors }: Asking, prompt: string): Promise<string | undefined> {
  errors.write(prompt);
  input.setRawMode?.(true);
  try {
    let typed: string[] = [];
    for (;;) {
      const pieces = await nextPiece(input);
      if (pieces === undefined) return undefined;
      for (const key of pieces) {
        if (key === "\r" || key === "\n") return typed.join("");
        if (key === "\u0003" || key === "\u0004") return undefined;
        if (key === "\u007f" || key === "\b") typed = typed.slice(0, -1);
        else if (key >= " ") typed.push(key);
      }
    }
  } finally {
    input.setRawMode?.(false);
    input.pause();
    errors.write("\n");
  }
}

function nextPiece(input: InputStream): Promise<string | undefined> {
  return new Promise((resolve) => {
    const settle = (piece: string | undefined) => {
      input.off("data", onData);
      input.off("end", onEnd);
      resolve(piece);
    };
    const onData = (bytes: Buffer | string) => settle(bytes.toString());
    const onEnd = () => settle(undefined);
    input.once("data", onData);
    input.once("end", onEnd);
    input.resume();
  });
}

function usage(what: string) {
  return failure("usage", { what, command: "user" });
}
