/** One durable row per step: all that a loop without an event log of its own stores here. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

export function openRows(folder: string): { insert: (body: unknown) => void; close: () => void } {
  const database = new DatabaseSync(join(folder, "rows.db"));
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  database.exec("CREATE TABLE IF NOT EXISTS step(id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT");
  const statement = database.prepare("INSERT INTO step(body) VALUES (?)");
  return {
    insert: (body) => {
      statement.run(JSON.stringify(body));
    },
    close: () => database.close(),
  };
}
