import type { DatabaseSync, StatementSync } from "node:sqlite";

/** The statements of one connection, each prepared at its first use. */
export type Statements = {
  read(sql: string): StatementSync;
  write(sql: string): StatementSync;
  /** One transaction: all of it, or nothing. */
  atOnce<T>(work: () => T): T;
};

export function openStatements(database: DatabaseSync): Statements {
  const known = new Map<string, StatementSync>();
  const prepare = (sql: string) => {
    const statement = known.get(sql) ?? database.prepare(sql);
    known.set(sql, statement);
    return statement;
  };
  return {
    read: prepare,
    write(sql) {
      const statement = prepare(sql);
      // FTS5 numbers what it keeps for itself beyond what a number can say, and the row that was written last is told of.
      statement.setReadBigInts(true);
      return statement;
    },
    atOnce(work) {
      database.exec("BEGIN IMMEDIATE");
      try {
        const answer = work();
        database.exec("COMMIT");
        return answer;
      } catch (error) {
        if (database.isTransaction) database.exec("ROLLBACK");
        throw error;
      }
    },
  };
}
