import { z } from "zod";
import { UploadedFile } from "./resources.ts";
import { ById, Empty, type Route } from "./route.ts";

export const McpServerInfo = z.object({
  id: z.string(),
  /** `known`: its tools are, from the last time; the first call starts it. */
  state: z.enum(["off", "configured", "known", "starting", "ready", "sign_in_needed", "failed"]),
  /** Why it failed, in the caller's language. */
  reason: z.string().nullable(),
  reachedBy: z.enum(["program", "address"]),
  /** Which generation of the protocol it speaks; null before it was reached. */
  generation: z.enum(["legacy", "modern"]).nullable(),
  tools: z.array(
    z.object({
      /** As agents call it, and as the server does. */
      name: z.string(),
      own: z.string(),
      description: z.string(),
      /** Why no agent has it. */
      left: z.enum(["off", "broken", "name_taken", "too_many"]).nullable(),
    }),
  ),
});
export type McpServerInfo = z.infer<typeof McpServerInfo>;

const McpResource = z.object({
  uri: z.string(),
  name: z.string(),
  description: z.string(),
  mime: z.string().nullable(),
  bytes: z.number().nullable(),
});

const McpPrompt = z.object({
  name: z.string(),
  description: z.string(),
  arguments: z.array(z.object({ name: z.string(), description: z.string(), required: z.boolean() })),
});

const server = z.object({ server: z.string().max(80) });
const text = z.string().max(4_000);

/** The MCP servers whose tools agents may use, as they stand for whoever asks. */
export const mcpRoutes = {
  listMcpServers: {
    method: "GET",
    path: "/api/v1/mcp/servers",
    scope: "chat",
    summary: "The MCP servers of the settings: how they stand, and their tools. Starts none.",
    params: Empty,
    query: Empty,
    body: Empty,
    status: 200,
    failures: [],
    answer: z.object({ items: z.array(McpServerInfo) }),
  },
  restartMcpServer: {
    method: "POST",
    path: "/api/v1/mcp/servers/{server}/restart",
    scope: "admin",
    summary: "End a server and start it again; answered when it runs, or with the reason why it does not.",
    params: server,
    query: Empty,
    body: Empty,
    status: 200,
    failures: ["mcp_server_not_found"],
    answer: McpServerInfo,
  },
  signInToMcpServer: {
    method: "POST",
    path: "/api/v1/mcp/servers/{server}/sign-in",
    scope: "chat",
    summary: "The link under which you sign in to a server that wants to know who asks. It works once.",
    params: server,
    query: Empty,
    body: Empty,
    status: 200,
    failures: ["mcp_server_not_found", "mcp_no_sign_in", "mcp_sign_in_failed", "mcp_server_failed"],
    /** `back`: where the browser is sent afterwards. */
    answer: z.object({ url: z.string(), back: z.string() }),
  },
  signOutOfMcpServer: {
    method: "DELETE",
    path: "/api/v1/mcp/servers/{server}/sign-in",
    scope: "chat",
    summary: "Forget your sign-in at a server.",
    params: server,
    query: Empty,
    body: Empty,
    status: 200,
    failures: ["mcp_server_not_found", "mcp_no_sign_in"],
    answer: McpServerInfo,
  },
  finishMcpSignIn: {
    method: "POST",
    path: "/api/v1/mcp/sign-in",
    scope: "chat",
    hasSecret: true,
    summary: "End a sign-in with the address that the browser was sent back to, where it could not be opened.",
    params: Empty,
    query: Empty,
    body: z.object({ address: text }),
    status: 200,
    failures: ["mcp_sign_in_failed", "mcp_server_not_found"],
    answer: McpServerInfo,
  },
  comeBackFromMcpSignIn: {
    method: "GET",
    path: "/api/v1/mcp/callback",
    scope: "chat",
    summary: "Where the browser comes back to from the sign-in of an MCP server.",
    params: Empty,
    query: z.object({
      state: text.default(""),
      code: text.optional(),
      iss: text.optional(),
      error: text.optional(),
      error_description: text.optional(),
    }),
    body: Empty,
    status: 200,
    givesText: true,
    failures: ["mcp_sign_in_failed", "mcp_server_not_found"],
    answer: z.string(),
  },
  listMcpResources: {
    method: "GET",
    path: "/api/v1/mcp/servers/{server}/resources",
    scope: "chat",
    summary: "What a server has to read; starts it.",
    params: server,
    query: Empty,
    body: Empty,
    status: 200,
    failures: ["mcp_server_not_found", "mcp_server_failed", "mcp_sign_in_needed"],
    answer: z.object({ items: z.array(McpResource) }),
  },
  attachMcpResource: {
    method: "POST",
    path: "/api/v1/conversations/{id}/mcp-resources",
    scope: "files",
    summary: "Put a resource of a server into uploads/ of a conversation, as a file.",
    params: ById,
    query: Empty,
    body: z.object({ server: z.string().max(80), uri: text }),
    status: 201,
    failures: [
      ...["conversation_not_found", "mcp_server_not_found", "mcp_server_failed", "mcp_sign_in_needed"],
      ...["write_failed", "too_large", "quota_exceeded", "unsupported_type"],
    ] as const,
    answer: UploadedFile,
  },
  listMcpPrompts: {
    method: "GET",
    path: "/api/v1/mcp/servers/{server}/prompts",
    scope: "chat",
    summary: "The prompts of a server, which surfaces offer as /server:prompt; starts it.",
    params: server,
    query: Empty,
    body: Empty,
    status: 200,
    failures: ["mcp_server_not_found", "mcp_server_failed", "mcp_sign_in_needed"],
    answer: z.object({ items: z.array(McpPrompt) }),
  },
  fillMcpPrompt: {
    method: "POST",
    path: "/api/v1/mcp/servers/{server}/prompts/{prompt}",
    scope: "chat",
    summary: "A prompt with its arguments filled in, as a text to send.",
    params: server.extend({ prompt: z.string().max(200) }),
    query: Empty,
    body: z.object({ arguments: z.record(z.string().max(200), text).default({}) }),
    status: 200,
    failures: ["mcp_server_not_found", "mcp_server_failed", "mcp_sign_in_needed"],
    answer: z.object({ text: z.string() }),
  },
} as const satisfies Record<string, Route>;
