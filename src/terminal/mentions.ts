import type { Client } from "../client/client.ts";
import type { MentionItem, UnknownMention } from "../protocol/skill.ts";
import type { Words } from "../words/words.ts";
import type { Suggestion } from "./console.ts";
import { safeLine } from "./safe-text.ts";

/** What can be named with `@`, as it was the last time that somebody asked: the keyboard waits for no answer. */
export class KnownMentions {
  #items: readonly MentionItem[] = [];

  async refresh(client: Client): Promise<void> {
    const listed = await client.call("listMentions", { query: { limit: namesMax } });
    if (listed.ok) this.#items = listed.value.items;
  }

  /** `@da` → `@data-analysis`; undefined where no name was begun. */
  complete(line: string): { readonly candidates: string[]; readonly begun: string } | undefined {
    const begun = unfinished.exec(line)?.[0];
    if (begun === undefined) return undefined;
    const names = this.#items.map(({ name }) => `@${name}`);
    return { candidates: names.filter((name) => name.startsWith(begun)), begun };
  }

  /** The same with what each is. */
  suggest(line: string): { readonly begun: string; readonly items: readonly Suggestion[] } | undefined {
    const begun = unfinished.exec(line)?.[0];
    if (begun === undefined) return undefined;
    const items = this.#items.filter(({ name }) => `@${name}`.startsWith(begun));
    return {
      begun,
      items: items.map(({ name, description }) => ({ value: `@${name}`, label: `@${name}`, description })),
    };
  }
}

const namesMax = 100;
/** As in messages: not in the middle of an e-mail address, a path or a version. */
const unfinished = /(?<![A-Za-z0-9_.%+\-/@#$&=:\\])@(?:[A-Za-z][A-Za-z0-9_-]*)?$/;

const nameShownMax = 64;

/** It was sent all the same; a line tells what was probably meant. */
export function unknownText({ name, near, state }: UnknownMention, { skills }: Words): string {
  const shown = safeLine(name, nameShownMax);
  if (state !== undefined) return skills.unusableMention({ name: shown, state: skills.state[state] });
  return skills.unknownMention({ name: shown, near: near.map((one) => `@${safeLine(one, nameShownMax)}`).join(", ") });
}
