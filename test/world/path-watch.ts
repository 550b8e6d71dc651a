import { existsSync, globSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Config } from "../../src/config/config.ts";

// Where we lie on the machine is nobody's business [Q1]: whatever a test makes the product say is read along.

type AnyFetch<Input extends unknown[]> = (...input: Input) => Response | Promise<Response>;

/** Watches one data directory for the length of a test: all that `fetch` answers is read along. */
export function watchPaths({ data }: { readonly data: string }) {
  const needles = spellingsOf(data);
  const leaks: string[] = [];
  return {
    fetch: <Input extends unknown[]>(inner: AnyFetch<Input>) => readAlong(inner, needles, (leak) => leaks.push(leak)),
    /** To be called when the yard is closed: throws where a host path stood in an answer or stands in what was stored. */
    check({ config: { paths } }: { readonly config: Pick<Config, "paths"> }) {
      const stored = leaksInStore({ data, databasePath: paths.sessionDbPath, logsFolder: paths.logsDir });
      const all = [...leaks, ...stored];
      if (all.length > 0) throw new Error(`a host path was given away:\n${all.slice(0, 10).join("\n")}`);
    },
  };
}

/** For a yard that another process had: its database, its log files, and what we wrote into workspaces. */
export function leaksInStore(store: { data: string; databasePath?: string; logsFolder?: string }): string[] {
  const { data, databasePath = join(data, "sessions.db"), logsFolder = join(data, "logs") } = store;
  const needles = spellingsOf(data);
  const files = [
    ...globSync("*.log", { cwd: logsFolder }).map((name) => join(logsFolder, name)),
    ...globSync("workspace*/*/.metadata.json", { cwd: data }).map((name) => join(data, name)),
  ];
  return [
    ...(existsSync(databasePath) ? leaksInDatabase(databasePath, needles) : []),
    ...files.flatMap((file) => leaksIn(file.slice(file.lastIndexOf("/") + 1), readFileSync(file), needles)),
  ];
}

/** The fetch as before; `onLeak` hears where a needle stands in the headers or the body of an answer. */
function readAlong<Input extends unknown[]>(
  inner: AnyFetch<Input>,
  needles: readonly Buffer[],
  onLeak: (leak: string) => void,
): (...input: Input) => Promise<Response> {
  const tailBytes = Math.max(...needles.map(({ length }) => length)) - 1;
  return async (...input) => {
    const { body, status, headers } = await inner(...input);
    const request = input[0];
    const where = `the answer to ${request instanceof Request ? `${request.method} ${request.url}` : String(request)}`;
    const look = (bytes: Buffer) => leaksIn(where, bytes, needles).forEach(onLeak);
    look(Buffer.from([...headers].join("\n")));
    if (body === null) return new Response(null, { status, headers });
    let tail = Buffer.alloc(0);
    const seen = passOn(body, (chunk) => {
      const joined = Buffer.concat([tail, chunk]);
      look(joined);
      tail = joined.subarray(Math.max(0, joined.length - tailBytes));
    });
    return new Response(seen, { status, headers });
  };
}

/** As it stands in texts, in JSON and in addresses; and where it really lies. */
function spellingsOf(path: string): Buffer[] {
  const paths = [path, ...(existsSync(path) ? [realpathSync(path)] : [])];
  const spellings = paths.flatMap((one) => [one, JSON.stringify(one).slice(1, -1), encodeURIComponent(one)]);
  return [...new Set(spellings)].map((spelling) => Buffer.from(spelling));
}

function leaksIn(where: string, bytes: Buffer, needles: readonly Buffer[]): string[] {
  return needles.flatMap((needle) => {
    const at = bytes.indexOf(needle);
    return at < 0 ? [] : [`${where}: …${bytes.toString("utf8", Math.max(0, at - 60), at + needle.length + 40)}…`];
  });
}

/** Every value of every table: events and blobs, and whatever a later migration adds. */
function leaksInDatabase(path: string, needles: readonly Buffer[]): string[] {
  using database = new DatabaseSync(path, { readOnly: true });
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  return tables.flatMap(({ name }) =>
    database
      .prepare(`SELECT * FROM "${name}"`)
      .all()
      .flatMap((row) =>
        Object.entries(row).flatMap(([column, value]) =>
          typeof value === "string" || value instanceof Uint8Array
            ? leaksIn(`the database, ${name}.${column}`, Buffer.from(value), needles)
            : [],
        ),
      ),
  );
}

/** Takes no more from the body than its reader does. */
function passOn(body: ReadableStream<Uint8Array>, see: (chunk: Uint8Array) => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        see(value);
        controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
