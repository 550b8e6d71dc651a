import assert from "node:assert/strict";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { until } from "../../test/world/events.ts";
import { installing, pip, pipPlay, wanted } from "../../test/world/played-installs.ts";
import type { Result } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import { OwnerId } from "../protocol/ids.ts";
import type { PackagesWanted } from "./sandbox.ts";

// What is installed for the sessions of users, with guests whose part is played.

const [ann, ben, cas] = ["ann", "ben", "cas"].map((name) => OwnerId.parse(name));
assert.ok(ann && ben && cas);

function unwrap<T>(result: Result<T, { readonly code: string }>): T {
  assert.ok(result.ok, result.ok ? "" : result.failure.code);
  return result.value;
}

test("what was installed for a session stays when it is revived, and goes when another one takes its place [X5][S1]", async (t) => {
  const { open, folderOf } = installing(t, pipPlay());
  const { packages, sessions } = open();
  const installed = unwrap(await packages.install(ann, wanted(pip("greeter"))));
  assert.ok(installed.updatedAt >= (installed.packages?.endedAt ?? Number.POSITIVE_INFINITY));
  unwrap(await sessions.stop(ann));
  const revived = unwrap(await sessions.use(ann));
  assert.deepEqual([revived.packages?.status, existsSync(folderOf(ann))], ["completed", true]);
  unwrap(await sessions.stop(ann));
  const made = unwrap(await sessions.create(ann, { dialect: "seed" }));
  assert.deepEqual([made.packages, existsSync(folderOf(ann))], [undefined, false]);
  unwrap(await packages.install(ann, wanted(pip("greeter"))));
  unwrap(await sessions.stop(ann, { forget: true }));
  assert.deepEqual([existsSync(folderOf(ann)), await sessions.find(ann)], [false, undefined]);
});

test("who stops a session goes on when the installation for it is over, which has failed [X5][S1]", async (t) => {
  const heard: string[] = [];
  const { open } = installing(t, async ({ signal = assert.fail() }) => {
    heard.push("begun");
    await new Promise((called) => signal.addEventListener("abort", called));
    for (let loop = 0; loop < 20; loop += 1) await nextLoop();
    heard.push("over");
    return { code: 0, how: "cancelled" };
  });
  const { packages, sessions } = open();
  const installed = packages.install(ann, wanted(pip("greeter")));
  await until("it is at it", () => heard.length === 1);
  assert.equal(unwrap(await sessions.stop(ann))?.status, "stopped");
  assert.deepEqual(heard, ["begun", "over"]);
  const failed = await installed;
  assert.deepEqual(failed.ok || failed.failure.params, { why: "cancelled", said: "" });
  assert.equal((await sessions.find(ann))?.packages?.status, "failed");
});

test("a session that is made anew while packages are installed has none of the one before, and knows nothing of them [X5][S1]", async (t) => {
  const called = Promise.withResolvers<void>();
  const { open } = installing(t, async (execution) => {
    execution.signal?.addEventListener("abort", () => called.resolve());
    await called.promise;
    return pipPlay()(execution);
  });
  const { packages, sessions, guests } = open();
  const installed = packages.install(ann, wanted(pip("greeter")));
  await until("it is at it", () => guests.length === 1);
  const stopped = sessions.stop(ann);
  const made = unwrap(await sessions.create(ann, { dialect: "seed" }));
  assert.equal(unwrap(await stopped)?.status, "stopped");
  assert.equal((await installed).ok, false);
  assert.deepEqual([made.generation, await sessions.find(ann)], [2, made]);
});

test("a session that cannot be made anew, or deleted, is there as before, with its packages [X5][S1][Q2]", async (t) => {
  const { open, folderOf, storage } = installing(t, pipPlay());
  const { packages, sessions } = open();
  unwrap(await packages.install(ann, wanted(pip("greeter"))));
  unwrap(await sessions.stop(ann));
  const { putSession } = storage;
  storage.putSession = async () => failure("storage_full", {});
  const refused = await sessions.create(ann, { dialect: "seed" });
  storage.putSession = putSession;
  const { forgetSession } = storage;
  storage.forgetSession = async () => failure("storage_full", {});
  assert.equal((await sessions.stop(ann, { forget: true })).ok, false);
  storage.forgetSession = forgetSession;
  const revived = unwrap(await sessions.use(ann));
  assert.deepEqual(
    [refused.ok || refused.failure.code, revived.packages?.status, existsSync(folderOf(ann))],
    ["storage_full", "completed", true],
  );
});

test("what can be installed nowhere, or from another index than the one that is set, is refused with the setting [X5][P5]", (t) => {
  const { packages } = installing(t, pipPlay()).open();
  const refused = (more: Partial<PackagesWanted>) => {
    const refusal = packages.refusal({ ...wanted(pip("greeter")), ...more });
    return refusal && [refusal.failure.code, refusal.failure.params];
  };
  const npm = { manager: "npm", name: "left", version: undefined } as const;
  assert.deepEqual(
    [refused({}), refused({ index: "https://pypi.org/simple/" }), refused({ index: "https://other.test/simple" })],
    [undefined, undefined, ["package_index_refused", { setting: "sandbox.package_index" }]],
  );
  assert.deepEqual(refused({ packages: [pip("greeter"), npm] }), [
    "packages_not_configured",
    { setting: "sandbox.npm_registry" },
  ]);
});

