import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { folderWith } from "../../test/world/folder.ts";
import { noted, partly } from "../../test/world/partly.ts";
import { ok } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import { localOwner } from "../protocol/ids.ts";
import type { FoundSkill } from "../skills/skills.ts";
import type { Parts } from "./parts.ts";
import { installFor, missingPackages } from "./skill-packages.ts";

const lines = "Greeter<2\nscikit_learn\nplain.name>=1\ngit+https://example.org/more.git\n";
const skillIn = (folder: string, hasRequirements = true) => partly<FoundSkill>({ id: "s", folder, hasRequirements });
const listing = (...names: readonly string[]) => JSON.stringify(names);

/** What Python says it has; `more`: how the program that asks it ends. */
async function missing(t: TestContext, stdout: string, more: object = {}, skill = { text: lines, has: true }) {
  const folder = folderWith(t, { "requirements.txt": skill.text });
  const asked: unknown[] = [];
  const report = { how: "done", exitCode: 0, stdout: { text: stdout }, ...more };
  const { signal } = new AbortController();
  const sandbox = {
    run: async (place: unknown, { code: _, ...wanted }: { readonly code: string }) =>
      noted(asked, [place, wanted], ok({ report: Promise.resolve(report) })),
  };
  const names = await missingPackages(partly<Parts>({ sandbox }), localOwner, skillIn(folder, skill.has), signal);
  return { names, asked, signal };
}

test("a package is there under whatever spelling its name has, and one that is not is named with its version [W9][K1]", async (t) => {
  const { names, asked, signal } = await missing(t, listing("GREETER", "Scikit-Learn", "other"));
  assert.deepEqual(names, ["plain.name>=1"]);
  const place = { owner: localOwner, conversation: undefined, workspace: undefined, agent: "packages" };
  assert.deepEqual(asked, [[place, { language: "bash", timeoutMs: 20_000, signal }]]);
  assert.deepEqual((await missing(t, listing("Plain_Name"))).names, ["Greeter<2", "scikit_learn"]);
  assert.deepEqual((await missing(t, listing())).names, ["Greeter<2", "scikit_learn", "plain.name>=1"]);
});

test("where it cannot be found out what is installed nothing is said to be missing, and a skill that wants nothing is not asked about [W9][K1]", async (t) => {
  for (const [stdout, more] of [
    [listing(), { exitCode: 1 }],
    [listing(), { how: "timeout", exitCode: 0 }],
    ["no JSON", {}],
    ['{"Greeter": 1}', {}],
  ] as const)
    assert.deepEqual((await missing(t, stdout, more)).names, [], JSON.stringify([stdout, more]));
  for (const skill of [
    { text: lines, has: false },
    { text: "# nothing\n", has: true },
  ]) {
    const { names, asked } = await missing(t, listing(), {}, skill);
    assert.deepEqual([names, asked], [[], []]);
  }
  const folder = folderWith(t, { "requirements.txt": lines });
  const refusing = partly<Parts>({ sandbox: { run: async () => failure("sandbox_full", { retryAfterSeconds: 5 }) } });
  assert.deepEqual(await missingPackages(refusing, localOwner, skillIn(folder)), []);
});

/** `session`: what the sandbox of this user answers. */
async function installing(t: TestContext, session: unknown, text = lines) {
  const folder = folderWith(t, { "requirements.txt": text });
  const done: unknown[] = [];
  const parts = partly<Parts>({
    skills: {
      look: async () => noted(done, "look", undefined),
      find: (id) => (id === "s" && done.length > 0 ? skillIn(folder) : undefined),
      missing: (name) => failure("skill_not_found", { skill: name, near: "" }),
    },
    sandbox: { packages: { install: async (...order) => noted(done, order, session) } },
  });
  return { done, install: (name: string) => installFor(parts, localOwner, name) };
}

test("all that a skill wants is installed at once for this user, and what came of it is told without what was there besides [W9][K1]", async (t) => {
  const there = [
    { name: "greeter", version: "1.0", manager: "pip" },
    { name: "numpy", version: "2.0", manager: "pip" },
    { name: "Scikit-Learn", version: "1.5", manager: "pip" },
  ];
  const { install, done } = await installing(t, ok({ packages: { installed: there } }));
  const leftOut = ["git+https://example.org/more.git"];
  assert.deepEqual(await install("s"), {
    ok: true,
    value: {
      installed: [
        { name: "greeter", version: "1.0" },
        { name: "Scikit-Learn", version: "1.5" },
      ],
      leftOut,
    },
  });
  const packages = [
    { manager: "pip", name: "Greeter", version: "<2" },
    { manager: "pip", name: "scikit_learn", version: undefined },
    { manager: "pip", name: "plain.name", version: ">=1" },
  ];
  assert.deepEqual(done, ["look", [localOwner, { packages, timeoutMs: 600_000, allowsConflicts: false }]]);
  const bare = await installing(t, ok({}));
  assert.deepEqual(await bare.install("s"), ok({ installed: [], leftOut }));
});

test("a skill that is not there, wants nothing or cannot have its packages is told so [W9][K1]", async (t) => {
  const away = failure("sandbox_full", { retryAfterSeconds: 5 });
  const { install, done } = await installing(t, away);
  const unknown = await install("t");
  assert.deepEqual([unknown.ok || unknown.failure.code, done], ["skill_not_found", ["look"]]);
  assert.deepEqual([await install("s"), done.length], [away, 3]);
  const none = await installing(t, away, "-r other.txt\n");
  assert.deepEqual([await none.install("s"), none.done], [ok({ installed: [], leftOut: ["-r other.txt"] }), ["look"]]);
});
