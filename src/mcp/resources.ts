import type { GetPromptResult, Prompt, ReadResourceResult, Resource } from "@modelcontextprotocol/client";
import { ok, type Result } from "../base/result.ts";
import { type Failure, makeFailure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import { getPrompt, listPrompts, listResources, readResource } from "./ask-server.ts";
import { shownResource } from "./call-result.ts";
import type { Line } from "./lines.ts";
import type { Mcp } from "./mcp.ts";
import type { McpServerSettings } from "./settings.ts";

export type McpResource = {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly mime: string | null;
  readonly bytes: number | null;
};
export type McpPrompt = {
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly description: string; readonly required: boolean }[];
};
/** A resource as a file: what it is called, and what is in it. */
export type ResourceFile = { readonly name: string; readonly bytes: Uint8Array };

type Parts = {
  readonly find: (server: string) => McpServerSettings | undefined;
  readonly of: (server: McpServerSettings, owner: OwnerId) => Line;
  readonly notFound: (server: string) => Result<never, Failure>;
};

/** What a server has besides tools: things to read, and prompts to fill in. Each of them is asked for by a person. */
export function openResources({
  find,
  of,
  notFound,
}: Parts): Pick<Mcp, "resources" | "readResource" | "prompts" | "fillPrompt"> {
  const lineTo = (id: string, owner: OwnerId) => {
    const server = find(id);
    return server === undefined ? notFound(id) : ok(of(server, owner).connection);
  };
  return {
    async resources(owner, server, signal) {
      const line = lineTo(server, owner);
      if (!line.ok) return line;
      const found = await line.value.ask((client) => listResources(client, { signal }), { signal, mayRepeat: true });
      return found.ok ? ok(found.value.slice(0, listedMax).map(describeResource)) : found;
    },
    async readResource(owner, { server, uri }, signal) {
      const line = lineTo(server, owner);
      if (!line.ok) return line;
      const read = await line.value.ask((client) => readResource(client, uri, { signal }), { signal, mayRepeat: true });
      return read.ok ? fileOf(server, uri, read.value) : read;
    },
    async prompts(owner, server, signal) {
      const line = lineTo(server, owner);
      if (!line.ok) return line;
      const found = await line.value.ask((client) => listPrompts(client, { signal }), { signal, mayRepeat: true });
      return found.ok ? ok(found.value.slice(0, listedMax).map(describePrompt)) : found;
    },
    async fillPrompt(owner, { server, ...prompt }, signal) {
      const line = lineTo(server, owner);
      if (!line.ok) return line;
      const filled = await line.value.ask((client) => getPrompt(client, prompt, { signal }), {
        signal,
        mayRepeat: true,
      });
      return filled.ok ? ok({ text: promptText(filled.value) }) : filled;
    },
  };
}

const listedMax = 1_000;

function describeResource({ uri, name, title, description, mimeType, size }: Resource): McpResource {
  return { uri, name: title ?? name, description: description ?? "", mime: mimeType ?? null, bytes: size ?? null };
}

function describePrompt({ name, description, arguments: given = [] }: Prompt): McpPrompt {
  return {
    ...{ name, description: description ?? "" },
    arguments: given.map((one) => ({
      ...{ name: one.name, description: one.description ?? "", required: one.required ?? false },
    })),
  };
}

function fileOf(server: string, uri: string, { contents }: ReadResourceResult): Result<ResourceFile, Failure> {
  const [first] = contents;
  if (first === undefined)
    return {
      ok: false,
      failure: makeFailure("mcp_server_failed", { server, why: "refused", said: "nothing is there" }),
    };
  const bytes = "text" in first ? Buffer.from(first.text, "utf8") : Buffer.from(first.blob, "base64");
  return ok({ name: nameOf(uri, first.mimeType), bytes });
}

const endings: Readonly<Record<string, string>> = {
  "text/plain": ".txt",
  "text/markdown": ".md",
  "text/html": ".html",
  "text/csv": ".csv",
  "application/json": ".json",
  "application/pdf": ".pdf",
  "image/png": ".png",
  "image/jpeg": ".jpg",
};
const nameMax = 100;

/** The last part of its address, with the ending of its type where it has none. */
function nameOf(uri: string, mime = ""): string {
  const last =
    uri
      .split(/[?#]/)[0]
      ?.split("/")
      .findLast((part) => part !== "") ?? "";
  const clean =
    last
      .replaceAll(/[^\p{L}\p{N}._ -]/gu, "_")
      .replace(/^\.+/, "")
      .slice(-nameMax) || "resource";
  const ending = endings[mime.split(";")[0]?.trim() ?? ""] ?? (mime.startsWith("text/") ? ".txt" : "");
  return /\.[a-z0-9]{1,8}$/i.test(clean) ? clean : `${clean}${ending}`;
}

/** Most prompts are one message; of several each is named by who says it. Pictures stay behind. */
function promptText({ messages }: GetPromptResult): string {
  const parts = messages.map(({ role, content }) => {
    if (content.type === "text") return { role, text: content.text };
    return { role, text: content.type === "resource" ? shownResource(content.resource, []) : `[${content.type}]` };
  });
  const isOneSided = parts.every(({ role }) => role === "user");
  return parts.map(({ role, text }) => (isOneSided ? text : `${role}: ${text}`)).join("\n\n");
}
