import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { spawn } from "@lydell/node-pty";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import type { Client } from "../../src/client/client.ts";
import { type ClientCommand, type Machine, type Recovery, runCommand } from "../../src/terminal/terminal.ts";
import { type Language, wordsFor } from "../../src/words/words.ts";

/** What a test does at a terminal: looks for text that has not been looked for yet, and types. */
export type Terminal = {
  /** Everything that was written, without escape sequences. */
  text(): string;
  /** As it came. */
  raw(): string;
  /** Resolves with what stands between the last match and the end of this one. */
  waitFor(pattern: string | RegExp): Promise<string>;
  type(keys: string): void;
  /** Types a line, and resolves as `waitFor` does. */
  say(line: string, wanted: string | RegExp): Promise<string>;
};

export const keys = {
  enter: "\r",
  escape: "\u001b",
  interrupt: "\u0003",
  suspend: "\u001a",
  end: "\u0004",
  newline: "\n",
  backspace: "\u007f",
  clear: "\u0015",
  up: "\u001b[A",
  paste: (text: string) => `\u001b[200~${text}\u001b[201~`,
} as const;

/** A folder without settings: what the user of this clone has configured is not the business of a test. */
const noSettings = join(import.meta.dirname, "nowhere");

/** Where the program lies: `npm test` names the package that it has built, a single file runs the sources. */
export const programDir = process.env.AGENTYARD_TESTED_PACKAGE ?? join(import.meta.dirname, "..", "..");
/** The entry of the program. */
export const agentyard = join(programDir, "bin", "agentyard.mjs");

/** The program in a pseudo-terminal of its own, with nothing of this machine's environment. */
export function openPty(options: {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly columns?: number;
  /** A shell script that starts the program as `"$@"`. */
  readonly script?: string;
}): Terminal & { readonly exited: Promise<number>; kill(): void } {
  const { PATH = "" } = process.env;
  const program = [process.execPath, agentyard, ...(options.args ?? [])];
  const command = options.script === undefined ? program : ["/bin/sh", "-c", options.script, "sh", ...program];
  const [file = "", ...args] = command;
  const child = spawn(file, args, {
    name: options.env?.TERM ?? "xterm-256color",
    cols: options.columns ?? 100,
    rows: 40,
    cwd: options.cwd ?? process.cwd(),
    env: {
      PATH,
      TERM: "xterm-256color",
      LANG: "C.UTF-8",
      AGENTYARD_CONFIG: noSettings,
      AGENTYARD_TERMINAL: "plain",
      ...options.env,
    },
  });
  const { promise: exited, resolve } = Promise.withResolvers<number>();
  const seen = makeSeen();
  child.onData((data) => seen.add(data));
  child.onExit(({ exitCode }) => resolve(exitCode));
  return { ...typing(seen.reading, (typed) => child.write(typed)), exited, kill: () => child.kill() };
}

/** A terminal inside the test's own process: the streams that a program would get, and somebody in front of them. */
export function openTestTerminal({ columns = 100 }: { columns?: number } = {}) {
  const seen = makeSeen();
  const errors: string[] = [];
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} });
  const output = Object.assign(
    collect((text) => seen.add(text)),
    { isTTY: true, columns },
  );
  // As from a real terminal: never in the middle of what the program does right now.
  const type = (typed: string) => void setImmediate(() => input.write(typed));
  return { ...typing(seen.reading, type), streams: { input, output, errors: collect((text) => errors.push(text)) } };
}

/** As a command sees it: files are named from here on. */
export type Place = { readonly folder: string; readonly homeDir: string };
/** A folder of its own for who names files; others have none. */
const emptyPlace: Place = { folder: noSettings, homeDir: noSettings };

type ChatSetting = {
  readonly client: Client;
  readonly place?: Place;
  readonly language?: Language;
  readonly command?: Partial<ClientCommand & { name: "chat" }>;
  readonly recovery?: Recovery;
  readonly clock?: Clock;
  readonly machine?: Machine;
};

