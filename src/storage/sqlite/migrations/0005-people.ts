/** Who may call, what was done under which key, and which agent a conversation belongs to. */
export const people = `
ALTER TABLE conversation ADD COLUMN origin TEXT NOT NULL DEFAULT 'person';
ALTER TABLE conversation ADD COLUMN agent_id TEXT;
ALTER TABLE conversation ADD COLUMN app_key TEXT;
ALTER TABLE conversation ADD COLUMN read_index INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversation ADD COLUMN is_passing INTEGER NOT NULL DEFAULT 0; -- 1: nothing of it is to be kept

-- Lists show those of people, and a busy program makes many more of its own.
DROP INDEX conversation_newest;
CREATE INDEX conversation_newest ON conversation (owner, updated_at, number)
  WHERE deleted_at IS NULL AND origin = 'person';
CREATE INDEX conversation_of_programs ON conversation (is_passing, updated_at)
  WHERE deleted_at IS NULL AND origin = 'program';

CREATE TABLE user (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  password TEXT,
  is_admin INTEGER NOT NULL,
  subject TEXT UNIQUE,
  at INTEGER NOT NULL
) STRICT;

CREATE TABLE api_key (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  shown TEXT NOT NULL,
  scopes TEXT NOT NULL, -- separated by blanks
  at INTEGER NOT NULL,
  used_at INTEGER,
  ends_at INTEGER
) STRICT;
CREATE INDEX api_key_owner ON api_key (owner, at);

CREATE TABLE sign_in (
  hash TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  kind TEXT NOT NULL,
  at INTEGER NOT NULL,
  ends_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sign_in_owner ON sign_in (owner);
CREATE INDEX sign_in_end ON sign_in (ends_at);

CREATE TABLE idempotency (
  owner TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  at INTEGER NOT NULL,
  answer TEXT,
  PRIMARY KEY (owner, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_oldest ON idempotency (at);
`;
