/**
 * Which folder a conversation or a task works in, who works for whom, and what was moved to the trash. As before, the
 * owner of a row is the owner of its conversation.
 */
export const workspaces = `
-- By folder, because two owners may use the same conversation id. A deleted conversation's rows stay until somebody has
-- removed the folders. used_at is the order of cleaning up: only what has something to clean is in its index.
CREATE TABLE workspace (
  folder TEXT PRIMARY KEY,
  number INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('conversation', 'task')),
  id TEXT NOT NULL, -- the conversation's or the agent's
  created_at INTEGER NOT NULL,
  made_at INTEGER,
  used_at INTEGER NOT NULL,
  cleaned_at INTEGER,
  UNIQUE (number, kind, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX workspace_task ON workspace (id) WHERE kind = 'task';
CREATE INDEX workspace_unused ON workspace (used_at) WHERE made_at IS NOT NULL AND cleaned_at IS NULL;

-- The key grows, so it is the order of making.
CREATE TABLE agent (
  key INTEGER PRIMARY KEY,
  number INTEGER NOT NULL,
  id TEXT NOT NULL UNIQUE,
  parent TEXT NOT NULL
) STRICT;
CREATE INDEX agent_number ON agent (number);

CREATE TABLE trash (
  id TEXT PRIMARY KEY,
  number INTEGER NOT NULL,
  workspace TEXT NOT NULL,
  folder TEXT NOT NULL,
  moved_at INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  files INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;
