import type { Transform } from "node:stream";
import zlib from "node:zlib";

const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH, ZSTD_e_flush } = zlib.constants;
const gzipStart = 0x1f;

/**
 * The stream that undoes a `content-encoding`, or `plain` when there is nothing we can undo. We ask for no compression,
 * but some relays compress all the same, and some only say so; the first byte tells. A body that is cut gives what there
 * is: whether that was a whole answer is for its content to say.
 */
export function decoderFor(encoding: string | undefined, firstByte: number): Transform | "plain" {
  switch ((encoding ?? "").trim().toLowerCase()) {
    case "deflate":
      return (firstByte & 0x0f) === 8
        ? zlib.createInflate({ finishFlush: Z_SYNC_FLUSH })
        : zlib.createInflateRaw({ finishFlush: Z_SYNC_FLUSH });
    case "br":
      return zlib.createBrotliDecompress({ finishFlush: BROTLI_OPERATION_FLUSH });
    case "zstd":
      return zlib.createZstdDecompress({ finishFlush: ZSTD_e_flush });
    default:
      return firstByte === gzipStart ? zlib.createGunzip({ finishFlush: Z_SYNC_FLUSH }) : "plain";
  }
}
