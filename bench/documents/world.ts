import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { systemClock } from "../../src/base/clock.ts";
import type { Extracted } from "../../src/extract/extract.ts";
import { openExtractor } from "../../src/extract/extract.ts";
import { quietLogger } from "../../test/world/workspace.ts";
import { must } from "../must.ts";
import { openCorpus, openPython } from "../retrieval/corpus.ts";
import type { Sizes } from "./sizes.ts";

export type Manual = { readonly name: string; readonly bytes: Uint8Array };
export type World = {
  /** For what is only needed for a while. */
  readonly folder: string;
  /** The smallest first. */
  manuals(sizes: Sizes): readonly Manual[];
  /** The environment in which Python has the libraries of our rivals. */
  python(sizes: Sizes): Readonly<Record<string, string>>;
  extract(file: Manual): Promise<Extracted>;
};

/** Manuals that Debian packages bring, as far as they are installed; the more, the better. */
const places = [
  "/usr/share/developers-reference/*.pdf",
  "/usr/share/debian-reference/*.pdf",
  "/usr/share/doc/{debian-policy,debian-policy/fhs,debian/FAQ,debmake-doc,gnuplot,maint-guide*,packaging-tutorial}/*.pdf{,.gz}",
];

export const corpusFolder = join(import.meta.dirname, "..", "results", "corpus");

function fetchedManuals(): Manual[] {
  return openCorpus(corpusFolder).map(({ name, bytes }) => ({ name: `${name}.pdf`, bytes }));
}

function installedManuals(): Manual[] {
  return globSync(places).map((file) => {
    const bytes = readFileSync(file);
    return { name: basename(file).replace(/\.gz$/, ""), bytes: file.endsWith(".gz") ? gunzipSync(bytes) : bytes };
  });
}

export async function openWorld(folder: string): Promise<World & { close(): Promise<void> }> {
  const extractor = openExtractor({ clock: systemClock, logger: quietLogger([]) });
  const { signal } = new AbortController();
  return {
    folder,
    manuals: ({ manuals, fetches }) =>
      (fetches ? fetchedManuals() : installedManuals())
        .toSorted((one, other) => one.bytes.length - other.bytes.length)
        .slice(0, manuals),
    python: ({ fetches }) => (fetches ? openPython(corpusFolder) : {}),
    // A copy each time: what is handed over is gone here.
    extract: async ({ name, bytes }) =>
      must(await extractor.extract({ name, bytes: new Uint8Array(bytes), sizeBytes: bytes.length }, { signal })),
    close: extractor.close,
  };
}
