import { parseArgs } from "node:util";
import { type Language, languages } from "../words/words.ts";
import { type OptionName, options } from "./sub-commands.ts";

/** What of a command line counts before a chat is drawn. */
export type TypedChat = { readonly data?: string; readonly lang?: Language; readonly isElsewhere: boolean };

/** The options of a chat that change nothing about whether it is drawn. */
const harmless: readonly OptionName[] = ["continue", "resume", "slot", "url", "data", "lang"];

/**
 * A chat that may be drawn at once. Undefined where another command was typed, or something that is better read in full
 * first: it may have to be refused.
 */
export function typedChat(argv: readonly string[]): TypedChat | undefined {
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, tokens: true });
  const given = new Map<OptionName, string>();
  for (const token of tokens) {
    const name = token.kind === "option" ? harmless.find((one) => one === token.name) : undefined;
    if (name === undefined || token.kind !== "option") return undefined;
    // One whose value was left out, or one that takes none.
    if ((options[name].type === "string") !== Boolean(token.value)) return undefined;
    given.set(name, token.value ?? "");
  }
  const data = given.get("data");
  const lang = languages.find((known) => known === given.get("lang"));
  if (given.has("lang") && lang === undefined) return undefined;
  return { ...(data !== undefined && { data }), ...(lang && { lang }), isElsewhere: given.has("url") };
}
