import { connect } from "node:net";
import { z } from "zod";
import { Problem } from "../../src/protocol/resources.ts";
import type { Dialect, Route } from "../../src/protocol/route.ts";

// A caller who writes what they like: bytes to a port, and what comes back read as HTTP, without a library in between.

export type Sending = {
  readonly method: string;
  /** As it stands in the first line. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  /** Only so much of the body is sent, then the caller is gone. */
  readonly cutAt?: number | undefined;
};

export type Answered = {
  /** 0: there was none. */
  readonly status: number;
  readonly headers: Headers;
  readonly head: string;
  readonly body: Buffer;
  /** It was a stream, or long, and the caller left. */
  readonly isLeft: boolean;
};

/** A stream that says nothing for so long is left. */
const streamSilenceMs = 40;
const bytesMax = 1024 * 1024;
const patienceMs = 30_000;

export function send(port: number, sending: Sending): Promise<Answered> {
  const { promise, resolve } = Promise.withResolvers<Answered>();
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  const chunks: Buffer[] = [];
  let size = 0;
  let isLeft = false;
  let isStream = false;
  let silence: NodeJS.Timeout | undefined;
  const patience = setTimeout(() => socket.destroy(), patienceMs);
  const leave = () => {
    isLeft = true;
    socket.destroy();
  };
  socket.on("data", (data) => {
    const chunk = Buffer.from(data);
    chunks.push(chunk);
    size += chunk.length;
    if (size > bytesMax) return leave();
    isStream ||=
      size < 65_536 && /\r\ncontent-type: text\/event-stream/i.test(Buffer.concat(chunks).toString("latin1"));
    if (!isStream) return;
    clearTimeout(silence);
    silence = setTimeout(leave, streamSilenceMs);
  });
  socket.on("error", () => {}); // The server may close while we still send; what it said before counts.
  socket.on("close", () => {
    clearTimeout(silence);
    clearTimeout(patience);
    resolve(read(Buffer.concat(chunks), isLeft));
  });
  socket.write(headOf(sending));
  const { body, cutAt } = sending;
  if (cutAt === undefined) socket.write(body);
  else socket.write(body.subarray(0, cutAt), () => socket.end());
  return promise;
}

