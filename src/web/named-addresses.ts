import { placeOf } from "./place.ts";

/**
 * The addresses in a text, in a form that can be compared. `isPerson`: people also leave the beginning out. An address
 * that somebody else wrote can carry nothing out that a model has read since.
 */
export function addressesIn(text: string, { isPerson = false }: { readonly isPerson?: boolean } = {}): string[] {
  const found = [...text.matchAll(whole), ...(isPerson ? text.matchAll(bare) : [])].map(([address]) => address);
  return found.flatMap((address) => comparable(withoutMarks(address)) ?? []);
}

/** Without the punctuation behind it. No pattern: a message of nothing but such marks would take it minutes. */
function withoutMarks(address: string): string {
  let end = address.length;
  while (end > 0 && ".,;:!?*_~".includes(address[end - 1] ?? "")) end -= 1;
  return address.slice(0, end);
}

/** Without what makes no difference to who is asked for what; undefined for what is no address. */
export function comparable(address: string): string | undefined {
  const place = placeOf(address);
  if (!place.ok) return undefined;
  const { url, host, port } = place.value;
  return `${host}:${port === 80 ? 443 : port}${url.pathname.replace(/\/$/, "")}${url.search}`;
}

const ends = "\\s<>\"'`()\\[\\]{}，。；：！？、）】」』》";
const whole = new RegExp(`https?://[^${ends}]+`, "gi");
const bare = new RegExp(`(?<![\\w@./-])(?:[a-z0-9-]{1,63}\\.)+[a-z]{2,20}(?:/[^${ends}]*)?(?![\\w@])`, "gi");
