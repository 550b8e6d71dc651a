import { useEffect } from "react";
import { CodeText } from "../markdown/code-block.tsx";
import { useWords } from "../words/words.ts";
import { countOf } from "./counts.ts";
import { pageItems, usePages, useWindow, type ViewOf } from "./pages.ts";
import type { Spot } from "./spot.ts";
import { Trouble } from "./trouble.tsx";

type LinesViewProps = {
  readonly conversation: string;
  readonly path: string;
  /** By its type: which colours its words have. */
  readonly language: string;
  readonly spot: Spot;
  readonly changes: number;
};

const linePixels = 20;

/** A text line by line, of any length. Colours are found page by page: a comment that begins far above may lack its own. */
export function LinesView({ conversation, path, language, spot, changes }: LinesViewProps) {
  const { preview: words, language: spoken } = useWords();
  const { seen, box, place } = useWindow();
  const first = Math.max(0, (spot.line ?? 1) - 1);
  const { first: known, loaded, failure, want } = usePages({ conversation, path, plain: true, first }, changes);
  const total = known?.kind === "text" ? known.total : 0;
  const from = Math.max(0, Math.floor(seen.top / linePixels) - 20);
  const to = Math.min(total, Math.ceil((seen.top + seen.height) / linePixels) + 20);
  useEffect(() => {
    if (total > 0) want(from, Math.max(from, to - 1));
  }, [want, from, to, total]);
  useEffect(() => {
    if (total > 0 && spot.line !== undefined && place.current !== null)
      place.current.scrollTop = Math.max(0, spot.line - 4) * linePixels;
  }, [spot.line, total, place]);
  if (failure !== undefined && known === undefined)
    return <Trouble detail={failure} onRetry={() => want(first, first)} />;
  if (known === undefined) return <p className="about">{words.loading}</p>;
  if (known.kind !== "text") return <p className="about">{words.nothing}</p>;
  if (total === 0) return <p className="about">{words.empty}</p>;
  const shownPages = [...loaded].filter(([page]) => page * pageItems <= to && (page + 1) * pageItems >= from);
  return (
    <>
      <section
        ref={box}
        className="lines-box"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by keys.
        tabIndex={0}
        aria-label={path}
      >
        <div className="lines" style={{ height: total * linePixels }}>
          {spot.line !== undefined && <div className="line-mark" style={{ top: (spot.line - 1) * linePixels }} />}
          {shownPages.map(([page, view]) => (
            <LinesPage key={page} page={page} view={view} language={language} />
          ))}
        </div>
      </section>
      <p className="preview-foot">
        {words.lines({ lines: countOf(total, spoken) })} · {known.encoding}
        {known.cut !== null && ` · ${words.cut}`}
      </p>
    </>
  );
}

const lineCharactersMax = 2_000;

type LinesPageProps = { readonly page: number; readonly view: { readonly kind: string }; readonly language: string };

function LinesPage({ page, view, language }: LinesPageProps) {
  if (!isText(view)) return null;
  const { lines } = view;
  const numbers = lines.map((_, index) => page * pageItems + index + 1).join("\n");
  const text = lines.map((line) => line.slice(0, lineCharactersMax)).join("\n");
  return (
    <div className="lines-page" style={{ top: page * pageItems * linePixels }}>
      <pre className="line-numbers" aria-hidden="true">
        {numbers}
      </pre>
      <pre>
        <CodeText code={text} language={language} />
      </pre>
    </div>
  );
}

function isText(view: { readonly kind: string }): view is ViewOf<"text"> {
  return view.kind === "text";
}
