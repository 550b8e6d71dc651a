import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import { imageBytesMax, isImage, isWholeImage } from "../documents/documents.ts";
import type { Image } from "../protocol/message.ts";
import type { ToolOutput } from "../tools/tools.ts";
import { forModels } from "../words/words.ts";

/** Pictures of one result, at the most; more would fill the window. */
export const imagesMax = 8;

/** What a server answered to a call, as one text with pictures. What cannot be shown is named, never left out in silence. */
export function outputOf({ content, structuredContent, isError }: CallToolResult): ToolOutput {
  const images: Image[] = [];
  const texts = (content ?? []).map((block) => shown(block, images));
  const structured = structuredContent === undefined ? undefined : JSON.stringify(structuredContent);
  // Most servers say it twice, once as text for older clients.
  if (structured !== undefined && !texts.some((text) => isSame(text, structured))) texts.push(structured);
  const text = texts.filter((part) => part !== "").join("\n");
  return {
    text: text === "" && isError === true ? forModels.mcp.failedSilently : text,
    ...(images.length > 0 && { images }),
    ...(isError === true && { isRefusal: true }),
  };
}

function shown(block: ContentBlock, images: Image[]): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
      return shownBytes({ mime: block.mimeType, base64: block.data, name: "image" }, images);
    case "audio":
      return shownBytes({ mime: block.mimeType, base64: block.data, name: "audio" }, images);
    case "resource_link": {
      const { name, uri, mimeType, description, size } = block;
      const more = [mimeType, size === undefined ? undefined : forModels.files.size(size), description]
        .filter(Boolean)
        .join(", ");
      return forModels.mcp.link(name, uri, more);
    }
    case "resource":
      return shownResource(block.resource, images);
  }
}

type Contents = {
  readonly uri: string;
  readonly mimeType?: string | undefined;
  readonly text?: unknown;
  readonly blob?: unknown;
};

/** Also what a resource is read as. */
export function shownResource({ uri, mimeType, text, blob }: Contents, images: Image[]): string {
  if (typeof text === "string") return `${forModels.mcp.resource(uri)}\n${text}`;
  const base64 = typeof blob === "string" ? blob : "";
  return shownBytes({ mime: mimeType ?? "application/octet-stream", base64, name: uri }, images);
}

/** A picture that a model can look at, or a line about what cannot be shown. */
function shownBytes(part: { mime: string; base64: string; name: string }, images: Image[]): string {
  const { mime, base64, name } = part;
  const sizeBytes = Buffer.byteLength(base64, "base64");
  const left = (why: string) => forModels.mcp.notShown(name, mime, forModels.files.size(sizeBytes), why);
  if (!isImage(mime)) return left(forModels.mcp.noPicture);
  if (sizeBytes > imageBytesMax) return left(forModels.mcp.tooLarge(forModels.files.size(imageBytesMax)));
  if (images.length >= imagesMax) return left(forModels.mcp.tooMany(imagesMax));
  const bytes = Buffer.from(base64, "base64");
  if (!isWholeImage(bytes, mime)) return left(forModels.mcp.broken);
  images.push({ mime, base64: bytes.toString("base64") });
  return forModels.mcp.picture(images.length, mime, forModels.files.size(sizeBytes));
}

function isSame(text: string, json: string): boolean {
  return text.replaceAll(/\s+/g, "") === json.replaceAll(/\s+/g, "");
}
