/** Where a passage stands, as people say it. */
type Span = { readonly from: number; readonly to: number };

const span = (one: string, many: string) => (p: Span) =>
  p.from >= p.to ? `${one} ${p.from}` : `${many} ${p.from}–${p.to}`;

/** What the terminal says about `/search` and `/open`. */
export const enLookup = {
  place: {
    page: span("page", "pages"),
    slide: span("slide", "slides"),
    chapter: span("chapter", "chapters"),
    row: span("row", "rows"),
    line: span("line", "lines"),
    paragraph: span("paragraph", "paragraphs"),
    sheet: (p: { name: string }) => `sheet ${p.name}`,
    printed: (p: { label: string }) => `printed ${p.label}`,
  },
  what: () => "✗ What for? /search WORDS, /search --files WORDS or /search --messages WORDS",
  optionUnknown: (p: { option: string }) =>
    `✗ /search has no option ${p.option}. Use --files or --messages, or neither.`,
  nothing: () => "Nothing was found. Try other words, or fewer of them.",
  shown: (p: { shown: number; total: number }) =>
    `${p.shown === p.total ? p.total : `${p.shown} of ${p.total}${p.total >= 1_000 ? " or more" : ""}`} found · /open N opens one`,
  you: "you",
  agent: "the agent",
  here: "this conversation",
  repaired: (p: { said: string; meant: string }) => `“${p.said}” is nowhere: “${p.meant}” was looked for`,
  missing: (p: { words: string }) => `nowhere: ${p.words}`,
  behind: (p: { count: number }) =>
    p.count === 1
      ? "1 conversation is still being indexed: search again in a moment"
      : `${p.count} conversations are still being indexed: search again in a moment`,
  waiting: (p: { path: string; done: number; of: number }) =>
    `${p.path} is still being indexed${p.of > 0 ? ` (${p.done} of ${p.of})` : ""}: search again in a moment`,
  unread: (p: { path: string; code: string }) =>
    `${p.path} was not searched (${p.code}): docs/api/failures.md says what to do about it`,
  partial: () => "There are more files than one search looks at: those of the latest conversations were searched.",
  /** `why`: `limit`, or the kind of failure of the server. */
  meaningTrouble: (p: { why: string }) =>
    p.why === "limit"
      ? "searched by words alone where the embedding model has not been yet: it has had as much as a day may cost"
      : `searched by words alone: the embedding model does not answer (${p.why})`,
  meaningBehind: (p: { embedded: number; passages: number }) =>
    `the embedding model is still at work (${p.embedded} of ${p.passages} passages): the rest was searched by words`,
  noSearch: () => "✗ There is nothing to open: /search comes first.",
  noSuch: (p: { number: string; count: number }) =>
    `✗ There is no hit ${p.number}; the last search has 1 to ${p.count}.`,
  gone: () => "✗ It is no longer there: search again.",
  readOn: (p: { path: string }) => `To read on: ask the agent about ${p.path}, or copy it with /save ${p.path}`,
};
