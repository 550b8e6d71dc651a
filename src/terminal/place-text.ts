import type { SearchHit } from "../protocol/search-routes.ts";
import type { Words } from "../words/words.ts";
import { safeLine } from "./safe-text.ts";

type Place = NonNullable<SearchHit["from"]>;

/** Where a passage stands, in words: `page 3`, `sheet Prices, rows 2–21`; empty where the format has no places. */
export function placeText(from: Place, to: Place, { terminal }: Words): string {
  const { place: texts } = terminal.lookup;
  const { sheet, pageLabel } = from;
  const parts = spans.flatMap((name) => {
    const first = from[name];
    return first === undefined ? [] : [texts[name]({ from: first, to: to[name] ?? first })];
  });
  // A page says enough; only sheets are told by their rows.
  const where = sheet === undefined ? parts.slice(0, 1) : [texts.sheet({ name: safeLine(sheet, 60) }), ...parts];
  return [...where, ...(pageLabel === undefined ? [] : [texts.printed({ label: safeLine(pageLabel, 20) })])].join(", ");
}

const spans = ["page", "slide", "chapter", "row", "paragraph", "line"] as const;
