import type { Archive } from "../packed/archive.ts";
import { readXml } from "../packed/xml.ts";

/** What a style says of the paragraphs that have it. */
export type StyleKind = { readonly heading?: number; readonly isContents?: boolean };

type Style = { basedOn?: string; level?: number; name: string };

/** A style may rest on another, and a file may let them lead in a circle. */
const basedOnMax = 20;
const levelsMax = 9;

/** Kinds by the id of a style. Ids are in the language of whoever wrote the file; only what a style says counts. */
export function readStyles(archive: Archive, part: string | undefined): (id: string) => StyleKind {
  const styles = new Map<string, Style>();
  let open: Style | undefined;
  if (part !== undefined)
    readXml(archive, part, {
      open(name, attributes) {
        const value = attributes.get("val") ?? "";
        if (name === "style") {
          open = { name: "" };
          styles.set(attributes.get("styleId") ?? "", open);
        } else if (open !== undefined && name === "name") open.name = value.toLowerCase();
        else if (open !== undefined && name === "basedOn") open.basedOn = value;
        else if (open !== undefined && name === "outlineLvl") open.level = Number(value) + 1;
      },
      close: (name) => {
        if (name === "style") open = undefined;
      },
    });
  return (id) => kindOf(styles, id);
}

function kindOf(styles: ReadonlyMap<string, Style>, id: string): StyleKind {
  let style = styles.get(id);
  for (let steps = 0; style !== undefined && steps < basedOnMax; steps += 1) {
    if (/^(?:toc \d|table of figures|index \d)/.test(style.name)) return { isContents: true };
    // Names of the styles that come with the program are the same in all languages, other than their ids.
    const named = /^heading (\d)$/.exec(style.name)?.[1] ?? (style.name === "title" ? "1" : undefined);
    const level = style.level ?? (named === undefined ? undefined : Number(named));
    if (level !== undefined) return level >= 1 && level <= levelsMax ? { heading: level } : {};
    style = style.basedOn === undefined ? undefined : styles.get(style.basedOn);
  }
  return {};
}
