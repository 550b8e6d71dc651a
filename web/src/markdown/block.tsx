import { memo } from "react";
import { useWords } from "../words/words.ts";
import { CodeBlock } from "./code-block.tsx";
import { Inline } from "./inline.tsx";
import { MathText } from "./math-text.tsx";
import type { MathToken, Token, Tokens } from "./parse.ts";
import { staysWhole } from "./whole-cells.ts";

type BlockProps = {
  readonly token: Token;
  /** More of it may come: nothing costly is made of it yet. */
  readonly isOpen: boolean;
  readonly depth?: number;
};

/** Deeper than this a text is shown as it was written. */
const depthMax = 24;

/** One block of a text as an element. What it does not know is text. */
export const Block = memo(function Block({ token: given, isOpen, depth = 0 }: BlockProps) {
  // The parser's own types say what each kind has.
  const token = given as Exclude<Tokens.Generic, MathToken> & (Token | MathToken);
  if (depth > depthMax) return <p className="written">{token.raw}</p>;
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      return <Heading token={token as Tokens.Heading} />;
    case "paragraph":
      return (
        <p>
          <Inline tokens={token.tokens ?? []} isOpen={isOpen} />
        </p>
      );
    case "text":
      return token.tokens === undefined ? token.text : <Inline tokens={token.tokens} isOpen={isOpen} />;
    case "code":
      return <CodeBlock code={token.text} language={token.lang ?? ""} isOpen={isOpen} />;
    case "blockquote":
      return (
        <blockquote>
          <Nested tokens={token.tokens ?? []} isOpen={isOpen} depth={depth} />
        </blockquote>
      );
    case "list":
      return <List token={token as Tokens.List} isOpen={isOpen} depth={depth} />;
    case "table":
      return <Table token={token as Tokens.Table} isOpen={isOpen} />;
    case "hr":
      return <hr />;
    case "math":
      return isOpen ? <p className="written">{token.raw}</p> : <MathText tex={token.tex} isBlock />;
    default:
      // Markup is no markup here: it is shown.
      return <p className="written">{token.raw}</p>;
  }
});

/** Headings of a text stand below those of the page. */
function Heading({ token: { depth, tokens } }: { readonly token: Tokens.Heading }) {
  const Tag = (["h3", "h4", "h5", "h6", "h6", "h6"] as const)[depth - 1] ?? "h6";
  return (
    <Tag data-depth={depth}>
      <Inline tokens={tokens} isOpen={false} />
    </Tag>
  );
}

type NestedProps = { readonly tokens: readonly Token[]; readonly isOpen: boolean; readonly depth: number };

function Nested({ tokens, isOpen, depth }: NestedProps) {
  return tokens.map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: blocks of a text have no names.
    <Block key={index} token={token} isOpen={isOpen} depth={depth + 1} />
  ));
}

type ListProps = { readonly token: Tokens.List; readonly isOpen: boolean; readonly depth: number };

function List({ token: { ordered, start, items }, isOpen, depth }: ListProps) {
  const rows = items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: items of a text have no names.
    <li key={index} data-task={item.task || undefined}>
      {item.task && <TaskBox isDone={item.checked === true} />}
      <Nested tokens={item.tokens.filter(({ type }) => type !== "checkbox")} isOpen={isOpen} depth={depth} />
    </li>
  ));
  return ordered ? <ol start={typeof start === "number" ? start : 1}>{rows}</ol> : <ul>{rows}</ul>;
}

function TaskBox({ isDone }: { readonly isDone: boolean }) {
  const words = useWords().markdown;
  return <input type="checkbox" checked={isDone} disabled aria-label={isDone ? words.done : words.notDone} />;
}

/** A wide table scrolls in a box of its own, never the page. */
function Table({ token: { header, rows, align }, isOpen }: { readonly token: Tokens.Table; readonly isOpen: boolean }) {
  const words = useWords().markdown;
  const cells = (of: readonly Tokens.TableCell[], Tag: "th" | "td") =>
    of.map((cell, index) => {
      const isWhole = staysWhole(cell.text, Tag === "th") || undefined;
      return (
        // biome-ignore lint/suspicious/noArrayIndexKey: cells of a text have no names.
        <Tag key={index} data-align={align[index] ?? undefined} data-whole={isWhole}>
          <Inline tokens={cell.tokens} isOpen={isOpen} />
        </Tag>
      );
    });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by keys.
    <section className="table-box" tabIndex={0} aria-label={words.table}>
      <table>
        <thead>
          <tr>{cells(header, "th")}</tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows of a text have no names.
            <tr key={index}>{cells(row, "td")}</tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
