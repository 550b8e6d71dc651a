import { getPriority, setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../base/assert.ts";
import { systemClock } from "../base/clock.ts";
import { systemCode } from "../base/fault.ts";
import { find } from "./find.ts";
import { findHaving } from "./having.ts";
import type { Fault, Job, News, Order, ThreadTask } from "./jobs.ts";
import { scan } from "./scan.ts";
import { openReader, type Reader } from "./sqlite/reading.ts";
import { openForReading, openForWriting, throwAway } from "./sqlite/tables.ts";
import { openWriter, type Writer, type Writing } from "./sqlite/writing.ts";
import { cutRunBy } from "./text/segment.ts";

// It is the wiring of its thread, so it hands the clock down as main.ts does.
/** Half as much of a full processor as the others get, and all of one that nobody else wants. */
const backSteps = 3;
const lowestPriority = 19;
const port = parentPort;
assert(port !== null, "worker runs in a thread of its own");
const task: ThreadTask = workerData;
const tell = (news: News) => port.postMessage(news);
const cutRun = cutRunOrThrow();
const monotonic = () => systemClock.monotonic();
const writings = new Map<number, Writing>();
let reading: Reader | undefined;
let writes: { readonly database: ReturnType<typeof openForWriting>; readonly writer: Writer } | undefined;

port.on("message", ({ id, job }: Order) => {
  // It was begun in a thread that has ended since.
  const isLost = (job.do === "add" || job.do === "end") && !writings.has(job.writing);
  if (isLost) return tell({ id, fault: { code: "ended", said: "the thread that had begun it was ended" } });
  try {
    tell({ id, answer: work(id, job) });
  } catch (error) {
    const fault = faultOf(error);
    if (fault === undefined) throw error;
    tell({ id, fault });
  }
});

function work(id: number, job: Job): unknown {
  switch (job.do) {
    case "open":
      return void writer();
    case "tidy":
      return writer().tidy();
    case "reset":
      close();
      return throwAway(task.file);
    case "begin":
      return void writings.set(job.writing, writer().begin(job.key));
    case "add":
      return writing(job.writing).add(job.blocks);
    case "end": {
      const passages = writing(job.writing).end(job.pointer, job.now, job.note);
      writings.delete(job.writing);
      return passages;
    }
    case "giveUp":
      writings.get(job.writing)?.giveUp();
      return void writings.delete(job.writing);
    case "point":
      return writer().point(job.pointer, job.key, job.now);
    case "drop":
      return writer().drop(job.pointer, job.isPrefix);
    case "markUsed":
      return writer().markUsed(job.contents, job.now);
    case "follow":
      return writer().follow(job.series, job.more, job.now);
    case "followed":
      return writer().followed(job.owner, job.now);
    case "cutGap":
      return writer().cutGap(job.series, job.gap);
    case "unfollow":
      return writer().unfollow(job.series);
    case "unembedded":
      return writer().unembedded(job.model, job.countMax);
    case "spend":
      return writer().spend(job);
    case "keepVectors":
      return writer().keepVectors(job.model, job.pieces);
    case "vectorState":
      return reader().vectorState(job.owner);
    case "hasVectors":
      return reader().hasVectors();
    case "sweep":
      return writer().sweep(job.before);
    case "noteOf":
      return reader().noteOf(job.key);
    case "hasKey":
      return reader().hasKey(job.key);
    case "having":
      return findHaving(job.query, { reader: reader(), monotonic });
    case "find":
      return find(job, { reader: reader(), cutRun, monotonic });
    case "scan":
      return scan(job.pattern, job.scope, job.limits, {
        reader: reader(),
        monotonic,
        beat: () => void Atomics.add(job.beats, 0, 1),
        found: (hit) => tell({ id, hit }),
      });
    case "close":
      return close();
  }
}

function writer(): Writer {
  if (writes === undefined) {
    giveWay();
    const database = openForWriting(task.file, task.segmentation);
    writes = { database, writer: openWriter(database, cutRun) };
  }
  return writes.writer;
}

/** Whoever writes an index has time: turns and searches come first. Only on Linux does this count for a thread alone. */
function giveWay(): void {
  if (process.platform === "linux") setPriority(Math.min(getPriority() + backSteps, lowestPriority));
}

function reader(): Reader {
  reading ??= openReader(openForReading(task.file));
  return reading;
}

function close(): void {
  writes?.database.close();
  reading?.close();
  [writes, reading] = [undefined, undefined];
  writings.clear();
}

function writing(id: number): Writing {
  const found = writings.get(id);
  assert(found !== undefined, "a document is begun before it goes on");
  return found;
}

/** What the world did; undefined for mistakes of ours. */
function faultOf(error: unknown): Fault | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("errcode" in error && typeof error.errcode === "number") {
    const code = error.errcode & 0xff;
    return ourMistakes.includes(code) ? undefined : { code, said: error.message };
  }
  const code = systemCode(error);
  return code === undefined ? undefined : { code, said: error.message };
}

/** A wrong statement, a broken rule of a table, a wrong value: https://sqlite.org/rescode.html. */
const ourMistakes = [1, 19, 20, 21, 25];

function cutRunOrThrow() {
  const cut = cutRunBy(task.segmentation);
  assert(cut !== undefined, "whether a segmenter is installed is asked before a thread is started");
  return cut;
}
