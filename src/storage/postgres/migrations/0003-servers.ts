/** Several processes on one database: who they are, which conversations and users live with whom, and what they agree on. */
export const servers = `
-- Written every second: room is left beside a row, so that a change stays on its page.
CREATE TABLE server (
  id text COLLATE "C" PRIMARY KEY,
  address text NOT NULL,
  started_at bigint NOT NULL,
  seen_at bigint NOT NULL
) WITH (fillfactor = 50);

-- c:<number> of a conversation, u:<owner> of a user. The server may be gone: then the home is free.
CREATE TABLE home (
  key text COLLATE "C" PRIMARY KEY,
  server text COLLATE "C" NOT NULL
);
CREATE INDEX home_server ON home (server);

CREATE TABLE agreement (
  name text PRIMARY KEY,
  value text NOT NULL
);

-- Which process runs it; null: one from before there were several.
ALTER TABLE execution ADD COLUMN server text;
`;
