import type { Words } from "../words/words.ts";

/** A place in a file, as far as its format has one. */
export type Spot = {
  readonly page?: number | undefined;
  readonly slide?: number | undefined;
  readonly chapter?: number | undefined;
  readonly sheet?: string | undefined;
  readonly row?: number | undefined;
  readonly line?: number | undefined;
  readonly paragraph?: number | undefined;
  readonly heading?: string | undefined;
};

const numbers = ["page", "slide", "chapter", "row", "line", "paragraph"] as const;

/** `page=3`, `sheet=Sales&row=12`: what stands behind the `#` of an address. */
export function spotOf(spot: Spot): string | undefined {
  const named = [...numbers, "sheet", "heading"] as const;
  const given = named.flatMap((name) => (spot[name] === undefined ? [] : [`${name}=${spot[name]}`]));
  return given.length === 0 ? undefined : given.join("&");
}

export function readSpot(text: string | undefined): Spot {
  const parts = new Map(
    (text ?? "").split("&").map((part) => [part.split("=")[0] ?? "", part.slice(part.indexOf("=") + 1)]),
  );
  const found = numbers.flatMap((name) => {
    const value = Number(parts.get(name) ?? Number.NaN);
    return Number.isSafeInteger(value) && value > 0 ? [[name, value]] : [];
  });
  return { ...Object.fromEntries(found), sheet: parts.get("sheet"), heading: parts.get("heading") };
}

export function placeText(spot: Spot & { readonly pageLabel?: string | undefined }, words: Words["preview"]): string {
  if (spot.page !== undefined) return words.page({ page: spot.pageLabel ?? spot.page });
  if (spot.slide !== undefined) return words.slide({ slide: spot.slide });
  if (spot.chapter !== undefined) return words.chapter({ chapter: spot.chapter });
  if (spot.sheet !== undefined) return spot.row === undefined ? spot.sheet : `${spot.sheet}:${spot.row}`;
  return spot.line === undefined ? "" : `:${spot.line}`;
}
