import type { Page } from "playwright-core";
import { z } from "zod";

const Event = z.object({
  name: z.string(),
  ph: z.string(),
  pid: z.number(),
  tid: z.number(),
  tdur: z.number().optional(),
  args: z.record(z.string(), z.unknown()).optional(),
});

/** How long each task of the page's main thread took during some work, in milliseconds of processor time: a busy machine does not count. */
export async function tasksDuring(page: Page, work: () => Promise<void>): Promise<number[]> {
  const browser = await page.context().browser()?.newBrowserCDPSession();
  if (browser === undefined) throw new Error("there is no browser to trace");
  const events: z.infer<typeof Event>[] = [];
  browser.on("Tracing.dataCollected", ({ value }) => {
    for (const one of value) {
      const event = Event.safeParse(one);
      if (event.success) events.push(event.data);
    }
  });
  const isOver = new Promise((resolve) => browser.once("Tracing.tracingComplete", resolve));
  await browser.send("Tracing.start", {
    traceConfig: {
      includedCategories: ["disabled-by-default-devtools.timeline", "devtools.timeline", "toplevel", "__metadata"],
    },
    transferMode: "ReportEvents",
  });
  await work();
  await browser.send("Tracing.end");
  await isOver;
  await browser.detach();
  const main = new Set(
    events
      .filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid}/${tid}`),
  );
  const tasks = events.filter(
    ({ name, ph, pid, tid }) => /RunTask$/.test(name) && ph === "X" && main.has(`${pid}/${tid}`),
  );
  if (tasks.length === 0) throw new Error("the trace has no tasks of the main thread");
  return tasks.map(({ tdur = 0 }) => tdur / 1_000);
}