test("programs have the packages of their user, and run without any where there is no folder for them [X5][Q2]", async (t) => {
  const { open, folderOf, network } = installing(t, pipPlay());
  const { run, guests, leavePlace } = open();
  const place = { owner: ann, conversation: undefined, workspace: undefined, agent: "root" };
  const sees = async () => {
    const { report } = unwrap(await run(place, { language: "bash", code: "true", timeoutMs: 1000 }));
    const { how } = await report;
    await leavePlace(place);
    return [how, guests.at(-1)?.wanted.packages];
  };
  assert.deepEqual(await sees(), ["done", folderOf(ann)]);
  Object.assign(network, { packageIndex: undefined });
  assert.deepEqual(await sees(), ["done", undefined], "where none can be installed");
  Object.assign(network, { packageIndex: "https://pypi.org/simple" });
  rmSync(dirname(folderOf(ann)), { recursive: true });
  writeFileSync(dirname(folderOf(ann)), "no folder");
  assert.deepEqual(await sees(), ["done", undefined]);
});

test("all that a session has is installed anew with what is added: the last wish for a name counts, and a failure changes nothing [X5]", async (t) => {
  const heard: string[] = [];
  let isGood = true;
  const { packages, sessions } = installing(
    t,
    pipPlay(heard, () => isGood),
  ).open();
  unwrap(await packages.install(ann, wanted(pip("Two_words", "1.0"), pip("greeter"))));
  const there = unwrap(await packages.install(ann, wanted(pip("two-Words", "2.0")))).packages;
  const current = [pip("two-Words", "2.0"), pip("greeter")];
  assert.deepEqual(
    [there?.status, there?.requested, there?.current, there?.error],
    ["completed", current, current, undefined],
  );
  isGood = false;
  const failed = await packages.install(ann, wanted(pip("nowhere")));
  assert.equal(failed.ok || failed.failure.code, "packages_failed");
  const after = (await sessions.find(ann))?.packages;
  assert.deepEqual(
    [after?.status, after?.requested, after?.current, after?.installed],
    ["failed", [...current, pip("nowhere")], current, [{ manager: "pip", name: "greeter", version: "1.0" }]],
  );
  assert.match(after?.error ?? "", /no such package/);
  assert.deepEqual(heard, [
    ...["Two_words==1.0\ngreeter\n", "two-Words==2.0\ngreeter\n", "two-Words==2.0\ngreeter\nnowhere\n"],
  ]);
});

test("a package that could not be installed is not asked for again with the next one, which is installed [X5]", async (t) => {
  const heard: string[] = [];
  const { packages } = installing(
    t,
    pipPlay(heard, (asked) => !asked.includes("nowhere")),
  ).open();
  unwrap(await packages.install(ann, wanted(pip("greeter"))));
  const failed = await packages.install(ann, wanted(pip("nowhere")));
  assert.equal(failed.ok || failed.failure.code, "packages_failed");
  const there = unwrap(await packages.install(ann, wanted(pip("polite")))).packages;
  const current = [pip("greeter"), pip("polite")];
  assert.deepEqual(
    [there?.status, there?.requested, there?.current, there?.error],
    ["completed", current, current, undefined],
  );
  assert.deepEqual(heard, ["greeter\n", "greeter\nnowhere\n", "greeter\npolite\n"]);
});

test("two installations run at once on a machine, one of a user; the next is told when to come again, and a restart ends them [X5][X4]", async (t) => {
  const end = Promise.withResolvers<void>();
  const { open } = installing(t, async (execution) => {
    await end.promise;
    return pipPlay()(execution);
  });
  const { packages, sessions, guests } = open();
  const both = [ann, ben].map((owner) => packages.install(owner, wanted(pip("greeter"))));
  await until("both are at it", () => guests.length === 2);
  const refused = async (owner: OwnerId) => {
    const answer = await packages.install(owner, wanted(pip("polite")));
    return answer.ok || [answer.failure.code, answer.failure.params];
  };
  assert.deepEqual(
    [await refused(ann), await refused(cas)],
    [
      ["packages_installing", {}],
      ["sandbox_full", { retryAfterSeconds: 30 }],
    ],
  );
  const told = async ({ find }: Pick<typeof sessions, "find">) => {
    const session = await find(ann);
    return [session?.packages?.status, session?.packages?.error];
  };
  assert.deepEqual(
    [await told(sessions), await told(open().sessions)],
    [
      ["installing", undefined],
      ["failed", "The AgentYard process that ran it ended."],
    ],
  );
  end.resolve();
  for (const installed of await Promise.all(both)) assert.equal(unwrap(installed).packages?.status, "completed");
  assert.deepEqual(await told(sessions), ["completed", undefined]);
});

test("an installation that cannot be written down is told as that, before it begins and after its end, and keeps no other away [X5][Q2]", async (t) => {
  const goOn = Promise.withResolvers<void>();
  const { open, storage } = installing(t, async (execution) => {
    await goOn.promise;
    return pipPlay()(execution);
  });
  const { packages, sessions, guests } = open();
  const { putSession } = storage;
  const full = failure("storage_full", {});
  let isFull = true;
  storage.putSession = async (row) => (isFull && row.body.includes('"packages"') ? full : putSession(row));
  assert.deepEqual([await packages.install(ann, wanted(pip("greeter"))), guests], [full, []]);
  assert.equal((await sessions.find(ann))?.packages, undefined);
  isFull = false;
  const begun = packages.install(ann, wanted(pip("greeter")));
  await until("it is at it", () => guests.length === 1);
  isFull = true;
  goOn.resolve();
  assert.deepEqual(await begun, full);
  isFull = false;
  const { status, error } = (await sessions.find(ann))?.packages ?? assert.fail("it was noted");
  assert.deepEqual([status, error], ["failed", "The AgentYard process that ran it ended."]);
  assert.equal(unwrap(await packages.install(ann, wanted(pip("greeter")))).packages?.status, "completed");
});
