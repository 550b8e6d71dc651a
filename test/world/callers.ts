import assert from "node:assert/strict";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { type App, defaultServerSettings, type ServerSettings } from "../../src/http/http.ts";
import type { Scope } from "../../src/protocol/route.ts";
import { openUsers, type Users } from "../../src/users/users.ts";
import { memoryUsers } from "./memory-users.ts";
import { type SmallYard, smallYard } from "./small-yard.ts";

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

export type PeopledYard = SmallYard & {
  readonly users: Users;
  call(wanted: string, sent?: Sent): Promise<Called>;
  /** A key of somebody, who is added where they are not there yet. */
  keyOf(user: string, scopes?: readonly Scope[]): Promise<string>;
};

/** The door with users behind it. */
export function peopledYard(
  server: Partial<ServerSettings> = {},
  options: Parameters<typeof smallYard>[0] = {},
): PeopledYard {
  const settings = { ...defaultServerSettings, ...server };
  const { clock = systemClock } = options;
  const users = openUsers({
    storage: memoryUsers(),
    clock,
    ids: systemIds,
    signInLastsMs: () => settings.signInLastsMs,
  });
  const yard = smallYard({ ...options, users, server: () => settings });
  return {
    ...yard,
    users,
    call: (wanted, sent) => callOver(yard.app, wanted, sent),
    keyOf: (user, scopes = ["chat", "files"]) => makeKey(users, user, scopes),
  };
}

async function makeKey(users: Users, user: string, scopes: readonly Scope[]): Promise<string> {
  await users.add({ id: user, isAdmin: scopes.includes("admin") });
  const made = await users.addKey(user, { id: systemIds.uuid(), name: "", scopes });
  assert.ok(made.ok);
  return made.value.key;
}
