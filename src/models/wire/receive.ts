import type { IncomingMessage } from "node:http";
import type { Transform } from "node:stream";
import type { ModelFault } from "../../words/words.ts";
import { decoderFor } from "./decode.ts";

export type BodyListener = {
  data(bytes: Uint8Array): void;
  /** Called once, after all data that came. `cut`: why the body is not whole. */
  end(cut?: Cut): void;
};

export type Cut = { readonly because: ModelFault; readonly said?: string };

export interface Receiving {
  /** Ends the body here. What is still being decompressed is delivered first. */
  cut(why: Cut): void;
  /** No more calls to the listener. */
  stop(): void;
}

/** The bytes of a response, decompressed where need be. */
export function receiveBody(response: IncomingMessage, listener: BodyListener): Receiving {
  let decoder: Transform | "plain" | undefined;
  let isOver = false;

  function finish(cut?: Cut): void {
    if (isOver) return;
    isOver = true;
    if (decoder === undefined || decoder === "plain") return listener.end(cut);
    decoder.once("end", () => listener.end(cut));
    decoder.end();
  }

  function open(firstByte: number): void {
    const found = decoderFor(response.headers["content-encoding"], firstByte);
    decoder = found;
    if (found === "plain") return;
    found.on("data", listener.data);
    found.once("error", (error) => {
      isOver = true;
      listener.end({ because: "garbled", said: error.message });
    });
  }

  response.on("data", (bytes: Buffer) => {
    if (isOver) return;
    if (decoder === undefined) open(bytes[0] ?? 0);
    if (decoder === "plain") listener.data(bytes);
    else decoder?.write(bytes);
  });
  response.once("end", () => finish());
  response.on("error", (error) => finish({ because: "closed", said: error.message }));
  return {
    cut: finish,
    stop() {
      isOver = true;
      if (typeof decoder === "object") decoder.removeAllListeners("data").destroy();
    },
  };
}
