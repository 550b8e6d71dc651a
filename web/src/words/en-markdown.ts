export const enMarkdown = {
  showAll: "Show all of it",
  code: "Code",
  table: "Table",
  done: "done",
  notDone: "not done",
  /** It is not loaded: a click leads there. */
  pictureAt: (host: string, text: string) => `Image on ${host}${text === "" ? "" : `: ${text}`}`,
};
