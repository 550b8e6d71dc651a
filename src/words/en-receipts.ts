type Counted = { readonly count: number; readonly pages: string };

const some = (one: string, many: string) => (p: Counted) =>
  `${p.count === 1 ? `1 ${one}` : `${p.count} ${many}`}${p.pages === "" ? "" : ` (${p.pages})`}`;

/** What became of a file, for people: what was read of it, and what was not. */
export const enReceipts = {
  and: ", ",
  parts: {
    page: (p: { count: number }) => (p.count === 1 ? "1 page" : `${p.count} pages`),
    sheet: (p: { count: number }) => (p.count === 1 ? "1 sheet" : `${p.count} sheets`),
    slide: (p: { count: number }) => (p.count === 1 ? "1 slide" : `${p.count} slides`),
    chapter: (p: { count: number }) => (p.count === 1 ? "1 chapter" : `${p.count} chapters`),
  },
  characters: (p: { count: number }) => (p.count === 1 ? "1 character" : `${p.count.toLocaleString("en")} characters`),
  tables: (p: { count: number }) => (p.count === 1 ? "1 table" : `${p.count} tables`),
  losses: {
    pages_without_text: (p: Counted) =>
      `${some("page is a picture", "pages are pictures")(p)} without text, a scan say, and cannot be searched: run it through text recognition (OCR) and send it again`,
    damaged_pages: (p: Counted) =>
      `${some("page is damaged and was", "pages are damaged and were")(p)} left out: export the file again`,
    pages_cut: (p: Counted) => `${some("page was too long and was", "pages were too long and were")(p)} cut`,
    formulas_without_value: (p: Counted) =>
      `${some("formula has", "formulas have")(p)} no stored value: open the file in its program, save it, and send it again`,
    hidden_sheets: (p: Counted) =>
      `${some("sheet is hidden in the file; it was", "sheets are hidden in the file; they were")(p)} read, too`,
    damaged_sheets: (p: Counted) => `${some("sheet is", "sheets are")(p)} damaged or missing`,
    hidden_slides: (p: Counted) =>
      `${some("slide is hidden in the file; it was", "slides are hidden in the file; they were")(p)} read, too`,
    damaged_slides: (p: Counted) => `${some("slide is", "slides are")(p)} damaged or missing`,
    missing_chapters: (p: Counted) => `${some("chapter is", "chapters are")(p)} missing in the file`,
    tracked_deletions: (p: Counted) => `${some("tracked deletion was", "tracked deletions were")(p)} left out`,
    damaged_parts: (p: Counted) => `${some("part of the file is", "parts of the file are")(p)} damaged`,
    duplicate_parts: (p: Counted) => `${some("part is", "parts are")(p)} in the file twice; the first was read`,
    embedded_parts: (p: Counted) =>
      `${some("embedded file was", "embedded files were")(p)} not read: send it by itself`,
    texts_missing: (p: Counted) =>
      `${some("text that a cell refers to is", "texts that cells refer to are")(p)} missing`,
    undecodable_characters: (p: Counted) => `${some("place has", "places have")(p)} characters that cannot be decoded`,
    long_lines: (p: Counted) => `${some("line was too long and was", "lines were too long and were")(p)} cut`,
    open_quotes: (p: Counted) => `${some("quote is", "quotes are")(p)} never closed`,
    type_differs: () => "the name promises another type than the content has: it was read by its content",
  },
  otherLoss: (p: { kind: string; count: number }) => `${p.count} × ${p.kind}`,
  stopped: (p: { limit: string }) => `only a part of it was read: there is a limit of ${p.limit}`,
  indexing: (p: { name: string; done: number; of: number }) =>
    `… ${p.name}: reading${p.of > 0 ? `, ${p.done} of ${p.of}` : ""}`,
  goesOn: () => "it is still being read; searches wait for it",
};
