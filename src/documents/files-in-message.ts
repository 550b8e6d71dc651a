import { createHash } from "node:crypto";
import { ok, type Result } from "../base/result.ts";
import { decodeText } from "../extract/decode.ts";
import { failure } from "../protocol/failure.ts";
import type { Image } from "../protocol/message.ts";
import { attachedWords, type Language, shownName } from "../words/words.ts";
import type { FileFailure, Workspace } from "../workspace/workspace.ts";
import { fileTypeOf, typeHeadBytes } from "./file-type.ts";
import { imageBytesMax, isImage, isWholeImage } from "./image.ts";

/** A file that comes with a message. */
export type Attached = {
  readonly path: string;
  readonly name: string;
  readonly type: string;
  readonly bytes: number;
  /** The hash of the content whose whole text stands in the message. */
  readonly hash?: string;
  readonly text?: string;
  readonly image?: Image;
};

const inlineBytesMax = 10 * 1024;
/** One message has no more: the rest is named, and can be looked at with tools. */
const inlineBytesMaxInAll = 100 * 1024;
const imageBytesMaxInAll = 20 * 1024 * 1024;

/** Looks at the files that a message names: small texts and images go into it, of the others it has the names. */
export async function describeAttached(
  workspace: Workspace,
  paths: readonly string[],
): Promise<Result<Attached[], FileFailure>> {
  const attached: Attached[] = [];
  const left = { inline: inlineBytesMaxInAll, image: imageBytesMaxInAll };
  for (const path of paths) {
    const read = await workspace.read(path, { bytesMax: typeHeadBytes });
    if (!read.ok) return read;
    const { stat, bytes, isUnwritten } = read.value;
    if (isUnwritten) return failure("file_not_found", { path, near: "" });
    if (attached.some((other) => other.path === stat.path)) continue;
    const name = stat.path.split("/").at(-1) ?? stat.path;
    const { type, isText, mime } = fileTypeOf(name, bytes);
    const file = { path: stat.path, name, type, bytes: stat.bytes };
    const fits = (oneMax: number, room: number) => stat.bytes <= Math.min(oneMax, room);
    if (isText && fits(inlineBytesMax, left.inline)) {
      left.inline -= stat.bytes;
      attached.push({ ...file, ...inlineText(bytes) });
    } else if (isImage(mime) && fits(imageBytesMax, left.image)) {
      const whole = await workspace.read(stat.path, { bytesMax: stat.bytes });
      if (!whole.ok) return whole;
      const isUsable = isWholeImage(whole.value.bytes, mime);
      if (isUsable) left.image -= stat.bytes;
      attached.push(isUsable ? { ...file, image: { mime, base64: whole.value.bytes.toString("base64") } } : file);
    } else attached.push(file);
  }
  return ok(attached);
}

function inlineText(bytes: Buffer): Pick<Attached, "text" | "hash"> {
  const text = decodeText(bytes)?.text;
  return text === undefined ? {} : { text, hash: createHash("sha256").update(bytes).digest("hex") };
}

/** Text of others as a block of data: what a file holds cannot end it and speak as the person. */
type Wrap = (source: string, text: string) => string;

/** What is put behind the person's own words, beginning with a blank line; nothing where no file came with them. */
export function attachedText(attached: readonly Attached[], language: Language, wrap: Wrap): string {
  if (attached.length === 0) return "";
  const words = attachedWords[language];
  const texts = attached.flatMap(({ path, text }) =>
    text === undefined ? [] : `${words.inline(shownName(path))}\n${wrap(path, text)}`,
  );
  const lines = attached.map(({ path, name, type }) => `- ${shownName(name)} → ${shownName(path)} (${type})`);
  return ["", ...texts, [words.list, ...lines].join("\n")].join("\n\n");
}
