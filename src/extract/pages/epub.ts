import { failed, ok } from "../../base/result.ts";
import type { Block, Receipt } from "../extracted.ts";
import { finish } from "../finish.ts";
import { charactersMax } from "../limits.ts";
import { openLosses } from "../losses.ts";
import { type Archive, openArchive } from "../packed/archive.ts";
import { readXml } from "../packed/xml.ts";
import type { Reader } from "../reading.ts";
import { readPackage, titlesOf } from "./epub-package.ts";
import { decodeHtml, parseHtml } from "./html.ts";

/** A book: its chapters in the order of its spine. */
export const readEpub: Reader = ({ bytes }, { onProgress }) => {
  const losses = openLosses();
  const archive = openArchive(bytes, losses);
  if (archive === "password") return Promise.resolve(failed({ why: "password" }));
  if (typeof archive === "string") return Promise.resolve(failed({ why: "damaged", type: "EPUB" }));
  if (isLocked(archive)) return Promise.resolve(failed({ why: "rights" }));
  const book = readPackage(archive);
  if (book === undefined) return Promise.resolve(failed({ why: "damaged", type: "EPUB" }));
  const titles = titlesOf(archive, book);
  const blocks: Block[] = [];
  let [characters, images] = [0, 0];
  let stopped: Receipt["stopped"];
  for (const [index, { path, isContents }] of book.spine.entries()) {
    const place = { chapter: index + 1 };
    if (characters > charactersMax) stopped ??= { limit: "characters", at: place };
    if (stopped !== undefined) break;
    const chapter = bytesOf(archive, path);
    if (chapter === undefined) {
      losses.add("missing_chapters", place);
      continue;
    }
    const { flow, stopped: left } = parseHtml(decodeHtml(chapter).text, { place, isContents });
    const title = titles.get(path);
    if (title !== undefined && flow.blocks.length > 0 && flow.blocks[0]?.kind !== "heading")
      blocks.push({ kind: "heading", text: title, level: 1, from: place });
    for (const block of flow.blocks) blocks.push(block);
    stopped = left;
    characters += flow.characters;
    images += flow.images;
    onProgress({ done: index + 1, total: book.spine.length });
  }
  const found = { losses, title: book.title, images, parts: { kind: "chapter", count: book.spine.length } as const };
  return Promise.resolve(
    ok(finish({ format: "epub", blocks, ...found, ...(stopped === undefined ? {} : { stopped }) })),
  );
};

/** Fonts are often hidden a little, which is no protection of the text. */
const fontAlgorithms = new Set(["http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"]);

function isLocked(archive: Archive): boolean {
  let isAny = archive.has("META-INF/rights.xml") && archive.has("META-INF/encryption.xml");
  readXml(archive, "META-INF/encryption.xml", {
    open(name, attributes) {
      const algorithm = name === "EncryptionMethod" ? attributes.get("Algorithm") : undefined;
      if (algorithm !== undefined && !fontAlgorithms.has(algorithm)) isAny = true;
    },
  });
  return isAny;
}

/** A chapter as a whole, or as much of it as the archive gives out. */
function bytesOf(archive: Archive, path: string): Uint8Array | undefined {
  const pieces: Uint8Array[] = [];
  const end = archive.read(path, (piece) => {
    pieces.push(piece);
    return true;
  });
  return end === "missing" ? undefined : Buffer.concat(pieces);
}
