import { Lexer, Marked, type Token, type Tokens } from "marked";

export type { Token, Tokens };

/** Maths as its own token: `$x$`, `$$x$$`, `\(x\)`, `\[x\]`. */
export type MathToken = {
  readonly type: "math";
  readonly raw: string;
  readonly tex: string;
  readonly isBlock: boolean;
};

/** What a whole text may come to as elements; more of it is shown as it was written. */
const inlineCharactersMax = 32_000;

const blockMath = [/^\$\$([\s\S]+?)\$\$[ \t]*(?:\n|$)/, /^\\\[([\s\S]+?)\\\][ \t]*(?:\n|$)/];
// As in pandoc: no blank inside of the signs, and no digit behind the last, so that sums of money stay text.
const inlineMath = [
  /^\$\$([^\n]+?)\$\$/,
  /^\$(?!\s)((?:[^$\n\\]|\\.)+?)(?<!\s)\$(?!\d)/,
  /^\\\(([^\n]+?)\\\)/,
  /^\\\[([^\n]+?)\\\]/,
];

const parser = new Marked({ gfm: true, breaks: false }).use({
  extensions: [
    {
      ...{ name: "math", level: "block" },
      start: (text) => text.match(/(?:^|\n)(?:\$\$|\\\[)/)?.index,
      tokenizer: (text) => mathIn(text, blockMath, true),
    },
    {
      ...{ name: "math", level: "inline" },
      start: (text) => text.match(/\$|\\[([]/)?.index,
      tokenizer: (text) => mathIn(text, inlineMath, false),
    },
  ],
});

/**
 * The parser calls this inside of our catch: nothing but the platform's own reading of texts may stand here, so that
 * what ends there is never a mistake of ours.
 */
function mathIn(text: string, forms: readonly RegExp[], isBlock: boolean): MathToken | undefined {
  for (const form of forms) {
    const [raw, tex] = form.exec(text) ?? [];
    if (raw !== undefined && tex !== undefined && tex.trim() !== "") {
      const isDisplay = isBlock || raw.startsWith("$$") || raw.startsWith("\\[");
      return { type: "math", raw, tex: tex.trim(), isBlock: isDisplay };
    }
  }
  return undefined;
}

/** The blocks of a text. What the parser cannot take (nested thousands deep) is one block of plain text. */
export function blocksOf(text: string): Token[] {
  if (text.length > inlineCharactersMax && !text.includes("\n")) return [plain(text)];
  const lexer = new Lexer(parser.defaults);
  let blocks: Token[];
  try {
    blocks = lexer.lex(text);
  } catch {
    return [plain(text)];
  }
  return joinParagraphs(blocks, lexer);
}

/** A line that looks like the head of a table and is none ends a paragraph for the parser, or not, by what comes long after it. */
function joinParagraphs(blocks: readonly Token[], lexer: Lexer): Token[] {
  const joined: Token[] = [];
  for (const block of blocks) {
    const before = joined.at(-1);
    if (before?.type !== "paragraph" || block.type !== "paragraph") joined.push(block);
    else joined[joined.length - 1] = paragraph(`${before.raw}${block.raw}`, lexer);
  }
  return joined;
}

function paragraph(raw: string, lexer: Lexer): Token {
  const text = raw.trimEnd();
  try {
    return { type: "paragraph", raw, text, tokens: lexer.inlineTokens(text) };
  } catch {
    return plain(raw);
  }
}

function plain(text: string): Token {
  return { type: "plain", raw: text, text };
}
