import { inspect } from "node:util";
import { isSecretName, redacted, redactForLog } from "./redact.ts";

export type Line = {
  readonly at: number;
  readonly level: string;
  readonly message: string;
  readonly run: string;
  readonly fields: Readonly<Record<string, unknown>>;
};

const textCharactersMax = 8_000;

/** One line of a log file: JSON, first when, how grave and what, then the fields; no secret in any of them. */
export function formatLine({ at, level, message, run, fields }: Line, secrets: readonly string[]): string {
  const shown = new Map(Object.entries(fields).map(([name, value]) => [name, showField(name, value, secrets)]));
  // `Session {id} saved` with the field `id: "4f1c"` → `Session 4f1c saved`.
  const text = message.replace(/\{(\w+)\}/g, (whole, name: string) => String(shown.get(name) ?? whole));
  const head = { at: new Date(at).toISOString(), level, message: showText(text, secrets), run };
  return `${JSON.stringify({ ...head, ...Object.fromEntries(shown) })}\n`;
}

function showField(name: string, value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === "string") return isSecretName(name) ? redacted : showText(value, secrets);
  // An error with its stack and cause. Inspecting ends where JSON would not: at circles and deep trees.
  if (typeof value === "object" && value !== null) return showText(inspect(value, { depth: 3 }), secrets);
  return typeof value === "bigint" ? String(value) : value;
}

function showText(text: string, secrets: readonly string[]): string {
  // Cut to size only after redacting: half a secret at the end would no longer be recognised.
  const shown = redactForLog(text.slice(0, 2 * textCharactersMax), secrets);
  return shown.length > textCharactersMax ? `${shown.slice(0, textCharactersMax)}…` : shown;
}
