import type { ClientBase, CustomTypesConfig } from "pg";
import pg from "pg";
import { assert } from "../../base/assert.ts";
import type { Row } from "../rows.ts";
import { fromStored, toStored } from "./stored-text.ts";

type Single = string | number | boolean | Uint8Array | null | undefined;
export type Value = Single | readonly Single[];

/** Statements that only look. */
export type Reader = {
  all(sql: string, ...values: readonly Value[]): Promise<Row[]>;
  one(sql: string, ...values: readonly Value[]): Promise<Row | undefined>;
  /** Rows by place, which cost less than rows by name. */
  list(sql: string, ...values: readonly Value[]): Promise<Row[]>;
};

export type Query = Reader & {
  /** How many rows it changed. */
  run(sql: string, ...values: readonly Value[]): Promise<number>;
  /** Several statements in one text. */
  exec(sql: string): Promise<void>;
};

/** Answers the name under which a connection keeps a statement that it has read once. */
export type NameOf = (sql: string) => string;

export function openNames(): NameOf {
  const names = new Map<string, string>();
  return (sql) => {
    const name = names.get(sql) ?? `agentyard_${names.size}`;
    names.set(sql, name);
    return name;
  };
}

export function queryOn(client: ClientBase, nameOf: NameOf): Query {
  const asked = (text: string, values: readonly Value[]) => ({
    ...{ name: nameOf(text), text, values: values.map(toParameter) },
  });
  return {
    all: async (sql, ...values) => (await client.query(asked(sql, values))).rows,
    one: async (sql, ...values) => (await client.query(asked(sql, values))).rows[0],
    run: async (sql, ...values) => (await client.query(asked(sql, values))).rowCount ?? 0,
    async exec(sql) {
      await client.query(sql);
    },
    list: async (sql, ...values) =>
      (await client.query<unknown[]>({ ...asked(sql, values), rowMode: "array" })).rows.map((row) => ({ ...row })),
  };
}

function toParameter(value: Value): unknown {
  if (typeof value === "string") return toStored(value);
  return Array.isArray(value) ? value.map((each) => (typeof each === "string" ? toStored(each) : each)) : value;
}

/** Integers of eight bytes as numbers, for none of ours is larger; texts as they were before they were stored. */
export const types: CustomTypesConfig = {
  getTypeParser(oid: number, format?: "text" | "binary") {
    if (oid === pg.types.builtins.INT8) return toInteger;
    if (oid === pg.types.builtins.TEXT) return fromStored;
    return pg.types.getTypeParser(oid, format);
  },
};

function toInteger(text: string): number {
  const value = Number(text);
  assert(Number.isSafeInteger(value), "an integer of the database is one in JavaScript");
  return value;
}
