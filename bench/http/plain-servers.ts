/**
 * What everything is held against, each in a process of its own: a model that says what it is told to, a relay that
 * hands on its bytes, and a sink that puts what it gets on the disk. `node plain-servers.ts model|relay|sink [argument]`
 * prints its port.
 */
import { rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** Stands as JSON in the newest message of the user. */
export type Order = {
  readonly pieces: number;
  readonly bytes: number;
  readonly firstMs: number;
  readonly paceMs: number;
};

type Serve = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;
const [, , role = "", argument = ""] = process.argv;
const roles: Readonly<Record<string, Serve>> = { model, relay, sink };
const serve = roles[role];
if (serve !== undefined) {
  const server = createServer((incoming, outgoing) => void serve(incoming, outgoing).catch(() => outgoing.destroy()));
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (isPort(address)) console.log(address.port);
  });
}

function isPort(address: AddressInfo | string | null): address is AddressInfo {
  return address !== null && typeof address !== "string";
}

async function model(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const text = await textOf(incoming);
  if (incoming.method === "GET") return void outgoing.end(JSON.stringify({ data: [{ id: "bench" }] }));
  const { pieces, bytes, firstMs, paceMs } = orderIn(text);
  outgoing.writeHead(200, { "content-type": "text/event-stream" });
  if (firstMs > 0) await sleep(firstMs);
  const piece = event({ choices: [{ index: 0, delta: { content: "x".repeat(bytes) } }] });
  for (let sent = 0; sent < pieces && !outgoing.destroyed; sent += 1) {
    if (paceMs > 0 && sent > 0) await sleep(paceMs);
    if (!outgoing.write(piece)) await new Promise((resolve) => outgoing.once("drain", resolve).once("close", resolve));
  }
  outgoing.write(event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }));
  outgoing.end(`${event({ choices: [], usage: { prompt_tokens: 10, completion_tokens: pieces } })}data: [DONE]\n\n`);
}

function event(body: object): string {
  return `data: ${JSON.stringify({ id: "b", object: "chat.completion.chunk", model: "bench", ...body })}\n\n`;
}

function orderIn(text: string): Order {
  const found = /\{\\"pieces\\":.*?\}/g;
  const last = text.match(found)?.at(-1) ?? String.raw`{\"pieces\":1,\"bytes\":2,\"firstMs\":0,\"paceMs\":0}`;
  const order: Order = JSON.parse(last.replaceAll(String.raw`\"`, '"'));
  return order;
}

async function relay(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const onward = request(argument, { method: "POST", headers: { "content-type": "application/json" } }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, { "content-type": "text/event-stream" });
    answer.pipe(outgoing);
  });
  incoming.pipe(onward);
}

/** Bytes to a file, on the disk before it answers. */
async function sink(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const path = `${argument}/sink-${process.pid}`;
  const file = await open(path, "w");
  for await (const chunk of incoming) await file.write(chunk);
  await file.sync();
  await file.close();
  rmSync(path);
  outgoing.end("{}");
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of incoming) text += chunk;
  return text;
}
