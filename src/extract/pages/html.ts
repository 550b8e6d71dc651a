import { Parser } from "htmlparser2";
import { ok } from "../../base/result.ts";
import { type DecodedText, decodeText } from "../decode.ts";
import type { Place, Receipt } from "../extracted.ts";
import { finish } from "../finish.ts";
import { charactersMax } from "../limits.ts";
import { openLosses } from "../losses.ts";
import type { Reader } from "../reading.ts";
import { type Flow, openFlow } from "./flow.ts";

/** For each end tag the parser searches all that are open. */
export const depthMax = 2_000;
const pieceCharacters = 64 * 1024;

export const readHtml: Reader = ({ bytes }, { onProgress }) => {
  const losses = openLosses();
  const { text, encoding, isExact } = decodeHtml(bytes);
  if (!isExact) losses.add("undecodable_characters", {});
  const { flow, stopped } = parseHtml(text, {}, (done) => onProgress({ done, total: text.length }));
  const found = { losses, title: flow.title, images: flow.images, encoding };
  return Promise.resolve(
    ok(finish({ format: "html", blocks: flow.blocks, ...found, ...(stopped === undefined ? {} : { stopped }) })),
  );
};

type HtmlOptions = {
  /** What is added to every place; with it, lines are not counted. */
  readonly place?: Place;
  readonly isContents?: boolean;
};

/** Reads HTML tag by tag, a piece at a time, as far as the limits go. */
export function parseHtml(
  text: string,
  { place, isContents = false }: HtmlOptions,
  onProgress: (done: number) => void = () => {},
) {
  const lines = lineCounter(text);
  let index = 0;
  const at = () => place ?? { line: lines(index) };
  const flow = openFlow({ at, isContents });
  let [depth, stopped]: [number, Receipt["stopped"]] = [0, undefined];
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        depth += 1;
        index = parser.startIndex;
        if (depth > depthMax) stopped ??= { limit: "depth", at: at() };
        if (stopped === undefined) flow.open(name, attributes);
      },
      onclosetag(name) {
        depth -= 1;
        if (stopped === undefined) flow.close(name);
      },
      ontext(more) {
        index = parser.startIndex;
        if (stopped === undefined) flow.text(more);
      },
    },
    { lowerCaseTags: true, decodeEntities: true, recognizeSelfClosing: true },
  );
  for (let from = 0; from < text.length && stopped === undefined; from += pieceCharacters) {
    parser.write(text.slice(from, from + pieceCharacters));
    if (flow.characters > charactersMax) stopped = { limit: "characters", at: at() };
    onProgress(Math.min(from + pieceCharacters, text.length));
  }
  // The tags that are still open would all be closed one by one.
  if (stopped === undefined) parser.end();
  flow.end();
  return { flow: flow satisfies Flow, stopped };
}

/** Lines by place in the text, for places that only grow. */
function lineCounter(text: string): (index: number) => number {
  let [line, feed] = [1, text.indexOf("\n")];
  return (index) => {
    while (feed !== -1 && feed < index) {
      line += 1;
      feed = text.indexOf("\n", feed + 1);
    }
    return line;
  };
}

const metaBytes = 1_024;

/** By its mark, then by what it says in its first kilobyte, then by what it looks like. */
export function decodeHtml(bytes: Uint8Array): Pick<DecodedText, "text" | "encoding" | "isExact"> {
  const head = Buffer.from(bytes.subarray(0, metaBytes)).toString("latin1");
  const label = /<meta[^>]{1,200}charset\s*=\s*["']?([\w-]{2,40})|^<\?xml[^>]{1,200}encoding=["']([\w-]{2,40})/i.exec(
    head,
  );
  const hasMark = /^(?:\u00ef\u00bb\u00bf|\u00ff\u00fe|\u00fe\u00ff)/.test(head);
  const declared = hasMark ? undefined : exactly(bytes, label?.[1] ?? label?.[2] ?? "");
  const guessed = declared ?? decodeText(bytes);
  return guessed ?? { text: new TextDecoder().decode(bytes), encoding: "utf-8", isExact: false };
}

/** What is declared counts where all bytes fit it: many pages say what their editor put there. */
function exactly(bytes: Uint8Array, label: string): Pick<DecodedText, "text" | "encoding" | "isExact"> | undefined {
  // Part of the larger encodings, and meant as those by everybody who writes them.
  const plain = /^(?:gb2312|gbk|x-gbk)$/i.test(label) ? "gb18030" : label;
  if (plain === "" || /^utf-?16/i.test(plain)) return undefined;
  try {
    const decoder = new TextDecoder(plain, { fatal: true });
    return { text: decoder.decode(bytes), encoding: decoder.encoding, isExact: true };
  } catch {
    return undefined;
  }
}
