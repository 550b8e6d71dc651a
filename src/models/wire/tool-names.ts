import { derivedHex } from "../../base/ids.ts";

const nameCharactersMax = 64;
const suffixCharacters = 8;

/**
 * The name a tool has on the wire. A name that every server takes stays as it is. Any other is cleaned and gets a suffix
 * made from the original, so that it depends on that one name only: two tools never collide, and old messages keep their
 * bytes when the list of tools changes.
 */
export function wireName(name: string): string {
  if (validName.test(name)) return name;
  const cleaned = name.replace(/[^a-zA-Z0-9_-]/g, "_").replace(/^(?![a-zA-Z_])/, "_");
  return `${cleaned.slice(0, nameCharactersMax - suffixCharacters - 1)}_${derivedHex(suffixCharacters, name)}`;
}

const validName = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

/**
 * From a name in an answer to the tool that was declared. An undeclared name is tried again without what servers and
 * models put around names (`functions.read_file:0`, `read_file<|channel|>json`); when not exactly one declared tool is
 * found that way, the name stays as it came, and whoever runs the call says that there is no such tool.
 */
export function createNameReader(declared: readonly string[]): (returned: string) => string {
  const originals = new Map<string, string>();
  for (const name of declared) originals.set(name, name);
  for (const name of declared) originals.set(wireName(name), name);
  return (returned) => {
    const exact = originals.get(returned);
    if (exact !== undefined) return exact;
    const found = new Set(undecorated(returned).flatMap((part) => originals.get(part) ?? []));
    const [only] = found;
    return found.size === 1 && only !== undefined ? only : returned;
  };
}

function undecorated(returned: string): string[] {
  const parts = returned.split(/[^a-zA-Z0-9_-]+/);
  return [...parts, ...parts.map((part) => part.replace(/^(?:functions?|tools?|default_api|mcp|proxy)_+/, ""))];
}
