import { Parser } from "htmlparser2";
import type { Archive, PartEnd } from "./archive.ts";

/** What a part of a document says, tag by tag; names without their prefixes, which every program chooses for itself. */
export type XmlHandler = {
  open?(name: string, attributes: Attributes): void;
  close?(name: string): void;
  text?(text: string): void;
};
export type Attributes = {
  /** By its name without a prefix. */
  get(name: string): string | undefined;
  /** `r:id`: the one that has a prefix, which leads to another part. */
  link(name: string): string | undefined;
};

export type XmlEnd = PartEnd | "refused";

export const depthMax = 2_000;
/** A tag with more is no tag of a document. */
const attributesMax = 1_000;

/**
 * Reads a part as XML. One that defines its own entities is refused: nobody but attackers needs them in here. One that
 * goes deeper than any document is left at that place.
 */
export function readXml(
  archive: Archive,
  name: string,
  handler: XmlHandler,
  isWanted: () => boolean = () => true,
): XmlEnd {
  let stopped: "refused" | "limit" | undefined;
  const parser = xmlParser(handler, (why) => {
    stopped ??= why;
  });
  let decoder: TextDecoder | undefined;
  const end = archive.read(name, (piece) => {
    decoder ??= decoderFor(piece);
    parser.write(decoder.decode(piece, { stream: true }));
    return stopped === undefined && isWanted();
  });
  if (stopped !== undefined) return stopped;
  // What is open is closed, so that what was read so far is kept.
  parser.end();
  return end;
}

function xmlParser(handler: XmlHandler, stop: (why: "refused" | "limit") => void): Parser {
  let depth = 0;
  let isStopped = false;
  const leave = (why: "refused" | "limit") => {
    isStopped = true;
    stop(why);
  };
  return new Parser(
    {
      onprocessinginstruction(name, data) {
        if (/^!(?:doctype|entity)/i.test(name) && /\[|<!|^!entity/i.test(data)) leave("refused");
      },
      onopentag(name, attributes) {
        depth += 1;
        if (depth > depthMax) leave("limit");
        if (!isStopped) handler.open?.(localName(name), attributesOf(attributes));
      },
      onclosetag(name) {
        depth -= 1;
        if (!isStopped) handler.close?.(localName(name));
      },
      ontext(text) {
        if (!isStopped) handler.text?.(text);
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
}

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

function attributesOf(attributes: Readonly<Record<string, string>>): Attributes {
  return {
    get(name) {
      if (Object.hasOwn(attributes, name)) return attributes[name];
      const found = Object.keys(attributes)
        .slice(0, attributesMax)
        .find((key) => localName(key) === name);
      return found === undefined ? undefined : attributes[found];
    },
    link(name) {
      const found = Object.keys(attributes)
        .slice(0, attributesMax)
        .find((key) => key.includes(":") && localName(key) === name);
      return found === undefined ? undefined : attributes[found];
    },
  };
}

const headBytes = 200;

/** By its mark or its zeros, then by what it declares; XML is UTF-8 where it says nothing. */
function decoderFor(piece: Uint8Array): TextDecoder {
  if ((piece[0] === 0xff && piece[1] === 0xfe) || (piece[0] === 0x3c && piece[1] === 0))
    return new TextDecoder("utf-16le");
  if ((piece[0] === 0xfe && piece[1] === 0xff) || (piece[0] === 0 && piece[1] === 0x3c))
    return new TextDecoder("utf-16be");
  const head = Buffer.from(piece.subarray(0, headBytes)).toString("latin1");
  const declared = /^[^>]*encoding=["']([\w-]+)["']/.exec(head)?.[1] ?? "utf-8";
  // One that declares 16 bits and is not is what it is.
  return /^utf-?16|^ucs/i.test(declared) ? new TextDecoder() : (knownDecoder(declared) ?? new TextDecoder());
}

function knownDecoder(label: string): TextDecoder | undefined {
  try {
    return new TextDecoder(label);
  } catch {
    return undefined;
  }
}