/** A chat in a terminal of the test's own process; it is left when it is disposed of. */
export function startChat({
  client,
  place,
  language = "en",
  command,
  recovery,
  clock = systemClock,
  machine,
}: ChatSetting) {
  const terminal = openTestTerminal();
  const leave = new AbortController();
  const ended = runCommand(
    { name: "chat", ...command },
    {
      ...{ ...terminal.streams, client, words: wordsFor(language), clock, ids: systemIds, version: "0.0.0", recovery },
      ...{
        logFile: "logs/today.log",
        color: false,
        hasKeys: true,
        leave: leave.signal,
        place: place ?? emptyPlace,
        machine,
      },
    },
  );
  return {
    ...{ ...terminal, ended, leave: () => leave.abort() },
    /** What a line is answered with, up to the next prompt. */
    ask: async (line: string) => (await terminal.say(line, "\nYou> ")).slice(line.length + 1, -"\nYou> ".length),
    /** The id of its conversation, once it is greeted. */
    begin: async () => /[0-9a-f-]{36}/.exec(await terminal.waitFor("You> "))?.[0] ?? "",
    async [Symbol.asyncDispose]() {
      leave.abort();
      await ended;
    },
  };
}

/** The same, once it is greeted. */
export async function openChat(setting: ChatSetting) {
  const chat = startChat(setting);
  await chat.waitFor("You> ");
  return chat;
}

/** Text piped in, output and errors collected. */
export function openTestPipe(text: string) {
  const written = { output: "", errors: "" };
  const input = Object.assign(new PassThrough(), { isTTY: false });
  input.end(text);
  const streams = {
    input,
    output: collect((chunk) => {
      written.output += chunk;
    }),
    errors: collect((chunk) => {
      written.errors += chunk;
    }),
  };
  return { streams, written };
}

/** A command with its input and output in pipes; a chat unless another is given. */
export function runInPipe(
  { streams }: ReturnType<typeof openTestPipe>,
  { client, place = emptyPlace }: { readonly client: Client; readonly place?: Place },
  command: ClientCommand = { name: "chat" },
  leave: AbortSignal = new AbortController().signal,
): Promise<number> {
  return runCommand(command, {
    ...{ ...streams, client, words: wordsFor("en"), clock: systemClock, ids: systemIds, version: "0.0.0" },
    ...{ color: false, hasKeys: true, leave, place },
  });
}

const waitMsMax = 60_000;

/** What was written so far, and who waits for more of it. */
function makeSeen() {
  let raw = "";
  let lookedAt = 0;
  let onNews = () => {};
  const text = () => stripVTControlCharacters(raw).replace(/\r+\n/g, "\n");
  const find = (pattern: string | RegExp): string | undefined => {
    const fresh = text().slice(lookedAt);
    const match = typeof pattern === "string" ? { at: fresh.indexOf(pattern), text: pattern } : search(pattern, fresh);
    if (match.at < 0) return undefined;
    const end = match.at + match.text.length;
    lookedAt += end;
    return fresh.slice(0, end);
  };
  const waitFor = (pattern: string | RegExp) =>
    new Promise<string>((resolve, reject) => {
      const limit = setTimeout(() => {
        onNews = () => {};
        reject(new Error(`“${pattern}” did not appear; on the screen:\n${text().slice(-2000)}`));
      }, waitMsMax);
      onNews = () => {
        const found = find(pattern);
        if (found === undefined) return;
        onNews = () => {};
        clearTimeout(limit);
        resolve(found);
      };
      onNews();
    });
  const add = (data: string) => {
    raw += data;
    onNews();
  };
  return { reading: { text, raw: () => raw, waitFor }, add };
}

function typing(reading: Omit<Terminal, "type" | "say">, type: Terminal["type"]): Terminal {
  const say = (line: string, wanted: string | RegExp) => {
    type(line + keys.enter);
    return reading.waitFor(wanted);
  };
  return { ...reading, type, say };
}

function search(pattern: RegExp, text: string): { at: number; text: string } {
  const match = pattern.exec(text);
  return { at: match?.index ?? -1, text: match?.[0] ?? "" };
}

function collect(add: (text: string) => void): Writable {
  return new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, _encoding, done) {
      add(typeof chunk === "string" ? chunk : Buffer.from(chunk).toString());
      done();
    },
  });
}
