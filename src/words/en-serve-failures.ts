/** What can go wrong with who is calling, with the server and with backups. */
export const enServeFailures = {
  /** `page`: where people sign in, with the path below which we are served. */
  sign_in_required: (p: { key?: "unknown"; page?: string }) => [
    p.key === undefined ? "You are not signed in." : "This API key is not known: it is mistyped, too old or revoked.",
    `${p.key === undefined ? "Send an API key (Authorization: Bearer …)" : "Send another one"} or sign in at ${p.page ?? "/sign-in"}.`,
  ],
  sign_in_failed: () => ["This name and password do not fit together.", "Check both and try again."],
  sign_in_link_used: () => ["This link is used up or too old.", "Make a new one with `agentyard user link NAME`."],
  scope_missing: (p: { scope: string }) => [
    `This key may not be used for that: it lacks the scope ${p.scope}.`,
    `Make one with \`agentyard user key add NAME --scope ${p.scope}\`.`,
  ],
  page_forged: () => [
    "The request did not come from a page of this server.",
    "Load the page again and repeat what you did.",
  ],
  rate_limited: (p: { retryAfterSeconds: number }) => [
    "Too many requests.",
    `Wait ${p.retryAfterSeconds} s and try again.`,
  ],
  user_exists: (p: { id: string }) => [`There is a user ${p.id} already.`, "See all with `agentyard user list`."],
  /** `as`: for whom the caller speaks who named somebody else; whether those exist is not told. */
  user_unknown: (p: { id: string; as?: string }) =>
    p.as === undefined
      ? [`There is no user ${p.id}.`, "See all with `agentyard user list`."]
      : [`This key or sign-in speaks for ${p.as}, not for ${p.id}.`, `Name ${p.as} or nobody.`],
  user_id_unfit: (p: { id: string }) => [
    `${p.id} cannot be the name of a user.`,
    "Use 1 to 48 of the letters A–Z and a–z, digits and . _ @ -.",
  ],
  password_unfit: (p: { charactersMin: number }) => [
    "This password is too short.",
    `Use at least ${p.charactersMin} characters.`,
  ],
  keys_full: (p: { max: number }) => [
    `This user has ${p.max} API keys already.`,
    "Revoke those that nobody uses any more: `agentyard user key list NAME` shows when each was used last.",
  ],
  key_not_found: (p: { id: string }) => [
    `There is no API key ${p.id}.`,
    "See all with `agentyard user key list NAME`.",
  ],
  sign_in_service_failed: (p: { why: string }) => [
    `The sign-in service did not do its part: ${p.why}.`,
    "Try again, or ask the operator of this server to check `server.oidc` in agentyard.yaml.",
  ],
  sign_in_expired: () => ["This sign-in took too long, or began in another browser.", "Begin again at /sign-in."],
  sign_in_stranger: (p: { name: string; signInAs: string }) => [
    `${p.name} is not a user here.`,
    `Ask the operator of this server to add you (agentyard user add NAME --sign-in-as …) as ${p.signInAs}`,
  ],
  sign_in_as_taken: (p: { id: string }) => [
    `The user ${p.id} is kept for this person of the sign-in service already.`,
    "If they are refused: one that has API keys is not handed over. Revoke those first, with `agentyard user key remove`.",
  ],
  proxy_unnamed: () => [
    "This request came through a proxy, and there is no user yet: nobody could be told apart from you.",
    "Add a user first: agentyard user add NAME. Name the proxy in `server.trusted_proxies` of agentyard.yaml, too.",
  ],
  users_needed: (p: { host: string }) => [
    `Nobody could be told apart on ${p.host}: there is no user yet.`,
    "Add one first: agentyard user add NAME. On 127.0.0.1 none is needed.",
  ],
  request_unreadable: (p: { why: "headers" | "slow" | "syntax" | "broken_off" }) => [
    {
      headers: "The headers of this request are too long.",
      slow: "This request did not come in time.",
      syntax: "This is no HTTP request.",
      broken_off: "This request broke off before its end.",
    }[p.why],
    {
      headers: "Send it again with no more than 32 KiB of headers.",
      slow: "Send it again, without pauses.",
      syntax: "Send it again, as HTTP/1.1.",
      broken_off: "Send it again, whole.",
    }[p.why],
  ],
  home_away: (p: { retryAfterSeconds: number }) => [
    "The server that has this conversation at hand does not answer.",
    `Another one takes over in a moment: try again in ${p.retryAfterSeconds} s. What was acknowledged is safe.`,
  ],
  peer_unknown: () => [
    "This door is for the other servers of this installation only.",
    "Send the request to the address that the server is reached at.",
  ],
  already_served: (p: { pid: number; address: string }) => [
    `AgentYard is already served at ${p.address} (process ${p.pid}).`,
    "Use it there, end that process first, or choose another data directory with --data.",
  ],
  not_ready: (p: { why: "passing" | "broken" }) =>
    p.why === "passing"
      ? ["The server is not ready: its data cannot be used right now.", "Try again in a moment."]
      : [
          "The server cannot go on: its database is damaged, or was removed or replaced while it was open.",
          "End the server, put a backup back or move the rest of the data away, and start it again.",
        ],
  data_missing: (p: { path: string }) => [
    `There is no data of AgentYard in ${p.path}.`,
    "Check --data; nothing was made there. `agentyard serve` or a chat begins a new one.",
  ],
  data_unusable: (p: { path: string }) => [
    `The folder ${p.path} cannot be made or used.`,
    "Choose another with --data, or let this user write there.",
  ],
  restore_unfinished: (p: { path: string; keptAt: string }) => [
    `A restore into ${p.path} broke off before it was done.`,
    `Run it again: agentyard restore FILE --replace.${p.keptAt === "" ? "" : ` What was there before lies in ${p.keptAt}.`} To begin empty instead, delete restoring-… there.`,
  ],
  backup_failed: (p: { why: BackupFault }) => [
    `The backup was not made: ${backupFaults[p.why]}.`,
    `Nothing was left behind. ${backupDeeds[p.why]} Then try again.`,
  ],
  backup_exists: (p: { path: string }) => [
    `There is a file ${p.path} already.`,
    "Name another one, or delete it first.",
  ],
  backup_broken: (p: { why: BrokenBackupFault }) => [
    `This backup cannot be used: ${brokenBackupFaults[p.why]}.`,
    "Nothing was changed. Use another backup.",
  ],
  backup_newer: (p: { found: number; known: number }) => [
    `This backup was made by a newer AgentYard (format ${p.found}; this one reads up to ${p.known}).`,
    "Nothing was changed. Restore it with that version.",
  ],
  restore_failed: (p: { why: RestoreFault; keptAt?: string }) => [
    `The backup was not restored: ${backupFaults[p.why]}.`,
    p.keptAt === undefined
      ? `What was there before is unchanged. ${backupDeeds[p.why]} Then try again.`
      : `What was there before lies in ${p.keptAt}, and could not be moved back. ${backupDeeds[p.why]} Then restore with --replace, or move it back.`,
  ],
  restore_not_empty: (p: { path: string }) => [
    `The data directory ${p.path} is not empty.`,
    "Restore into an empty one (--data DIR), or add --replace to keep what is there under another name.",
  ],
} satisfies Record<string, (params: never) => [string, string]>;

