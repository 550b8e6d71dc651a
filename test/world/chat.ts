import assert from "node:assert/strict";
import { z } from "zod";
import { systemClock } from "../../src/base/clock.ts";
import { listen } from "../../src/http/http.ts";
import { ChatDocument, ChatIncrement, ChatMessage } from "../../src/protocol/chat.ts";
import { requestOf, type Sent } from "./sent.ts";
import { startYard, type TestYard, type TestYardOptions } from "./yard.ts";

// A whole yard behind a real port, and a program that chats with it by the chat service's routes.

export type ChatPlace = {
  /** `agent-app` unless said otherwise. */
  readonly service?: string;
  readonly app?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

export type ChatYard = {
  readonly yard: TestYard;
  readonly address: string;
  /** Any call; `json` is sent as JSON. */
  send(method: string, path: string, sent?: Sent): Promise<Reply>;
  /** A call below `/api/{service}/v1/app/{app}`. */
  call(method: string, path: string, json?: unknown, place?: ChatPlace): Promise<Reply>;
  /** A chat whose answer comes at once. */
  chat(body: object, place?: ChatPlace): Promise<ChatDocument>;
  /** The frames of a chat that streams; `path` is `chat/completion` unless said otherwise. */
  stream(body: object, place?: ChatPlace & { readonly path?: string }): Promise<Streamed>;
  upload(conversation: string, name: string, content: string, user?: string): Promise<Reply>;
  [Symbol.asyncDispose](): Promise<void>;
};

export type Reply = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Empty where the answer is none. */
  readonly json: Readonly<Record<string, unknown>>;
};

export type Streamed = {
  readonly status: number;
  readonly headers: Headers;
  readonly frames: AsyncGenerator<unknown, void, undefined>;
  /** Goes away in the middle. */
  leave(): void;
};

export async function startChatYard(options: TestYardOptions = {}): Promise<ChatYard> {
  const yard = await startYard(options);
  const listening = await listen(yard.app, { host: "127.0.0.1", port: 0 }, { clock: systemClock });
  assert(listening.ok);
  const { address, close } = listening.value;
  return {
    ...{ yard, ...chatting(address) },
    async [Symbol.asyncDispose]() {
      await close();
      await yard[Symbol.asyncDispose]();
    },
  };
}

/** The same for a server that is there already. */
export function chatting(address: string): Omit<ChatYard, "yard" | typeof Symbol.asyncDispose> {
  async function send(method: string, path: string, sent: Sent = {}): Promise<Reply> {
    const response = await fetch(`${address}${path}`, requestOf(method, sent));
    const text = await response.text();
    const isJson = /json/.test(response.headers.get("content-type") ?? "") && text !== "";
    return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : {} };
  }
  const call = (method: string, path: string, json?: unknown, place: ChatPlace = {}) =>
    send(method, pathOf(place, path), { json, headers: place.headers ?? {} });
  return {
    ...{ address, send, call },
    async chat(body, place = {}) {
      const reply = await call("POST", "chat/completion", { stream: false, ...body }, place);
      assert.equal(reply.status, 200, reply.text);
      return ChatDocument.parse(reply.json);
    },
    async stream(body, { path = "chat/completion", headers = {}, ...place } = {}) {
      const end = new AbortController();
      const sent = { json: body, headers, signal: end.signal };
      const response = await fetch(`${address}${pathOf(place, path)}`, requestOf("POST", sent));
      const { status } = response;
      return { status, headers: response.headers, frames: framesOf(response), leave: () => end.abort() };
    },
    upload(conversation, name, content, user = "local") {
      const body = new FormData();
      body.append("file", new File([content], name));
      body.append("conversation_id", conversation);
      body.append("subdir", "temparea");
      return send("POST", `/api/v1/sessions/sb-session-${user}/files/upload`, { body });
    },
  };
}

function pathOf({ service = "agent-app", app = "my-agent" }: ChatPlace, path: string): string {
  return `/api/${service}/v1/app/${app}/${path}`;
}

/** The JSON of each frame; comments are passed over. */
export async function* framesOf(response: Response): AsyncGenerator<unknown, void, undefined> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const data = block.split("\n").filter((line) => line.startsWith("data: "));
      if (data.length > 0) yield JSON.parse(data.map((line) => line.slice(6)).join("\n"));
    }
  }
}

/** All frames up to the end of the stream. */
export async function allFrames({ frames }: Pick<Streamed, "frames">): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const frame of frames) all.push(frame);
  return all;
}

/** Frames of changes folded as the service's own clients do it; the last one must be the end. */
export function folded(frames: readonly unknown[], from: unknown = {}): unknown {
  const changes = frames.map((frame) => ChatIncrement.parse(frame));
  assert.equal(changes.at(-1)?.action, "end");
  let root: unknown = structuredClone(from);
  for (const { key, content, action } of changes) if (action !== "end") root = changed(root, key, content, action);
  return root;
}

function changed(
  value: unknown,
  [name, ...below]: readonly (string | number)[],
  content: unknown,
  how: string,
): unknown {
  if (name === undefined) return how === "append" && typeof value === "string" ? value + String(content) : content;
  const holder: Record<string | number, unknown> = Object.assign(Array.isArray(value) ? [] : {}, value);
  holder[name] = changed(holder[name], below, content, how);
  return holder;
}

/** The messages of a conversation, as its detail has them. */
export async function messagesOf(world: Pick<ChatYard, "call">, id: string, place?: ChatPlace): Promise<ChatMessage[]> {
  const reply = await world.call("GET", `conversation/${id}`, undefined, place);
  assert.equal(reply.status, 200, reply.text);
  return z.array(ChatMessage).parse(reply.json.Messages);
}

/** Documents without what differs from one turn to the next. */
export function alike(document: unknown): unknown {
  const text = JSON.stringify(document, (key, value: unknown) => (/_time$|^ttft$|_id$|^id$/.test(key) ? 0 : value));
  return JSON.parse(text.replaceAll(/\d{4}-\d\d-\d\d[T ][\d:.]+Z?/g, "TIME"));
}
