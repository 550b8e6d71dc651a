/** What `agentyard doctor` says. A pair is what is the matter, and what can be done about it. */
export const enDoctor = {
  title: (p: { version: string }) => `AgentYard ${p.version} on this machine`,
  program: (p: { node: string; system: string }) => `Node ${p.node}, ${p.system}`,
  data: (p: { folder: string; free: string }) => `Data directory: ${p.folder} (${p.free} free)`,
  dataNew: (p: { folder: string; free: string }) =>
    `Data directory: ${p.folder}, made at the first start (${p.free} free)`,
  dataReadOnly: (p: { folder: string }): Pair => [
    `The data directory cannot be written: ${p.folder}.`,
    "Give this user write permission, or choose another with --data.",
  ],
  dataOpen: (p: { mode: string }) => `Other users of this machine can look into the data directory (mode ${p.mode}).`,
  spaceLow: (p: { free: string }): Pair => [
    `Only ${p.free} of the disk are free.`,
    "Free some space; conversations, files and sandboxes need it.",
  ],
  shared: (p: { count: number }): Pair => [
    p.count === 1
      ? "One other person has an account on this machine; what listens on loopback is open to them, too."
      : `${p.count} other people have accounts on this machine; what listens on loopback is open to them, too.`,
    "The terminal is not concerned: its socket is yours alone. Start `agentyard sandbox` only where you trust them.",
  ],
  databaseNew: () => "Database: made at the first start",
  database: (p: { format: number }) => `Database opens (format ${p.format})`,
  databaseInUse: (p: { format: number; pid: number }) =>
    `Database opens (format ${p.format}); process ${p.pid} works with it`,
  databaseServer: (p: { format: number | undefined; server: string; living: readonly string[] }) =>
    p.format === undefined
      ? `Database: PostgreSQL ${p.server} answers; the tables are made at the first start`
      : `Database opens on PostgreSQL ${p.server} (format ${p.format}); ${
          p.living.length === 0
            ? "no server works with it"
            : `${p.living.length === 1 ? "one server works" : `${p.living.length} servers work`} with it: ${p.living.join(", ")}`
        }`,
  record: (p: { count: number }) =>
    p.count === 0
      ? "Record of decisions: none yet"
      : `Record of decisions: ${p.count} checked, ${p.count === 1 ? "it holds" : "all hold"}`,
  recordBroken: (p: { conversation: string; seq: number; what: string }): Pair => [
    `The record of decisions does not hold in conversation ${p.conversation}, event ${p.seq}: ${p.what}.`,
    "Something else than AgentYard changed the database. Compare with a backup; `agentyard log` prints the conversation.",
  ],
  ruleUnknown: (p: { rule: string }): Pair => [
    `The rule ${p.rule} allows something always, and no decision on record says so.`,
    "Something else than AgentYard changed the database. `/rules` lists the rules and revokes them.",
  ],
  recordMore: (p: { count: number }): Pair => [
    p.count === 1 ? "1 more place of the record does not hold." : `${p.count} more places of the record do not hold.`,
    "Too many to name: restore a backup from before, or compare one with what `agentyard log` prints of each conversation.",
  ],
  recordFault: {
    unreadable: "it cannot be read",
    unknown_type: "there are no such events",
    time_changed: "it was not at this time",
    made_missing: "the agent went on, but the decision about it is missing",
    conversation_missing: "there is no such conversation",
    asked_changed: "what was asked is not what was stored",
    made_changed: "the decision, or what was asked for it, is not what was stored",
    bytes_differ: "it is about other arguments than those that were shown",
    asked_missing: "what was asked for it is missing",
    made_twice: "it was decided before",
    broken_link: "the decision before it is not the one that it names: one was changed, moved or removed",
    event_missing: "an event with this number is missing",
  },
  skills: (p: { count: number }) => (p.count === 1 ? "Skills: 1 can be used" : `Skills: ${p.count} can be used`),
  skillUnfit: (p: { place: string; what: string; instead: string }): Pair => [`Skill ${p.place}: ${p.what}`, p.instead],
  tool: (p: { tool: string; file: string }) => `Tool: ${p.tool} (${p.file}) runs outside of the sandbox`,
  brokenTool: (p: { file: string; line?: number | undefined; why: string }): Pair => [
    `Tool: ${p.file}${p.line === undefined ? "" : `:${p.line}`} cannot be used: ${p.why}`,
    "Mend the file, or take it out of its folder.",
  ],
  checker: (p: { name: string }) => `Checker: ${p.name} looks at calls, outside of the sandbox`,
  mcp: (p: { id: string; what: string }) => `MCP server ${p.id}: ${p.what}; started at its first use`,
  mcpMissing: (p: { id: string; what: string }): Pair => [
    `MCP server ${p.id}: there is no program ${p.what}.`,
    "Install it, or correct its `command` in mcp_servers.yaml; a path may be written out in full.",
  ],
  model: (p: { slot: string; model: string; server: string }) =>
    `Model of ${p.slot}: ${p.model} (${p.server}); \`agentyard model test\` tries it`,
  modelDemo: (): Pair => [
    "No model is connected; the demo model answers, which is not an AI.",
    "Write MODEL_BASIC_API_KEY, MODEL_BASIC_BASE_URL and MODEL_BASIC_ID into .env; `agentyard model` finds local servers.",
  ],
  embedding: (p: { model: string; server: string }) =>
    `Search in documents: by words and by meaning, with ${p.model} (${p.server})`,
  embeddingNone: () =>
    "Search in documents: by words (MODEL_EMBEDDING_… in .env adds meaning; see docs/use/documents.md)",
  search: (p: { service: string }) => `Web search: ${p.service}`,
  searchNone: () =>
    "Web search: none (a key in .env, such as BRAVE_API_KEY, or SEARXNG_URL switches it on; see docs/use/web.md)",
  images: () => "Workspaces are images of disks, each with a limit of its own; one was mounted",
  sandbox: (p: { version: string }) => `Code runs in a sandbox (bubblewrap ${p.version})`,
  container: (p: { image: string; runtime: string | undefined }) =>
    `Code runs in containers of Docker (image ${p.image}${p.runtime === undefined ? "" : `, runtime ${p.runtime}`})`,
  pods: (p: { namespace: string; image: string; runtimeClass: string | undefined }) =>
    `Code runs in pods of Kubernetes (namespace ${p.namespace}, image ${p.image}${p.runtimeClass === undefined ? "" : `, runtime class ${p.runtimeClass}`})`,
  hosts: (p: { count: number }) =>
    `Code runs on other machines (${p.count === 1 ? "one sandbox host is" : `${p.count} sandbox hosts are`} named)`,
  python: (p: { version: string; libraries: string }) =>
    p.libraries === "" ? `Python ${p.version}` : `Python ${p.version} with ${p.libraries}`,
  bash: (p: { version: string }) => `bash ${p.version}`,
  bashMissing: (): Pair => ["bash is missing, so that shell commands cannot run.", "Install bash."],
  javascript: (p: { version: string }) => `JavaScript: Node ${p.version}`,
  font: (p: { family: string }) => `Chinese in charts: ${p.family}`,
  fine: () => "Everything is there.",
  fit: (p: { count: number }) => (p.count === 1 ? "Ready; 1 line has advice." : `Ready; ${p.count} lines have advice.`),
  unfit: (p: { count: number }) =>
    p.count === 1 ? "1 thing that is needed is missing." : `${p.count} things that are needed are missing.`,
  fixHint: () => "`agentyard doctor --fix` runs the commands above, and asks before each.",
  fixNobody: () =>
    "✗ --fix asks before each change, and nobody is there to ask. Nothing was changed; the commands are:",
  fixNothing: () => "There is no command that would change any of this.",
  ask: () => "Run it? [y/N] ",
  skipped: () => "Not run.",
  ran: () => "✓ Done",
  ranBadly: (p: { code: number }) =>
    `✗ It ended with exit code ${p.code}. Where a package was not found, \`apt-get update\` may help.`,
  lookAgain: () => "Looking again:",
};

type Pair = readonly [what: string, next: string];
