import type { Language } from "../words/words.ts";
import { firstSettings } from "./first-settings.ts";
import { openSources } from "./open-sources.ts";
import { findPlaces, type Surroundings } from "./places.ts";
import { readLanguage } from "./read-language.ts";
import { refuseForeign } from "./refuse-foreign.ts";
import type { Flags } from "./sources.ts";

export { processEnvironment } from "./places.ts";

/** What a chat is drawn by. */
export type FirstLook = {
  readonly language: Language;
  readonly surface: "rich" | "plain" | "screen_reader";
  readonly dataDir: string;
};

/**
 * The few settings that must be known before a chat can be drawn, from the same places as all others and by the same
 * rules. Undefined where one of them cannot be relied upon: then all are to be read first, which tells what is wrong.
 */
export async function lookFirst(
  request: Surroundings & { readonly flags: Pick<Flags, "data" | "lang"> },
): Promise<FirstLook | undefined> {
  const places = findPlaces(request);
  const settings = Object.values(firstSettings);
  const { reader } = await openSources(request, places, { settings, variables: new Set() });
  const look = {
    language: readLanguage(reader, request.env),
    surface: reader.read(firstSettings.surface),
    dataDir: reader.readOr(firstSettings.dataDir, places.dataDir),
  };
  if (!places.isTrusted) refuseForeign(reader, places, "data");
  // The keys of all other settings are unknown here.
  return reader.problems.every(({ fault }) => fault === "unknown_key") ? look : undefined;
}
