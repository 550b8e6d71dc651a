import type { IncomingHttpHeaders } from "node:http";
import type { ModelAnswer, ModelError } from "../provider.ts";
import type { AnswerBuilder } from "./answer.ts";
import { carriedError } from "./error-body.ts";
import { judge } from "./errors.ts";
import { isObject } from "./json.ts";

/** An answer in the making, as the two forms of a body see it. The first result stands; what comes later is ignored. */
export interface Reading {
  result(): ModelAnswer | undefined;
  /** Whether the body is an answer and not something else. */
  hasBegun(): boolean;
  /** Whether this is at least the frame of an answer. */
  isPart(value: unknown): boolean;
  /** Any JSON value; a list counts as its members. */
  take(value: unknown, eventName?: string): void;
  complete(): void;
  fail(error: ModelError): void;
}

export type ReadingOptions = {
  readonly answer: AnswerBuilder;
  readonly headers: IncomingHttpHeaders;
  readonly now: () => number;
  /** Something of substance came, which comments and pings are not. */
  readonly onData: () => void;
};

/** Methods where properties would do: V8 gives each object with a getter a hidden class of its own, and keeps it long. */
export function createReading({ answer, headers, now, onData }: ReadingOptions): Reading {
  let result: ModelAnswer | undefined;

  function takeOne(payload: unknown, eventName: string | undefined): void {
    if (!isObject(payload) || result !== undefined) return;
    const isPart = answer.isPart(payload);
    const carried = carriedError(payload, isPart, eventName) ?? answer.take(payload);
    if (carried !== undefined) {
      result = answer.build(judge(carried, headers, now()));
    } else if (isPart) {
      onData();
      if (answer.isOver()) result = answer.build();
    }
  }

  return {
    result: () => result,
    hasBegun: answer.hasBegun,
    isPart: (value) => isObject(value) && answer.isPart(value),
    take(value, eventName) {
      if (Array.isArray(value)) for (const payload of value) takeOne(payload, eventName);
      else takeOne(value, eventName);
    },
    complete() {
      result ??= answer.build();
    },
    fail(error) {
      result ??= answer.build({ error, isFiltered: false });
    },
  };
}
