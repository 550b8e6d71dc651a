import assert from "node:assert/strict";
import type { z } from "zod";
import type { App, ServerSettings } from "../../src/http/http.ts";
import type { Scope } from "../../src/protocol/route.ts";
import type { routes } from "../../src/protocol/routes.ts";
import { must, startYard, type TestYard, type TestYardOptions } from "./yard.ts";

// Who calls over the network, from where, with what.

export type Called = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly code: string;
};
type Sent = { readonly address?: string; readonly body?: unknown } & { readonly [header: string]: unknown };

/** One request over TCP: `address` is of whom the connection is, `body` goes as JSON or as a form, all else is headers. */
export async function callOver(app: App, wanted: string, sent: Sent = {}): Promise<Called> {
  const [method = "GET", path = "/"] = wanted.split(" ");
  const { address = "127.0.0.1", body, ...headers } = sent;
  const all = new Headers({ host: "127.0.0.1:7420" });
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) all.set(name, String(value));
  if (body !== undefined && !(body instanceof URLSearchParams) && !all.has("content-type"))
    all.set("content-type", "application/json");
  const asText = body instanceof URLSearchParams ? body : JSON.stringify(body);
  const request = new Request(`http://127.0.0.1:7420${path}`, {
    method,
    headers: all,
    redirect: "manual",
    ...(body !== undefined && { body: asText ?? "" }),
  });
  const response = await app.fetch(request, { door: "tcp", address });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, code: codeIn(text) };
}

function codeIn(text: string): string {
  try {
    const parsed = JSON.parse(text);
    return parsed.code ?? parsed.error?.code ?? parsed.error_details?.code ?? "";
  } catch {
    return "";
  }
}

/** A yard whose users are added through its door. */
export type PeopledYard = TestYard & {
  call(wanted: string, sent?: Sent): Promise<Called>;
  addUser(user: NewUser): Promise<void>;
  /** A key of somebody, who is added where they are not there yet. */
  keyOf(user: string, scopes?: Scope[]): Promise<string>;
};

type NewUser = z.input<typeof routes.addUser.body>;

export async function peopledYard(
  server: Partial<ServerSettings> = {},
  options: TestYardOptions = {},
): Promise<PeopledYard> {
  const yard = await startYard({ ...options, server });
  const { client } = yard;
  return {
    ...yard,
    call: (wanted, sent) => callOver(yard.app, wanted, sent),
    addUser: async (body) => void (await must(client.call("addUser", { body }))),
    async keyOf(user, scopes = ["chat", "files"]) {
      await client.call("addUser", { body: { id: user, isAdmin: scopes.includes("admin") } });
      const { key } = await must(client.call("addKey", { params: { user }, body: { scopes } }));
      assert.ok(key !== null);
      return key;
    },
  };
}
