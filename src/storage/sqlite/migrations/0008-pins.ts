/** What the owner of a conversation has marked: pinned it, and up to when it was looked at (null: never in a browser). */
export const pins = `
ALTER TABLE conversation ADD COLUMN is_pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversation ADD COLUMN seen_at INTEGER;
`;
