import assert from "node:assert/strict";
import { systemClock } from "../../src/base/clock.ts";
import { listen } from "../../src/http/http.ts";
import { playedProvider, sandboxOver } from "../world/played-provider.ts";
import { startYard, type TestYard, type TestYardOptions } from "../world/yard.ts";

/** What came back: JSON where it is some, the bytes in any case. */
export type Reply = {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  readonly json: Readonly<Record<string, unknown>>;
};

export type Sent = {
  readonly body?: NonNullable<RequestInit["body"]>;
  readonly headers?: Readonly<Record<string, string>>;
};

/** A whole yard behind a real port, in which no code can be run: files are there all the same. */
export type FileDoor = {
  readonly yard: TestYard;
  /** Of the API: `{url}/sessions/…`. */
  readonly url: string;
  call(method: string, path: string, sent?: Sent): Promise<Reply>;
  /** Sends a form with one file to the session of a user. */
  upload(file: File | undefined, fields?: Readonly<Record<string, string>>, query?: string): Promise<Reply>;
  [Symbol.asyncDispose](): Promise<void>;
};

export const session = "sb-session-ann";

export async function openFileDoor(options: TestYardOptions = {}): Promise<FileDoor> {
  const yard = await startYard(options);
  const server = await listen(yard.app, { host: "127.0.0.1", port: 0 }, { clock: systemClock });
  assert.ok(server.ok);
  const url = `${server.value.address}/api/v1`;
  const call = caller(url);
  return {
    yard,
    url,
    call,
    upload: (file, fields = {}, query = "") =>
      call("POST", `/sessions/${session}/files/upload${query}`, { body: formOf(file, fields) }),
    async [Symbol.asyncDispose]() {
      await server.value.close();
      await yard[Symbol.asyncDispose]();
    },
  };
}

/** Calls a server and reads the whole answer. */
export function caller(url: string): FileDoor["call"] {
  return async (method, path, { body, headers } = {}) => {
    const response = await fetch(url + path, { method, ...(body !== undefined && { body }), headers: { ...headers } });
    const bytes = Buffer.from(await response.arrayBuffer());
    const isJson = bytes.length > 0 && /json/.test(response.headers.get("content-type") ?? "");
    return { status: response.status, headers: response.headers, bytes, json: isJson ? JSON.parse(`${bytes}`) : {} };
  };
}

/** As 003's own client sends it: the file first. */
export function formOf(file: File | undefined, fields: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  if (file !== undefined) form.append("file", file);
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

/** Sessions can be made here, and programs could run: the test says what becomes of them. */
export function playedSessions(): Required<Pick<TestYardOptions, "openSandbox">> {
  return sandboxOver(playedProvider());
}

/** Of a refusal: what a program goes by. */
export function refusal({ status, json }: Reply): unknown[] {
  return [status, json.code];
}
