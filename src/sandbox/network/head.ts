import type { Duplex } from "node:stream";
import type { Clock } from "../../base/clock.ts";

export type Head = {
  /** latin1, without the empty line at its end. */
  readonly head: string;
  /** What came after it. */
  readonly rest: Buffer;
};

type Limits = { readonly bytesMax: number; readonly msMax: number; readonly clock: Clock };

/** Reads up to the empty line and leaves the stream paused. Time runs from the beginning, however many bytes come. */
export function readHead(client: Duplex, { bytesMax, msMax, clock }: Limits): Promise<Head | HeadFault> {
  return new Promise((resolve) => {
    let came: Buffer = Buffer.alloc(0);
    const finish = (answer: Head | HeadFault) => {
      stopTimer();
      client.pause();
      client.off("data", take).off("end", gone).off("close", gone);
      resolve(answer);
    };
    const take = (chunk: Buffer) => {
      const from = Math.max(came.length - emptyLine.length, 0);
      came = Buffer.concat([came, chunk]);
      const end = came.indexOf(emptyLine, from);
      if (end > bytesMax || (end < 0 && came.length > bytesMax)) return finish("too_long");
      if (end >= 0) finish({ head: came.toString("latin1", 0, end), rest: came.subarray(end + emptyLine.length) });
    };
    const gone = () => finish("gone");
    const stopTimer = clock.after(msMax, () => finish("too_slow"));
    client.on("data", take).on("end", gone).on("close", gone);
  });
}

export type HeadFault = "too_long" | "too_slow" | "gone";

const emptyLine = "\r\n\r\n";
