import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { createClient } from "../../src/client/client.ts";
import { type RouteName, routes } from "../../src/protocol/routes.ts";
import { waitingIn } from "./decisions.ts";
import { all, until } from "./events.ts";
import type { ModelServer } from "./model-server.ts";
import { must, type TestYard } from "./yard.ts";

/** One request of a creating route, made new for each scenario, and what there is to be counted of it. */
export type CreatingCall = {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, the bytes of a file, or a form that has another boundary each time. */
  readonly body?: object | Uint8Array | (() => FormData);
  /** What it made: one thing. */
  readonly things: (yard: TestYard) => Promise<readonly unknown[]>;
  /** It is refused here, or has nothing to do: nothing is made. */
  readonly makesNothing?: true;
  /** A secret that is shown once: a repeat is told all but this. */
  readonly secret?: string;
  /** Where the first answer was lost, a repeat can only say that nothing is left to do. */
  readonly lostAs?: number;
};

type World = { readonly yard: TestYard; readonly model: ModelServer; readonly tag: string };
type MakeCall = (world: World) => Promise<CreatingCall>;

export const creatingRoutes: readonly RouteName[] = Object.entries(routes).flatMap(([name, route]) =>
  "creates" in route && isRoute(name) ? [name] : [],
);

function isRoute(name: string): name is RouteName {
  return Object.hasOwn(routes, name);
}

/** In a conversation of that name. */
function within(make: (id: string, tag: string) => CreatingCall): MakeCall {
  return async ({ yard, tag }) => make(await conversation(yard, tag), tag);
}

const conversations: Record<string, MakeCall> = {
  createConversation: async ({ tag }) => ({
    ...post("/api/v1/conversations", { title: tag }),
    things: (yard) => titled(yard, tag),
  }),
  branchConversation: within((id, tag) => ({
    ...post(`/api/v1/conversations/${id}/branch`, {}),
    things: async (now) => (await titled(now, tag)).slice(1),
  })),
  saveCheckpoint: within((id, tag) => ({
    ...post(`/api/v1/conversations/${id}/checkpoints`, { name: tag }),
    things: async (now) => (await must(now.client.call("listCheckpoints", { params: { id } }))).items,
  })),
  sendMessage: within((id, tag) => ({
    ...post(`/api/v1/conversations/${id}/messages`, { text: tag }),
    things: (now) => messagesIn(now, id),
  })),
  sayAgain: async ({ yard, tag }) => {
    const { conversation: id } = await yard.ask(`say ${tag}`, { conversation: await conversation(yard, tag) });
    const [said] = await messagesIn(yard, id);
    return {
      ...post(`/api/v1/conversations/${id}/messages/${said?.id}/again`, { text: tag }),
      things: async (now) => (await messagesIn(now, id)).slice(1),
    };
  },
  decide: async ({ yard, tag }) => {
    const { conversation: id } = await yard.ask(`pay ${tag}`, { conversation: await conversation(yard, tag) });
    const [decision] = await waitingIn(yard, id);
    return {
      ...post(`/api/v1/conversations/${id}/decisions/${decision?.id}`, { verdict: "reject", reason: tag }),
      things: async (now) => (await now.events(id)).filter(({ type }) => type === "decision.made"),
    };
  },
  compactConversation: within((id) => ({
    ...post(`/api/v1/conversations/${id}/compact`, {}),
    things: async (now) => (await now.events(id)).filter(({ type }) => type === "compacted"),
    makesNothing: true,
  })),
  addMemory: async ({ tag }) => ({
    ...post("/api/v1/memory", { fact: tag }),
    things: async (yard) => (await must(yard.client.call("listMemory", {}))).items.filter(({ fact }) => fact === tag),
  }),
};

