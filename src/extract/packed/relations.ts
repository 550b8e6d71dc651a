import { posix } from "node:path";
import type { Archive } from "./archive.ts";
import { readXml } from "./xml.ts";

export type Relation = { readonly id: string; readonly type: string; readonly target: string };

/** The parts that a part leads to, by what they are. Those outside of the file are left alone: nothing is ever fetched. */
export function relationsOf(archive: Archive, part: string): readonly Relation[] {
  const relations: Relation[] = [];
  const folder = posix.dirname(part);
  readXml(archive, posix.join(folder, "_rels", `${posix.basename(part)}.rels`), {
    open(name, attributes) {
      const target = attributes.get("Target");
      if (name !== "Relationship" || target === undefined || attributes.get("TargetMode") === "External") return;
      const id = attributes.get("Id") ?? "";
      relations.push({ id, type: lastPart(attributes.get("Type") ?? ""), target: resolved(folder, target) });
    },
  });
  return relations;
}

function lastPart(type: string): string {
  return type.slice(type.lastIndexOf("/") + 1);
}

function resolved(folder: string, target: string): string {
  const path = target.startsWith("/") ? target.slice(1) : posix.join(folder, target);
  return posix.normalize(path).replace(/^(?:\.\.?\/)+/, "");
}

/** The part that everything begins with. */
export function mainPart(archive: Archive): string | undefined {
  return relationsOf(archive, "").find(({ type }) => type === "officeDocument")?.target;
}
