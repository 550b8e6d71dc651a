import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Play } from "../../test/world/played-provider.ts";
import { skillText } from "../../test/world/skill-folder.ts";
import { ok } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import { localOwner } from "../protocol/ids.ts";
import type { Execution } from "../sandbox/provider.ts";
import { allParts } from "./all-parts.testing.ts";
import { installFor, missingPackages } from "./skill-packages.ts";

const lines = "Greeter<2\nscikit_learn\nplain.name>=1\ngit+https://example.org/more.git\n";

type Wants = { readonly requirements: string | undefined };

/** A skill that wants this, and what its programs were asked, which answer so. */
async function wanting(t: TestContext, answer: Play, { requirements }: Wants = { requirements: lines }) {
  const asked: Execution[] = [];
  const wants = requirements === undefined ? {} : { "skills/s/requirements.txt": requirements };
  const world = await allParts(t, {
    files: { "skills/s/SKILL.md": skillText("s"), ...wants },
    play(execution) {
      asked.push(execution);
      return answer(execution);
    },
  });
  const { parts, provider } = world;
  async function missing() {
    await parts.skills.look();
    return missingPackages(parts, localOwner, parts.skills.find("s") ?? assert.fail());
  }
  return { asked, provider, missing, install: (name: string) => installFor(parts, localOwner, name) };
}

const has = (...names: readonly string[]) => ({ code: 0, says: JSON.stringify(names) });

test("a package is there under whatever spelling its name has, and one that is not is named with its version [W9][K1]", async (t) => {
  const { missing, asked, provider } = await wanting(t, () => has("GREETER", "Scikit-Learn", "other"));
  assert.deepEqual(await missing(), ["plain.name>=1"]);
  assert.deepEqual(
    asked.map(({ agent, language, timeoutMs }) => [agent, language, timeoutMs]),
    [["packages", "bash", 20_000]],
  );
  assert.deepEqual(
    provider.guests.map(({ wanted }) => wanted.workspace),
    [undefined],
    "no files are needed for it",
  );
  const one = await wanting(t, () => has("Plain_Name"));
  assert.deepEqual(await one.missing(), ["Greeter<2", "scikit_learn"]);
  const none = await wanting(t, () => has());
  assert.deepEqual(await none.missing(), ["Greeter<2", "scikit_learn", "plain.name>=1"]);
});

test("where it cannot be found out what is installed nothing is said to be missing, and a skill that wants nothing is not asked about [W9][K1]", async (t) => {
  for (const answer of [
    { ...has(), code: 1, on: "stdout" },
    { ...has(), how: "timeout" },
    { code: 0, says: "no JSON" },
    { code: 0, says: '{"Greeter": 1}' },
  ] as const)
    assert.deepEqual(await (await wanting(t, () => answer)).missing(), [], JSON.stringify(answer));
  for (const requirements of [undefined, "# nothing\n"]) {
    const { missing, asked } = await wanting(t, () => has(), { requirements });
    assert.deepEqual([await missing(), asked], [[], []]);
  }
  const refusing = await wanting(t, () => has());
  refusing.provider.missing = [{ name: "no_bwrap", reason: "there is none", fix: "install it" }];
  assert.deepEqual([await refusing.missing(), refusing.asked], [[], []]);
});

/** pip, after which these are there. */
const pip =
  (...there: readonly { name: string; version: string }[]): Play =>
  ({ code }) => ({ code: 0, says: code.includes("pip list") ? JSON.stringify(there) : "" });

test("all that a skill wants is installed at once for this user, and what came of it is told without what was there besides [W9][K1]", async (t) => {
  const greeter = { name: "greeter", version: "1.0" };
  const numpy = { name: "numpy", version: "2.0" };
  const learn = { name: "Scikit-Learn", version: "1.5" };
  const { install, asked } = await wanting(t, pip(greeter, numpy, learn));
  const leftOut = ["git+https://example.org/more.git"];
  assert.deepEqual(await install("s"), ok({ installed: [greeter, learn], leftOut }));
  const [installing] = asked;
  assert.equal(Buffer.from(installing?.stdin ?? []).toString(), "Greeter<2\nscikit_learn\nplain.name>=1\n");
  assert.match(installing?.code ?? "", /pip install .* -r \/dev\/stdin/, "together, so that they fit each other");
  assert.deepEqual([installing?.timeoutMs, asked.length], [600_000, 2]);
  const bare = await wanting(t, pip());
  assert.deepEqual(await bare.install("s"), ok({ installed: [], leftOut }));
});

test("a skill that is not there, wants nothing or cannot have its packages is told so [W9][K1]", async (t) => {
  const { install, asked } = await wanting(t, () => ({ code: 1, says: "no such package" }));
  const unknown = await install("t");
  assert.deepEqual([unknown.ok || unknown.failure.code, asked], ["skill_not_found", []]);
  assert.deepEqual(await install("s"), failure("packages_failed", { why: "index", said: "no such package" }));
  const none = await wanting(t, pip(), { requirements: "-r other.txt\n" });
  assert.deepEqual([await none.install("s"), none.asked], [ok({ installed: [], leftOut: ["-r other.txt"] }), []]);
});
