import { parsedJson } from "../base/json.ts";
import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { Secrets } from "../users/users.ts";
import { type Box, type Credential, type CredentialNote, SealedCredential } from "./records.ts";
import type { Outgoing } from "./request.ts";

/** Under which name the credential of a box is sealed. */
export function secretName(box: string): string {
  return `toolbox/${box}`;
}

/** What people may know of it. */
export function noteOf(credential: Credential): CredentialNote {
  switch (credential.type) {
    case "bearer":
    case "basic":
      return { type: credential.type, names: ["authorization"] };
    case "api_key":
      return { type: credential.type, names: [credential.name] };
    case "headers":
      return { type: credential.type, names: Object.keys(credential.headers) };
  }
}

/** What is sealed. It says whom it is for: the box is stored after it, and may not be, so that its host is still the one before. */
export function sealedText(credential: Credential, server: string): string {
  return JSON.stringify({ origin: new URL(server).origin, credential });
}

/** Opened for one call and then forgotten. */
export async function openCredential(
  secrets: Pick<Secrets, "open">,
  { owner, id, server, credential }: Pick<Box, "owner" | "id" | "server" | "credential">,
): Promise<Result<Credential | undefined, Failure>> {
  if (credential === undefined) return ok(undefined);
  const text = await secrets.open(owner, secretName(id));
  if (!text.ok) return text;
  const found = SealedCredential.safeParse(parsedJson(text.value ?? ""));
  // Its owner was removed, with all secrets.
  if (!found.success) return failure("toolbox_credential_missing", { id });
  if (!("origin" in found.data)) return ok(found.data);
  const isForHost = found.data.origin === new URL(server).origin;
  return isForHost ? ok(found.data.credential) : failure("toolbox_credential_missing", { id });
}

/** The request with what shows who we are; it counts before whatever a caller or a model put in the same place. */
export function withCredential({ url, headers, ...rest }: Outgoing, credential: Credential | undefined): Outgoing {
  if (credential === undefined) return { ...rest, url, headers };
  const shown = new URL(url);
  if (credential.type === "api_key" && credential.in === "query") {
    shown.searchParams.set(credential.name, credential.value);
    return { ...rest, url: shown, headers };
  }
  return { ...rest, url, headers: { ...headers, ...headersOf(credential) } };
}

function headersOf(credential: Credential): Record<string, string> {
  switch (credential.type) {
    case "bearer":
      return { authorization: `Bearer ${credential.token}` };
    case "basic":
      return { authorization: `Basic ${basicOf(credential)}` };
    case "api_key":
      return { [credential.name.toLowerCase()]: credential.value };
    case "headers":
      return Object.fromEntries(Object.entries(credential.headers).map(([name, value]) => [name.toLowerCase(), value]));
  }
}

function basicOf({ username, password }: { readonly username: string; readonly password: string }): string {
  return Buffer.from(`${username}:${password}`).toString("base64");
}

/** Every spelling of it that an answer may hold, the longest first. */
export function secretsIn(credential: Credential | undefined): string[] {
  if (credential === undefined) return [];
  const values = valuesOf(credential).flatMap((value) => [
    value,
    encodeURIComponent(value),
    new URLSearchParams({ "": value }).toString().slice(1),
    JSON.stringify(value).slice(1, -1),
    Buffer.from(value).toString("base64"),
  ]);
  return [...new Set(values)].sort((a, b) => b.length - a.length);
}

function valuesOf(credential: Credential): string[] {
  switch (credential.type) {
    case "bearer":
      return [credential.token];
    case "basic":
      return [credential.password, basicOf(credential)];
    case "api_key":
      return [credential.value];
    case "headers":
      return Object.values(credential.headers);
  }
}

const redacted = "[redacted]";

/** What an answer says, without what we said to get it. */
export function withoutSecrets(bytes: Buffer, secrets: readonly string[]): Buffer {
  if (!secrets.some((secret) => bytes.includes(secret))) return bytes;
  // As bytes: what else is in it may be no text.
  const text = secrets.reduce(
    (left, secret) => left.replaceAll(Buffer.from(secret).toString("latin1"), redacted),
    bytes.toString("latin1"),
  );
  return Buffer.from(text, "latin1");
}
