import type { Duplex } from "node:stream";
import type { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import { createFrameDecoder, encodeFrame } from "../guest/frames.ts";
import { silenceMsMax } from "./wire.ts";

/** Messages both ways over the control link of a guest. */
export type Channel<Said extends object> = {
  send(message: Said, payload?: Uint8Array): void;
  /** Resolves when the other side has taken enough of what was sent, or there is none any more. */
  drained(): Promise<void>;
  isOpen(): boolean;
  /** At once; `onEnd` has been called when this returns. */
  end(): void;
};

export type ChannelOptions<Heard> = {
  readonly link: Duplex;
  readonly clock: Clock;
  readonly schema: z.ZodType<Heard>;
  /** False for what nobody says who means well: then it is over. */
  readonly onMessage: (message: Heard, payload: Buffer) => boolean;
  /** Once: the other side is gone, was silent for too long, or said what nobody understands. */
  readonly onEnd: () => void;
};

export function openChannel<Heard, Said extends object>(options: ChannelOptions<Heard>): Channel<Said> {
  const { link, clock, schema, onMessage, onEnd } = options;
  const decoder = createFrameDecoder();
  let isOpen = true;
  let heardAt = clock.monotonic();
  let stopTimer = () => {};
  const end = () => {
    if (!isOpen) return;
    isOpen = false;
    stopTimer();
    link.destroy();
    onEnd();
  };
  const watch = () => {
    const restMs = heardAt + silenceMsMax - clock.monotonic();
    if (restMs <= 0) return end();
    stopTimer = clock.after(restMs, watch);
  };
  watch();
  link.on("error", () => {});
  link.once("end", end);
  link.once("close", end);
  link.on("data", (chunk: Buffer) => {
    heardAt = clock.monotonic();
    const frames = decoder.push(chunk);
    if (!frames.ok) return end();
    for (const { header, payload } of frames.value) {
      if (!isOpen) return;
      const message = schema.safeParse(header);
      if (!message.success || !onMessage(message.data, payload)) return end();
    }
  });
  return {
    send(message, payload) {
      if (isOpen && link.writable) link.write(encodeFrame(message, payload));
    },
    drained() {
      if (!isOpen || !link.writableNeedDrain) return Promise.resolve();
      return new Promise((resolve) => {
        const go = () => {
          link.off("drain", go);
          link.off("close", go);
          resolve();
        };
        link.once("drain", go);
        link.once("close", go);
      });
    },
    isOpen: () => isOpen,
    end,
  };
}
