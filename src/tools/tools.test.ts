import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { z } from "zod";
import { toolContext } from "../../test/world/tools.ts";
import { ok } from "../base/result.ts";
import { estimateTokens } from "../models/models.ts";
import type { JsonSchema } from "./schema.ts";
import { builtins, defineTool, openToolkit, toolBytes } from "./tools.ts";

const toolkit = openToolkit(builtins);
const sizes = { full: { tools: 20, tokens: 3_500 }, small: { tools: 10, tokens: 1_470 } } as const;

test("tools have names that every family takes, each once, other names for them included [R1]", () => {
  const names = builtins.flatMap((tool) => [tool.name, ...tool.aliases]);
  assert.deepEqual(
    names.filter((name) => !/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/.test(name)),
    [],
  );
  const cleaned = names.map((name) => name.toLowerCase().replaceAll(/[_-]/g, ""));
  assert.equal(new Set(cleaned).size, names.length);
});

for (const size of ["full", "small"] as const) {
  test(`the ${size} set of tools is small enough to choose from and to send [R1]`, () => {
    const offered = toolkit.offered(size);
    assert.ok(offered.length > 0 && offered.length <= sizes[size].tools, `${offered.length} tools`);
    const tokens = estimateTokens(toolBytes(offered));
    assert.ok(tokens <= sizes[size].tokens, `${tokens} tokens`);
  });
}

test("a tool is described in at most 90 words that say what, when, when not and what comes back [R1]", () => {
  const problems = builtins.flatMap(({ name, description }) => [
    ...(wordsIn(description) > 90 ? [`${name}: ${wordsIn(description)} words`] : []),
    ...[/\bUse it\b/, /\b[Nn]ot (for|routinely)\b/, /\bReturns\b/].flatMap((part) =>
      part.test(description) ? [] : [`${name}: ${part} is missing`],
    ),
  ]);
  assert.deepEqual(problems, []);
});

test("every argument is described, in at most 20 words [R1]", () => {
  const problems = builtins.flatMap((tool) =>
    fieldsOf(tool.parameters).flatMap(([name, field]) => {
      const words = wordsIn(field.description ?? "");
      return words > 0 && words <= 20 ? [] : [`${tool.name}.${name}: ${words} words`];
    }),
  );
  assert.deepEqual(problems, []);
});

test("what is said about tools is plain ASCII and shouts at nobody [R1]", () => {
  const bytes = toolBytes(builtins);
  assert.match(bytes, /^[\x20-\x7e]+$/);
  assert.doesNotMatch(bytes, /\b([A-Z]{2,}\s+){3}[A-Z]{2,}\b/);
});

test("other names are accepted when called and never offered or proposed [T1][R1]", () => {
  const tool = defineTool({ ...plainTool("list_things"), aliases: ["list_stuff"] });
  const kit = openToolkit([tool]);
  assert.equal(kit.open({ id: "1", name: "list_stuff", arguments: "{}" }).ok, true);
  assert.doesNotMatch(toolBytes(kit.offered("full")), /list_stuff/);
  const missing = kit.open({ id: "1", name: "list_stufff", arguments: "{}" });
  assert.deepEqual(missing.ok ? {} : missing.failure.params, { name: "list_stufff", near: "list_things" });
});

test("two tools of one name are our own mistake [R1]", () => {
  assert.throws(() => openToolkit([defineTool(plainTool("a")), defineTool(plainTool("a"))]), /two tools are called a/);
});

test("the tools are the same bytes in the same order at every start, wherever the machine stands [L3]", () => {
  const print = `const { builtins, openToolkit, toolBytes } = await import(${JSON.stringify(import.meta.resolve("./tools.ts"))});
    process.stdout.write(toolBytes(openToolkit(builtins.toReversed()).offered("full")));`;
  const printed = [
    { LANG: "C", TZ: "UTC" },
    { LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8", TZ: "Asia/Shanghai" },
  ].map((env) => spawnSync(process.execPath, ["--input-type=module", "-e", print], { env, encoding: "utf8" }).stdout);
  assert.deepEqual(printed, [toolBytes(toolkit.offered("full")), toolBytes(toolkit.offered("full"))]);
});

test("what a tool does not know is left aside and named, in a few words [R1]", async () => {
  const input = {
    timezone: "UTC",
    locale: "de",
    ...Object.fromEntries(Array.from({ length: 99 }, (_, n) => [`k${n}`, 1])),
  };
  const found = toolkit.open({ id: "1", name: "now", arguments: JSON.stringify(input) });
  assert.ok(found.ok);
  const output = await found.value.opened.run(toolContext());
  assert.match(output.ok ? output.value.text : "", /\n\(ignored unknown arguments: locale, k0, k1, k2, k3\)$/);
});

const notObjects: readonly [written: string, why: RegExp][] = [
  ["{broken", /JSON/],
  ["[]", /"why":"a list","because":"no_object"/],
  ["null", /"why":"null","because":"no_object"/],
  ['"UTC"', /"why":"a string","because":"no_object"/],
  ["5", /"why":"a number","because":"no_object"/],
];

test("arguments that are no object are refused with the reason; an object in a string is taken out of it [R1]", () => {
  for (const [written, why] of notObjects) {
    const refused = toolkit.open({ id: "1", name: "now", arguments: written });
    assert.equal(refused.ok ? "" : refused.failure.code, "tool_arguments_broken", written);
    assert.match(refused.ok ? "" : JSON.stringify(refused.failure.params), why);
  }
  for (const written of ["", "  ", "{}", '"{\\"timezone\\": \\"UTC\\"}"'])
    assert.equal(toolkit.open({ id: "1", name: "now", arguments: written }).ok, true, written);
});

function plainTool(name: string) {
  return { name, description: "For tests.", input: z.object({}), run: () => ok({ text: "" }) };
}

function fieldsOf(schema: JsonSchema): [name: string, field: JsonSchema][] {
  const fields = Object.entries(schema.properties ?? {});
  return fields.flatMap(([name, field]) => [[name, field], ...fieldsOf(field.items ?? field)]);
}

function wordsIn(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}