/** What may keep a backup from being put back, and from being made. */
export type RestoreFault = "full" | "read_only" | "io" | "unequal";
export type BackupFault = RestoreFault | "no_folder" | "broken_off";
const backupFaults: Readonly<Record<BackupFault, string>> = {
  no_folder: "the folder does not exist",
  full: "the disk is full",
  read_only: "the place may not be written to",
  broken_off: "the server broke off",
  io: "the disk reports an error",
  unequal: "what was written is not what was read back",
};
/** What helps against it. */
const backupDeeds: Readonly<Record<BackupFault, string>> = {
  no_folder: "Make it, or name another folder.",
  full: "Free some space, or choose another disk.",
  read_only: "Let this user write there, or choose another place.",
  broken_off: "See whether the server still runs, and what its log says.",
  io: "Check the disk.",
  unequal: "Check the disk, or choose another one.",
};

/** What may be wrong with one. */
export type BrokenBackupFault = "no_file" | "no_backup" | "unreadable" | "cut" | "changed" | "unsafe" | "database";
const brokenBackupFaults: Readonly<Record<BrokenBackupFault, string>> = {
  no_file: "there is no such file",
  no_backup: "it is no backup of AgentYard",
  unreadable: "the file cannot be read",
  cut: "its end is missing",
  changed: "it was changed or damaged",
  unsafe: "it has names that lead out of the data directory",
  database: "its database is damaged",
};
