import type { IncomingMessage } from "node:http";

// What the scripted model says and sees, in no format's spelling; each wire format writes and reads it in its own.

export type Answer = {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly { readonly id?: string; readonly name: string; readonly arguments: string }[];
  /** As the format spells it. */
  readonly finish?: string;
  /** In the words of chat completions; `cached` and `reasoning` beside them. */
  readonly usage?: Readonly<Record<string, number>> | null;
  /** A refusal, as a server of this format words it. */
  readonly refuses?: Refusal;
  /** Another status, with its body and headers. */
  readonly status?: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes per write; 0 writes all at once. */
  readonly splitBytes?: number;
  /**
   * After this many parts of the stream (its opening is one, so is each word): say nothing more (`stall`), only pings, drop
   * the socket (`break`), or say that something went wrong (`error`).
   */
  readonly fault?: { readonly after: number; readonly kind: "stall" | "ping" | "break" | "error" };
  /** Milliseconds between events. */
  readonly paceMs?: number;
  /** Milliseconds before the first one. */
  readonly waitMs?: number;
  /** It is asked, and says nothing before this: the test decides what happens meanwhile. */
  readonly heldUntil?: Promise<void>;
  /** The same before each part of the stream, the opening being the first: how far it has come is for the test to say. */
  readonly heldAt?: (part: number) => Promise<void> | undefined;
};

export type Refusal = "overloaded" | "overflow" | "rate limit" | "key";

/** What a request tells the model. */
export type Seen = {
  readonly system: string;
  readonly tools: readonly string[];
  /** How it may use them, where the request says so: `auto`, `none`, `required`, or the name of one. */
  readonly toolChoice: string | undefined;
  readonly messages: readonly SeenMessage[];
};

export type SeenMessage =
  | { readonly role: "user"; readonly text: string; readonly images: number }
  | {
      readonly role: "assistant";
      readonly text: string;
      /** Names and arguments. */
      readonly calls: readonly string[];
      /** What the server had sealed and got back. */
      readonly sealed: readonly string[];
    }
  | { readonly role: "tool"; readonly text: string };

/** A request as it arrived. */
export type Arrived = { readonly path: string; readonly headers: IncomingMessage["headers"]; readonly body: unknown };

/** One of the formats in which models are asked. */
export type Wire = {
  readonly api: "chat" | "responses" | "anthropic" | "google";
  /** A model that is reached this way, so that its family's profile counts. */
  readonly model: string;
  /** Of the base URL. */
  readonly basePath: string;
  open(): WireServer;
};

/** A server of one format, with the memory of what it handed out. */
export interface WireServer {
  isStream(request: Arrived): boolean;
  /** Why a strict server refuses the request; undefined where it takes it. */
  complaint(request: Arrived): string | undefined;
  seen(body: unknown): Seen;
  /** The messages of a request, byte for byte. */
  messageBytes(text: string): string;
  /** A stream, part by part: its opening, each word, each half of a call, its end. */
  stream(answer: Answer, number: number): readonly string[];
  whole(answer: Answer, number: number): object;
  /** What goes wrong in the middle of a stream. */
  streamError(): string;
  refusal(why: Refusal | { readonly complaint: string }): Pick<Answer, "status" | "body" | "headers">;
}

export function wordsOf(text: string): string[] {
  return text.match(/\S+\s*|\s+/g) ?? [];
}

export function eventOf(value: object, name?: string): string {
  return `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(value)}\n\n`;
}

/** The tokens that an answer is said to have cost. */
export function costOf({ usage }: Answer): { input: number; output: number; cached: number; reasoning: number } {
  const { prompt_tokens: input = 100, completion_tokens: output = 10, cached = 0, reasoning = 0 } = usage ?? {};
  return { input, output, cached, reasoning };
}

/** The text between the opening bracket behind `name` and the one that closes it. */
export function insideOf(text: string, name: string): string {
  const start = text.indexOf(name) + name.length;
  let depth = 1;
  let isString = false;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (isString && character === "\\") at += 1;
    else if (character === '"') isString = !isString;
    else if (!isString && (character === "[" || character === "{")) depth += 1;
    else if (!isString && (character === "]" || character === "}") && --depth === 0) return text.slice(start, at);
  }
  return text.slice(start);
}
