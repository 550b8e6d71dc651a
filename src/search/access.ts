import { whenOver } from "../base/background.ts";
import type { Clock } from "../base/clock.ts";
import { ok, type Result } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import { failureOf } from "./failures.ts";
import { openFinds } from "./finds.ts";
import type { Answers, Job, ThreadTask } from "./jobs.ts";
import { openScans } from "./scans.ts";
import type { SearchFailure } from "./search.ts";
import { type Asked, openThread } from "./thread.ts";

/** A job for the thread that writes, or for the one that reads. */
export type Ask = <J extends Job>(job: J) => Promise<Result<Answers[J["do"]], SearchFailure>>;

/** The threads around one file: nobody reads before it is made, and a damaged one is thrown away. */
export function openAccess(task: ThreadTask, clock: Clock) {
  let ready: Promise<Asked<"open">> | undefined;
  let isClosed = false;
  const started = () => {
    // Another thread has to open the file anew.
    ready = undefined;
  };
  const writer = openThread(task, { clock, started });
  const reader = openThread(task, { clock });
  const finds = openFinds(reader, clock);
  const scans = openScans(openThread(task, { clock }), clock);

  const prepare = async (): Promise<Result<undefined, SearchFailure>> => {
    if (isClosed) return failure("index_unavailable", { why: "closed" });
    if (ready === undefined) {
      const opening = writer.ask({ do: "open" });
      ready = opening;
      // What a kill left behind goes after the first answer.
      void whenOver(writer.ask({ do: "tidy" }));
    }
    const opened = await ready;
    if ("answer" in opened) return ok(undefined);
    ready = undefined;
    return failureOf(opened.fault);
  };

  const settle = async <J extends Job["do"]>(asked: Asked<J>): Promise<Result<Answers[J], SearchFailure>> => {
    if ("answer" in asked) return ok(asked.answer);
    const why = failureOf(asked.fault);
    if (why.failure.params.why === "damaged") {
      await Promise.all([reader.end(), scans.end()]);
      await writer.ask({ do: "reset" });
      ready = undefined;
    }
    return why;
  };

  const write: Ask = async (job) => {
    const prepared = await prepare();
    return prepared.ok ? settle(await writer.ask(job)) : prepared;
  };
  const read: Ask = async (job) => {
    const prepared = await prepare();
    return prepared.ok ? settle(await reader.ask(job)) : prepared;
  };
  return {
    write,
    read,
    async find(...asked: Parameters<typeof finds.find>) {
      const prepared = await prepare();
      return prepared.ok ? settle(await finds.find(...asked)) : prepared;
    },
    async scan(...asked: Parameters<typeof scans.scan>) {
      const prepared = await prepare();
      if (!prepared.ok) return prepared;
      const { stopped, hits } = await scans.scan(...asked);
      const settled = await settle(stopped);
      return settled.ok ? ok({ hits, stopped: settled.value }) : settled;
    },
    async close() {
      isClosed = true;
      if (ready !== undefined) await writer.ask({ do: "close" });
      await Promise.all([writer.end(), finds.close(), scans.end()]);
    },
  };
}
