import { z } from "zod";
import type { SearchedFiles } from "../protocol/resources.ts";
import { sizeText } from "../words/words.ts";
import { fileUri } from "./file-uri.ts";
import { answer, defineTool, refused, type ToolCall } from "./offer.ts";
import { pictureType, readLines, readWhole } from "./read-file.ts";
import { conversationId } from "./talk.ts";

const linesUsual = 2_000;
const linesMax = 100_000;
const pictureBytesMax = 5 * 1024 * 1024;
const listedMax = 500;

const path = z.string().min(1).max(4_096);

/** The files of a conversation: what its agent works with. */
export const fileTools = [
  defineTool({
    name: "list_files",
    title: "List files",
    description:
      "One folder of a conversation's files. `uploads/` has what people gave, `outputs/` what agents made, `temp/` what may be lost.",
    input: z.object({
      conversation: conversationId,
      path: path.default(".").describe("A folder."),
      after: z.string().max(1_000).optional().describe("`next` of the page before."),
    }),
    hints: { readOnlyHint: true, openWorldHint: false },
    async run({ conversation, path: folder, after }, { client, words }) {
      const query = { path: folder, limit: listedMax, ...(after !== undefined && { after }) };
      const listed = await client.call("listFiles", { params: { id: conversation }, query });
      if (!listed.ok) return refused(listed.failure);
      const { items, next } = listed.value;
      const files = items.map(({ path: name, type, bytes, modifiedAt }) => ({
        ...{ path: name, type, bytes, modifiedAt },
        ...(type === "file" && { uri: fileUri(conversation, name) }),
      }));
      const lines = files.map(({ path: name, type, bytes }) =>
        type === "folder" ? `${name}/` : `${name} (${sizeText(bytes, words.terminal.files.bytes)})`,
      );
      return answer(lines.length === 0 ? words.mcpServer.noFiles() : lines.join("\n"), { files, next });
    },
  }),
  defineTool({
    name: "read_file",
    title: "Read a file",
    description: "Read a file of a conversation: text from a line on, or a picture. Other files are resources.",
    input: z.object({
      conversation: conversationId,
      path,
      offset: z.int().min(1).default(1).describe("The first line."),
      limit: z.int().min(1).max(linesMax).default(linesUsual).describe("How many lines."),
    }),
    hints: { readOnlyHint: true, openWorldHint: false },
    async run({ conversation, path: name, offset, limit }, call) {
      const picture = pictureType(name);
      if (picture !== undefined) return readPicture({ conversation, path: name, mimeType: picture }, call);
      const { client, signal, words } = call;
      const read = await readLines(client, { conversation, path: name }, { from: offset, count: limit, signal });
      if (!read.ok) return refused(read.failure);
      const { bytes, text, next } = read.value;
      if (text === undefined) return linkTo({ conversation, path: name, bytes }, call);
      const more = next === undefined ? "" : `\n${words.mcpServer.moreLines({ next })}`;
      return answer(text + more, { path: name, bytes, text, next: next ?? null });
    },
  }),
  defineTool({
    name: "search_files",
    title: "Search files",
    description:
      "Find where something stands in a conversation's files: in texts as it is written, then by its words, in any case; in documents (pdf, docx, xlsx, pptx, epub) the passages that answer it best. Gives path, line or page, and the text around each **match**.",
    input: z.object({
      conversation: conversationId,
      query: z.string().min(1).max(1_000).describe("A word, a phrase or a number."),
      path: path.default(".").describe("A file or a folder."),
      regex: z.boolean().default(false).describe("The query is a regular expression."),
      limit: z.int().min(1).max(100).default(20),
    }),
    hints: { readOnlyHint: true, openWorldHint: false },
    async run({ conversation, ...query }, { client, words }) {
      const found = await client.call("searchFiles", { params: { id: conversation }, query });
      if (!found.ok) return refused(found.failure);
      const { hits, total, stopped, unsearched } = found.value;
      const texts = hits.map((hit) => `${placeOf(hit, words)}\n${hit.text}`);
      const left = unsearched.map((file) => words.mcpServer.unsearched(file));
      const lines = [...(hits.length === 0 ? [words.mcpServer.nothingFound()] : texts), ...left];
      return answer(lines.join("\n\n"), { hits, total, stopped, unsearched });
    },
  }),
  defineTool({
    name: "write_file",
    title: "Write a file",
    description:
      "Put a file into a conversation, below uploads/, outputs/ or temp/; the result says where it is. One that is there is replaced. Name it in `files` of send_message to show it to the agent.",
    input: z.object({
      conversation: conversationId,
      path: path.describe("Such as uploads/notes.md"),
      content: z.string(),
      encoding: z.enum(["utf-8", "base64"]).default("utf-8").describe("base64 for what is no text."),
    }),
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    async run({ conversation, path: name, content, encoding }, { client, words }) {
      const bytes = Buffer.from(content, encoding);
      if (encoding === "base64" && !isBase64(content))
        return refused({ code: "bad_request", detail: words.mcpServer.noBase64() });
      // The route that stores it would begin a conversation of that id.
      const found = await client.call("getConversation", { params: { id: conversation } });
      if (!found.ok) return refused(found.failure);
      const stored = await client.put("putSandboxFile", {
        params: { id: ownSession, path: name },
        query: { conversation_id: conversation },
        bytes,
      });
      if (!stored.ok) return refused(stored.failure);
      // From the conversation's id on; a name alone was put where uploads of other software go.
      const at = stored.value.file_path.slice(conversation.length + 1);
      const size = sizeText(bytes.length, words.terminal.files.bytes);
      return answer(`${at} (${size})`, { path: at, bytes: bytes.length, uri: fileUri(conversation, at) });
    },
  }),
];

/** Anybody's name for their own. */
const ownSession = "sess-agent-default";

function isBase64(text: string): boolean {
  return /^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(text);
}

type Picture = { readonly conversation: string; readonly path: string; readonly mimeType: string };

async function readPicture({ mimeType, ...file }: Picture, call: ToolCall) {
  const { client, signal } = call;
  const read = await readWhole(client, file, { bytesMax: pictureBytesMax, signal });
  if (!read.ok) return refused(read.failure);
  const { bytes, size } = read.value;
  if (bytes === undefined) return linkTo({ ...file, bytes: size }, call);
  return { content: [{ type: "image" as const, data: bytes.toString("base64"), mimeType }] };
}

/** What is not shown is named, with where to get it. */
function linkTo(
  file: { readonly conversation: string; readonly path: string; readonly bytes: number },
  { words }: ToolCall,
) {
  const { conversation, path: name, bytes } = file;
  const uri = fileUri(conversation, name);
  const text = words.mcpServer.notShown({ path: name, size: sizeText(bytes, words.terminal.files.bytes) });
  return {
    content: [
      { type: "text" as const, text },
      { type: "resource_link" as const, uri, name, size: bytes },
    ],
    structuredContent: { path: name, bytes, uri },
  };
}

/** Of a text its line; of a document the page, sheet or slide. */
function placeOf({ path: name, line, from }: SearchedFiles["hits"][number], { mcpServer }: ToolCall["words"]): string {
  if (line !== undefined) return `${name}:${line}`;
  if (from?.page !== undefined) return `${name} ${mcpServer.page(from.page)}`;
  if (from?.slide !== undefined) return `${name} ${mcpServer.slide(from.slide)}`;
  return from?.sheet === undefined ? name : `${name} ${from.sheet}`;
}
