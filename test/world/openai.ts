import OpenAI from "openai";
import { systemClock } from "../../src/base/clock.ts";
import { listen } from "../../src/http/http.ts";
import { startYard, type TestYardOptions } from "./yard.ts";

export type OpenAiYard = Awaited<ReturnType<typeof openAiYard>>;

/** A yard behind a real port, and the real client of OpenAI before it; `url` is without /v1. */
export async function openAiYard(options: TestYardOptions) {
  const yard = await startYard(options);
  const server = await listen(yard.app, { host: "127.0.0.1", port: 0 }, { clock: systemClock });
  if (!server.ok) throw new Error(server.failure.said);
  const url = server.value.address;
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });
  return {
    ...{ yard, url, openai },
    async [Symbol.asyncDispose]() {
      await server.value.close();
      await yard[Symbol.asyncDispose]();
    },
  };
}

export async function gathered<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** An object without what differs from call to call. */
export function without<T extends object>(value: T, ...names: readonly (keyof T & string)[]): object {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.some((left) => left === name)));
}

/** Status, type and code of what a client throws, or that it did not. */
export async function callEnds(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
    return "done";
  } catch (error) {
    if (!(error instanceof OpenAI.APIError)) throw error;
    return [error.status, error.type, error.code];
  }
}
