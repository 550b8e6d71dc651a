/** What `agentyard serve` says. */
export const enServe = {
  listening: (p: { version: string; address: string; data: string; isEverywhere: boolean }) =>
    `AgentYard ${p.version} listens on ${p.address}${p.isEverywhere ? " and all other addresses of this machine" : ""} (data: ${p.data})`,
  modelDemo: () => "Model:    demo model: not an AI — `agentyard model` tells how to connect one",
  browser: (p: { address: string }) => `Browser:  ${p.address}/`,
  docs: (p: { address: string }) => `HTTP API: ${p.address}/docs · OpenAI-compatible: ${p.address}/v1`,
  terminal: (p: { command: string }) => `Terminal: ${p.command} (in another window, on the same data)`,
  noUsers: () => "Callers:  this machine alone, without sign-in; `agentyard user add NAME` asks for one",
  users: (p: { count: number }) =>
    `Callers:  ${p.count === 1 ? "1 user" : `${p.count} users`}, by sign-in or API key; others are refused`,
  signIn: (p: { link: string; until: string }) => `Sign in:  ${p.link} (works once, until ${p.until})`,
  howToEnd: () => "Ctrl+C ends it; what runs then goes on at the next start.",
  ending: () => "Ending: turns stop where they can go on. Ctrl+C again ends at once.",
};

/** What `agentyard user` says. */
export const enUsers = {
  none: () => "There are no users: this machine alone can call, without sign-in. `agentyard user add NAME` adds one.",
  columns: { user: "user", role: "role", password: "password", added: "added" },
  role: { admin: "admin", user: "user" },
  hasPassword: { yes: "yes", no: "no" },
  added: (p: { id: string }) => `✓ User ${p.id} added. Callers now sign in, or send an API key.`,
  addedHow: (p: { id: string }) =>
    `A link that signs in once: \`agentyard user link ${p.id}\` · An API key: \`agentyard user key add ${p.id}\``,
  addedFor: (p: { id: string; signInAs: string }) =>
    `Whom the sign-in service knows as ${p.signInAs} comes in as ${p.id}, and nobody else.`,
  addedAdmin: (p: { id: string }) => `${p.id} is an admin: may add, see and remove users.`,
  removed: (p: { id: string }) => `✓ User ${p.id} removed, with keys and sign-ins. Conversations stay.`,
  removedLast: () => "No users are left: callers on this machine need no sign-in now, and others are refused.",
  passwordSet: (p: { id: string }) => `✓ Password of ${p.id} set. Browsers that were signed in are not any more.`,
  passwordPrompt: () => "Password: ",
  passwordPromptNone: () => "Password (empty: none): ",
  passwordAgain: () => "Again: ",
  passwordsDiffer: () => "the two passwords are not the same; nothing was changed",
  passwordMissing: () => "a password is needed: type it in a terminal, or pipe it in with --password-stdin",
  link: (p: { until: string }) => `It signs one browser in, once, until ${p.until}.`,
  linkPath: () => "Put the address of the server before it, such as http://127.0.0.1:7420.",
  keyAdded: (p: { id: string; scopes: string }) =>
    `✓ API key ${p.id} (${p.scopes}). It is shown this once; whoever has it is you:`,
  noKeys: (p: { id: string }) => `${p.id} has no API keys. \`agentyard user key add ${p.id}\` makes one.`,
  keyColumns: { id: "id", key: "key", label: "label", scopes: "scopes", used: "last used", ends: "ends" },
  never: "never",
  ended: (p: { at: string }) => `ended ${p.at}`,
  keyRemoved: (p: { id: string }) => `✓ API key ${p.id} revoked; it opens nothing from now on.`,
};

/** What `agentyard backup` and `agentyard restore` say. */
export const enBackups = {
  made: (p: { path: string; size: string }) => `✓ Backup in ${p.path} (${p.size}), read back and compared`,
  what: (p: { conversations: number; files: number }) =>
    `  ${p.conversations === 1 ? "1 conversation" : `${p.conversations} conversations`}, ${p.files === 1 ? "1 file" : `${p.files} files`}`,
  leftOut: (p: { count: number; paths: string }) =>
    `! ${p.count} could not be read and are not in it: ${p.paths}. Give the user that runs AgentYard the right to read them, or move them to a shorter path with plain names, and back up again; or copy them yourself.`,
  changing: (p: { paths: string }) =>
    `! Written to all the time, so perhaps not as they should be: ${p.paths}. Back up again when whatever writes to them has ended.`,
  noKey: () =>
    "! The key of stored secrets is not in it: the data directory has no file `key`. Where AGENTYARD_KEY holds it, keep that yourself.",
  restored: (p: { path: string }) => `✓ Restored into ${p.path}, and compared`,
  restoredThere: (p: { path: string }) => `✓ Restored into the database server, its files into ${p.path}, and compared`,
  moved: (p: { conversations: number; events: number }) =>
    `✓ Moved to the database server and compared: ${p.conversations === 1 ? "1 conversation" : `${p.conversations} conversations`}, ${p.events} events`,
  stays: (p: { path: string }) =>
    `! It is moved, but the file stays: ${p.path} could not be given another name. Move it away: without AGENTYARD_DATABASE_URL it would be taken for the data.`,
  from: (p: { at: string; version: string }) => `  as of ${p.at}, by AgentYard ${p.version}`,
  kept: (p: { path: string }) => `  What was there before lies in ${p.path}`,
  progress: {
    write: (p: { size: string }) => `… ${p.size} written`,
    compare: (p: { size: string }) => `… ${p.size} compared`,
    read: (p: { size: string }) => `… ${p.size} read`,
  },
};
