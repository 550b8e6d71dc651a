import type { Writable } from "node:stream";
import type { Client } from "../client/client.ts";
import type { Words } from "../words/words.ts";
import type { OutputStream } from "./console.ts";
import { exitCodes } from "./exit-codes.ts";
import { formatTime } from "./format.ts";
import { asTyped } from "./own-command.ts";
import { safeLine } from "./safe-text.ts";
import { abilities } from "./sandbox-command.ts";

/** Where a server can be reached, and whose data it is. */
export type Listening = {
  readonly address: string;
  readonly dataDir: string;
  /** Other addresses of this machine reach it, too. */
  readonly isEverywhere?: boolean;
};

export type ServeOptions = {
  readonly client: Client;
  readonly words: Words;
  readonly output: OutputStream;
  readonly errors: Writable;
  readonly version: string;
  /** Where it can be reached, and whose data it is. */
  readonly listening: Listening;
  readonly leave: AbortSignal;
  /** Opens an address for who sits before the screen; absent where nobody asked for it. */
  readonly openBrowser?: ((url: string) => void) | undefined;
};

/** Says where the server is, who may call it and how it ends, and stays until it is told to. */
export async function serve(options: ServeOptions): Promise<number> {
  const { words, output, version, listening, leave } = options;
  const { serve: texts } = words.terminal;
  const { address, dataDir: data, isEverywhere = false } = listening;
  const say = (line: string) => output.write(`${asTyped(words, line)}\n`);
  say(texts.listening({ version, address, data, isEverywhere }));
  say(await modelLine(options));
  say(texts.browser({ address }));
  say(texts.docs({ address }));
  const { lines, link = `${address}/` } = await callers(options);
  for (const line of lines) say(line);
  say(texts.terminal({ command: words.command }));
  say(await abilities(options.client, words));
  say(texts.howToEnd());
  if (output.isTTY === true) options.openBrowser?.(link);
  if (!leave.aborted) {
    const { promise, resolve } = Promise.withResolvers<void>();
    leave.addEventListener("abort", () => resolve());
    await promise;
  }
  options.errors.write(`${texts.ending()}\n`);
  return exitCodes.done;
}

const nameCellsMax = 80;

async function modelLine({ client, words }: ServeOptions): Promise<string> {
  const { chat, serve } = words.terminal;
  const listed = await client.call("listModels");
  const base = listed.ok ? listed.value.slots.find(({ slot }) => slot === "base") : undefined;
  if (base === undefined || base.isDemo) return serve.modelDemo();
  return chat.model({ id: safeLine(base.id, nameCellsMax), server: safeLine(base.server, nameCellsMax) });
}

type Callers = { readonly lines: readonly string[]; readonly link?: string };

/** Who may call. A link that signs in is a key: it goes to a screen only, never into a file or a journal. */
async function callers({ client, words, output, listening }: ServeOptions): Promise<Callers> {
  const { serve: texts } = words.terminal;
  const listed = await client.call("listUsers");
  const users = listed.ok ? listed.value.items : [];
  if (users.length === 0) return { lines: [texts.noUsers()] };
  const lines = [texts.users({ count: users.length })];
  const first = users.find(({ isAdmin }) => isAdmin) ?? users[0];
  if (output.isTTY !== true || first === undefined) return { lines };
  const made = await client.call("makeSignInLink", { params: { user: first.id } });
  if (!made.ok) return { lines };
  const link = listening.address + made.value.path;
  return { lines: [...lines, texts.signIn({ link, until: formatTime(made.value.endsAt) })], link };
}
