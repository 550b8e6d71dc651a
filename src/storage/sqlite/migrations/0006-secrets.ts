/** What users and the product keep for calls to others, sealed: users/ has the key, and this file never does. */
export const secrets = `
CREATE TABLE secret (
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  sealed BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (owner, name)
) STRICT, WITHOUT ROWID;
`;
