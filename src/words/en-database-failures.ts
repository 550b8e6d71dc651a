/** What may be the matter with a database server. */
export type AwayFault = "away" | "starting" | "full" | "commit_unknown";
export type DatabaseFault =
  | ("refused" | "no_database" | "no_rights" | "no_tls")
  | ("too_old" | "encoding" | "foreign" | "in_use")
  | ("other_key" | "other_files");

/** `said`: what the server or the system says of it. No address and no password is in it. */
export const enDatabaseFailures = {
  database_away: (p: { why: AwayFault; said: string }) => [
    {
      away: `The database server cannot be reached (${p.said}).`,
      starting: `The database server is starting or stopping (${p.said}).`,
      full: `The database server takes no more connections (${p.said}).`,
      commit_unknown:
        "The connection to the database was lost while something was being stored; it may be there or not.",
    }[p.why],
    {
      away: "See that PostgreSQL runs and that the address in AGENTYARD_DATABASE_URL is right; what was acknowledged is safe.",
      starting: "Try again in a moment.",
      full: "Raise max_connections of PostgreSQL, or lower storage.connections_max; then try again.",
      commit_unknown: "Look whether it is there before you do it again.",
    }[p.why],
  ],
  database_unusable: (p: { why: DatabaseFault; said: string }) => [
    `The database in AGENTYARD_DATABASE_URL cannot be used: ${databaseFaults[p.why]?.what ?? p.why}${p.said === "" ? "" : ` (${p.said})`}.`,
    databaseFaults[p.why]?.next ?? "`agentyard doctor` says more.",
  ],
  database_not_set: () => [
    "AGENTYARD_DATABASE_URL names no database to move to.",
    "Set it: AGENTYARD_DATABASE_URL=postgres://user:password@host/database agentyard migrate",
  ],
  database_not_empty: () => [
    "The database in AGENTYARD_DATABASE_URL holds data already; nothing was changed.",
    "Use an empty one, or another schema of it: add ?schema=NAME to the address.",
  ],
  files_elsewhere: (p: { from: string; to: string }) => [
    `The files of conversations lie in ${p.from}, and AGENTYARD_FILES_DIR names ${p.to}; nothing was moved.`,
    "Move the folders workspace, workspaces, kept and trash there first, or leave AGENTYARD_FILES_DIR out.",
  ],
} satisfies Record<string, (params: never) => [what: string, next: string]>;

const databaseFaults: Readonly<Record<DatabaseFault, { readonly what: string; readonly next: string }>> = {
  refused: {
    what: "the server does not let this user in",
    next: "Check the user and the password in AGENTYARD_DATABASE_URL, and pg_hba.conf of the server.",
  },
  no_database: {
    what: "there is no database of this name",
    next: "Make one: createdb --encoding=UTF8 --template=template0 NAME",
  },
  no_rights: {
    what: "this user may not make tables there",
    next: "Let the user own the database: ALTER DATABASE name OWNER TO user",
  },
  no_tls: {
    what: "the connection cannot be encrypted as the address asks for it",
    next: "Set up TLS on the server, or change sslmode in AGENTYARD_DATABASE_URL.",
  },
  too_old: { what: "the server is too old", next: "Use PostgreSQL 14 or newer." },
  encoding: {
    what: "it does not store texts as UTF-8",
    next: "Make another one: createdb --encoding=UTF8 --template=template0 NAME",
  },
  foreign: {
    what: "its schema holds tables of another program",
    next: "Choose another schema: add ?schema=NAME to AGENTYARD_DATABASE_URL; nothing was touched.",
  },
  other_key: {
    what: "the secrets in it are sealed under another key than the one of this server",
    next: "Give all servers the same AGENTYARD_KEY (the file `key` in the data directory of the first one holds it). Where that key is lost for good, so are the secrets: DELETE FROM agentyard.secret",
  },
  other_files: {
    what: "its files lie in another folder than the one that this server sees",
    next: "Set AGENTYARD_FILES_DIR to the folder that all servers share. Where this is that folder, or the files are lost for good, write the text after the colon into the file before it.",
  },
  in_use: {
    what: "another AgentYard uses it",
    next: "End that one first, or give this one a schema of its own: add ?schema=NAME to AGENTYARD_DATABASE_URL.",
  },
};
