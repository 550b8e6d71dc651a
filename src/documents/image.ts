/** What models take as an image. */
export const imageBytesMax = 5 * 1024 * 1024;
const imageMimes = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;

export function isImage(mime: string | undefined): mime is (typeof imageMimes)[number] {
  return imageMimes.some((known) => known === mime);
}

/**
 * Whether a picture can be in it: it has a size and an end. A server refuses a request with a broken image, and every
 * later one too, because the image stays in the conversation.
 */
export function isWholeImage(bytes: Buffer, mime: (typeof imageMimes)[number]): boolean {
  switch (mime) {
    case "image/png":
      return bytes.length > 40 && bytes.readUInt32BE(16) > 0 && bytes.includes("IEND", 24);
    case "image/gif":
      return bytes.length > 13 && bytes.readUInt16LE(6) > 0 && bytes.lastIndexOf(0x3b) > 12;
    case "image/webp":
      return bytes.length > 30 && bytes.readUInt32LE(4) + 8 <= bytes.length;
    case "image/jpeg":
      return hasFrame(bytes);
  }
}

/** Walks over the segments of a JPEG to the one that tells its size. */
function hasFrame(bytes: Buffer): boolean {
  for (let at = 2; at + 9 < bytes.length; ) {
    const marker = bytes[at + 1] ?? 0;
    if (bytes[at] !== 0xff) return false;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return bytes.readUInt16BE(at + 5) > 0 && bytes.readUInt16BE(at + 7) > 0;
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return false;
}
