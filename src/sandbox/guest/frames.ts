import { assert } from "../../base/assert.ts";
import { parsedJson } from "../../base/json.ts";
import { failed, ok, type Result } from "../../base/result.ts";

/** What goes over the control socket of a guest: a JSON header and raw bytes, each with its length before it. */
export type Frame = { readonly header: unknown; readonly payload: Buffer };

export type FrameFault = "header_too_long" | "payload_too_long" | "header_not_json";

export const headerBytesMax = 64 * 1024;
export const payloadBytesMax = 64 * 1024;
const lengthsBytes = 8;
const nothing = Buffer.alloc(0);

export function encodeFrame(header: object, payload: Uint8Array = nothing): Buffer {
  const text = Buffer.from(JSON.stringify(header));
  assert(text.length <= headerBytesMax && payload.length <= payloadBytesMax, "a frame to a guest is within its limits");
  const lengths = Buffer.allocUnsafe(lengthsBytes);
  lengths.writeUInt32BE(text.length, 0);
  lengths.writeUInt32BE(payload.length, 4);
  return Buffer.concat([lengths, text, payload]);
}

/** Takes bytes as they come. After a fault there is no telling where a frame begins: nothing more must be pushed. */
export interface FrameDecoder {
  push(chunk: Buffer): Result<Frame[], FrameFault>;
  /** What has come of the frame that is not complete yet; never more than one frame can have, and one chunk. */
  pendingBytes(): number;
}

export function createFrameDecoder(): FrameDecoder {
  let chunks: Buffer[] = [];
  let held = 0;
  /** Known only with the lengths; until then the lengths are what is waited for. */
  let needed = lengthsBytes;

  return {
    pendingBytes: () => held,
    push(chunk) {
      chunks.push(chunk);
      held += chunk.length;
      const frames: Frame[] = [];
      // Joined only when something can come of it: a frame in a thousand pieces is copied once, not a thousand times.
      if (held < needed) return ok(frames);
      let bytes = Buffer.concat(chunks, held);
      for (;;) {
        const lengths = readLengths(bytes);
        if (!lengths.ok) return lengths;
        needed = lengths.value.total;
        if (bytes.length < needed) break;
        const header = parsedJson(bytes.toString("utf8", lengthsBytes, lengthsBytes + lengths.value.header));
        if (header === undefined) return failed("header_not_json");
        frames.push({ header, payload: bytes.subarray(lengthsBytes + lengths.value.header, needed) });
        bytes = bytes.subarray(needed);
      }
      chunks = bytes.length > 0 ? [bytes] : [];
      held = bytes.length;
      return ok(frames);
    },
  };
}

function readLengths(bytes: Buffer): Result<{ readonly header: number; readonly total: number }, FrameFault> {
  if (bytes.length < lengthsBytes) return ok({ header: 0, total: lengthsBytes });
  const header = bytes.readUInt32BE(0);
  const payload = bytes.readUInt32BE(4);
  if (header > headerBytesMax) return failed("header_too_long");
  if (payload > payloadBytesMax) return failed("payload_too_long");
  return ok({ header, total: lengthsBytes + header + payload });
}
