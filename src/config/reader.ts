import type { Problem } from "./problems.ts";
import type { Setting } from "./settings.ts";
import type { Given, Source } from "./sources.ts";

/** A setting that has a value. `origin` is for people: `--data`, `MAX_LOOPS`, `.env:3`, `default`. */
export type Reading = { readonly setting: Setting<unknown>; readonly value: unknown; readonly origin: string };
export type Found<T> = { readonly value: T; readonly given: Given };

/** Asks the sources in order, and keeps what was read and what was wrong. */
export interface Reader {
  /** The value as given; undefined where no source has it. One that `isLeftOut` is passed over, as if it stood nowhere. */
  find<T>(setting: Setting<T>, isLeftOut?: (given: Given) => boolean): Found<T> | undefined;
  /** The value as given, or its default. */
  read<T>(setting: Setting<T> & { readonly default: NoInfer<T> }): T;
  /** The value as given, or one that follows from the surroundings. */
  readOr<T>(setting: Setting<T>, fallback: NoInfer<T>, origin?: string): T;
  readonly readings: readonly Reading[];
  readonly problems: Problem[];
}

export function openReader(sources: readonly Source[], problems: Problem[]): Reader {
  const readings: Reading[] = [];

  function find<T>(setting: Setting<T>, isLeftOut?: (given: Given) => boolean): Found<T> | undefined {
    let found: Found<T> | undefined;
    // Weaker sources are checked too: a mistake should not wait until the stronger one is gone.
    for (const source of sources) {
      const given = source.find(setting);
      if (given === undefined || isLeftOut?.(given)) continue;
      const value = setting.kind.parse(given.value, source.folders);
      if (value === undefined) problems.push({ fault: "value", ...given, setting });
      else found ??= { value, given };
    }
    if (found !== undefined) readings.push({ setting, value: found.value, origin: originOf(found.given) });
    return found;
  }

  function readOr<T>(setting: Setting<T>, fallback: T, origin = "default"): T {
    const found = find(setting);
    if (found !== undefined) return found.value;
    readings.push({ setting, value: fallback, origin });
    return fallback;
  }

  return { find, readOr, read: (setting) => readOr(setting, setting.default), readings, problems };
}

function originOf({ name, place }: Given): string {
  return place === undefined ? name : `${place.file}:${place.line}`;
}
