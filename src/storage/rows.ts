/** A row as a database hands it out: values of unknown kind, by name, or by place where the statement says so. */
export type Row = Readonly<Record<string | number, unknown>>;

export function text(row: Row, column: string | number): string {
  const value = row[column];
  if (typeof value !== "string") throw unfit(column, "text");
  return value;
}

export function optionalText(row: Row, column: string | number): string | undefined {
  return row[column] === null ? undefined : text(row, column);
}

export function integer(row: Row, column: string | number): number {
  const value = row[column];
  if (typeof value !== "number") throw unfit(column, "an integer");
  return value;
}

export function optionalInteger(row: Row, column: string | number): number | undefined {
  return row[column] === null ? undefined : integer(row, column);
}

export function bytes(row: Row, column: string | number): Uint8Array {
  const value = row[column];
  if (!(value instanceof Uint8Array)) throw unfit(column, "bytes");
  return value;
}

/** Columns have one kind: a wrong one is a wrong query, and that is our own mistake. */
function unfit(column: string | number, wanted: string): Error {
  return new Error(`column ${column} is not ${wanted}`);
}
