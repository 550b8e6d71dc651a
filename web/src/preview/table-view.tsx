import { useEffect, useMemo, useState } from "react";
import { useWords } from "../words/words.ts";
import { countOf } from "./counts.ts";
import { type Pages, pageItems, usePages, useWindow, type ViewOf } from "./pages.ts";
import type { Spot } from "./spot.ts";
import { Trouble } from "./trouble.tsx";

type TableViewProps = {
  readonly conversation: string;
  readonly path: string;
  readonly spot: Spot;
  readonly changes: number;
};

/** A table of any length: only what is looked at is there. */
export function TableView({ conversation, path, spot, changes }: TableViewProps) {
  const words = useWords().preview;
  const [sheet, setSheet] = useState(spot.sheet);
  const pages = usePages({ conversation, path, sheet }, changes);
  const { first } = pages;
  if (pages.failure !== undefined && first === undefined)
    return <Trouble detail={pages.failure} onRetry={() => pages.want(0, 0)} />;
  if (first === undefined) return <p className="about">{words.loading}</p>;
  if (first.kind !== "table" || first.total === 0) return <p className="about">{words.empty}</p>;
  return (
    <div className="sheet">
      {first.sheets.length > 1 && (
        <fieldset className="choices" aria-label={words.sheets}>
          {first.sheets.map((name) => (
            <button key={name} type="button" aria-pressed={name === first.sheet} onClick={() => setSheet(name)}>
              {name}
            </button>
          ))}
        </fieldset>
      )}
      <Grid key={first.sheet} first={first} pages={pages} row={spot.row} />
      <Foot first={first} />
    </div>
  );
}

function Foot({ first }: { readonly first: ViewOf<"table"> }) {
  const { preview: words, language } = useWords();
  const rows = countOf(first.total - first.headRows, language);
  return (
    <p className="preview-foot">
      {words.rows({ rows, columns: first.columns })}
      {first.cut !== null && ` · ${words.cut}`}
    </p>
  );
}

const rowPixels = 28;
const numberPixels = 64;
/** Drawn beyond what is seen, so that a quick turn of the wheel does not show nothing. */
const moreRows = 12;

type GridProps = { readonly first: ViewOf<"table">; readonly pages: Pages; readonly row: number | undefined };

function Grid({ first, pages, row }: GridProps) {
  const words = useWords().preview;
  const { seen, box, place } = useWindow();
  const { headRows, total, columns } = first;
  const { starts, width } = useMemo(() => layoutOf(first), [first]);
  const from = Math.max(0, Math.floor(seen.top / rowPixels) - moreRows);
  const to = Math.min(total - headRows, Math.ceil((seen.top + seen.height) / rowPixels) + moreRows);
  const { want } = pages;
  useEffect(() => want(from + headRows, to + headRows), [want, from, to, headRows]);
  useEffect(() => {
    if (row !== undefined && place.current !== null)
      place.current.scrollTop = Math.max(0, row - headRows - 3) * rowPixels;
  }, [row, headRows, place]);
  const left = seen.left;
  const right = left + seen.width;
  const firstColumn = Math.max(0, starts.findIndex((start) => start > left - numberPixels) - 1);
  const behind = starts.findIndex((start) => start > right);
  const shown = { first: firstColumn, last: behind < 0 ? columns : Math.min(columns, behind + 1), starts };
  const head = headRows > 0 ? rowAt(pages, 0)?.cells : undefined;
  return (
    <section
      ref={box}
      className="grid-box"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by keys.
      tabIndex={0}
      aria-label={words.table({ name: first.sheet })}
    >
      <table
        aria-rowcount={total}
        aria-colcount={columns + 1}
        className="grid"
        style={{ width, height: (total - headRows + 1) * rowPixels }}
      >
        <thead>
          <tr aria-rowindex={1} className="grid-row" data-head="">
            <th scope="col" className="grid-number">
              <span className="unseen">#</span>
            </th>
            <Cells cells={head ?? letters(columns)} shown={shown} Tag="th" />
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index).map((index) => {
            const data = rowAt(pages, index + headRows);
            const isMarked = row !== undefined && data?.number === row;
            return <GridRow key={index} index={index} row={data} shown={shown} isMarked={isMarked} />;
          })}
        </tbody>
      </table>
    </section>
  );
}

type Shown = { readonly first: number; readonly last: number; readonly starts: readonly number[] };
type RowData = { readonly number: number; readonly cells: readonly string[] };
type GridRowProps = {
  readonly index: number;
  readonly row: RowData | undefined;
  readonly shown: Shown;
  readonly isMarked: boolean;
};

function GridRow({ index, row, shown, isMarked }: GridRowProps) {
  return (
    <tr
      aria-rowindex={index + 2}
      className="grid-row"
      data-marked={isMarked || undefined}
      style={{ transform: `translateY(${(index + 1) * rowPixels}px)` }}
    >
      <th scope="row" className="grid-number">
        {row?.number ?? "…"}
      </th>
      <Cells cells={row?.cells ?? []} shown={shown} Tag="td" />
    </tr>
  );
}

type CellsProps = { readonly cells: readonly string[]; readonly shown: Shown; readonly Tag: "td" | "th" };

const isNumber = /^[-+]?[\d\s.,]+%?$/;
const cellCharactersMax = 300;

function Cells({ cells, shown: { first, last, starts }, Tag }: CellsProps) {
  const columns = Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index);
  return columns.map((column) => {
    const text = cells[column] ?? "";
    return (
      <Tag
        key={column}
        aria-colindex={column + 2}
        className="grid-cell"
        data-number={isNumber.test(text) || undefined}
        title={text.length > 24 ? text.slice(0, 1_000) : undefined}
        style={{ left: numberPixels + (starts[column] ?? 0), width: (starts[column + 1] ?? 0) - (starts[column] ?? 0) }}
      >
        {text.slice(0, cellCharactersMax)}
      </Tag>
    );
  });
}

function rowAt({ loaded }: Pages, index: number): RowData | undefined {
  const page = loaded.get(Math.floor(index / pageItems));
  return page?.kind === "table" ? page.rows[index % pageItems] : undefined;
}

const letterPixels = 9;
const columnPixels = { min: 64, max: 320 };

/** As wide as the first rows ask for; signs of Chinese and the like count twice. */
function layoutOf({ rows, columns }: ViewOf<"table">): { starts: number[]; width: number } {
  const starts = [0];
  for (let column = 0; column < columns; column += 1) {
    const longest = rows.slice(0, 100).reduce((most, { cells }) => Math.max(most, widthOf(cells[column] ?? "")), 0);
    const pixels = Math.min(columnPixels.max, Math.max(columnPixels.min, longest * letterPixels + 20));
    starts.push((starts[column] ?? 0) + pixels);
  }
  return { starts, width: (starts[columns] ?? 0) + numberPixels };
}

function widthOf(text: string): number {
  let width = 0;
  for (const sign of text.slice(0, 60)) width += (sign.codePointAt(0) ?? 0) > 0x2e7f ? 2 : 1;
  return width;
}

/** A, B, …, Z, AA: as spreadsheets name their columns. */
function letters(columns: number): string[] {
  const name = (index: number): string =>
    (index >= 26 ? name(Math.floor(index / 26) - 1) : "") + String.fromCharCode(65 + (index % 26));
  return Array.from({ length: columns }, (_, index) => name(index));
}
