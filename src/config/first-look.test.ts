import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { loadConfig } from "./config.ts";
import { lookFirst } from "./first-look.ts";

type Files = { readonly ".env"?: string; readonly project?: string; readonly user?: string };
type Given = { readonly files?: Files; readonly env?: Record<string, string>; readonly flags?: object };

function requestWith(t: TestContext, { files = {}, env = {}, flags = {} }: Given) {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-look-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const homeDir = join(folder, "home");
  const cwd = join(folder, "project");
  mkdirSync(join(homeDir, ".config", "agentyard"), { recursive: true });
  mkdirSync(join(cwd, "config"), { recursive: true });
  if (files[".env"] !== undefined) writeFileSync(join(cwd, ".env"), files[".env"]);
  if (files.project !== undefined) writeFileSync(join(cwd, "config", "agentyard.yaml"), files.project);
  if (files.user !== undefined) writeFileSync(join(homeDir, ".config", "agentyard", "agentyard.yaml"), files.user);
  return { flags, env, cwd, homeDir, programDir: join(folder, "node_modules", "agentyard") };
}

test("what is looked at first is what the settings say when all of them are read [P5][U1]", async (t) => {
  const given: Given[] = [
    {},
    { env: { LANG: "zh_CN.UTF-8" } },
    { env: { LANG: "zh_CN.UTF-8", LC_ALL: "en_GB" } },
    { env: { AGENTYARD_TERMINAL: "Plain", AGENTYARD_DATA: "here" } },
    { flags: { data: "../there", lang: "zh" }, env: { AGENTYARD_DATA: "here" } },
    { files: { ".env": "AGENTYARD_TERMINAL=screen_reader\nAGENTYARD_LANG=Chinese\n" } },
    { files: { project: "loop:\n  steps_max: 5\nterminal:\n  surface: plain\n" } },
    { files: { project: "data: ./kept\n", ".env": "AGENTYARD_DATA=~/other\n" }, env: { AGENTYARD_CONFIG: "." } },
    { files: { project: "data: ./kept\n" }, env: { AGENTYARD_DATA: "mine" } },
    { files: { user: "lang: zh\ndata: ~/yard\n", project: "# nothing\n" } },
    { files: { user: "lang: zh\n", project: "lang: en\n" } },
  ];
  for (const one of given) {
    const request = requestWith(t, one);
    const all = await loadConfig(request);
    assert.ok(all.ok);
    const { language, terminal, paths } = all.value;
    assert.deepEqual(
      await lookFirst(request),
      { language, surface: terminal.surface, dataDir: paths.dataDir },
      JSON.stringify(one),
    );
  }
});

test("where one of them is wrong, nothing is relied upon: reading all of them tells what is wrong [P5]", async (t) => {
  for (const one of [
    { env: { AGENTYARD_TERMINAL: "beautiful" } },
    { env: { AGENTYARD_LANG: "fr" } },
    { files: { project: "terminal:\n  surface: [rich]\n" } },
    { files: { project: "terminal: rich\n" } },
    { files: { user: "lang: {\n" } },
    { files: { ".env": "AGENTYARD_LANG=\0\n" } },
    { files: { project: "data: ./kept\n" } },
    { files: { ".env": "AGENTYARD_DATA=~/other\n" } },
  ]) {
    const request = requestWith(t, one);
    assert.equal((await loadConfig(request)).ok, false, JSON.stringify(one));
    assert.equal(await lookFirst(request), undefined, JSON.stringify(one));
  }
});
