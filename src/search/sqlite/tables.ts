import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Raise this whenever what is written for the same document changes: the index is made anew then. */
const layout = 6;

/** Of one content, so many passages at most; those that are only contents are numbered from here on. */
export const contentsFrom = 2 ** 19;
/** The id of a passage is that of its content and its place in it: a document is a range of rows. */
export const passagesPerContent = 2 ** 20;

const tables = `
  CREATE TABLE content (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- Without one it is being written or removed: nobody sees it, and whoever opens the index next removes it.
    key TEXT UNIQUE,
    passages INTEGER NOT NULL DEFAULT 0,
    used_at INTEGER NOT NULL DEFAULT 0,
    -- What whoever put it there wants to know of it.
    note TEXT,
    -- Of an entry of a series: when and by whom it was said.
    said_at INTEGER,
    said_by TEXT,
    -- So many of its passages have vectors, from the first one on.
    embedded INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  -- What grows entry by entry, and how far it was followed; what nobody asks for any more goes as a whole.
  CREATE TABLE series (
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    stamp TEXT NOT NULL,
    up_to INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    PRIMARY KEY (owner, name)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE pointer (
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    place TEXT NOT NULL,
    content INTEGER NOT NULL,
    PRIMARY KEY (owner, kind, place)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX pointer_content ON pointer (content, owner, kind, place);
  CREATE TABLE passage (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL,
    text TEXT NOT NULL,
    place TEXT NOT NULL,
    runs_on INTEGER NOT NULL
  ) STRICT;
  CREATE VIRTUAL TABLE word USING fts5 (
    title, path, body,
    content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
  );
  CREATE VIRTUAL TABLE known_word USING fts5vocab (word, row);
  CREATE VIRTUAL TABLE trigram USING fts5 (
    body, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram'
  );
  CREATE TABLE vector (
    content INTEGER NOT NULL,
    first INTEGER NOT NULL,
    -- Of some passages that follow each other. What is read in every search stands before the rest.
    signs BLOB NOT NULL,
    numbers BLOB NOT NULL,
    PRIMARY KEY (content, first)
  ) STRICT;
  CREATE TABLE vector_model (
    name TEXT NOT NULL, size INTEGER NOT NULL, day INTEGER NOT NULL, characters INTEGER NOT NULL
  ) STRICT;
  INSERT INTO vector_model VALUES ('', 0, 0, 0);
  CREATE INDEX content_unembedded ON content (id) WHERE key IS NOT NULL AND embedded < passages;
`;

/**
 * Opens the index for writing. It holds nothing that cannot be made again: one of another layout or segmentation, or one
 * that is damaged, is thrown away.
 */
export function openForWriting(file: string, segmentation: string): DatabaseSync {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const version = `${layout} ${segmentation}`;
  const found = openIfFit(file, version);
  if (found !== undefined) return found;
  throwAway(file);
  const database = new DatabaseSync(file, { timeout: busyTimeoutMs });
  chmodSync(file, 0o600);
  database.exec(`PRAGMA page_size = ${pageBytes}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL`);
  database.exec(`BEGIN; ${tables} CREATE TABLE made (version TEXT NOT NULL) STRICT;`);
  database.prepare("INSERT INTO made (version) VALUES (?)").run(version);
  database.exec("COMMIT");
  return prepared(database);
}

/** Whoever has it open still sees what was in it. */
export function throwAway(file: string): void {
  for (const ending of ["", "-wal", "-shm", "-journal"]) rmSync(file + ending, { force: true });
}

export function openForReading(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { readOnly: true, timeout: busyTimeoutMs });
  database.exec(`PRAGMA cache_size = -${cacheKilobytes}; PRAGMA mmap_size = ${mappedBytes}`);
  return database;
}

/** Of passages, three fit on a page of the usual size and leave a quarter of it empty. */
const pageBytes = 8_192;
const busyTimeoutMs = 5_000;
const cacheKilobytes = 32_768;
const mappedBytes = 1024 ** 3;
const walBytesMax = 64 * 1024 * 1024;

function prepared(database: DatabaseSync): DatabaseSync {
  database.exec(`PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = ${walBytesMax}`);
  return database;
}

function openIfFit(file: string, version: string): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: busyTimeoutMs });
    const row = database.prepare("SELECT version FROM made").get();
    if (row?.version === version) return prepared(database);
  } catch (error) {
    if (!isUnfit(error)) throw error;
  }
  database?.close();
  return undefined;
}

/** No such table, damaged, no database at all; https://sqlite.org/rescode.html. */
function isUnfit(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && [1, 11, 26].includes(Number(error.errcode) & 0xff);
}
