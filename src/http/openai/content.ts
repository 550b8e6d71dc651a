import { ok, type Result } from "../../base/result.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import type { Image } from "../../protocol/message.ts";
import type { Content, Part } from "../../protocol/openai.ts";

export type Read = { readonly text: string; readonly images: readonly Image[] };
type Unread = Failure<"parameter_unsupported">;

/** The words and images of a message; `where` names it in a refusal. */
export function readContent(content: Content, where: string): Result<Read, Unread> {
  if (typeof content === "string") return ok({ text: content, images: [] });
  const texts: string[] = [];
  const images: Image[] = [];
  for (const [index, part] of (content ?? []).entries()) {
    const read = readPart(part, `${where}.${index}`);
    if (!read.ok) return read;
    if (typeof read.value === "string") texts.push(read.value);
    else images.push(read.value);
  }
  return ok({ text: texts.join("\n\n"), images });
}

function readPart(part: Part, where: string): Result<string | Image, Unread> {
  switch (part.type) {
    case "text":
    case "input_text":
    case "output_text":
      return ok(part.text ?? "");
    case "refusal":
      return ok(part.refusal ?? "");
    case "image_url":
    case "input_image":
      return readImage(part, where);
    default:
      return failure("parameter_unsupported", { parameter: `${where}.type`, hint: "text_and_images" });
  }
}

/** Addresses are not fetched: whoever calls us could make us look where they cannot. */
function readImage({ image_url: given }: Part, where: string): Result<Image, Unread> {
  const url = typeof given === "string" ? given : given?.url;
  const [, mime, base64] = /^data:(image\/[a-z0-9.+-]+);base64,([A-Za-z0-9+/]+={0,2})$/i.exec(url ?? "") ?? [];
  if (mime === undefined || base64 === undefined)
    return failure("parameter_unsupported", { parameter: `${where}.image_url`, hint: "data_url" });
  return ok({ mime: mime.toLowerCase(), base64 });
}
