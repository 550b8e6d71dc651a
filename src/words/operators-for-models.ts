/** What models read of tool boxes. */
export const forOperators = {
  /** Where a schema is too large to be shown. */
  fields: (names: readonly string[]) => `Fields: ${names.join(", ")}.`,
  description: (p: { what: string; useRule: string; box: string }) =>
    [p.what, p.useRule, `(tool box ${p.box})`].filter((part) => part !== "").join(" "),
  answered: (p: { status: number; type: string }) => `HTTP ${p.status}${p.type === "" ? "" : ` ${p.type}`}`,
  empty: "(no content)",
  bytes: (p: { sizeBytes: number; type: string }) =>
    `(${p.sizeBytes} bytes of ${p.type === "" ? "unknown type" : p.type}, not shown)`,
  /** The sandbox as a tool box. */
  sandbox: {
    name: "Sandbox",
    description: "Runs code in the caller's own sandbox session, with the files of one conversation.",
    executeCode: "Run a program in the sandbox, without network, and answer what it said and the files it made.",
    code: "The program.",
    language: "python if left out.",
    timeout: "Seconds; 60 if left out.",
    session: "Your own sandbox session, by any of its names; may be left out.",
    conversation: "The conversation whose files the program sees.",
    event: "For handler(event), if the program defines one.",
  },
  cut: "(cut: the service answered more than can be read at once; ask for less)",
};
