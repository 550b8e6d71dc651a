import assert from "node:assert/strict";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadCheckers } from "../../src/approvals/approvals.ts";
import { callOf, operatorFolder } from "../world/judging.ts";

const extend = join(import.meta.dirname, "..", "..", "src", "extend.ts");

test("a checker of the operator sees arguments and facts, and its word counts with its name [H1][P5]", async (t) => {
  const place = operatorFolder(t);
  place.write(
    "checkers/night.ts",
    `import { defineChecker } from ${JSON.stringify(extend)};
const checker = defineChecker({
  tool: ["send", "pay"],
  check({ to }, { tool, contained, network, tainted }) {
    if (to === "all") return { action: "deny", reason: \`\${tool} to all \${contained} \${network} \${tainted}\` };
    if (to === "boss") return { action: "ask", risk: "critical", reason: "the boss" };
    if (to === "me") return { action: "allow", reason: "that is me" };
    return undefined;
  },
});
  export { checker as default };`,
  );
  const judged = async (tool: string, to: string) => {
    const { verdict, risk, layer, reason } = await place.judge(callOf(tool, { to }));
    return [verdict, risk, layer, reason];
  };
  assert.deepEqual(await judged("send", "all"), [
    "deny",
    "high",
    "checker",
    "send to all true false false (checkers/night.ts)",
  ]);
  assert.deepEqual(await judged("pay", "boss"), ["ask", "critical", "checker", "the boss"]);
  assert.deepEqual(await judged("send", "me"), ["allow", "low", "checker", "that is me"]);
  assert.deepEqual(await judged("send", "you"), ["allow", "low", "default", "nothing asks for a decision"]);
  assert.deepEqual(await judged("call", "all"), ["allow", "low", "default", "nothing asks for a decision"]);
  const { findings } = await place.judge(callOf("send", { to: "all" }));
  assert.equal(findings[0]?.source, "checkers/night.ts");
});

test("the allow of a checker is only its own word: others may still ask [H1]", async (t) => {
  const place = operatorFolder(t);
  place.write("checkers/all.mjs", `export default { tool: "*", check: () => ({ action: "allow", reason: "fine" }) };`);
  place.rules("global: { default_action: deny }");
  assert.equal((await place.judge(callOf("send", {}))).verdict, "allow");
  assert.equal((await place.judge(callOf("write_file", { path: "uploads/a" }))).verdict, "ask");
});

const silent: [what: string, body: string, why: RegExp][] = [
  [
    "throws",
    'throw new Error("no database")',
    /broke down and gave no answer: checkers\/a\.mjs \(Error: no database\)/,
  ],
  ["does not end", "for (;;);", /took too long and gave no answer: checkers\/a\.mjs/],
  ["answers nonsense", 'return { action: "maybe" }', /answered something else than undefined or .*: checkers\/a\.mjs/],
  ["answers null", "return null", /answered something else than undefined or .*: checkers\/a\.mjs/],
  [
    "answers later",
    'return Promise.reject(new Error("late"))',
    /answered something else than undefined or .*: checkers\/a\.mjs/,
  ],
  [
    "changes what it was given",
    'given.to = "x"; given.list.push(1); return { action: "ask", reason: "changed" }',
    /changed/,
  ],
];
for (const [what, body, why] of silent) {
  test(`a checker that ${what} means that a person is asked [H1]`, async (t) => {
    const place = operatorFolder(t);
    place.write("checkers/a.mjs", `export default { tool: "send", check(given) { ${body} } };`);
    const call = callOf("send", { to: "all", list: [] });
    const { verdict, layer, reason } = await place.judge(call);
    assert.deepEqual([verdict, layer, call.arguments], ["ask", "checker", { to: "all", list: [] }]);
    assert.match(reason, why);
  });
}

const broken: [what: string, text: string, why: RegExp][] = [
  ["cannot be read", "export default {", /Unexpected/],
  ["exports something else", "export const check = 1;", /its default export is not/],
  ["is about no tool", 'export default { tool: "", check() {} };', /its default export is not/],
  ["is about an empty list of tools", "export default { tool: [], check() {} };", /its default export is not/],
  ["has a tool without a name", 'export default { tool: ["send", ""], check() {} };', /its default export is not/],
  ["cannot check", 'export default { tool: "*", check: true };', /its default export is not/],
  ["breaks down with many words", 'throw new Error("no key\\nat home");', /^(Error: )?no key$/],
];
for (const [what, text, why] of broken) {
  test(`nothing starts with a checker that ${what} [H1][P5]`, async (t) => {
    const place = operatorFolder(t);
    place.write("checkers/a.mjs", text);
    const loaded = await loadCheckers((await place.load()).checkers);
    assert.ok(!loaded.ok);
    assert.deepEqual([loaded.failure.code, loaded.failure.params.file], ["checker_broken", "checkers/a.mjs"]);
    assert.match(loaded.failure.params.why, why);
  });
}

test("nothing starts where the folder of checkers is there and cannot be listed: less would be asked than was meant [H1][P5]", async (t) => {
  const place = operatorFolder(t);
  assert.deepEqual(await place.mistakes(), []);
  place.write("checkers", "no folder");
  place.write("me/.config/agentyard/agentyard.yaml", "");
  symlinkSync("checkers", join(place.dir, "me/.config/agentyard/checkers"));
  const advice = "Give this user permission to read the folder, or take it away";
  const said = (folder: string, why: string) =>
    `${folder}:1: this folder of checkers cannot be listed (${why}), and without them less would be asked than you meant. ${advice}.`;
  assert.deepEqual(await place.mistakes(), [
    said("checkers", "ENOTDIR"),
    said("~/.config/agentyard/checkers", "ELOOP"),
  ]);
});

test("checkers of a folder that the program was only started in are not run, the user's own are [H1][Q1]", async (t) => {
  const place = operatorFolder(t, { isClone: false });
  for (const name of [
    "checkers/evil.mjs",
    "me/.config/agentyard/checkers/mine.mjs",
    "me/.config/agentyard/checkers/a.test.ts",
  ])
    place.write(name, "");
  const shown = async (env?: Record<string, string>) => (await place.load(env)).checkers.map((file) => file.shown);
  assert.deepEqual(await shown(), ["~/.config/agentyard/checkers/mine.mjs"]);
  assert.deepEqual(await shown({ AGENTYARD_CONFIG: place.dir }), [
    "checkers/evil.mjs",
    "~/.config/agentyard/checkers/mine.mjs",
  ]);
});
