/**
 * The log and what stands beside it. A row that belongs to somebody belongs to a conversation, and that to an owner.
 * No foreign keys: a conversation's row stays for ever, and each would cost a look-up in every append.
 */
export const log = `
PRAGMA application_id = 0x41595244; -- AYRD

-- A deleted conversation keeps its row, so that neither its number nor its id is given out again.
CREATE TABLE conversation (
  number INTEGER PRIMARY KEY,
  owner TEXT NOT NULL,
  id TEXT NOT NULL,
  title TEXT NOT NULL,
  last_message TEXT NOT NULL,
  turns INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER,
  UNIQUE (owner, id)
) STRICT;
CREATE INDEX conversation_newest ON conversation (owner, updated_at, number) WHERE deleted_at IS NULL;

-- id = conversation number * 2^24 + seq: one tree, in which an append touches one page.
CREATE TABLE event (
  id INTEGER PRIMARY KEY,
  type TEXT NOT NULL,
  v INTEGER NOT NULL,
  at INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;

CREATE TABLE lease (
  number INTEGER PRIMARY KEY,
  epoch INTEGER NOT NULL,
  holder TEXT, -- null: released; else the last holder, also after it ran out
  granted_at INTEGER NOT NULL,
  until INTEGER NOT NULL
) STRICT;

CREATE TABLE wake (
  number INTEGER PRIMARY KEY,
  not_before INTEGER NOT NULL,
  set_at INTEGER NOT NULL
) STRICT;

CREATE TABLE received (
  number INTEGER NOT NULL,
  client_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (number, client_id)
) STRICT, WITHOUT ROWID;

-- Open ones only, for the inbox; the log keeps them all. The key grows, so it is the order of asking.
CREATE TABLE decision (
  key INTEGER PRIMARY KEY,
  number INTEGER NOT NULL,
  decision TEXT NOT NULL,
  body TEXT NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (number, decision)
) STRICT;

CREATE TABLE blob (
  key INTEGER PRIMARY KEY,
  number INTEGER NOT NULL,
  hash TEXT NOT NULL,
  data BLOB NOT NULL,
  UNIQUE (number, hash)
) STRICT;
`;
