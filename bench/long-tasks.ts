import type { Page } from "playwright-core";

type TraceEvent = {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
};

/** The work of a page's main thread while something happens, task by task: milliseconds of the processor, so that a busy machine counts no longer than an idle one. */
export async function tasksDuring(page: Page, action: () => Promise<void>): Promise<number[]> {
  const browser = page.context().browser();
  if (browser === null) throw new Error("the page has no browser of its own");
  await browser.startTracing(page, { categories: ["-*", "toplevel", "devtools.timeline"] });
  await action();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const mains = new Set(
    traceEvents
      .filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid}/${tid}`),
  );
  return traceEvents.flatMap(({ name, ph, pid, tid, tdur }) =>
    ph === "X" && tdur !== undefined && /RunTask$/.test(name) && mains.has(`${pid}/${tid}`) ? [tdur / 1_000] : [],
  );
}
