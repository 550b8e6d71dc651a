import { breakOff, type HttpCall } from "./door.ts";

/**
 * The same bytes, for as long as what let the caller in counts. After that the connection is broken off, in the middle of
 * an answer that may be hours long: half of it must not pass for all.
 */
export function whileLetIn(c: HttpCall, body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const { taken } = c.get("caller");
  if (taken === undefined) return body;
  const reader = body.getReader();
  let isOver = false;
  let over = () => {};
  return new ReadableStream(
    {
      start(controller) {
        const stop = () => {
          isOver = true;
          // Whoever makes the bytes tells of a mistake in ending itself.
          void Promise.allSettled([reader.cancel()]);
          if (breakOff(c)) controller.close();
          else controller.error(new Error("the key or sign-in of the reader was taken away"));
        };
        // The signal is that of a key, and lives longer than this answer.
        over = () => taken.removeEventListener("abort", stop);
        if (taken.aborted) stop();
        else taken.addEventListener("abort", stop, { once: true });
      },
      async pull(controller) {
        const { done, value } = await reader.read().catch((error: unknown) => {
          over();
          throw error;
        });
        if (isOver) return;
        if (!done) return controller.enqueue(value);
        over();
        controller.close();
      },
      cancel(reason) {
        over();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
