import { failed, ok } from "../../base/result.ts";
import type { Block, Receipt } from "../extracted.ts";
import { finish } from "../finish.ts";
import { charactersMax, slidesMax } from "../limits.ts";
import { openLosses } from "../losses.ts";
import type { Archive } from "../packed/archive.ts";
import { relationsOf } from "../packed/relations.ts";
import { readXml } from "../packed/xml.ts";
import type { Reader } from "../reading.ts";
import { openPackage, titleOf } from "./open-package.ts";
import { readSlide } from "./pptx-slide.ts";

export const readPptx: Reader = ({ bytes }, { onProgress }) => {
  const losses = openLosses();
  const opened = openPackage(bytes, "PPTX", losses);
  if (!opened.ok) return Promise.resolve(opened);
  const { archive, main } = opened.value;
  const slides = slidesOf(archive, main);
  if (slides === undefined) return Promise.resolve(failed({ why: "damaged", type: "PPTX" }));
  const blocks: Block[] = [];
  let [characters, images] = [0, 0];
  let stopped: Receipt["stopped"];
  for (const [index, part] of slides.entries()) {
    const slide = index + 1;
    const limit = index >= slidesMax ? "slides" : characters > charactersMax ? "characters" : undefined;
    if (limit !== undefined) {
      stopped = { limit, at: { slide } };
      break;
    }
    const read = readSlide(archive, part, slide);
    if (read.isHidden) losses.add("hidden_slides", { slide });
    if (read.end === "missing" || read.end === "damaged" || read.end === "refused")
      losses.add("damaged_slides", { slide });
    if (read.end === "limit") stopped = { limit: "size", at: { slide } };
    for (const block of read.blocks) {
      blocks.push(block);
      characters += block.text.length;
    }
    images += read.images;
    onProgress({ done: slide, total: slides.length });
    if (stopped !== undefined) break;
  }
  const found = { losses, title: titleOf(archive), images, parts: { kind: "slide", count: slides.length } as const };
  return Promise.resolve(
    ok(finish({ format: "pptx", blocks, ...found, ...(stopped === undefined ? {} : { stopped }) })),
  );
};

/** In the order in which they are shown, whatever their parts are called; a slide counts once. */
function slidesOf(archive: Archive, main: string): readonly string[] | undefined {
  const byId = new Map(
    relationsOf(archive, main)
      .filter(({ type }) => type === "slide")
      .map(({ id, target }) => [id, target]),
  );
  const slides = new Set<string>();
  const end = readXml(archive, main, {
    open(name, attributes) {
      const part = name === "sldId" ? byId.get(attributes.link("id") ?? "") : undefined;
      if (part !== undefined) slides.add(part);
    },
  });
  return end === "refused" || (end !== "whole" && slides.size === 0) ? undefined : [...slides];
}