const files: Record<string, MakeCall> = {
  uploadFile: within((id, tag) => ({
    ...put(`/api/v1/conversations/${id}/files/uploads/a.txt?keep=true`, tag),
    things: (now) => filesIn(now, id, "uploads"),
  })),
  putSandboxFile: async ({ yard, tag }) => {
    const id = await conversation(yard, tag);
    const path = `/api/v1/sessions/sess-local/files/uploads/temparea/a.txt?conversation_id=${id}&keep=true`;
    return { ...put(path, tag), things: (now) => filesIn(now, id, "uploads/temparea") };
  },
  uploadSandboxFile: async ({ yard, tag }) => {
    const id = await conversation(yard, tag);
    const form = () => {
      const data = new FormData();
      data.set("conversation_id", id);
      data.set("file", new Blob([tag]), "a.txt");
      return data;
    };
    return {
      ...{ method: "POST", path: "/api/v1/sessions/sess-local/files/upload?keep=true", body: form },
      things: (now) => filesIn(now, id, "uploads/temparea"),
    };
  },
  createUpload: async ({ yard, tag }) => {
    const id = await conversation(yard, tag);
    const metadata = Object.entries({ filename: `${tag}.txt`, conversation_id: id })
      .map(([name, value]) => `${name} ${Buffer.from(value).toString("base64")}`)
      .join(",");
    return {
      ...post("/api/v1/sessions/sess-local/files/uploads", undefined),
      headers: { "tus-resumable": "1.0.0", "upload-length": "5", "upload-metadata": metadata },
      things: async (now) => {
        const folder = join(now.data, "incoming");
        const notes = (await readdir(folder)).filter((name) => name.endsWith(".json"));
        const texts = await Promise.all(notes.map((name) => readFile(join(folder, name), "utf8")));
        return texts.filter((text) => text.includes(`"${tag}.txt"`));
      },
    };
  },
  restoreTrash: async ({ yard, tag }) => {
    // Of a user of their own: others keep their files.
    const client = createClient({ fetch: yard.fetch, actsAs: tag });
    const { id } = await must(client.call("createConversation", { body: {} }));
    await must(client.upload(id, "a.txt", Buffer.from(tag)));
    // What is in use stays where it is, and a sandbox may just be made for it.
    await until("the files are in the trash", async () => {
      await must(client.call("cleanWorkspaces", { body: { days: 0 } }));
      return (await must(client.call("listTrash", {}))).items.length > 0;
    });
    const [trash] = (await must(client.call("listTrash", {}))).items;
    return {
      ...post(`/api/v1/workspaces/trash/${trash?.id}/restore`, {}),
      headers: { "x-account-id": tag },
      things: (now) => filesIn({ client: createClient({ fetch: now.fetch, actsAs: tag }) }, id, "uploads"),
      lostAs: 404,
    };
  },
};

const sandboxes: Record<string, MakeCall> = {
  createSession: async ({ tag }) => ({
    ...post("/api/v1/sessions", { user_id: tag }),
    things: async (yard) => (await asUser(yard, tag, "GET", "/api/v1/sessions")).items,
  }),
  installDependencies: async ({ yard, tag }) => {
    await asUser(yard, tag, "POST", "/api/v1/sessions", { user_id: tag });
    const wanted = { dependencies: [{ name: "left-pad" }] };
    const path = `/api/v1/sessions/sess-${tag}/dependencies/install`;
    return { ...post(path, wanted), things: async () => [], makesNothing: true };
  },
  execute: async ({ tag }) => execution(tag, "execute"),
  executeSync: async ({ tag }) => execution(tag, "execute-sync"),
};

