import { memo, useEffect, useState } from "react";
import { CopyButton } from "../parts/copy-button.tsx";
import { useWords } from "../words/words.ts";
import type { Piece } from "./highlight.ts";
import { whenIdle } from "./idle.ts";

type CodeBlockProps = { readonly code: string; readonly language: string; readonly isOpen: boolean };

/** Longer code stays without colours: finding them would hold the page up. */
const highlightedCharactersMax = 30_000;

export const CodeBlock = memo(function CodeBlock({ code, language, isOpen }: CodeBlockProps) {
  const words = useWords().markdown;
  const name = language.trim().split(/\s/)[0]?.slice(0, 40) ?? "";
  return (
    <figure className="code-block">
      <figcaption className="code-head">
        <span>{name || words.code}</span>
        <CopyButton text={code} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by keys. */}
      <pre tabIndex={0}>
        <code>
          <CodeText code={code} language={isOpen ? "" : name} />
        </code>
      </pre>
    </figure>
  );
});

/** Code with the colours of its language, as soon as they are known. */
export function CodeText({ code, language }: { readonly code: string; readonly language: string }) {
  const [pieces, setPieces] = useState<readonly Piece[]>();
  useEffect(() => {
    setPieces(undefined);
    if (language === "" || code.length > highlightedCharactersMax) return;
    let isWanted = true;
    void import("./highlight.ts").then(({ highlight }) => {
      whenIdle(() => {
        if (isWanted) setPieces(highlight(code, language));
      });
    });
    return () => {
      isWanted = false;
    };
  }, [code, language]);
  if (pieces === undefined) return code;
  return pieces.map(({ text, kind }, index) =>
    kind === undefined ? (
      text
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces of code have no names.
      <span key={index} className={`code-${kind}`}>
        {text}
      </span>
    ),
  );
}
