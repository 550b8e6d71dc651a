/**
 * AgentYard itself: the loop, the log and the SQLite storage as the product wires them, with durable writes.
 * `open` runs the scripted work; `openAppends` and `openReopening` serve the two measures that only a log has.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { z } from "zod";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { ok } from "../../src/base/result.ts";
import { type Config, loadConfig } from "../../src/config/config.ts";
import { requestOf } from "../../src/context/context.ts";
import { openLog } from "../../src/log/log.ts";
import { openLogs } from "../../src/observe/observe.ts";
import type { NewEvent } from "../../src/protocol/events.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import type { ConversationRow, Storage } from "../../src/storage/storage.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { openYard, type Yard } from "../../src/yard.ts";
import { noSandbox } from "../../test/world/sandbox.ts";
import type { OpenAppends } from "./appends.ts";
import type { OpenReopening } from "./reopening.ts";
import { fullText, lookUp, modelName } from "./script.ts";
import type { OpenVariant } from "./variant.ts";

const database = "sessions.db";

export const open: OpenVariant = async ({ modelUrl, folder }) => {
  const config = await configFor(folder, modelUrl);
  const stepsLeft = new Map<string, { left: number; done: () => void }>();
  const tool = defineTool({
    name: lookUp.name,
    description: lookUp.description,
    class: "pure",
    input: z.object({ topic: z.string(), page: z.number() }),
    run(_, { key }) {
      const work = stepsLeft.get(key.split("/", 1)[0] ?? "");
      if (work !== undefined) work.left -= 1;
      work?.done();
      return ok({ text: lookUp.result });
    },
  });
  const logger = openLogs({
    dir: folder,
    level: "info",
    clock: systemClock,
    startId: "bench",
    pid: process.pid,
    secrets: [],
    onOff: () => {},
  });
  const parts = { clock: systemClock, ids: systemIds, random: () => 0.5 };
  const yard = await openYard({
    config,
    storage: storageIn(folder),
    sandbox: noSandbox(),
    logger,
    version: "bench",
    tools: [tool],
    ...parts,
  });
  return {
    async run(work) {
      const conversation = await created(yard);
      const state = { left: work.steps, done: work.stepDone };
      stepsLeft.set(conversation.id, state);
      const answer = lastAnswer(yard, conversation, () => state.left === 0);
      await yard.engine.send(conversation, { text: work.question, mode: "queue" });
      return answer;
    },
    logPayloadBytes: () => payloadBytes(folder),
    async close() {
      await yard.close();
      await logger.close();
    },
  };
};

export const openAppends: OpenAppends = async (folder, conversations) => {
  const storage = storageIn(folder);
  const log = logOn(storage);
  const rows: ConversationRow[] = [];
  for (let count = 0; count < conversations; count += 1) {
    const made = await log.createConversation(localOwner, {});
    if (made.ok) rows.push(made.value);
  }
  const usage = { input: 1_000, output: 100 };
  const events: NewEvent[] = [
    { type: "message.assistant", turn: 1, step: 1, text: fullText, finish: "tool_calls", usage, durationMs: 1 },
    { type: "call.started", call: "call_1", class: "pure", attempt: 1 },
  ];
  return {
    async append(index) {
      const stored = await log.append(rows[index]?.number ?? 0, events);
      if (!stored.ok) throw new Error(stored.failure.code);
    },
    close: () => storage.close(),
  };
};

export const openReopening: OpenReopening = (folder) => ({
  async openAndFold() {
    const storage = storageIn(folder);
    const log = logOn(storage);
    const [conversation] = await log.list(localOwner, { limit: 1 });
    const history = await log.history(conversation?.number ?? 0);
    if (requestOf(history).messages.length < 100) throw new Error("the conversation was not found");
    await storage.close();
  },
  readAndParse() {
    const rows = new DatabaseSync(join(folder, database));
    for (const row of rows.prepare("SELECT body FROM event ORDER BY id").all()) JSON.parse(String(row.body));
    rows.close();
  },
});

async function configFor(folder: string, modelUrl: string): Promise<Config> {
  const env = {
    AGENTYARD_DATA: folder,
    MODEL_BASIC_BASE_URL: modelUrl,
    MODEL_BASIC_ID: modelName,
    MODEL_BASIC_CONTEXT_WINDOW: "10000000",
  };
  const config = await loadConfig({ env, cwd: folder, homeDir: folder, programDir: folder, flags: {} });
  if (!config.ok) throw new Error(JSON.stringify(config.failure));
  return { ...config.value, loop: { ...config.value.loop, stepsMax: 2_000 } };
}

function storageIn(folder: string): Storage {
  const opened = openSqlite({ path: join(folder, database), clock: systemClock });
  if (!opened.ok) throw new Error(opened.failure.code);
  return opened.value;
}

function logOn(storage: Storage) {
  const onBrokenRecord = () => {
    throw new Error("a record cannot be read");
  };
  return openLog({ storage, clock: systemClock, ids: systemIds, checksReads: false, onBrokenRecord });
}

async function created(yard: Yard): Promise<ConversationRow> {
  const made = await yard.log.createConversation(localOwner, {});
  if (!made.ok) throw new Error(made.failure.code);
  return made.value;
}

/** Looks at the newest events after each append of the end: the last call has run, so one of the next ends the turn. */
function lastAnswer(yard: Yard, { number }: ConversationRow, isAtEnd: () => boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    const look = async (lastSeq: number) => {
      const [answer, end] = await yard.log.read(number, { after: lastSeq - 2, limit: 2 });
      if (end?.type !== "turn.finished") return;
      unlisten();
      if (answer?.type === "message.assistant" && end.outcome === "done") resolve(answer.text);
      else reject(new Error(`the turn ended as ${end.outcome}`));
    };
    const unlisten = yard.log.onAppend(number, (lastSeq) => {
      if (isAtEnd()) look(lastSeq).catch(reject);
    });
  });
}

function payloadBytes(folder: string): number {
  const rows = new DatabaseSync(join(folder, database));
  const sum = rows.prepare("SELECT sum(length(CAST(body AS BLOB))) AS bytes FROM event").get();
  rows.close();
  return Number(sum?.bytes ?? 0);
}
