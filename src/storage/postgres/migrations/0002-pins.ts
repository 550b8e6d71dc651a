/** As SQLite has them after its eighth migration. */
export const pins = `
ALTER TABLE conversation ADD COLUMN is_pinned bigint NOT NULL DEFAULT 0, ADD COLUMN seen_at bigint;
`;
