import { BrokenOff } from "../client/client.ts";

/** The first bytes of a download, at least so many where it has them; undefined when it broke off. */
export async function readBytes(chunks: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Buffer | undefined> {
  const taken: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      taken.push(chunk);
      bytes += chunk.length;
      if (bytes >= bytesMax) break;
    }
    return Buffer.concat(taken);
  } catch (error) {
    if (error instanceof BrokenOff) return undefined;
    throw error;
  }
}
