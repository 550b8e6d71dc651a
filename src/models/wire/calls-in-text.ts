import { parsedJson } from "../../base/json.ts";
import { isObject } from "./json.ts";

export interface CallsInText {
  push(piece: string): void;
  /**
   * The calls that stood in the text, taken out of it. Without any, what was held back comes out as text after all.
   */
  end(): readonly WrittenCall[];
}

export type WrittenCall = { readonly name: string; readonly arguments: unknown };

const openTag = "<tool_call>";

/**
 * For models whose server does not turn written calls into real ones: `<tool_call>{…}</tool_call>` anywhere, or an
 * answer that is nothing but JSON, bare or fenced. Only declared tools count; any other JSON is an answer.
 */
export function createCallsInText(isDeclared: (name: string) => boolean, emit: (text: string) => void): CallsInText {
  let held = "";
  let place: "head" | "text" | "held" = "head";

  function push(piece: string): void {
    held += piece;
    if (place === "head") {
      const head = held.trimStart();
      if (head === "" || "```".startsWith(head)) return;
      place = /^(?:[{[]|```)/.test(head) ? "held" : "text";
    }
    if (place === "text") readText();
  }

  function readText(): void {
    const tag = held.indexOf(openTag);
    const sure = tag === -1 ? held.length - halfTagLength(held) : tag;
    if (tag !== -1) place = "held";
    if (sure > 0) emit(held.slice(0, sure));
    held = held.slice(sure);
  }

  function end(): readonly WrittenCall[] {
    const calls = (held.includes(openTag) ? taggedCalls(held) : jsonCalls(held)).filter(({ name }) => isDeclared(name));
    if (calls.length === 0 && held !== "") emit(held);
    held = "";
    return calls;
  }

  return { push, end };
}

function halfTagLength(text: string): number {
  for (let length = Math.min(openTag.length - 1, text.length); length > 0; length -= 1) {
    if (openTag.startsWith(text.slice(text.length - length))) return length;
  }
  return 0;
}

function taggedCalls(text: string): WrittenCall[] {
  return [...text.matchAll(/<tool_call>(.*?)(?:<\/tool_call>|$)/gs)].flatMap(([, inner = ""]) => jsonCalls(inner));
}

function jsonCalls(text: string): WrittenCall[] {
  const fenced = /^\s*```\w*\s*(.*?)\s*```\s*$/s.exec(text)?.[1];
  return [parsedJson((fenced ?? text).trim())].flat().flatMap(readCall);
}

function readCall(value: unknown): WrittenCall[] {
  if (!isObject(value)) return [];
  const call = isObject(value.function) ? value.function : value;
  if (typeof call.name !== "string") return [];
  return [{ name: call.name, arguments: call.arguments ?? call.parameters ?? null }];
}
