import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  ResourceTemplate,
} from "@modelcontextprotocol/server";
import type { ClientFailure } from "../client/client.ts";
import { sizeText } from "../words/words.ts";
import { decoded, fileUri, fileUriTemplate } from "./file-uri.ts";
import type { Offer } from "./offer.ts";
import { pictureType, readWhole, textOf } from "./read-file.ts";
import type { Visitor } from "./visitor.ts";

/** A resource goes into one message; larger files are read in parts, or downloaded. */
const resourceBytesMax = 16 * 1024 * 1024;
/** Of a list that has no end. All other files are found with list_files, and read by their address. */
const conversationsListedMax = 10;
const filesListedMax = 200;
const folders = ["uploads", "outputs"];

/** The files of conversations, for clients that show or attach resources. */
export function offerResources(server: McpServer, offer: Offer): void {
  const template = new ResourceTemplate(fileUriTemplate, {
    list: async (context) => ({ resources: await offer.read(context, newestFiles) }),
  });
  server.registerResource(
    "file",
    template,
    { title: "File of a conversation", description: "A file of a conversation; list_files tells which there are." },
    async (uri, variables, context) => {
      const { words } = offer.visitorOf(context);
      const conversation = decoded(variables.conversation);
      const path = decoded(variables.path);
      if (conversation === undefined || path === undefined) throw new ResourceNotFoundError(uri.href);
      const { signal } = context.mcpReq;
      const read = await offer.read(context, ({ client }) =>
        readWhole(client, { conversation, path }, { bytesMax: resourceBytesMax, signal }),
      );
      if (!read.ok) throw refusalOf(read.failure, uri.href);
      const { bytes, size } = read.value;
      if (bytes === undefined) {
        const max = sizeText(resourceBytesMax, words.terminal.files.bytes);
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          words.mcpServer.tooLarge({ path, size: sizeText(size, words.terminal.files.bytes), max }),
        );
      }
      const text = pictureType(path) === undefined ? textOf(bytes) : undefined;
      const content =
        text === undefined
          ? { blob: bytes.toString("base64"), mimeType: pictureType(path) ?? "application/octet-stream" }
          : { text, mimeType: "text/plain" };
      return { contents: [{ uri: uri.href, ...content }] };
    },
  );
}

function refusalOf({ code, detail, status }: ClientFailure, uri: string): Error {
  if (status === 404) return new ResourceNotFoundError(uri, detail);
  return new ProtocolError(ProtocolErrorCode.InvalidParams, detail, { code, uri });
}

async function newestFiles({ client }: Visitor) {
  const page = await client.call("listConversations", { query: { limit: conversationsListedMax } });
  if (!page.ok)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, page.failure.detail, { code: page.failure.code });
  const found: { uri: string; name: string; title: string; size: number }[] = [];
  for (const { id, title } of page.value.items) {
    for (const folder of folders) {
      const limit = filesListedMax - found.length;
      if (limit === 0) return found;
      const listed = await client.call("listFiles", { params: { id }, query: { path: folder, limit } });
      if (!listed.ok && !isOfFolder(listed.failure))
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, listed.failure.detail, { code: listed.failure.code });
      for (const { path, type, bytes } of listed.ok ? listed.value.items : [])
        if (type === "file")
          found.push({ uri: fileUri(id, path), name: path, title: `${path} · ${title}`, size: bytes });
    }
  }
  return found;
}

/**
 * It is gone, or an agent made something else of it: the other conversations have files all the same. Whatever else it is,
 * a limit or a right or the server, would hold for them as well.
 */
function isOfFolder({ status = 0 }: ClientFailure): boolean {
  return [400, 404].includes(status);
}
