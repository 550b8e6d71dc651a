import { ok } from "../../base/result.ts";
import type { Block } from "../extracted.ts";
import { finish } from "../finish.ts";
import { openLosses } from "../losses.ts";
import type { Reader } from "../reading.ts";
import { type Line, linesOf } from "./lines.ts";

/** A text without empty lines, a log say, is divided all the same. */
const blockLines = 100;
const blockCharacters = 8_000;

/** Paragraphs are what stands between empty lines, as it stands. */
export const readText: Reader = ({ bytes }) => {
  const losses = openLosses();
  const read = linesOf(bytes, losses);
  if (!read.ok) return Promise.resolve(read);
  const { lines, encoding = "utf-8", stopped } = read.value;
  const blocks: Block[] = [];
  let open: Line[] = [];
  let characters = 0;
  const close = () => {
    if (open.length > 0) blocks.push(paragraphOf(open));
    [open, characters] = [[], 0];
  };
  for (const line of lines) {
    if (line.text.trim() === "") close();
    else {
      open.push(line);
      characters += line.text.length;
      if (open.length >= blockLines || characters >= blockCharacters) close();
    }
  }
  close();
  return Promise.resolve(
    ok(finish({ format: "text", blocks, losses, encoding, ...(stopped === undefined ? {} : { stopped }) })),
  );
};

function paragraphOf(lines: readonly Line[]): Block {
  const [first, last] = [lines[0]?.number ?? 1, lines.at(-1)?.number ?? 1];
  const text = lines.map((line) => line.text.trimEnd()).join("\n");
  return { kind: "paragraph", text, from: { line: first }, ...(last === first ? {} : { to: { line: last } }) };
}
