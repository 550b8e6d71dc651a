import assert from "node:assert/strict";
import { readFileSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { systemClock } from "../../src/base/clock.ts";
import { toolFiles } from "../../src/config/config.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import type { BrokenToolFile } from "../../src/protocol/tool.ts";
import { openCustomTools } from "../../src/tools/tools.ts";
import { say, toldResults, waitingIn } from "../world/decisions.ts";
import { all } from "../world/events.ts";
import { operatorFolder } from "../world/judging.ts";
import { manualClock } from "../world/manual-clock.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { must, startYard } from "../world/yard.ts";

const repository = join(import.meta.dirname, "..", "..");
const extend = pathToFileURL(join(repository, "src", "extend.ts")).href;

/** A file of the operator, as it is outside of the clone: the object alone. */
const toolText = (name: string, said: string, more = "") =>
  `export default { name: "${name}", description: "Says ${said}.", ${more} run: () => "${said}" };\n`;

async function operator(t: TestContext, options?: Parameters<typeof operatorFolder>[1]) {
  const place = operatorFolder(t, options);
  const { toolFolders } = await place.load();
  const told: BrokenToolFile[] = [];
  const custom = openCustomTools({
    ...{ list: () => toolFiles({ toolFolders }), clock: systemClock, onBroken: (broken) => told.push(broken) },
  });
  let time = 1_000_000;
  return {
    ...{ place, custom, told },
    /** With a time of its own: two versions within one tick of a disk are two. */
    write(name: string, text: string) {
      place.write(name, text);
      time += 10;
      utimesSync(join(place.dir, name), time, time);
    },
    remove: (name: string) => rmSync(join(place.dir, name)),
    names: async () => {
      await custom.refresh();
      return custom.tools(localOwner).map(({ name }) => name);
    },
  };
}

test("the example in the repository is found by the model, reads a file of the conversation and answers [T3][T1]", async (t) => {
  const example = readFileSync(join(repository, "tools/examples/count-words.ts"), "utf8");
  const { write, custom } = await operator(t);
  write("tools/count-words.ts", example.replace("agentyard/extend", extend));
  await using model = await modelServer([
    calls(["write_file", { path: "outputs/a.md", content: "one two three\n四月很好\n" }]),
    calls(["find_tools", { query: "how many words does a text have" }]),
    calls(
      ["use_tool", { name: "count_words", arguments: '{"path": "outputs/a.md"}' }],
      ["use_tool", { name: "count_words", arguments: '{"path": "outputs/none.md"}' }],
      ["use_tool", { name: "count_words", arguments: "{}" }],
    ),
    says("done"),
  ]);
  await using yard = await startYard({ model, custom });
  assert.equal((await yard.ask("count")).answer, "done");
  const found = toldResults(model.asked[2]?.body ?? assert.fail());
  assert.match(found[0] ?? "", /\ncount_words \{path: string\}\n {2}Count the words/);
  assert.doesNotMatch(found[0] ?? "", /<data/);
  const results = toldResults(model.asked[3]?.body ?? assert.fail());
  assert.match(results[0] ?? "", /^<data [^>]*>\noutputs\/a\.md: \d+ words in 3 lines\n<\/data/);
  assert.match(results[1] ?? "", /^Error: tool_failed: count_words failed: file_not_found: outputs\/none\.md\. Change/);
  assert.match(results[2] ?? "", /^Error: tool_arguments_unfit: .*path is missing/);
  const { items, broken } = await must(yard.client.call("listTools"));
  assert.deepEqual(
    items.filter(({ origin }) => origin === "custom").map(({ name, tier }) => [name, tier]),
    [["count_words", "on_demand"]],
  );
  assert.deepEqual(broken, []);
});

test("what the page about tools shows is a tool and a tools.yaml that can be used [T3][P5]", async (t) => {
  const page = readFileSync(join(repository, "docs/use/tools.md"), "utf8");
  const [, yaml = "", code = ""] = /```yaml\n(.*?)```.*?```ts\n(.*?)```/s.exec(page) ?? [];
  const { write, names, place } = await operator(t);
  write("tools/count-words.ts", code.replace("agentyard/extend", extend));
  write("config/tools.yaml", yaml);
  assert.deepEqual(await names(), ["count_words"]);
  assert.deepEqual((await place.load()).tools, [
    { name: "now", tier: "loaded" },
    { name: "search_history", tier: "off" },
    { name: "mcp__github__list_issues", tier: "loaded" },
    { name: "count_words", tier: "on_demand", words: "writing length statistics" },
  ]);
});

test("a tool is there at the turn after its file, another one when it changes, and gone with it [T3][P5]", async (t) => {
  const { write, remove, custom } = await operator(t);
  await using model = await modelServer((request) =>
    request.body.messages.at(-1)?.role === "user" ? calls(["greet", {}]) : says("ok"),
  );
  await using yard = await startYard({ model, custom });
  const { conversation } = await yard.ask("one");
  write("tools/greet.mjs", toolText("greet", "hello"));
  await yard.ask("two", { conversation });
  write("me/.config/agentyard/tools/other.js", toolText("other", "other"));
  write("tools/greet.mjs", toolText("greet", "good day"));
  await yard.ask("three", { conversation });
  remove("tools/greet.mjs");
  const { events } = await yard.ask("four", { conversation });
  assert.deepEqual(
    all(events, "call.finished").map(({ text, failure }) => failure?.code ?? text.split("\n")[1]),
    ["tool_not_found", "hello", "good day", "tool_not_found"],
  );
  assert.deepEqual(custom.files(), [{ file: "~/.config/agentyard/tools/other.js", tool: "other" }]);
  assert.equal(all(events, "recipe.set").length, 1);
});

const mistakes: readonly [what: string, text: string, line: number | undefined, why: RegExp][] = [
  ["is no JavaScript", "\n\nexport default {{;\n", 3, /./],
  ["is no TypeScript", "const a: number = 1;\nconst = 5;\n", 2, /./],
  ["throws when it is loaded", "\nthrow new Error('no database');\n", 2, /^no database$/],
  ["imports what is not there", "import 'no-such-package';\n", undefined, /no-such-package/],
  ["exports nothing", "export const a = 1;\n", undefined, /^default: /],
  ["has a name that no model can write", toolText("a b", "x"), undefined, /^name: letters, digits/],
  ["has no description", 'export default { name: "a", description: " ", run: () => "" };', undefined, /^description: /],
  ["cannot be run", 'export default { name: "a", description: "A." };', undefined, /^run: is no function$/],
  ["has a class that is none", toolText("a", "x", 'class: "safe",'), undefined, /^class: /],
];

test("a file that cannot be used is named with its line, once, and left out; the others work [T3]", async (t) => {
  const { write, names, custom, told } = await operator(t);
  write("tools/fine.ts", toolText("fine", "fine"));
  for (const [index, [, text]] of mistakes.entries()) write(`tools/m${index}.ts`, text);
  assert.deepEqual(await names(), ["fine"]);
  assert.deepEqual(await names(), ["fine"]);
  assert.deepEqual(told, custom.broken());
  assert.deepEqual(
    mistakes.map(([what, , , why], index) => {
      const broken = told.find(({ file }) => file === `tools/m${index}.ts`);
      return [what, broken?.line, why.test(broken?.why ?? "")];
    }),
    mistakes.map(([what, , line]) => [what, line, true]),
  );
  assert.doesNotMatch(JSON.stringify(told), /file:|\/tmp\//);
  write("tools/m0.ts", toolText("mended", "mended"));
  assert.deepEqual(await names(), ["fine", "mended"]);
  assert.equal(custom.broken().length, mistakes.length - 1);
});

test("a file that does not end loading is left out after ten seconds, and holds up nobody for ever [T3]", async (t) => {
  const { write, place } = await operator(t);
  write("tools/endless.mjs", "await new Promise(() => {});\n");
  const { toolFolders } = await place.load();
  // No time passes before the limit of whoever waits.
  const custom = openCustomTools({ list: () => toolFiles({ toolFolders }), clock: manualClock(), onBroken: () => {} });
  await custom.refresh();
  assert.deepEqual(custom.broken(), [{ file: "tools/endless.mjs", why: "not loaded within 10 s" }]);
});

test("a tool of the operator may ask a person first, and one that cannot say whether is not run [T3][H1]", async (t) => {
  const { write, custom } = await operator(t);
  const ask =
    'ask: ({ to }) => { if (to === "?") throw new Error("who?"); return to === "me" ? undefined : { reason: "it pays " + to }; },';
  write(
    "tools/pay.ts",
    `export default { name: "pay", description: "Pays.", parameters: { type: "object", properties: { to: { type: "string" } } },
      ${ask} run: ({ to }) => ({ paid: to }) };`,
  );
  await using model = await modelServer([
    calls(["pay", { to: "me" }], ["pay", { to: "ann" }], ["pay", { to: "?" }]),
    says("done"),
  ]);
  await using yard = await startYard({ model, custom });
  const { conversation } = await yard.ask("pay");
  const [open, ...others] = await waitingIn(yard, conversation);
  assert.deepEqual([open?.tool, open?.reason, open?.risk, others], ["pay", "it pays ann", "medium", []]);
  assert.deepEqual(await say(yard, open, { verdict: "approve" }), []);
  await yard.whenAtRest(conversation);
  const results = toldResults(model.asked[1]?.body ?? assert.fail());
  assert.match(results[0] ?? "", /\n\{"paid":"me"\}\n/);
  assert.match(results[1] ?? "", /\n\{"paid":"ann"\}\n/);
  assert.match(results[2] ?? "", /^Error: tool_failed: pay failed: who\?\./);
});

test("what a tool of the operator throws names no place of this machine [T3][Q1]", async (t) => {
  const { write, custom } = await operator(t);
  write(
    "tools/look.ts",
    `import { readFileSync } from "node:fs";
     export default { name: "look", description: "Looks.", parameters: { type: "object", properties: { at: { type: "string" } } },
       ask: ({ at }) => { if (at === "ask") throw new Error("no list in /srv/tools/list.json"); return undefined; },
       run: ({ at }) => at === "said"
         ? (() => { throw new Error("GET https://api.example/v1/items gave 500, see outputs/a/b.txt and file:///opt/shop/x.mjs:3"); })()
         : readFileSync("/etc/agentyard/none/keys.json") };`,
  );
  await using model = await modelServer([
    calls(["look", { at: "disk" }], ["look", { at: "said" }], ["look", { at: "ask" }]),
    says("done"),
  ]);
  await using yard = await startYard({ model, custom });
  await yard.ask("look");
  const told = toldResults(model.asked[1]?.body ?? assert.fail()).map((text) => text.split(". ")[0]);
  assert.deepEqual(told, [
    "Error: tool_failed: look failed: ENOENT: no such file or directory, open '…'",
    "Error: tool_failed: look failed: GET https://api.example/v1/items gave 500, see outputs/a/b.txt and …:3",
    "Error: tool_failed: look failed: no list in …",
  ]);
});

test("tools of a folder that the program was only started in are not run, the user's own are [T3][Q1]", async (t) => {
  const { write, names } = await operator(t, { isClone: false });
  write("tools/theirs.mjs", toolText("theirs", "x"));
  write("me/.config/agentyard/tools/mine.mjs", toolText("mine", "x"));
  assert.deepEqual(await names(), ["mine"]);
});
