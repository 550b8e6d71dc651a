import { systemClock } from "./base/clock.ts";
import { systemIds } from "./base/ids.ts";
import { createClient } from "./client/client.ts";
import { type ClientCommand, type CommandParts, exitCodes, runCommand } from "./terminal/terminal.ts";
import type { Language } from "./words/words.ts";

type Given = "input" | "output" | "errors" | "words" | "version" | "color" | "hasKeys" | "rich" | "machine";
type Remote = Pick<CommandParts, Given> & {
  readonly url: string;
  /** An API key of the server's, where it knows users. */
  readonly key: string | undefined;
  readonly language: Language;
};

/** A command as a client of a server elsewhere: no data directory, no engine, nothing of this machine but its terminal. */
export async function useServer(command: ClientCommand, remote: Remote): Promise<number> {
  const { url, key, language, ...parts } = remote;
  const leave = new AbortController();
  for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"] as const)
    process.on(signal, () => {
      // Said twice: nobody wants to wait for an answer from far away.
      if (leave.signal.aborted) process.exit(exitCodes.interrupted);
      leave.abort(signal);
    });
  const client = createClient({
    ...{ fetch: (address, init) => fetch(address, init), baseUrl: url.replace(/\/+$/, "") },
    ...{ key, language, clock: systemClock, newKey: systemIds.uuid },
  });
  return runCommand(command, { ...parts, client, clock: systemClock, ids: systemIds, leave: leave.signal });
}
