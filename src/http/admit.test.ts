import assert from "node:assert/strict";
import { test } from "node:test";
import { Hono } from "hono";
import { manualClock } from "../../test/world/manual-clock.ts";
import { OwnerId } from "../protocol/ids.ts";
import { Problem } from "../protocol/resources.ts";
import type { Users } from "../users/users.ts";
import { openAdmission } from "./admit.ts";
import type { Door, Env } from "./door.ts";
import { openRate } from "./rate.ts";
import { defaultServerSettings, type ServerSettings } from "./settings.ts";

const ann = OwnerId.parse("ann");

/** A door with nothing behind it: who comes in is told from where they came and who they are. */
function openDoor(users: Partial<Users> = { exist: async () => false }) {
  const place: { settings: ServerSettings } = { settings: defaultServerSettings };
  const rate = openRate(manualClock());
  const admit = openAdmission({ users: Object(users), server: () => place.settings, rate });
  const app = new Hono<Env>();
  app.all("*", async (c) => {
    c.set("requestId", "r");
    c.set("language", "en");
    c.set("dialect", "own");
    return (await admit(c)) ?? c.json([c.get("arrival").address, c.get("caller").signedIn ?? null]);
  });
  const ask = async (headers: Record<string, string>, door: Door = {}, method = "GET") => {
    const request = new Request("http://127.0.0.1:7420/api/v1/me", { method, headers });
    return app.fetch(request, { door: "tcp", address: "127.0.0.1", ...door });
  };
  return { place, ask };
}

async function codeOf(answer: Response | Promise<Response>): Promise<string> {
  return Problem.parse(await (await answer).json()).code;
}

test("a proxy is believed from the moment that the settings name it, and no longer than they do [C6]", async () => {
  const { place, ask } = openDoor();
  const sent = async () => codeOf(ask({ "x-forwarded-for": "192.0.2.7" }));
  const codes = [await sent()];
  for (const trustedProxies of [["127.0.0.1"], ["10.0.0.1"]]) {
    place.settings = { ...defaultServerSettings, trustedProxies };
    codes.push(await sent());
  }
  assert.deepEqual(codes, ["proxy_unnamed", "sign_in_required", "proxy_unnamed"]);
});

test("a request that another server handed on counts here for whom it counts there, and is refused beyond the limit [N1][C6]", async () => {
  const { ask } = openDoor();
  const arrival = {
    address: "192.0.2.7",
    isVeiled: false,
    isFromHere: false,
    host: "h",
    scheme: undefined,
    prefix: "",
  };
  const caller = { signedIn: ann, scopes: [] };
  const passed = (who: string) => ({ key: "u:ann", caller, arrival, counted: { who, max: 2 } }) as const;
  const answers = [];
  for (const who of ["ann", "ann", "ann", "bob"]) answers.push(await ask({}, { passed: passed(who) }));
  assert.deepEqual(
    answers.map(({ status, headers }) => [status, headers.get("ratelimit-remaining")]),
    [
      [200, "1"],
      [200, "0"],
      [429, "0"],
      [200, "1"],
    ],
  );
  assert.deepEqual(await answers[0]?.json(), ["192.0.2.7", "ann"]);
  const uncounted = await ask({}, { passed: { key: "u:ann", caller, arrival } });
  assert.deepEqual([uncounted.status, uncounted.headers.get("ratelimit-limit")], [200, null]);
});

test("a part of a request whose key was taken away meanwhile is refused [C6]", async () => {
  const { ask } = openDoor();
  const key = new AbortController();
  const arrival = { address: undefined, isVeiled: false, isFromHere: true, host: "h", scheme: undefined, prefix: "" };
  const admitted = { caller: { signedIn: ann, scopes: [], taken: key.signal }, arrival };
  assert.equal((await ask({}, { admitted })).status, 200);
  key.abort();
  assert.equal(await codeOf(ask({}, { admitted })), "sign_in_required");
});

test("a browser that is signed in looks at things without naming its page, and changes nothing so [C6]", async () => {
  const known = { id: ann, scopes: [], hash: "h", renewed: false, taken: new AbortController().signal };
  const { ask } = openDoor({ exist: async () => true, byCookie: async (token) => (token === "t" ? known : undefined) });
  const statuses = [];
  for (const method of ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"])
    statuses.push((await ask({ cookie: "agentyard=t" }, {}, method)).status);
  assert.deepEqual(statuses, [200, 200, 200, 403, 403, 403, 403]);
});

test("a name that is not ours is told without its port, and no more than a hundred characters of it [C6][P4]", async () => {
  const { ask } = openDoor();
  const told = async (host: string) => Problem.parse(await (await ask({ host })).json()).params;
  assert.deepEqual(await told("yard.lan:7420"), { host: "yard.lan" });
  assert.deepEqual(await told(`${"a".repeat(60)}.${"b".repeat(60)}:1`), {
    host: `${"a".repeat(60)}.${"b".repeat(39)}`,
  });
});
