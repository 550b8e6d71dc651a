import type { ToolCall } from "../../protocol/message.ts";
import { readArguments } from "./arguments.ts";
import { isObject, type JsonObject, numberOf } from "./json.ts";

export interface CallAssembler {
  /** One entry of a `tool_calls` list, whole or a piece of it. */
  add(fragment: unknown): void;
  /** The old `function_call` form: one call, without id. */
  addLegacy(functionCall: unknown): void;
  /** More calls than one answer may have; what comes then is not kept. */
  isTooMany(): boolean;
  /** All names and arguments so far, for an estimate of their tokens. */
  written(): string;
  /** The calls in order of first appearance, under the tools' own names. */
  finish(names: (returned: string) => string, makeId: () => string): ToolCall[];
}

/** What one answer may ask for. Each call is stored and sent back, so that thousands would hold everybody up. */
export const callsMax = 256;

type Draft = { id: string; name: string; arguments: string; extra: Record<string, unknown> };

type Fragment = { index: number | undefined; id: string; name: string; arguments: string; extra: JsonObject };

/** Puts calls together from fragments. The index is only a hint: servers leave it out, repeat it or drift. */
export function createCallAssembler(): CallAssembler {
  const drafts: Draft[] = [];
  const latestAt = new Map<number, Draft>();

  function take(fragment: Fragment): void {
    const draft = place(fragment);
    if (fragment.index !== undefined) latestAt.set(fragment.index, draft);
    if (draft.id === "") draft.id = fragment.id;
    // Names come again or in pieces, but never in pieces once the arguments have begun.
    if (draft.name === "") draft.name = fragment.name;
    else if (draft.arguments === "" && draft.name !== fragment.name) draft.name += fragment.name;
    draft.arguments += fragment.arguments;
    Object.assign(draft.extra, fragment.extra);
  }

  function place(fragment: Fragment): Draft {
    const slot = fragment.index === undefined ? undefined : latestAt.get(fragment.index);
    const candidate = slot ?? withoutSlot(fragment);
    if (candidate !== undefined && !opensNewCall(candidate, fragment)) return candidate;
    const draft: Draft = { id: "", name: "", arguments: "", extra: {} };
    drafts.push(draft);
    return draft;
  }

  /** Where a fragment without index, or with one never seen, may go on. */
  function withoutSlot(fragment: Fragment): Draft | undefined {
    const sameId = fragment.id === "" ? undefined : drafts.findLast((draft) => draft.id === fragment.id);
    if (fragment.index === undefined) return sameId ?? drafts.at(-1);
    if (fragment.name === "") return sameId ?? (fragment.id === "" ? drafts.at(-1) : undefined);
    return sameId !== undefined && !isComplete(sameId.arguments) ? sameId : undefined;
  }

  const isTooMany = () => drafts.length > callsMax;

  return {
    add(fragment) {
      if (isObject(fragment) && !isTooMany()) take(readFragment(fragment));
    },
    addLegacy(functionCall) {
      if (isObject(functionCall) && !isTooMany()) take(readFragment({ function: functionCall }));
    },
    isTooMany,
    written: () => drafts.map((draft) => draft.name + draft.arguments).join(""),
    finish(names, makeId) {
      const used = new Set<string>();
      return drafts
        .filter((draft) => draft.name !== "" || draft.arguments.trim() !== "")
        .map((draft) => {
          const id = draft.id === "" || used.has(draft.id) ? makeId() : draft.id;
          used.add(id);
          return toCall(draft, id, names(draft.name));
        });
    },
  };
}

/** A named fragment that cannot be the continuation of this call. */
function opensNewCall(draft: Draft, fragment: Fragment): boolean {
  if (fragment.name === "" || draft.name === "") return false;
  if (fragment.id === draft.id && fragment.id !== "") return false;
  if (fragment.id !== "" && draft.id !== "") {
    return draft.arguments.trim() === "" || draft.name !== fragment.name || isComplete(draft.arguments);
  }
  if (!isComplete(draft.arguments)) return false;
  if (draft.name !== fragment.name) return true;
  // The same tool without ids: another call, unless the server only says the same once more.
  return isComplete(fragment.arguments) && readArguments(draft.arguments + fragment.arguments) === undefined;
}

function isComplete(text: string): boolean {
  return text.trim() !== "" && readArguments(text) !== undefined;
}

function readFragment(fragment: JsonObject): Fragment {
  const { index, id, type, function: named, ...rest } = fragment;
  const call = isObject(named) ? named : {};
  return {
    index: numberOf(index),
    id: typeof id === "string" ? id : "",
    name: typeof call.name === "string" ? call.name : "",
    arguments: argumentText(call.arguments),
    extra: Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null)),
  };
}

function argumentText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "";
  // An empty object in a first fragment is a placeholder; nothing at all means the same.
  if (isObject(value) && Object.keys(value).length === 0) return "";
  return JSON.stringify(value);
}

function toCall(draft: Draft, id: string, name: string): ToolCall {
  const usable = draft.name === "" ? undefined : readArguments(draft.arguments);
  const extra = Object.keys(draft.extra).length === 0 ? {} : { extra: draft.extra };
  if (usable === undefined) return { id, name, arguments: draft.arguments, invalid: true, ...extra };
  return { id, name, arguments: usable, ...extra };
}
