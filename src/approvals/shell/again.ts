import type { Function as FunctionNode } from "unbash";
import { any, name, type Run, spend } from "./scene.ts";

/** So often is a function read with other words while it is being read; then once with words that can be any. */
const readsMax = 8;
/** With the same words a second time: as in a loop, the first may have left other variables and files. */
const sameMax = 2;
/** More or longer words can be any: they may double each time. */
const wordsMax = 32;
const charactersMax = 1_024;
const charactersPerStep = 16;

/**
 * The words with which a function that calls itself is to be read once more: `parameters` is `undefined` where they can be
 * any. `undefined` when that would tell nothing new.
 */
export function readAgain(
  node: FunctionNode,
  words: readonly string[],
  { scene, state }: Run,
): { readonly parameters: readonly string[] | undefined } | undefined {
  const before = scene.again.get(node) ?? [];
  if (before.length > readsMax) return undefined;
  const length = words.reduce((sum, word) => sum + word.length + 1, 0);
  const isMuch = before.length === readsMax || words.length > wordsMax || length > charactersMax;
  const parameters = isMuch ? undefined : words.map(gathered);
  const key = JSON.stringify([state.folders, parameters]);
  spend(scene, (length + key.length) / charactersPerStep);
  if (before.filter((one) => one === key).length >= sameMax) return undefined;
  scene.again.set(node, [...before, key]);
  return { parameters };
}

/** A function that goes down through folders gets ever longer patterns, all of which lie below the first. */
function gathered(word: string): string {
  const pieces = word.split("/");
  const first = pieces.findIndex((piece) => /[*\uE001]/.test(piece));
  const rest = first === -1 ? [] : pieces.slice(first + 1).filter((piece) => piece !== "");
  const isBelow = rest.every((piece) => /^[\w*\uE001-]/.test(piece)) && !word.includes(any);
  return rest.length > 0 && isBelow ? [...pieces.slice(0, first + 1), name].join("/") : word;
}
