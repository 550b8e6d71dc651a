import { useEffect, useRef } from "react";
import { Markdown } from "../markdown/markdown.tsx";
import { useWords } from "../words/words.ts";
import { pageItems, usePages } from "./pages.ts";
import type { Spot } from "./spot.ts";
import { Trouble } from "./trouble.tsx";

type MarkdownViewProps = {
  readonly conversation: string;
  readonly path: string;
  readonly spot: Spot;
  readonly changes: number;
};

const linesMax = 5_000;

/** A file of Markdown as it is meant to look. */
export function MarkdownView({ conversation, path, spot, changes }: MarkdownViewProps) {
  const words = useWords().preview;
  const { first, loaded, failure, want } = usePages({ conversation, path, plain: true }, changes);
  const place = useRef<HTMLDivElement>(null);
  const total = first?.kind === "text" ? Math.min(first.total, linesMax) : 0;
  useEffect(() => {
    if (total > pageItems) want(0, total - 1);
  }, [total, want]);
  const lines = [...loaded]
    .toSorted(([one], [other]) => one - other)
    .flatMap(([, view]) => (view.kind === "text" ? view.lines : []));
  const isWhole = first !== undefined && lines.length >= total;
  useEffect(() => {
    if (!isWhole || spot.heading === undefined) return;
    const headings = [...(place.current?.querySelectorAll("h3, h4, h5, h6") ?? [])];
    headings.find(({ textContent }) => textContent?.trim() === spot.heading)?.scrollIntoView({ block: "start" });
  }, [isWhole, spot.heading]);
  if (failure !== undefined && first === undefined) return <Trouble detail={failure} onRetry={() => want(0, 0)} />;
  if (!isWhole) return <p className="about">{words.loading}</p>;
  if (total === 0) return <p className="about">{words.empty}</p>;
  return (
    <div className="document" ref={place}>
      <Markdown text={lines.join("\n")} />
      {first.kind === "text" && first.total > linesMax && <p className="preview-foot">{words.cut}</p>}
    </div>
  );
}
