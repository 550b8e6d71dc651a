/**
 * Sessions and executions of the sandbox, and a number for every workspace that stays its own for ever: on systems it
 * becomes the user that its programs run as, and nobody may inherit the files of somebody who is gone.
 */
export const sandbox = `
-- The last number given. Not the highest one in use: the row that had it may be gone.
CREATE TABLE counter (
  name TEXT PRIMARY KEY,
  last INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- As before, with the ordinal. Made anew, for a column that is added could be left empty.
CREATE TABLE workspace_with_ordinal (
  folder TEXT PRIMARY KEY,
  number INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('conversation', 'task')),
  id TEXT NOT NULL, -- the conversation's or the agent's
  created_at INTEGER NOT NULL,
  made_at INTEGER,
  used_at INTEGER NOT NULL,
  cleaned_at INTEGER,
  ordinal INTEGER NOT NULL UNIQUE,
  UNIQUE (number, kind, id)
) STRICT, WITHOUT ROWID;
INSERT INTO workspace_with_ordinal
  SELECT folder, number, kind, id, created_at, made_at, used_at, cleaned_at,
    row_number() OVER (ORDER BY created_at, folder)
  FROM workspace;
DROP TABLE workspace;
ALTER TABLE workspace_with_ordinal RENAME TO workspace;
CREATE UNIQUE INDEX workspace_task ON workspace (id) WHERE kind = 'task';
CREATE INDEX workspace_unused ON workspace (used_at) WHERE made_at IS NOT NULL AND cleaned_at IS NULL;
INSERT INTO counter SELECT 'workspace', count(*) FROM workspace;

-- Whose it is, asked by a caller who names nothing else.
CREATE INDEX conversation_id ON conversation (id);

CREATE TABLE sandbox_session (
  owner TEXT PRIMARY KEY,
  id TEXT NOT NULL,
  used_at INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sandbox_session_used ON sandbox_session (used_at);

-- The key grows, so it is the order of two that came in one millisecond.
CREATE TABLE execution (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  owner TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  ended_at INTEGER, -- null while it waits or runs
  bytes INTEGER NOT NULL, -- of both texts
  body TEXT NOT NULL, -- what a list shows
  long_body TEXT -- all of it, where the body leaves something out; last, so that a list does not read it
) STRICT;
CREATE INDEX execution_newest ON execution (owner, created_at, key, ended_at, bytes);
CREATE INDEX execution_open ON execution (created_at, key) WHERE ended_at IS NULL;
CREATE INDEX execution_ended ON execution (ended_at) WHERE ended_at IS NOT NULL;
`;
