import assert from "node:assert/strict";
import { test } from "node:test";
import { systemIds } from "../../base/ids.ts";
import { ok } from "../../base/result.ts";
import { localOwner } from "../../protocol/ids.ts";
import type { Passed } from "../door.ts";
import { openPasses } from "./pass.ts";

const passed: Passed = {
  key: "c:7",
  door: "socket",
  caller: { signedIn: localOwner, scopes: ["chat", "files"], by: "cookie", signIn: "hash" },
  arrival: {
    ...{ address: "10.0.0.9", isVeiled: false, isFromHere: false },
    ...{ host: "yard.example:8443", scheme: "https", prefix: "/yard" },
  },
  counted: { who: "user local", max: 1_200 },
};
const at = { method: "POST", path: "/api/v1/conversations/c/messages?x=1", server: "a" };

function passesOf(key: string | undefined, now = () => 0) {
  return openPasses({ key: { find: () => ok(key), make: () => ok("") }, clock: { now }, ids: systemIds });
}

test("a pass says who calls, and is good once, for one request to one server, for a minute [N1][Q1]", () => {
  let now = 1_000_000;
  const [one, other] = [passesOf("key of all", () => now), passesOf("key of all", () => now)];
  const sign = () => one.sign(passed, at) ?? "";
  const pass = sign();
  assert.deepEqual(other.read(pass, at), passed);
  assert.equal(other.read(pass, at), undefined);
  for (const elsewhere of [
    { ...at, method: "DELETE" },
    { ...at, path: "/api/v1/conversations/other/messages?x=1" },
    { ...at, path: "/api/v1/conversations/c/messages" },
    { ...at, server: "b" },
  ])
    assert.equal(other.read(sign(), elsewhere), undefined);
  const late = sign();
  now += 60_001;
  assert.equal(other.read(late, at), undefined);
  // A clock that goes a little wrong is not enough, one that is far ahead is.
  const early = sign();
  now -= 30_000;
  assert.deepEqual(other.read(early, at), passed);
  const tooEarly = sign();
  now -= 90_000;
  assert.equal(other.read(tooEarly, at), undefined);
});

test("nobody else can make a pass, and nothing in one can be changed [N1][Q1]", () => {
  const ours = passesOf("key of all");
  const pass = ours.sign(passed, at) ?? "";
  const [text = "", signature = ""] = pass.split(".");
  const changed = Buffer.from(text, "base64url").toString("utf8").replace('"local"', '"admin"');
  for (const forged of [
    ...[null, "", ".", "a.b", `${text}.`, `.${signature}`, text, `${text}.${signature}x`, `${signature}.${text}`],
    `${Buffer.from(changed).toString("base64url")}.${signature}`,
    passesOf("another key").sign(passed, at) ?? "",
  ])
    assert.equal(ours.read(forged, at), undefined);
  assert.deepEqual(ours.read(pass, at), passed);
});

test("without a key of the installation nothing is handed on, and nothing is believed [N1][Q1]", () => {
  const none = passesOf(undefined);
  assert.equal(none.sign(passed, at), undefined);
  assert.equal(none.read(passesOf("").sign(passed, at) ?? null, at), undefined);
});

test("a caller of whom nothing is known is passed on as one [N1][Q1]", () => {
  const nobody: Passed = {
    key: "u:local",
    door: undefined,
    caller: { signedIn: undefined, scopes: [] },
    arrival: { address: undefined, isVeiled: true, isFromHere: false, host: "", scheme: undefined, prefix: "" },
    counted: undefined,
  };
  const passes = passesOf("key of all");
  const { door: _, counted: __, ...rest } = nobody;
  assert.deepEqual(passes.read(passes.sign(nobody, at) ?? "", at), rest);
});
