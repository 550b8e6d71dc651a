import assert from "node:assert/strict";
import { existsSync, mkdirSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { LogEvent } from "../../src/protocol/events.ts";
import { withoutMarks } from "../../src/words/words.ts";
import { all } from "../world/events.ts";
import { type AskedRequest, calls, modelServer, says } from "../world/model-server.ts";
import { servePackages } from "../world/package-index.ts";
import { cannotRunCode } from "../world/sandbox.ts";
import { skillFolder, skillText } from "../world/skill-folder.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const systemOf = (request: AskedRequest | undefined) => String(request?.body.messages[0]?.content);
const newestOf = (request: AskedRequest | undefined) => String(request?.body.messages.at(-1)?.content);
const reminderOf = (request: AskedRequest | undefined) =>
  /<system_reminder>\n([\s\S]*?)\n<\/system_reminder>/.exec(newestOf(request))?.[1];
/** In the order of the calls, whichever ended first. */
const results = (events: readonly LogEvent[]) => {
  const ended = new Map(all(events, "call.finished").map((event) => [event.call, event]));
  const asked = all(events, "message.assistant").flatMap(({ calls: made }) => made ?? []);
  return asked.map(({ id }) => `${ended.get(id)?.outcome}: ${withoutMarks(ended.get(id)?.text ?? "")}`);
};
const read = (path: string): [string, object] => ["read_file", { path }];

const listed = async (yard: TestYard, conversation?: string) =>
  (await must(yard.client.call("listSkills", { query: { ...(conversation && { conversation }) } }))).items;
const why = async (yard: TestYard, skill: string, conversation?: string) =>
  (
    await must(
      yard.client.call("explainSkill", { params: { skill }, query: { ...(conversation && { conversation }) } }),
    )
  ).reasons;

test("agents have a list of skills in the system message and read one when they need it [K1][R1]", async (t) => {
  const { data } = skillFolder(t, "pdf-forms", "chinese-reports", "no-end");
  await using model = await modelServer([
    calls(read("skills/pdf-forms/SKILL.md")),
    calls(["list_files", { path: "skills" }]),
    says("done"),
  ]);
  await using yard = await startYard({ model, data });
  const { events, conversation } = await yard.ask("fill in this form");
  const [, list = ""] = /\n\n# Skills\n([\s\S]*?)\n\n/.exec(systemOf(model.asked[0])) ?? [];
  assert.match(
    list,
    /\n- chinese-reports: 把数据整理成中文周报。.*\n- pdf-forms: Fill in PDF forms/,
    "by name, the broken one left out",
  );
  const [content = "", listing] = results(events);
  assert.match(content, /^ok: === skills\/pdf-forms\/SKILL\.md \(.*\) ===\n---\nname: pdf-forms\n[\s\S]*# PDF forms/);
  assert.doesNotMatch(content, /<data/, "a skill is meant to be followed");
  assert.match(listing ?? "", /\[SKILL\] pdf-forms\/|\[SKILL\] skills\/pdf-forms\//);
  assert.equal(all(events, "skill.linked").length, 0, "the agent found it by itself");
  assert.deepEqual(await why(yard, "pdf-forms", conversation), [
    "The agent has it in its list of skills, and reads it when a task fits the description.",
    "It was not named in this conversation.",
    "No file type links it by itself (auto_load_on_file_types in skills.yaml).",
    "The agent has read its instructions in this conversation.",
  ]);
  assert.deepEqual(
    (await listed(yard)).map(({ id, state, place, notes }) => [
      id,
      state,
      place,
      notes.map(({ fault, line }) => `${fault} ${line}`),
    ]),
    [
      ["chinese-reports", "offered", "~/.agents/skills/chinese-reports", []],
      ["no-end", "broken", "~/.agents/skills/no-end", ["front_matter_open 1"]],
      ["pdf-forms", "offered", "~/.agents/skills/pdf-forms", []],
    ],
  );
});

test("a skill, a tool and an agent that the user names are told once, and the message stays as it was written [L4][K1][W9]", async (t) => {
  const { data } = skillFolder(t, "pdf-forms");
  await using model = await modelServer(() => says("yes"));
  await using yard = await startYard({ model, data });
  const text = "use @pdf-forms:\n\n    @other\n    def f():\n\tpass\n\nand @search_file, then @simple";
  const { conversation, events } = await yard.ask(text);
  assert.ok(newestOf(model.asked[0]).startsWith(`${text}\n\n<system_reminder>\n`), "byte for byte");
  assert.deepEqual(reminderOf(model.asked[0])?.split("\n"), [
    "The user named a skill: read skills/pdf-forms/SKILL.md before you begin, and follow it.",
    "The user named the tool search_file: use it where it fits.",
    "The user named the agent simple (Quick answers and small work on files. Runs no code.): hand over to it with transfer_to_simple, or have it do a part with call_agent.",
  ]);
  assert.deepEqual(
    all(events, "skill.linked").map(({ turn, skill, because }) => [turn, skill, because]),
    [[1, "pdf-forms", "mention"]],
  );
  assert.equal(readlinkSync(join(data, "workspace", conversation, "skills/pdf-forms")), "/skills/pdf-forms");
  await yard.ask("go on", { conversation });
  assert.equal(reminderOf(model.asked[1]), undefined);
  assert.deepEqual((await why(yard, "pdf-forms", conversation)).slice(1), [
    "Linked in turn 1: it was named in the message.",
    "The agent has not read its instructions here yet.",
  ]);
});

test("what was named and is not there is told to the user with near names, and is sent as text [L4][K1]", async (t) => {
  const { data } = skillFolder(t, "pdf-forms", "no-end");
  await using model = await modelServer(() => says("yes"));
  await using yard = await startYard({ model, data });
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  const send = (text: string) =>
    must(yard.client.call("sendMessage", { params: { id }, body: { text, mode: "queue" } }));
  const sent = await send("ask @pdf-form and @no-end and @nobody, mail ann@example.org, npm i @scope/name");
  assert.deepEqual(sent.unknownMentions, [
    { name: "pdf-form", near: ["pdf-forms"] },
    { name: "no-end", near: [], state: "broken" },
    { name: "nobody", near: [] },
  ]);
  await yard.whenAtRest(id);
  assert.equal((await send("nothing is named here")).unknownMentions, undefined);
  await yard.whenAtRest(id);
  assert.equal(reminderOf(model.asked[0]), undefined);
  const missing = await yard.client.call("explainSkill", { params: { skill: "pdf-from" } });
  assert.deepEqual(!missing.ok && [missing.failure.code, missing.failure.status], ["skill_not_found", 404]);
});

test("a file of a skill's type links the skill by itself, once, also where it was uploaded before [K1][L4]", async (t) => {
  const place = skillFolder(t);
  place.write("pdf/SKILL.md", skillText("pdf"));
  place.write("spreadsheets/SKILL.md", skillText("spreadsheets"));
  await using model = await modelServer(() => says("yes"));
  await using yard = await startYard({ model, data: place.data });
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  const upload = (name: string) => must(yard.client.upload(id, name, Buffer.from("x")));
  await upload("Report.PDF");
  await yard.ask("what is in it?", { conversation: id });
  await upload("other.pdf");
  await upload("sales.xlsx");
  const { events } = await yard.ask("and these?", { conversation: id });
  assert.deepEqual(model.asked.map(reminderOf), [
    "For uploads/Report.PDF there is a skill: read skills/pdf/SKILL.md before you work on it.",
    "For uploads/sales.xlsx there is a skill: read skills/spreadsheets/SKILL.md before you work on it.",
  ]);
  assert.deepEqual(
    all(events, "skill.linked").map(({ turn, skill, because, file }) => [turn, skill, because, file]),
    [
      [1, "pdf", "file_type", "uploads/Report.PDF"],
      [2, "spreadsheets", "file_type", "uploads/sales.xlsx"],
    ],
  );
  assert.deepEqual((await why(yard, "pdf", id))[1], "Linked in turn 1: uploads/Report.PDF came with it.");
  const { id: other } = await must(yard.client.call("createConversation", { body: {} }));
  await must(yard.client.upload(other, "form.pdf", Buffer.from("x")));
  await yard.ask("fill it in with @pdf", { conversation: other });
  assert.equal(
    reminderOf(model.asked.at(-1)),
    "The user named a skill: read skills/pdf/SKILL.md before you begin, and follow it.",
    "and not twice",
  );
});

test("a skill that is changed, added or taken away counts from the next turn on, without a restart [K1][P5]", async (t) => {
  const place = skillFolder(t);
  place.write("one/SKILL.md", skillText("one", "The first.", "Old words."));
  await using model = await modelServer((asked) =>
    asked.body.messages.at(-1)?.role === "user" ? calls(read("skills/one/SKILL.md")) : says("read"),
  );
  await using yard = await startYard({ model, data: place.data });
  const first = await yard.ask("one");
  place.write("one/SKILL.md", skillText("one", "The first one.", "New words, which are longer."));
  place.write("two/SKILL.md", skillText("two"));
  const second = await yard.ask("two", { conversation: first.conversation });
  rmSync(join(place.data, ".agents/skills/one"), { recursive: true });
  const third = await yard.ask("three", { conversation: first.conversation });
  const [before, after, gone] = results(third.events);
  assert.match(before ?? "", /Old words\./);
  assert.match(after ?? "", /New words, which are longer\./);
  assert.match(gone ?? "", /^error: .*skills\/one\/SKILL\.md/);
  assert.deepEqual([all(second.events, "recipe.set").map(({ cause }) => cause)], [["start", "prompt_changed"]]);
  assert.match(systemOf(model.asked.at(-1)), /# Skills\n.*\n- two: Does something\.\n/);
});

test("other links and files in skills/ are not followed, and nothing can be written there [W9][W1][S4]", async (t) => {
  const place = skillFolder(t, "pdf-forms");
  await using model = await modelServer([
    calls(
      ...[
        read("skills/secret/passwd"),
        read("skills/pdf-forms/../../x"),
        read("skills/loop/a"),
        read("skills/pdf-forms/away"),
      ],
      ...[["write_file", { path: "skills/pdf-forms/SKILL.md", content: "x" }] as [string, object]],
      ...[["write_file", { path: "skills/new/SKILL.md", content: "x" }] as [string, object]],
      ...[["list_files", { path: "skills" }] as [string, object], read("skills/unknown/SKILL.md")],
      ...[["search_file", { query: "check boxes", path: "skills/pdf-forms" }] as [string, object]],
      ...[["find_files", { pattern: "*.py", path: "skills/pdf-forms" }] as [string, object]],
    ),
    says("done"),
  ]);
  await using yard = await startYard({ model, data: place.data });
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  const skills = join(place.data, "workspace", id, "skills");
  mkdirSync(skills, { recursive: true });
  symlinkSync("/etc", join(skills, "secret"));
  symlinkSync("/skills/pdf-forms", join(skills, "loop"));
  symlinkSync("/etc/hostname", join(place.data, ".agents/skills/pdf-forms/away"));
  const { events } = await yard.ask("look", { conversation: id });
  const [secret, outside, loop, away, write, made, listing, unknown, found, scripts] = results(events);
  for (const refused of [secret, loop]) assert.match(refused ?? "", /^error: .*link/i);
  assert.match(outside ?? "", /^error: /);
  assert.match(away ?? "", /^error: /, "left out of the copy");
  for (const refused of [write, made]) assert.match(refused ?? "", /^error: /);
  assert.doesNotMatch(listing ?? "", /\[SKILL\] (skills\/)?(secret|loop)/);
  assert.match(unknown ?? "", /^error: /);
  assert.match(found ?? "", /skills\/pdf-forms\/reference\.md/);
  assert.match(scripts ?? "", /skills\/pdf-forms\/scripts\/fields\.py/);
});

test("a linked skill's scripts run in the sandbox, which sees a read-only copy and nothing beside it [W9][K1][S4]", {
  skip: cannotRunCode,
}, async (t) => {
  const place = skillFolder(t, "pdf-forms");
  const bash = (command: string): [string, object] => ["run_bash_command", { command }];
  await using model = await modelServer([
    // The sandbox runs already when the second skill is linked.
    calls(bash("python3 skills/pdf-forms/scripts/fields.py a.pdf; ./skills/pdf-forms/scripts/fields.py b.pdf")),
    calls(
      bash(
        "echo x > skills/pdf-forms/SKILL.md; rm -f skills/pdf-forms/reference.md; ls skills/pdf-forms; mkdir skills/mine; ls /skills",
      ),
    ),
    says("done"),
    calls(bash('head -2 "$AGENT_WORKSPACE_PATH/skills/later/SKILL.md"; cat skills/pdf-forms/away')),
    says("done"),
  ]);
  symlinkSync("/etc/hostname", join(place.data, ".agents/skills/pdf-forms/away"));
  await using yard = await startYard({ model, data: place.data, runsCode: true, approves: true });
  const { conversation, events } = await yard.ask("use @pdf-forms");
  const [ran, changed] = results(events);
  assert.match(ran ?? "", /fields of a\.pdf\nfields of b\.pdf/);
  assert.match(changed ?? "", /LICENSE\.txt\nSKILL\.md\nreference\.md\nscripts\npdf-forms\n/);
  assert.match(changed ?? "", /Read-only file system/);
  place.write("later/SKILL.md", skillText("later"));
  const second = await yard.ask("now @later", { conversation });
  const last = results(second.events).at(-1) ?? "";
  assert.match(last, /---\nname: later/);
  assert.match(last, /No such file or directory/);
});

test("what can be named is listed by its beginning, tools before skills before agents [L4]", async (t) => {
  const place = skillFolder(t);
  place.write("search/SKILL.md", skillText("search", "Searches."));
  place.write("now/SKILL.md", skillText("now", "Has the name of a tool."));
  place.write("two-words/SKILL.md", skillText("two-words"));
  await using model = await modelServer(() => says("yes"));
  await using yard = await startYard({ model, data: place.data });
  const named = async (prefix: string, limit = 20) =>
    must(yard.client.call("listMentions", { query: { prefix, limit } }));
  assert.deepEqual(
    (await named("sea")).items.map(({ kind, name }) => `${kind} ${name}`),
    ["tool search_file", "tool search_history", "skill search"],
  );
  assert.deepEqual([(await named("@SIMPLE")).items.map(({ kind, name }) => [kind, name])], [[["agent", "simple"]]]);
  assert.deepEqual([(await named("now")).items.map(({ kind }) => kind)], [["tool"]]);
  const { items, total } = await named("", 2);
  assert.deepEqual([items.length, total > 2], [2, true]);
  await yard.ask("@now");
  assert.match(reminderOf(model.asked[0]) ?? "", /named the tool now/);
  await yard.ask("@Read-File with @Two_Words");
  assert.match(reminderOf(model.asked[1]) ?? "", /skills\/two-words\/SKILL\.md[\s\S]*named the tool read_file/);
});

test("skills that a small window has no room for are not in the agent's list, and shown as left out of it [K1][R1]", async (t) => {
  const place = skillFolder(t);
  for (let n = 10; n < 40; n += 1)
    place.write(`skill-${n}/SKILL.md`, skillText(`skill-${n}`, "Does much. ".repeat(20)));
  await using model = await modelServer(() => says("yes"));
  await using yard = await startYard({ model, data: place.data, env: { MODEL_BASIC_CONTEXT_WINDOW: "20000" } });
  await yard.ask("go");
  const system = systemOf(model.asked[0]);
  const items = (await listed(yard)).filter(({ id }) => id.startsWith("skill-"));
  assert.deepEqual(
    items.map(({ state }) => state),
    items.map(({ id }) => (system.includes(`\n- ${id}: `) ? "offered" : "cut")),
  );
  assert.deepEqual([items.length, items[0]?.state, items.at(-1)?.state], [30, "offered", "cut"]);
});

const hasPip = existsSync("/usr/lib/python3/dist-packages/pip");
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
  assert.deepEqual((reminderOf(model.asked[0]) ?? "").split("\n"), [
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
  assert.doesNotMatch(reminderOf(model.asked.at(-1)) ?? "", /not installed/);
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
