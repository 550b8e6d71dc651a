import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { ConversationId, localOwner } from "../../src/protocol/ids.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { type Cut, linesOf } from "./power-cut.ts";
import { type Recording, record } from "./power-cut-record.ts";
import { inStorage } from "./power-cut-storage.ts";

/**
 * What a program is to write. It says each moment on its output: `asks <conversation> <batch> <events>` before, and
 * `acknowledged` with the same words after. The recorder sees both among the calls to the kernel.
 */
export type LogWork = {
  readonly path: string;
  readonly synchronous?: "full" | "normal";
  readonly conversations: number;
  /** For each time the database is opened: how many batches a conversation gets. */
  readonly batches: readonly number[];
  readonly eventBytes: number;
};

/** `prepare`: what lies in the folder of the database beforehand. */
export async function recordLog(
  t: TestContext,
  { prepare, ...work }: Omit<LogWork, "path"> & { readonly prepare?: (path: string) => void },
): Promise<Recording> {
  const folder = mkdtempSync(join(tmpdir(), "power-cut-log-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "data", "sessions.db");
  if (prepare !== undefined) mkdirSync(dirname(path));
  prepare?.(path);
  const parameters = JSON.stringify({ ...work, path } satisfies LogWork);
  const script = join(import.meta.dirname, "..", "crashes", "power-cut-child.ts");
  const recording = await record({ folder, command: [process.execPath, script, parameters] });
  assert.equal(recording.ended.code, 0, recording.ended.errors);
  return recording;
}

type Batch = { readonly moment: number; readonly word: string; readonly name: string; batch: string; count: number };

/**
 * Whether a disk has the logs of a recording. Both are prefixes of what a conversation was asked for: what is there lies between
 * what was acknowledged and that, in whole batches.
 */
export function checkLog(recording: Recording): (cut: Cut) => Promise<void> {
  const said: Batch[] = linesOf(recording).flatMap(({ moment, line }) => {
    const [, word = "", name = "", batch = "", count] = /^(asks|acknowledged) (\S+) (\S+) (\d+)$/.exec(line) ?? [];
    return word === "" ? [] : [{ moment, word, name, batch, count: Number(count) }];
  });
  const names = [...new Set(said.map(({ name }) => name))];
  assert.ok(said.length > 0, "the program told what it did");
  return ({ folder, first, last }) =>
    inStorage(join(folder, "data", "sessions.db"), async (storage) => {
      for (const name of names) {
        const upTo = (word: string, moment: number) =>
          said.filter((one) => one.word === word && one.name === name && one.moment <= moment);
        await checkConversation(storage, name, {
          acknowledged: upTo("acknowledged", last),
          asked: upTo("asks", first),
        });
      }
    });
}

async function checkConversation(
  storage: Storage,
  name: string,
  { acknowledged, asked }: { readonly acknowledged: readonly Batch[]; readonly asked: readonly Batch[] },
): Promise<void> {
  const found = await storage.findConversation(localOwner, ConversationId.parse(name));
  if (found === undefined) return assert.deepEqual(acknowledged, [], `${name} was acknowledged and is gone`);
  assert.ok(asked.length > 0, `${name} was never asked for`);
  const events = await storage.read(found.number, { after: 0, limit: 10_000 });
  const titles = events.map(({ body }) => (/"title":"(\S+ \S+) /.exec(body) ?? [])[1]);
  const wanted = asked.map(({ batch, count }) =>
    Array.from({ length: count }, (_, index) => `${name} ${batch}.${index}`),
  );
  const batches = wanted.findIndex((_, index) => wanted.slice(0, index + 1).flat().length > titles.length);
  const whole = wanted.slice(0, batches === -1 ? wanted.length : batches);
  assert.deepEqual(titles, whole.flat(), `${name}: whole batches in their order, each once`);
  assert.deepEqual(
    events.map(({ seq }) => seq),
    events.map((_, index) => index + 1),
    `${name}: numbered from 1`,
  );
  assert.equal(await storage.headOf(found.number), events.length);
  const lost = acknowledged.slice(whole.length).map(({ batch }) => batch);
  assert.deepEqual(lost, [], `${name}: acknowledged and gone`);
  const body = '{"title":"after the cut"}';
  const next = await storage.append({
    number: found.number,
    events: [{ type: "conversation.renamed", version: 1, at: 1, body }],
  });
  assert.deepEqual(next, { ok: true, value: { lastSeq: events.length + 1 } });
}
