import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { LogEvent } from "../../src/protocol/events.ts";
import { all } from "../world/events.ts";
import { type AskedRequest, calls, modelServer, says } from "../world/model-server.ts";
import { servePackages } from "../world/package-index.ts";
import { cannotRunCode } from "../world/sandbox.ts";
import { skillFolder, skillText } from "../world/skill-folder.ts";
import { must, startYard } from "../world/yard.ts";

const hasPip = existsSync("/usr/lib/python3/dist-packages/pip");
const reminderOf = (request: AskedRequest | undefined) =>
  /<system_reminder>\n([\s\S]*?)\n<\/system_reminder>/.exec(String(request?.body.messages.at(-1)?.content))?.[1] ?? "";

/** What the model was told, call by call. */
const textsOf = (events: readonly LogEvent[]) => all(events, "call.finished").map(({ text }) => text);

test("a skill tells which packages are missing; they come into the sandbox of the user only after a decision [W9][K1][H1]", {
  skip: cannotRunCode || (!hasPip && "pip is not here"),
}, async (t) => {
  const index = await servePackages(t, [
    { name: "greeter", version: "1.0", code: "def hi(): return 'hi 1'" },
    { name: "greeter", version: "2.0", code: "def hi(): return 'hi 2'" },
  ]);
  const host = `mirror.test:${index.port}`;
  const place = skillFolder(t);
  place.write("greetings/SKILL.md", skillText("greetings"));
  place.write("greetings/requirements.txt", "# hello\nGreeter<2\ngit+https://example.org/more.git\n");
  place.write("greetings/scripts/hi.py", "import greeter\nprint(greeter.hi())\n");
  const script = ["run_bash_command", { command: "python3 skills/greetings/scripts/hi.py" }] as [string, object];
  await using model = await modelServer((asked) =>
    asked.body.messages.at(-1)?.role === "user" ? calls(script) : says("done"),
  );
  await using yard = await startYard({
    ...{ model, data: place.data, runsCode: true },
    packages: {
      network: { hosts: [], privateHosts: [host], packageIndex: `http://${host}/simple`, npmRegistry: undefined },
      packagesDir: join(place.data, "packages"),
      lookup: async (name) => (name.endsWith(".test") ? ["127.0.0.1"] : []),
    },
  });
  const first = await yard.ask("use @greetings");
  assert.deepEqual(reminderOf(model.asked[0]).split("\n"), [
    "The user named a skill: read skills/greetings/SKILL.md before you begin, and follow it.",
    'The skill greetings wants Python packages that are not installed: Greeter<2. Do without them where you can; otherwise call use_tool with {"name": "install_packages", "arguments": "{\\"skill\\": \\"greetings\\"}"}, which asks the user first.',
  ]);
  assert.match(textsOf(first.events)[0] ?? "", /No module named 'greeter'/);
  model.answerWith([calls(["install_packages", { skill: "@greetings" }]), calls(script), says("done")]);
  const asked = await yard.ask("install them", { conversation: first.conversation });
  assert.equal(asked.status, "waiting");
  assert.equal(index.asked.length, 0, "nothing was fetched before somebody decided");
  const [decision] = (await must(yard.client.call("listDecisions"))).items;
  assert.deepEqual(
    [decision?.tool, decision?.risk, decision?.findings?.map(({ kind, what }) => `${kind}: ${what}`)],
    ["install_packages", "medium", ["packages: install_packages greetings"]],
  );
  await must(
    yard.client.call("decide", {
      params: { id: first.conversation, decision: decision?.id ?? "" },
      body: { verdict: "approve" },
    }),
  );
  const second = await yard.whenAtRest(first.conversation);
  assert.deepEqual(textsOf(second.events).slice(1, 2), [
    'Installed: greeter 1.0.\nNot taken, because they say more than a name and a version (tell the user if you need them):\n- "git+https://example.org/more.git"',
  ]);
  assert.match(textsOf(second.events)[2] ?? "", /hi 1/);
  const install = (skill: string) => yard.client.call("installSkillPackages", { params: { skill } });
  assert.deepEqual(await must(install("greetings")), {
    installed: [{ name: "greeter", version: "1.0" }],
    leftOut: ["git+https://example.org/more.git"],
  });
  model.answerWith([says("done")]);
  await yard.ask("use @greetings again");
  assert.doesNotMatch(reminderOf(model.asked.at(-1)), /not installed/);
  const missing = await install("greeting");
  assert.deepEqual(!missing.ok && missing.failure.code, "skill_not_found");
});

test("where no index is configured, asking for a skill's packages says which setting is missing [W9][K1]", {
  skip: cannotRunCode,
}, async (t) => {
  const place = skillFolder(t, "wants-packages", "pdf-forms");
  await using yard = await startYard({ data: place.data, runsCode: true });
  const install = (skill: string) => yard.client.call("installSkillPackages", { params: { skill } });
  const refused = await install("wants-packages");
  assert.deepEqual(!refused.ok && [refused.failure.code, refused.failure.status], ["packages_not_configured", 403]);
  assert.deepEqual(await must(install("pdf-forms")), { installed: [], leftOut: [] });
});
