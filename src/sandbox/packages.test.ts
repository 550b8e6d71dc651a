import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openDatabase } from "../../test/world/database.ts";
import { until } from "../../test/world/events.ts";
import { folderWith } from "../../test/world/folder.ts";
import { type Play, playedProvider } from "../../test/world/played-provider.ts";
import { testSettings as settings } from "../../test/world/sandbox-settings.ts";
import { quietLogger } from "../../test/world/workspace.ts";
import { systemClock } from "../base/clock.ts";
import { derivedHex, systemIds } from "../base/ids.ts";
import type { Result } from "../base/result.ts";
import { OwnerId } from "../protocol/ids.ts";
import { wordsFor } from "../words/words.ts";
import { openSandbox, type PackagesWanted } from "./sandbox.ts";

// What is installed for the sessions of users, with guests whose part is played.

const [ann, ben, cas] = ["ann", "ben", "cas"].map((name) => OwnerId.parse(name));
assert.ok(ann && ben && cas);
const pip = (name: string, version?: string) => ({ manager: "pip", name, version }) as const;
const wanted = (...packages: PackagesWanted["packages"]) => ({ packages, timeoutMs: 1000, allowsConflicts: false });

function installing(t: TestContext, play: Play) {
  const [storage, packagesDir] = [openDatabase(t), folderWith(t, {})];
  const network = { hosts: [], privateHosts: [], packageIndex: "https://pypi.org/simple", npmRegistry: undefined };
  const open = () => {
    const provider = playedProvider(play);
    const sandbox = openSandbox({
      ...{ provider, storage, clock: systemClock, ids: systemIds, logger: quietLogger([]), words: wordsFor("en") },
      ...{ settings, network, packagesDir },
    });
    t.after(() => sandbox.close());
    return { ...sandbox, guests: provider.guests };
  };
  return { open, folderOf: (owner: OwnerId) => join(packagesDir, derivedHex(32, owner)) };
}

/** What pip would say; what it was asked for is heard. */
function pipPlay(heard: string[] = [], isGood: (asked: string) => boolean = () => true): Play {
  return ({ code, stdin }) => {
    if (code.includes("pip list")) return { code: 0, says: JSON.stringify([{ name: "greeter", version: "1.0" }]) };
    const asked = Buffer.from(stdin ?? []).toString();
    heard.push(asked);
    return isGood(asked) ? { code: 0 } : { code: 1, says: "no such package" };
  };
}

function unwrap<T>(result: Result<T, { readonly code: string }>): T {
  assert.ok(result.ok, result.ok ? "" : result.failure.code);
  return result.value;
}

test("what was installed for a session stays when it is revived, and goes when another one takes its place [X5][S1]", async (t) => {
  const { open, folderOf } = installing(t, pipPlay());
  const { packages, sessions } = open();
  unwrap(await packages.install(ann, wanted(pip("greeter"))));
  unwrap(await sessions.stop(ann));
  const revived = unwrap(await sessions.use(ann));
  assert.deepEqual([revived.packages?.status, existsSync(folderOf(ann))], ["completed", true]);
  unwrap(await sessions.stop(ann));
  const made = unwrap(await sessions.create(ann, { dialect: "seed" }));
  assert.deepEqual([made.packages, existsSync(folderOf(ann))], [undefined, false]);
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
