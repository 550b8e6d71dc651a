/** Why a server of others did not do what it was asked to. */
export type McpFault = "start" | "ended" | "time" | "network" | "http" | "refused" | "protocol" | "closed" | "paused";

const faults: Readonly<Record<McpFault, readonly [what: string, next: string]>> = {
  start: [
    "it could not be started",
    "Check its `command` and `args` in mcp_servers.yaml; the log file has what it said.",
  ],
  ended: [
    "it ended, or broke off the connection, in the middle of it",
    "Check whether it was done before you ask again; the next call starts it again.",
  ],
  time: ["it did not answer in time", "Try again, or raise `startup_timeout` in mcp_servers.yaml."],
  network: ["it cannot be reached", "Check its `url` in mcp_servers.yaml, and that it runs; then try again."],
  http: ["it answered with an error of HTTP", "Check its `url` and `headers` in mcp_servers.yaml."],
  refused: ["it refused", "Read what it says, and ask it differently."],
  protocol: [
    "what it says makes no sense",
    "Check that it is an MCP server, and whether there is a newer version of it.",
  ],
  closed: ["it is being stopped", "Try again."],
  paused: ["it failed again and again, and is left alone for a while", "Try again later, or restart it with /mcp."],
};

/** What a field of a form wants. */
export type FormWanted = "missing" | "text" | "number" | "integer" | "boolean" | "choice" | "choices";

const wanted: Readonly<Record<FormWanted, string>> = {
  missing: "something is needed there",
  text: "a text is wanted",
  number: "a number is wanted",
  integer: "a whole number is wanted",
  boolean: "yes or no is wanted",
  choice: "one of its choices is wanted",
  choices: "some of its choices are wanted, with commas between them",
};

/** What can go wrong with MCP servers: what happened, and what to do next. */
export const enMcpFailures = {
  /** `said`: a code, a status, or a sentence of the server. */
  mcp_server_failed: (p: { server: string; why: McpFault; said: string }) => {
    // A later version may have written down a cause that this one does not know.
    const [what, next] = faults[p.why] ?? faults.protocol;
    return [`The MCP server ${p.server} did not do it: ${what}${p.said === "" ? "" : ` (${p.said})`}.`, next];
  },
  mcp_server_not_found: (p: { server: string; near: string }) => [
    `There is no MCP server ${p.server}.`,
    p.near === "" ? "Name it in mcp_servers.yaml first." : `There are: ${p.near}.`,
  ],
  mcp_sign_in_needed: (p: { server: string }) => [
    `The MCP server ${p.server} wants to know who you are.`,
    `Sign in to it with /mcp sign-in ${p.server}; then ask again.`,
  ],
  mcp_sign_in_failed: (p: { server: string; said: string }) => [
    `Signing in to the MCP server ${p.server} did not work: ${p.said}.`,
    "Begin again with a new link; each one works once.",
  ],
  /** `why`: what is wanted there. */
  form_answer_unfit: (p: { field: string; why: FormWanted }) => [
    `The answer does not fit ${p.field}: ${wanted[p.why]}.`,
    'Answer with an object of JSON, such as {"name": "value"}, or with lines of name: value.',
  ],
  mcp_no_sign_in: (p: { server: string }) => [
    `The MCP server ${p.server} asks nobody to sign in.`,
    "Use it as it is; what it needs to know stands in mcp_servers.yaml.",
  ],
  /** Of those who use the yard as a server. */
  mcp_full: (p: { what: "connections" | "calls"; limit: number }) =>
    p.what === "calls"
      ? [
          `You have ${p.limit} calls under way, as many as there may be.`,
          "Wait for one of them to end, then call again.",
        ]
      : [
          `You have ${p.limit} MCP connections open, as many as there may be, and all of them are in use.`,
          "End one of them, then connect again.",
        ],
} satisfies Record<string, (params: never) => [what: string, next: string]>;