const chats: Record<string, MakeCall> = {
  chatCompletion: async (world) => chat(world, "/api/agent-app/v1/app/general/chat/completion"),
  debugCompletion: async (world) => {
    const call = await chat(world, "/api/agent-factory/v1/app/general/debug/completion");
    const { query, ...body } = call.body;
    return { ...call, body: { ...body, input: { query } } };
  },
  apiChatCompletion: async (world) => chat(world, "/api/agent-app/v1/app/general/api/chat/completion"),
  plainChatCompletion: async (world) => chat(world, "/api/agent-factory/v1/api/chat/completion"),
  createChatConversation: async ({ tag }) => ({
    ...post("/api/agent-app/v1/app/general/conversation", { title: tag }),
    things: (yard) => titled(yard, tag),
  }),
  createChatCompletion: async ({ model, tag }) => ({
    ...post("/v1/chat/completions", { model: "general", messages: [{ role: "user", content: tag }] }),
    things: async () => asked(model, tag),
  }),
  createResponse: async ({ model, tag }) => ({
    ...post("/v1/responses", { model: "general", input: tag }),
    things: async () => asked(model, tag),
  }),
};

const users: Record<string, MakeCall> = {
  addUser: async ({ tag }) => ({
    ...post("/api/v1/users", { id: tag, name: tag }),
    things: async (yard) => (await must(yard.client.call("listUsers", {}))).items.filter(({ id }) => id === tag),
  }),
  addKey: async ({ yard, tag }) => {
    await must(yard.client.call("addUser", { body: { id: tag, name: tag } }));
    return {
      ...post(`/api/v1/users/${tag}/keys`, { name: tag, scopes: ["chat"] }),
      things: async (now) => (await must(now.client.call("listKeys", { params: { user: tag } }))).items,
      secret: "key",
    };
  },
};

/** One for each creating route of the table; one that is missing here is a test that fails. */
export const creatingCalls: Readonly<Record<string, MakeCall>> = {
  ...conversations,
  ...files,
  ...sandboxes,
  ...chats,
  ...users,
  createToolBox: async ({ tag }) => ({
    ...post("/api/agent-operator-integration/v1/tool-box", {
      ...{ metadata_type: "openapi", box_name: tag, box_svc_url: "https://api.example.com" },
    }),
    things: async (yard) => {
      const { data } = await must(yard.client.call("listToolBoxes", { query: { all: true } }));
      return data.filter(({ box_name }) => box_name === tag);
    },
  }),
};

function post(path: string, body: object | undefined) {
  return { method: "POST", path, ...(body !== undefined && { body }) };
}

function put(path: string, text: string) {
  return { method: "PUT", path, body: new TextEncoder().encode(text) };
}

async function conversation(yard: TestYard, title: string): Promise<string> {
  return (await must(yard.client.call("createConversation", { body: { title } }))).id;
}

async function titled(yard: TestYard, title: string) {
  const { items } = await must(yard.client.call("listConversations", { query: { limit: 200 } }));
  return items.filter((one) => one.title === title);
}

async function messagesIn(yard: TestYard, id: string) {
  return all(await yard.events(id), "message.user");
}

async function filesIn(yard: Pick<TestYard, "client">, id: string, path: string) {
  const { items } = await must(yard.client.call("listFiles", { params: { id }, query: { path } }));
  return items.filter(({ type }) => type === "file");
}

const Items = z.object({ items: z.array(z.unknown()).default([]) });

async function asUser(yard: TestYard, user: string, method: string, path: string, body?: object) {
  const response = await yard.fetch(`http://localhost${path}`, {
    method,
    headers: { "x-account-id": user, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  assert.ok(response.ok, await response.clone().text());
  return Items.parse(await response.json());
}

function execution(tag: string, how: string): CreatingCall {
  return {
    ...post(`/api/v1/executions/sessions/sess-${tag}/${how}`, { code: "print('once')", language: "python" }),
    things: async (yard) =>
      (await asUser(yard, tag, "GET", `/api/v1/executions/sessions/sess-${tag}/executions`)).items,
  };
}

async function chat({ model, tag }: World, path: string) {
  const body = { query: tag, conversation_id: tag, agent_id: "general", agent_key: "general", stream: false };
  return { ...post(path, body), body, things: async () => asked(model, tag) };
}

/** How often a model was asked about it. */
function asked(model: ModelServer, tag: string) {
  return model.asked.filter(({ text }) => text.includes(tag));
}
