import assert from "node:assert/strict";
import { test } from "node:test";
import { ownCookie, readCookies, setCookie, signedInCookie, signedOutCookie, waysIn } from "./cookie.ts";

test("of all cookies only those go further that a sign-in through a service needs, by each of their names [C6][N1]", () => {
  const names = (["http", "https"] as const).flatMap((scheme) =>
    ["", "/yard"].map((prefix) => ownCookie("agentyard-way", { scheme, prefix })),
  );
  assert.deepEqual(names, ["agentyard-way", "agentyard-way", "__Host-agentyard-way", "__Secure-agentyard-way"]);
  const ways = [...new Set(names)].map((name) => `${name}=sealed`);
  const others = ["agentyard=secret", "__Host-agentyard=secret", "xagentyard-way=1", "agentyard-ways=1"];
  assert.equal(waysIn([...others, ...ways].join(";  ")), ways.join("; "));
  assert.equal(waysIn(undefined), "");
});

test("a cookie is set for the path that we are served below, in whole seconds, and over https for https alone [C6]", () => {
  const set = (at: Parameters<typeof setCookie>[2]) => setCookie("a", "v", at);
  assert.equal(set({ scheme: "http", prefix: "", seconds: 1.6 }), "a=v; Path=/; Max-Age=2; HttpOnly; SameSite=Lax");
  assert.equal(
    set({ scheme: "https", prefix: "/yard", path: "/sign-in", seconds: -1 }),
    "a=v; Path=/yard/sign-in; Max-Age=0; HttpOnly; SameSite=Lax; Secure",
  );
});

test("of all that a browser sends under our name five are looked at, whole and by exactly that name [C6][Q1]", () => {
  const sent = "a=1; agentyard=x=y; xagentyard=2; agentyard = z ;agentyard; =agentyard; AGENTYARD=3";
  assert.deepEqual(readCookies(sent, "agentyard"), ["x=y", "z"]);
  const many = Array.from({ length: 9 }, (_, n) => `agentyard=${n}`).join("; ");
  assert.deepEqual(readCookies(many, "agentyard"), ["0", "1", "2", "3", "4"]);
  assert.deepEqual(readCookies(undefined, "agentyard"), []);
});

test("a browser is signed in for as long as the settings say, and out at once, under the name that its address has [C6]", () => {
  const at = { scheme: "https", prefix: "" } as const;
  const rest = "HttpOnly; SameSite=Lax; Secure";
  assert.equal(signedInCookie(at, { token: "t", lastsMs: 90_000 }), `__Host-agentyard=t; Path=/; Max-Age=90; ${rest}`);
  assert.equal(signedOutCookie(at), `__Host-agentyard=; Path=/; Max-Age=0; ${rest}`);
});
