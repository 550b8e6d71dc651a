import type { Words } from "../words/words.ts";
import { mentionPaths } from "./complete-line.ts";
import type { Suggest, Suggestion } from "./console.ts";
import type { LocalPlace } from "./local-files.ts";
import type { KnownMentions } from "./mentions.ts";
import { safeLine } from "./safe-text.ts";
import { suggestCommands } from "./slash-commands.ts";

/** Menus: a `/` command with what it does, a `#` file of this machine, what can be named with `@`. */
export function lineSuggester(words: Words, place: LocalPlace, known: KnownMentions): Suggest {
  return (text) => {
    const named = known.suggest(text);
    const files = named === undefined ? mentionPaths(text, place) : undefined;
    const found =
      named ?? (files && { begun: files.begun, items: files.written.map((value) => ({ value, label: value })) });
    if (found === undefined) return { begun: text, items: suggestCommands(text, words) };
    const isWhole = found.items.length === 1 && found.items[0]?.value === found.begun;
    return isWhole ? undefined : { begun: found.begun, items: found.items.map(shown) };
  };
}

function shown({ value, label, description }: Suggestion): Suggestion {
  return { value, label: safeLine(label, 60), ...(description && { description: safeLine(description, 120) }) };
}
