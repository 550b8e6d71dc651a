import type { SQLInputValue } from "node:sqlite";
import type { Statements } from "./statements.ts";
import { passagesPerContent } from "./tables.ts";

/** Whose documents, and which of them. */
export type Scope = {
  readonly owner: string;
  readonly kinds?: readonly string[] | undefined;
  /** Places themselves, or what they begin with where that ends in a slash; all without it. */
  readonly places?: readonly string[] | undefined;
};

/** With so few documents their rows are named instead of looked up one by one. */
const namedContentsMax = 64;

export type Bounds = {
  /** A condition on the id of a passage, which stands in a column of this name. */
  readonly sql: (id: string) => string;
  readonly values: readonly SQLInputValue[];
  readonly pointerSql: string;
  readonly pointerValues: readonly SQLInputValue[];
  readonly isEmpty: boolean;
  /** The documents within, where they are few, in the order of their passages. */
  readonly contents: readonly number[] | undefined;
};

/** A condition on pointers. */
export function pointersWithin(scope: Scope): { readonly sql: string; readonly values: readonly SQLInputValue[] } {
  const { owner, kinds, places } = scope;
  const conditions = ["owner = ?"];
  const values: SQLInputValue[] = [owner];
  if (kinds !== undefined) {
    conditions.push("kind IN (SELECT value FROM json_each(?))");
    values.push(JSON.stringify(kinds));
  }
  if (places !== undefined) {
    conditions.push(`EXISTS (SELECT 1 FROM json_each(?) WHERE place = value
      OR (substr(value, -1) = '/' AND substr(place, 1, length(value)) = value))`);
    values.push(JSON.stringify(places));
  }
  return { sql: conditions.join(" AND "), values };
}

/** Prepares the bounds of a search. */
export function boundsOf(scope: Scope, { read }: Statements): Bounds {
  const { sql: pointerSql, values } = pointersWithin(scope);
  const few = read(`SELECT DISTINCT content FROM pointer WHERE ${pointerSql} LIMIT ?`)
    .all(...values, namedContentsMax + 1)
    .map((row) => Number(row.content));
  return {
    ...(few.length <= namedContentsMax ? named(few) : looked(pointerSql, values)),
    pointerSql,
    pointerValues: values,
    isEmpty: few.length === 0,
    contents: few.length <= namedContentsMax ? few.toSorted((one, other) => one - other) : undefined,
  };
}

function named(contents: readonly number[]): Pick<Bounds, "sql" | "values"> {
  const [only, ...more] = contents;
  if (only !== undefined && more.length === 0)
    return {
      sql: (id) => `${id} >= ? AND ${id} < ?`,
      values: [only * passagesPerContent, (only + 1) * passagesPerContent],
    };
  return {
    sql: (id) => `${id} / ${passagesPerContent} IN (SELECT value FROM json_each(?))`,
    values: [JSON.stringify(contents)],
  };
}

function looked(pointerSql: string, values: readonly SQLInputValue[]): Pick<Bounds, "sql" | "values"> {
  return {
    sql: (id) => `EXISTS (SELECT 1 FROM pointer WHERE content = ${id} / ${passagesPerContent} AND ${pointerSql})`,
    values,
  };
}
