import { ok, type Result } from "../base/result.ts";
import { decodeText, fileTypeOf } from "../documents/documents.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { WebAnswer } from "../web/web.ts";
import { forModels } from "../words/words.ts";
import { changedEvent } from "./file-events.ts";
import type { ToolContext, ToolOutput } from "./tool.ts";

/** Without its parameters: `text/html`. */
function typeOf({ headers }: WebAnswer): string {
  return (headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

export function isHtml(answer: WebAnswer): boolean {
  const type = typeOf(answer);
  if (type === "text/html" || type === "application/xhtml+xml") return true;
  return type === "" && /^\s*<(!doctype html|html|head|body)\b/i.test(answer.bytes.toString("latin1", 0, 256));
}

/** The text of an answer in the encoding that it names, or in the one that it has; undefined when it is none. */
export function textOf(answer: WebAnswer): string | undefined {
  const { bytes, headers, isCut } = answer;
  const named = /charset\s*=\s*["']?([\w.:-]+)/i.exec(headers["content-type"] ?? "")?.[1];
  const inside = isHtml(answer) ? metaCharset.exec(bytes.toString("latin1", 0, 4_096))?.[1] : undefined;
  for (const label of [named, inside]) {
    const text = label === undefined ? undefined : decoded(bytes, label);
    if (text !== undefined) return text;
  }
  return decodeText(bytes, { isCut })?.text;
}

const metaCharset = /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{2,40})/i;

/** `gb2312` in the web means its larger successors; so TextDecoder has it, too. */
function decoded(bytes: Buffer, label: string): string | undefined {
  const decoder = decoderOf(label);
  if (decoder === undefined || bytes.subarray(0, 8_192).includes(0)) return undefined;
  const text = decoder.decode(bytes);
  return text.includes("\ufffd") && isMostlyUnread(text) ? undefined : text;
}

function decoderOf(label: string): TextDecoder | undefined {
  try {
    return new TextDecoder(label);
  } catch {
    return undefined; // No encoding goes by this name.
  }
}

/** One in a hundred: a few broken characters are in many pages. */
function isMostlyUnread(text: string): boolean {
  return text.split("\ufffd").length - 1 > text.length / 100;
}

/** What is no text becomes a file of the workspace, where programs can work on it. */
export async function keepDownload(answer: WebAnswer, context: ToolContext): Promise<Result<ToolOutput, Failure>> {
  const { bytes, isCut, url } = answer;
  const { host, pathname } = new URL(url);
  if (isCut) return failure("web_too_large", { host, limitBytes: bytes.length });
  const path = `temp/downloads/${nameOf(pathname, answer)}`;
  const written = await context.workspace.write(path, bytes, { key: context.key });
  if (!written.ok) return written;
  const { path: kept, before, after } = written.value;
  const text = forModels.web.download(kept, typeOf(answer) || "unknown type", bytes.length);
  const isChanged = before?.hash !== after?.hash;
  return ok({ text, outside: [], events: isChanged ? [changedEvent(context, written.value)] : [] });
}

const nameCharactersMax = 60;

/** The last part of the address, as far as it is fit to be a name here. */
function nameOf(pathname: string, answer: WebAnswer): string {
  const last = pathname.split("/").findLast((part) => part !== "") ?? "";
  const plain = last
    .replaceAll(/[^\w.-]+/g, "_")
    .replace(/^[._-]+/, "")
    .slice(-nameCharactersMax);
  const { ending } = fileTypeOf(plain, answer.bytes);
  const name = plain === "" ? "download" : plain;
  return /\.\w{1,8}$/.test(name) || ending === "" ? name : `${name}.${ending}`;
}
