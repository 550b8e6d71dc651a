import { fileText } from "./files.ts";
import { type Call, type Run, report } from "./scene.ts";

const clients =
  /^(sqlite3?|psql|mysql|mariadb|duckdb|sqlcmd|isql|clickhouse(-client)?|cockroach|bq|usql|pgcli|mycli|litecli)$/;
/** Statements are read from texts of this size; what is longer is data. */
const sqlCharactersMax = 262_144;

/** SQL that is given to a client: in its arguments, by a pipe, or in a file. */
export function judgeDatabase(call: Call): void {
  if (/^(dropdb|dropuser)$/.test(call.program) || (call.program === "mysqladmin" && call.args.includes("drop")))
    report(call.scene, "database", "critical", call.what);
  if (/^redis-cli$/.test(call.program) && call.args.some((arg) => /^flush(all|db)$/i.test(arg)))
    report(call.scene, "database", "high", call.what);
  if (
    /^mongo(sh)?$/.test(call.program) &&
    call.args.some((arg) => /\bdrop(Database|Index)?\(|deleteMany\(\s*\{\s*\}/.test(arg))
  )
    report(call.scene, "database", "high", call.what);
  if (!clients.test(call.program) || call.args.includes(":memory:")) return;
  judgeSql(call, sqlOf(call), call.what);
}

/** Drops or empties a table. What only mentions it, in a comment or a text, does not. */
export function judgeSql(run: Run, sql: string, what: string): void {
  if (loses(sql)) report(run.scene, "database", "high", what);
}

/** Whether anything in it writes; for files that must stay as they came. */
export function sqlChanges(call: Call): boolean {
  return /\b(insert|update|delete|drop|alter|create|replace|truncate|vacuum|reindex)\b/i.test(bare(sqlOf(call)));
}

function sqlOf(call: Call): string {
  const { args, stdin } = call;
  const files = args.flatMap((arg, at) => {
    const path = /^--file=(.+)$/.exec(arg)?.[1] ?? (arg === "-f" || arg === "--init" ? args[at + 1] : undefined);
    return path ?? /^\.read\s+(.+)$/.exec(arg)?.[1] ?? [];
  });
  const texts = files.map((path) => {
    const file = fileText(call, path, true);
    return file === undefined || file === "unseen" ? "" : file.text;
  });
  return [...args, stdin?.text ?? "", ...texts].join(";\n").slice(0, sqlCharactersMax);
}

function loses(sql: string): boolean {
  const plain = bare(sql);
  if (/\bdrop\s+(table|database|schema|view|materialized\s+view|user|role|collection)\b/i.test(plain)) return true;
  if (/(^|;|\n)\s*truncate\s+(table\s+)?[\w"`.[\]-]+/i.test(plain)) return true;
  return (
    /\bdelete\s+from\s+[\w"`.[\]]+\s*(;|$)/i.test(plain) ||
    /\bdelete\s+from\s+\S+\s+where\s+(1\s*=\s*1|true)\b/i.test(plain)
  );
}

/** Without comments, and without texts in quotes. */
function bare(sql: string): string {
  return withoutBlocks(sql)
    .replace(/--[^\n;]*/g, " ")
    .replace(/'(?:[^']|'')*'/g, "''");
}

function withoutBlocks(sql: string): string {
  const [first = "", ...rest] = sql.split("/*");
  return [first, ...rest.map((piece) => (piece.includes("*/") ? piece.slice(piece.indexOf("*/") + 2) : ""))].join(" ");
}
