import { parsedJson } from "../../base/json.ts";
/** Puts the pieces of an execution's results together and looks at what they claim to be. */
export interface Results {
  take(kind: ResultKind, piece: Buffer, hasMore: boolean): Taken | "incomplete" | "unfit" | "too_much";
}

export type ResultKind = "text" | "json" | "png";
type Taken = { readonly type: ResultKind; readonly bytes: Buffer };

/** All results of one execution together. */
const resultBytesMax = 1024 * 1024;
/** What a piece counts for at least, however short it is: as the supervisor has it. */
const pieceBytesMin = 64;
/** Deeper values would overflow the stack of whoever walks through them. */
const jsonDepthMax = 100;
/** A figure is named, not sent: its path below the workspace. */
const figurePath = /^(?!.*\/\.\.?(?:\/|$))outputs\/[^\p{Cc}\\]{1,500}\.png$/u;

export function createResults(): Results {
  let pieces: Buffer[] = [];
  let bytesTaken = 0;

  return {
    take(kind, piece, hasMore) {
      bytesTaken += Math.max(piece.length, pieceBytesMin);
      if (bytesTaken > resultBytesMax) return "too_much";
      // A copy: the piece would hold on to all that came with it.
      if (piece.length > 0) pieces.push(Buffer.from(piece));
      if (hasMore) return "incomplete";
      const bytes = Buffer.concat(pieces);
      pieces = [];
      if (kind === "png") return figurePath.test(bytes.toString()) ? { type: kind, bytes } : "unfit";
      // What is no JSON that we would hand on can still be read.
      return {
        type: kind === "json" && isShallow(bytes) && parsedJson(bytes.toString()) !== undefined ? "json" : "text",
        bytes,
      };
    },
  };
}

function isShallow(bytes: Buffer): boolean {
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (isInString && byte === codes.backslash) index += 1;
    else if (byte === codes.quote) isInString = !isInString;
    else if (isInString) continue;
    else if (byte === codes.bracket || byte === codes.brace) depth += 1;
    else if (byte === codes.bracketEnd || byte === codes.braceEnd) depth -= 1;
    if (depth > jsonDepthMax) return false;
  }
  return true;
}

const codes = { quote: 0x22, bracket: 0x5b, backslash: 0x5c, bracketEnd: 0x5d, brace: 0x7b, braceEnd: 0x7d };
