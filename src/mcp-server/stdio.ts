import type { Readable, Writable } from "node:stream";
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Clock } from "../base/clock.ts";
import { parsedJson } from "../base/json.ts";
import { mcpLimits } from "./limits.ts";
import { makeServer } from "./make-server.ts";
import { Offer } from "./offer.ts";
import { rpcFault } from "./rpc.ts";
import type { Visitor } from "./visitor.ts";

type StdioParts = {
  readonly input: Readable;
  readonly output: Writable;
  readonly visitor: Visitor;
  readonly version: string;
  readonly log: ConstructorParameters<typeof Offer>[0]["log"];
};

/** Serves one client over standard input and output, until it closes its end or this process is told to leave. */
export async function serveOverStdio({ input, output, visitor, version, log }: StdioParts): Promise<void> {
  const { closing, clock } = visitor;
  const offer = new Offer({ log, usual: visitor });
  const ended = Promise.withResolvers<void>();
  const lines = lineTransport({ input, output, clock, onEnd: ended.resolve });
  const served = serveStdio(() => makeServer(version, offer), { transport: lines });
  const leave = () => ended.resolve();
  closing.addEventListener("abort", leave);
  if (closing.aborted) leave();
  await ended.promise;
  closing.removeEventListener("abort", leave);
  await served.close();
  // What was cut off stops its turn, or lets it go on where this process leaves.
  await offer.settled();
}

/** What was asked before the input ended is still answered, as scripts that only write a few lines expect. */
const lastAnswersMs = 2_000;

type Lines = { readonly input: Readable; readonly output: Writable; readonly clock: Clock; readonly onEnd: () => void };

/**
 * A message in each line. The library's own transport copies all it has with every piece, is silent about lines that it
 * cannot read, and gives up at the first one that is too long.
 */
function lineTransport({ input, output, clock, onEnd }: Lines): Transport {
  const unanswered = new Set<unknown>();
  let isEnding = false;
  let isClosed = false;
  const close = async () => {
    if (isClosed) return;
    isClosed = true;
    input.off("data", take);
    input.pause();
    transport.onclose?.();
    onEnd();
  };
  const closeWhenAnswered = () => {
    if (isEnding && unanswered.size === 0) void close();
  };
  const transport: Transport = {
    async start() {
      input.on("data", take);
      input.once("end", () => {
        isEnding = true;
        clock.after(lastAnswersMs, () => void close());
        closeWhenAnswered();
      });
      input.once("error", () => void close());
      output.once("error", () => void close());
    },
    async send(message) {
      if (isClosed) return;
      await write(output, message);
      if ("id" in message && !("method" in message)) unanswered.delete(message.id);
      closeWhenAnswered();
    },
    close,
  };
  const take = openLines(mcpLimits.lineBytesMax, (line) => {
    const message = line === undefined ? undefined : parsedJson(line);
    if (isMessage(message)) {
      if (isJSONRPCRequest(message)) unanswered.add(message.id);
      transport.onmessage?.(message);
      return;
    }
    void write(output, rpcFault(faultOf(line, message)));
  });
  return transport;
}

function faultOf(line: string | undefined, message: unknown) {
  if (line === undefined)
    return { code: -32_600, message: `Invalid Request: a message must not exceed ${mcpLimits.lineBytesMax} bytes` };
  if (message === undefined) return { code: -32_700, message: "Parse error: each line must be one message of JSON" };
  return { code: -32_600, message: "Invalid Request: each line must be one JSON-RPC 2.0 message" };
}

function isMessage(value: unknown): value is JSONRPCMessage {
  return isJSONRPCRequest(value) || isJSONRPCNotification(value) || isJSONRPCResponse(value);
}

/** Resolves also where nobody reads any more: then the input ends, or the output says so. */
function write(output: Writable, message: object): Promise<void> {
  return new Promise((resolve) => {
    output.write(`${JSON.stringify(message)}\n`, () => resolve());
  });
}

/** `undefined` in the place of a line that is longer than that. */
function openLines(bytesMax: number, onLine: (line: string | undefined) => void): (chunk: Buffer) => void {
  let pieces: Buffer[] = [];
  let sizeBytes = 0;
  const add = (piece: Buffer) => {
    sizeBytes += piece.length;
    if (sizeBytes > bytesMax) pieces = [];
    else pieces.push(piece);
  };
  return (chunk) => {
    let from = 0;
    for (let at = chunk.indexOf(newLine); at >= 0; at = chunk.indexOf(newLine, from)) {
      add(chunk.subarray(from, at));
      const line = sizeBytes > bytesMax ? undefined : Buffer.concat(pieces).toString("utf8");
      [pieces, sizeBytes, from] = [[], 0, at + 1];
      if (line === undefined || line.trim() !== "") onLine(line);
    }
    add(chunk.subarray(from));
  };
}

const newLine = 0x0a;
