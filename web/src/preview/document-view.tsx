import { useEffect, useRef } from "react";
import { staysWhole } from "../markdown/whole-cells.ts";
import { Button } from "../parts/button.tsx";
import { useWords } from "../words/words.ts";
import { pageItems, usePages, type ViewOf } from "./pages.ts";
import { placeText, type Spot } from "./spot.ts";
import { Trouble } from "./trouble.tsx";

type DocumentViewProps = {
  readonly conversation: string;
  readonly path: string;
  readonly spot: Spot;
  readonly changes: number;
};
type DocumentBlock = ViewOf<"document">["blocks"][number];

/** What a document says, block by block, with its pages. A citation opens at its place. */
export function DocumentView({ conversation, path, spot, changes }: DocumentViewProps) {
  const words = useWords().preview;
  const { first, loaded, failure, want } = usePages({ conversation, path }, changes);
  const place = useRef<HTMLDivElement>(null);
  const blocks = blocksIn(loaded);
  const total = first?.kind === "document" ? first.total : 0;
  const at = blocks.findIndex((block) => isAt(block, spot));
  const hasSpot =
    spot.page !== undefined || spot.slide !== undefined || spot.heading !== undefined || spot.chapter !== undefined;
  // It stands further down: what lies before it is needed, too.
  useEffect(() => {
    if (hasSpot && at < 0 && blocks.length > 0 && blocks.length < total) want(blocks.length, blocks.length);
  }, [hasSpot, at, blocks.length, total, want]);
  useEffect(() => {
    if (at >= 0) place.current?.querySelector("[data-marked]")?.scrollIntoView({ block: "start" });
  }, [at]);
  if (failure !== undefined && first === undefined) return <Trouble detail={failure} onRetry={() => want(0, 0)} />;
  if (first === undefined) return <p className="about">{words.loading}</p>;
  if (total === 0) return <p className="about">{words.empty}</p>;
  return (
    <div className="document prose" ref={place}>
      {blocks.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only ever added behind the last one.
        <PlacedBlock key={index} block={block} before={blocks[index - 1]} isMarked={hasSpot && index === at} />
      ))}
      {blocks.length < total && <Button onClick={() => want(blocks.length, blocks.length)}>{words.more}</Button>}
    </div>
  );
}

function blocksIn(loaded: ReadonlyMap<number, { readonly kind: string }>): DocumentBlock[] {
  const blocks: DocumentBlock[] = [];
  for (let page = 0; loaded.has(page); page += 1) {
    const view = loaded.get(page);
    if (view !== undefined && isDocument(view)) blocks.push(...view.blocks);
    if (blocks.length < (page + 1) * pageItems) break;
  }
  return blocks;
}

function isDocument(view: { readonly kind: string }): view is ViewOf<"document"> {
  return view.kind === "document";
}

function isAt({ kind, text, place }: DocumentBlock, spot: Spot): boolean {
  if (spot.heading !== undefined) return kind === "heading" && text.trim() === spot.heading.trim();
  if (spot.page !== undefined) return place.page !== undefined && place.page >= spot.page;
  if (spot.slide !== undefined) return place.slide !== undefined && place.slide >= spot.slide;
  return spot.chapter !== undefined && place.chapter !== undefined && place.chapter >= spot.chapter;
}

type PlacedBlockProps = {
  readonly block: DocumentBlock;
  readonly before: DocumentBlock | undefined;
  readonly isMarked: boolean;
};

function PlacedBlock({ block, before, isMarked }: PlacedBlockProps) {
  const words = useWords().preview;
  const here = placeText(block.place, words);
  const isNew =
    here !== "" && block.place.line === undefined && (before === undefined || placeText(before.place, words) !== here);
  return (
    <div data-marked={isMarked || undefined}>
      {isNew && <p className="document-place">{here}</p>}
      <Body block={block} />
    </div>
  );
}

function Body({ block: { kind, text, level = 1, headRows = 0 } }: { readonly block: DocumentBlock }) {
  if (kind === "heading") {
    const Tag = (["h3", "h4", "h5"] as const)[level - 1] ?? "h6";
    return <Tag>{text}</Tag>;
  }
  if (kind === "code") return <pre className="document-code">{text}</pre>;
  if (kind === "table") return <DocumentTable text={text} headRows={headRows} />;
  return <p className="written">{text}</p>;
}

const tableRowsMax = 200;

function DocumentTable({ text, headRows }: { readonly text: string; readonly headRows: number }) {
  const words = useWords().markdown;
  const rows = text.split("\n").slice(0, tableRowsMax);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by keys.
    <section className="table-box" tabIndex={0} aria-label={words.table}>
      <table>
        <tbody>
          {rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no names.
            <tr key={index}>
              {row.split("\t").map((cell, column) => {
                const Tag = index < headRows ? "th" : "td";
                return (
                  // biome-ignore lint/suspicious/noArrayIndexKey: cells have no names.
                  <Tag key={column} data-whole={staysWhole(cell, index < headRows) || undefined}>
                    {cell}
                  </Tag>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
