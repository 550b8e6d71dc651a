/** Tool boxes and their tools; what they are is operators' own, as JSON text. Credentials lie in `secret`. */
export const toolboxes = `
CREATE TABLE toolbox (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX toolbox_owner ON toolbox (owner);

CREATE TABLE toolbox_tool (
  key INTEGER PRIMARY KEY,
  box TEXT NOT NULL,
  id TEXT NOT NULL,
  owner TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (box, id)
) STRICT;
`;
