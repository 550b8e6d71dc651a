import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { bodyBytes, type Mode, type QuirkResponse } from "./quirk-data.ts";

export type AskedRequest = {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
  /** Came to the second listener, where nothing may ever come with a key. */
  readonly isElsewhere: boolean;
};

/** One replay: what it answers, and what happened to it. */
export type Scene = {
  readonly baseUrl: string;
  readonly asked: AskedRequest[];
  /** Waits until no connection of this scene is busy: answered in full, or closed by the client. */
  whenQuiet(): Promise<void>;
};

export type QuirkServer = {
  /** The first request gets the first response, and so on. Whoever listens hears how much time passes without a byte. */
  stage(responses: readonly QuirkResponse[], mode: Mode, onSilence: (ms: number) => void): Scene;
  close(): Promise<void>;
};

type Stage = {
  readonly responses: QuirkResponse[];
  readonly mode: Mode;
  readonly onSilence: (ms: number) => void;
  readonly asked: AskedRequest[];
  readonly busy: Set<Promise<unknown>>;
};

/** Answers byte for byte as an entry says: real sockets, no added charset, no compression, writes as small as asked. */
export async function startQuirkServer(): Promise<QuirkServer> {
  const stages = new Map<string, Stage>();
  const main = createServer((request, response) => void play(request, response, false));
  const other = createServer((request, response) => void play(request, response, true));
  await Promise.all([listen(main), listen(other)]);

  async function play(request: IncomingMessage, response: ServerResponse, isElsewhere: boolean): Promise<void> {
    const id = /^\/scene\/(\d+)\//.exec(request.url ?? "")?.[1] ?? "";
    const stage = stages.get(id);
    if (stage === undefined) return void response.writeHead(404).end();
    response.on("error", () => {});
    const body: unknown = JSON.parse(await text(request));
    stage.asked.push({ method: request.method ?? "", headers: request.headers, body, isElsewhere });
    const answer = stage.responses.shift();
    if (answer === undefined) return void response.writeHead(500).end('{"error":"one request too many"}');
    const isOver = Promise.race([once(response, "finish"), closed(request.socket)]);
    stage.busy.add(isOver);
    const filled = fill(answer, body, `${originOf(main)}/scene/${id}`, `${originOf(other)}/scene/${id}`);
    await writeAnswer(filled, request.socket, response, stage);
  }

  return {
    stage(responses, mode, onSilence) {
      const id = String(stages.size);
      const stage: Stage = {
        responses: [...responses],
        mode,
        onSilence,
        asked: [],
        busy: new Set(),
      };
      stages.set(id, stage);
      return {
        baseUrl: `${originOf(main)}/scene/${id}/v1`,
        asked: stage.asked,
        whenQuiet: async () => void (await Promise.all(stage.busy)),
      };
    },
    async close() {
      await Promise.all([main, other].map((server) => server[Symbol.asyncDispose]()));
    },
  };
}

async function listen(server: Server): Promise<void> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
}

function originOf(server: Server): string {
  const address: AddressInfo | string | null = server.address();
  return typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}` : "";
}

function closed(socket: Socket): Promise<unknown> {
  return socket.destroyed ? Promise.resolve() : once(socket, "close").catch(() => undefined);
}

/** The placeholders of the README. */
function fill(response: QuirkResponse, asked: unknown, origin: string, otherOrigin: string): QuirkResponse {
  const replace = (value: string) =>
    value
      .replace(/\{\{HTTP_DATE\+(\d+)\}\}/g, (_all, seconds) =>
        new Date(Date.now() + Number(seconds) * 1000).toUTCString(),
      )
      .replaceAll("{{ORIGIN}}", origin)
      .replaceAll("{{OTHER_ORIGIN}}", otherOrigin)
      .replace(/\{\{WIRE_NAME:(\d+)\}\}/g, (_all, index) => wireName(asked, Number(index)));
  const headers = Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, replace(value)]));
  return { ...response, headers, body: typeof response.body === "string" ? replace(response.body) : response.body };
}

function wireName(asked: unknown, index: number): string {
  const body = JSON.parse(JSON.stringify(asked));
  return String(body.tools[index].function.name);
}

async function writeAnswer(
  answer: QuirkResponse,
  socket: Socket,
  response: ServerResponse,
  stage: Stage,
): Promise<void> {
  if (answer.end === "reset-before-headers") return void socket.resetAndDestroy();
  const bytes = bodyBytes(answer);
  response.sendDate = false;
  const length = answer.end === "short" ? { "content-length": bytes.length + 100 } : {};
  response.writeHead(answer.status, { ...answer.headers, ...length });
  response.flushHeaders();
  await writePieces(bytes, answer, response, stage);
  if (answer.end === "close") response.end();
  if (answer.end === "hang") stayOpen(response, stage);
  if (answer.end === "reset") socket.resetAndDestroy();
  // Without the flush the last bytes would die with the socket.
  if (answer.end === "short") response.write("", () => socket.destroySoon());
}

/** From now on it says nothing. By its own count: one moment in which nobody got to run is one, however long it was. */
function stayOpen(response: ServerResponse, { onSilence }: Stage): void {
  if (response.destroyed) return;
  const timer = setInterval(() => onSilence(silenceMs), silenceMs);
  response.once("close", () => clearInterval(timer));
}

const silenceMs = 20;

async function writePieces(
  bytes: Buffer,
  answer: QuirkResponse,
  response: ServerResponse,
  stage: Stage,
): Promise<void> {
  let at = 0;
  const write = (length: number) => {
    if (length > 0 && !response.destroyed) response.write(bytes.subarray(at, at + length));
    at += length;
  };
  if (stage.mode === "pieces") {
    for (const piece of answer.pieces ?? [{ rest: true }]) {
      if ("ms" in piece) {
        await sleep(piece.ms);
        stage.onSilence(piece.ms);
      } else write("bytes" in piece ? piece.bytes : bytes.length - at);
    }
    return;
  }
  const size = stage.mode === "whole" ? bytes.length : Number(stage.mode);
  while (at < bytes.length && !response.destroyed) {
    write(Math.min(size, bytes.length - at));
    // Without this turn the client would find the writes merged, and small writes would test nothing.
    if (stage.mode !== "whole") await nextTurn();
  }
}
