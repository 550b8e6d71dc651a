/** Not every browser can say when it has nothing to do. */
export function whenIdle(work: () => void): void {
  if ("requestIdleCallback" in globalThis) requestIdleCallback(work, { timeout: 1_000 });
  else setTimeout(work, 0);
}
