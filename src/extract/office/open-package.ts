import { failed, ok, type Result } from "../../base/result.ts";
import type { Losses } from "../losses.ts";
import { type Archive, openArchive } from "../packed/archive.ts";
import { mainPart } from "../packed/relations.ts";
import { readXml } from "../packed/xml.ts";
import type { Unreadable } from "../reading.ts";

export type OfficePackage = { readonly archive: Archive; readonly main: string };

/** An Office file with the part that everything begins with, where it is one of that kind. */
export function openPackage(bytes: Uint8Array, type: string, losses: Losses): Result<OfficePackage, Unreadable> {
  const archive = openArchive(bytes, losses);
  if (archive === "password") return failed({ why: "password" });
  if (archive === "too_many" || archive === "damaged") return failed({ why: "damaged", type });
  const main = mainPart(archive);
  if (main === undefined || !archive.has(main)) return failed({ why: "damaged", type });
  return ok({ archive, main });
}

/** The title that its author gave it, which is often none. */
export function titleOf(archive: Archive): string {
  let title = "";
  let isInside = false;
  readXml(archive, "docProps/core.xml", {
    open: (name) => {
      if (name === "title") isInside = true;
    },
    close: () => {
      isInside = false;
    },
    text: (text) => {
      if (isInside) title += text;
    },
  });
  return title;
}
