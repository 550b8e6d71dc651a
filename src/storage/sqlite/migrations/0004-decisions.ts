/** What a user allowed always, what a user wants to be known, and what the check of decisions needs. */
export const decisions = `
-- The key grows, so it is the order of two that came in one millisecond.
CREATE TABLE rule (
  key INTEGER PRIMARY KEY,
  owner TEXT NOT NULL,
  id TEXT NOT NULL,
  number INTEGER, -- the conversation it counts in; null: all of the owner's
  body TEXT NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (owner, id)
) STRICT;
CREATE INDEX rule_newest ON rule (owner, at, key);
CREATE INDEX rule_number ON rule (number) WHERE number IS NOT NULL;

CREATE TABLE memory (
  key INTEGER PRIMARY KEY,
  owner TEXT NOT NULL,
  id TEXT NOT NULL,
  fact TEXT NOT NULL,
  conversation TEXT, -- the id of the one in which an agent wrote it down
  at INTEGER NOT NULL,
  UNIQUE (owner, id)
) STRICT;
CREATE INDEX memory_oldest ON memory (owner, at, key);

-- The record of decisions is checked as a whole: few of all conversations have any.
CREATE INDEX event_decision ON event (id) WHERE type IN ('decision.asked', 'decision.made');

-- Decisions from before each had a hash of its own: another one without a hash is not as it was stored.
CREATE TABLE old_decision (decision TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT OR IGNORE INTO old_decision
  SELECT body ->> 'id' FROM event WHERE type = 'decision.asked' AND json_valid(body) AND body ->> 'id' IS NOT NULL;
`;