function headOf({ method, target, headers }: Sending): Buffer {
  const lines = [`${method} ${target} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
}

function read(bytes: Buffer, isLeft: boolean): Answered {
  const end = bytes.indexOf("\r\n\r\n");
  const nothing = { status: 0, headers: new Headers(), head: "", body: Buffer.alloc(0), isLeft };
  if (end < 0) return nothing;
  const head = bytes.toString("latin1", 0, end);
  const [first = "", ...lines] = head.split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1] ?? 0);
  const rest = bytes.subarray(end + 4);
  if (status >= 100 && status < 200) return read(rest, isLeft);
  const headers = new Headers();
  for (const line of lines) headers.append(line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim());
  const isChunked = headers.get("transfer-encoding") === "chunked";
  return { status, headers, head, body: isChunked ? joined(rest) : rest, isLeft };
}

/** What came in pieces, each with its length before it. */
function joined(bytes: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf("\r\n", at);
    const length = end < 0 ? 0 : Number.parseInt(bytes.toString("latin1", at, end), 16);
    if (!(length > 0)) break;
    pieces.push(bytes.subarray(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
  return Buffer.concat(pieces);
}

// What an answer may never be, whatever was asked.

export type Judged = {
  readonly route: Route;
  readonly sending: Sending;
  readonly answer: Answered;
  /** What must not stand in any answer, and what not in one for this caller. */
  readonly secrets: readonly string[];
};

/** What is wrong with an answer, in words; empty is good. */
export function faultsIn(judged: Judged): string[] {
  const { answer, sending } = judged;
  if (answer.status === 0) return sending.cutAt === undefined ? ["no answer"] : [];
  return [...statusFaults(judged), ...shapeFaults(judged), ...tellings(judged), ...headerFaults(answer)];
}

/** Our own fault is none that a caller may bring about; what passes says when to come again. */
function statusFaults({ answer, route }: Judged): string[] {
  const { status, headers } = answer;
  if (status < 500) return status >= 200 ? [] : [`status ${status}`];
  const isSaid = [503, 507].includes(status) && route.failures.some((code) => code === codeIn(answer));
  if (!isSaid) return [`status ${status}`];
  return /^\d+$/.test(headers.get("retry-after") ?? "") ? [] : [`status ${status} without Retry-After`];
}

export function codeIn({ body }: Answered): string {
  return /"code":"(\w+)"/.exec(body.toString("utf8", 0, 10_000))?.[1] ?? "";
}

function shapeFaults({ answer, route, sending }: Judged): string[] {
  const { status, headers, body, isLeft } = answer;
  const type = headers.get("content-type") ?? "";
  if (sending.method === "HEAD" || isLeft) return [];
  if (status >= 400) return isProblem(answer, dialectsOf(sending)) ? [] : [`no error of ours: ${type}`];
  if (status === 204 || status === 304) return body.length === 0 ? [] : ["a body where there is none"];
  const isOwn = status === route.status && sending.method === route.method && !isElsewhere(sending.target);
  if (!isOwn || type !== "application/json" || route.givesBytes === true) return [];
  const parsed = route.answer.safeParse(jsonIn(body));
  return parsed.success ? [] : [`the answer is not as described: ${parsed.error.issues[0]?.path.join(".")}`];
}

/** Another route may be meant than the one it was made for. */
function isElsewhere(target: string): boolean {
  return /\.\.|%2e|\/\/|\/\.?(\/|$|\?)|#|^http/i.test(target) || !target.startsWith("/");
}

function dialectsOf({ target }: Sending): Dialect[] {
  if (isElsewhere(target)) return ["own", "chat", "openai", "operators"];
  // What cannot be read as a request at all is refused before anybody looks at its path.
  if (/^\/api\/agent-(app|factory)\//.test(target)) return ["chat", "own"];
  if (target.startsWith("/api/agent-operator-integration/")) return ["operators", "own"];
  return target.startsWith("/v1/") ? ["openai", "own"] : ["own"];
}

/** The answer of the server itself to what is no request, beside the dialect of the path. */
const beforeAnyPath = "request_unreadable";

function isProblem(answer: Answered, dialects: readonly Dialect[]): boolean {
  const json = jsonIn(answer.body);
  const type = answer.headers.get("content-type");
  return dialects.some((dialect, index) => {
    if (dialect === "chat") return type === "application/json" && ChatProblem.safeParse(json).success;
    if (dialect === "openai") return type === "application/json" && OpenAiProblem.safeParse(json).success;
    if (dialect === "operators") return type === "application/json" && OperatorProblem.safeParse(json).success;
    const problem = Problem.safeParse(json).data;
    if (problem === undefined || type !== "application/problem+json") return false;
    const isFirst = index === 0 || dialects.length === 4 || problem.code === beforeAnyPath;
    return isFirst && problem.status === answer.status && problem.title !== problem.code;
  });
}

const ChatProblem = z.object({
  error_code: z.string().regex(/^AgentAPP\.[\w.]+$/),
  description: z.string().min(1),
  solution: z.string(),
  error_link: z.string(),
  error_details: z.union([
    z.string(),
    z.object({ code: z.string(), params: z.record(z.string(), z.unknown()), request_id: z.string() }),
  ]),
});
const OperatorProblem = z.object({
  code: z.string().regex(/^AgentOperatorIntegration\.[A-Za-z]+\.\w+$/),
  description: z.string().min(1),
  solution: z.string(),
  link: z.string(),
  details: z.object({ code: z.string(), params: z.record(z.string(), z.unknown()), request_id: z.string() }),
});
const OpenAiProblem = z.object({
  error: z.object({
    message: z.string().min(1),
    type: z.string().min(1),
    param: z.string().nullable(),
    code: z.string().min(1),
  }),
});

export function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** Where we lie on the machine, how we are built, and what is somebody else's. */
function tellings({ answer, secrets, sending }: Judged): string[] {
  const text = `${answer.head}\n${answer.body.toString("utf8")}`;
  // What stands in the address already is told to nobody: `/root`, where that is our home and the name of a conversation.
  const told = secrets.filter((secret) => text.includes(secret) && !sending.target.includes(secret));
  const built = answer.status >= 400 ? innards.exec(text)?.[0] : undefined;
  return [...told.map((secret) => `tells ${secret}`), ...(built === undefined ? [] : [`tells ${built}`])];
}

const innards = new RegExp(
  [
    /\bat (?:async )?[\w$.<>]+ \((?:file:|node:|\/)/.source,
    /node:internal|node_modules|\.ts:\d+/.source,
    /SQLITE_|\bE(?:NOENT|ACCES|PERM|NAMETOOLONG|INVAL|ISDIR|NOTDIR|EXIST)\b/.source,
    /\b(?:Type|Range|Syntax|Reference|Zod)Error\b/.source,
  ].join("|"),
);

function headerFaults({ headers, status }: Answered): string[] {
  const location = headers.get("location") ?? "/";
  return [
    ...(/^\/(?!\/)/.test(location) ? [] : [`sends elsewhere: ${location}`]),
    ...(headers.get("set-cookie")?.includes("a=b") ? ["a header was smuggled in"] : []),
    ...(headers.has("x-request-id") || [400, 408, 431].includes(status) ? [] : ["no request id"]),
  ];
}
