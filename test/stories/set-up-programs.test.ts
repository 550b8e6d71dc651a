import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { fake, makeClone, type PackageName, packageNames, quiet } from "../world/clone.ts";

// The packages of the system that AgentYard uses, on machines that have them, lack them, or may not install them.

const testNames = [
  "ripgrep",
  "tmux",
  "python3-pip",
  "developers-reference",
  "debian-reference-zh-cn",
  "chromium-headless-shell",
  "postgresql",
];
const runNames = packageNames.filter((name) => !testNames.includes(name));
const command = (names: readonly string[]) => `apt-get install -y --no-install-recommends ${names.join(" ")}`;
const patience = "-o Acquire::Retries=0 -o Acquire::http::Timeout=15 -o DPkg::Lock::Timeout=60";
const aptInstall = (names: readonly string[]) => `${patience} install -y --no-install-recommends ${names.join(" ")}`;
const title = "Set-up: AgentYard can use packages of the system that this machine does not have:\n";
const runUses = `${title}  bubblewrap: keeps the code that agents run apart from this machine; without it no code runs
  python3: looks after every sandbox and runs Python; without it no code runs
  python3-numpy, python3-pandas, python3-matplotlib: data and charts (a download of about 80 MB)
  fonts-wqy-microhei: Chinese text in charts
  python3-openpyxl: Excel files
  python3-pypdf, python3-reportlab, poppler-utils, poppler-data: PDF files
`;
const bubblewrapUse = `${title}  bubblewrap: keeps the code that agents run apart from this machine; without it no code runs\n`;
const ripgrepUse = `${title}  ripgrep: the bench of files compares its search with it\n`;
const without = (name: PackageName) => packageNames.filter((other) => other !== name);
const isRoot = fake("getuid", "() => 0");
const isUser = fake("getuid", "() => 1000");

async function preparedClone(t: TestContext) {
  const clone = makeClone(t);
  await clone.setUp();
  return clone;
}

test("the first start as root gets what running code needs, with the reason, and the next one is silent [P1][X6]", async (t) => {
  const clone = await preparedClone(t);
  const machine = clone.makeMachine([], "installs");
  const text = `${runUses}  ${command(runNames)}\nThey are installed.\n`;
  assert.deepEqual(await clone.setUp({ ...machine.env, npm_lifecycle_event: "prestart" }, [isRoot]), {
    ...quiet,
    text,
  });
  for (const event of ["prestart", "prechat"])
    assert.deepEqual(await clone.setUp({ ...machine.env, npm_lifecycle_event: event }, [isRoot]), quiet);
  assert.deepEqual(machine.aptCalls(), [aptInstall(runNames)]);
});

test("tests and benches get a program more than a start does, once [P1]", async (t) => {
  const clone = await preparedClone(t);
  const machine = clone.makeMachine(without("ripgrep"), "installs");
  assert.deepEqual(await clone.setUp({ ...machine.env, npm_lifecycle_event: "prestart" }, [isRoot]), quiet);
  const text = `${ripgrepUse}  ${command(["ripgrep"])}\nThey are installed.\n`;
  assert.deepEqual(await clone.setUp({ ...machine.env, npm_lifecycle_event: "pretest" }, [isRoot]), { ...quiet, text });
  for (const event of ["pretest", "precheck", "prebench", "pretorture"])
    assert.deepEqual(await clone.setUp({ ...machine.env, npm_lifecycle_event: event }, [isRoot]), quiet);
  assert.deepEqual(machine.aptCalls(), [aptInstall(["ripgrep"])]);
});

test("a package that somebody removes later is installed again at the next start [P1]", async (t) => {
  const clone = await preparedClone(t);
  const machine = clone.makeMachine([], "installs");
  await clone.setUp(machine.env, [isRoot]);
  machine.remove("bubblewrap");
  const text = `${bubblewrapUse}  ${command(["bubblewrap"])}\nThey are installed.\n`;
  assert.deepEqual(await clone.setUp(machine.env, [isRoot]), { ...quiet, text });
  assert.deepEqual(await clone.setUp(machine.env, [isRoot]), quiet);
});

test("a machine without lists of packages asks for them first [P1]", async (t) => {
  const clone = await preparedClone(t);
  const machine = clone.makeMachine(without("bubblewrap"), "has no lists");
  const { text } = await clone.setUp(machine.env, [isRoot]);
  assert.equal(text, `${bubblewrapUse}  ${command(["bubblewrap"])}\nThey are installed.\n`);
  const install = aptInstall(["bubblewrap"]);
  assert.deepEqual(machine.aptCalls(), [install, `${patience} update`, install]);
});

test("a package that the system does not know does not keep the others away [P1]", async (t) => {
  const clone = await preparedClone(t);
  const machine = clone.makeMachine([], "has no fonts");
  const { code, text } = await clone.setUp(machine.env, [isRoot]);
  assert.equal(code, 0);
  assert.match(text, /\nNot installed: fonts-wqy-microhei\n/);
  assert.equal(machine.aptCalls().at(-1), aptInstall(runNames.filter((name) => name !== "fonts-wqy-microhei")));
  assert.deepEqual(await clone.setUp(machine.env, [isRoot]), quiet);
});

test("without a network it says how to install them, goes on, and tries again on CI only [P1]", async (t) => {
  const clone = await preparedClone(t);
  const machine = clone.makeMachine(without("bubblewrap"), "fails");
  const later =
    "AgentYard starts without them and says what it cannot do (`npx agentyard doctor`). To install them later:\n";
  const said = `Not installed: bubblewrap\nE: no network\n${later}  ${command(["bubblewrap"])}\n`;
  const first = { ...quiet, text: `${bubblewrapUse}  ${command(["bubblewrap"])}\n${said}` };
  assert.deepEqual(await clone.setUp(machine.env, [isRoot]), first);
  assert.deepEqual(await clone.setUp(machine.env, [isRoot]), quiet);
  assert.deepEqual(await clone.setUp({ ...machine.env, CI: "true" }, [isRoot]), first);
});

test("an apt-get that says it is done and installed nothing is not believed [P1]", async (t) => {
  const clone = await preparedClone(t);
  const machine = clone.makeMachine(without("python3"), "installs nothing");
  assert.match((await clone.setUp(machine.env, [isRoot])).text, /\nNot installed: python3\n/);
});

test("who may not install packages is told the one command, once; as root it is then run [P1]", async (t) => {
  const clone = await preparedClone(t);
  const machine = clone.makeMachine(without("bubblewrap"), "installs");
  const told = `${bubblewrapUse}AgentYard starts without them. To install them:\n  sudo ${command(["bubblewrap"])}\n`;
  assert.deepEqual(await clone.setUp(machine.env, [isUser]), { ...quiet, text: told });
  assert.deepEqual(await clone.setUp(machine.env, [isUser]), quiet);
  assert.deepEqual(machine.aptCalls(), []);
  assert.match((await clone.setUp(machine.env, [isRoot])).text, /They are installed\.\n$/);

  const elsewhere = await preparedClone(t);
  const ask =
    "AgentYard starts without them. To install them, ask your system's package manager for: bubblewrap ripgrep\n";
  const env = {
    ...elsewhere.makeMachine(without("bubblewrap").filter((name) => name !== "ripgrep")).env,
    npm_lifecycle_event: "pretest",
  };
  const text = `${bubblewrapUse}${ripgrepUse.slice(title.length)}${ask}`;
  assert.deepEqual(await elsewhere.setUp(env, [isRoot]), { ...quiet, text });
  for (const event of ["prestart", "pretest"])
    assert.deepEqual(await elsewhere.setUp({ ...env, npm_lifecycle_event: event }, [isRoot]), quiet);
});

test("AGENTYARD_SETUP=none installs nothing and says so once; without it they are installed [P1]", async (t) => {
  const clone = await preparedClone(t);
  const machine = clone.makeMachine(without("bubblewrap"), "installs");
  const env = { ...machine.env, AGENTYARD_SETUP: "none" };
  const text = `AGENTYARD_SETUP=none: nothing is installed. The set-up would run:\n  ${command(["bubblewrap"])}\n`;
  assert.deepEqual(await clone.setUp(env, [isRoot]), { ...quiet, text });
  assert.deepEqual(await clone.setUp(env, [isRoot]), quiet);
  assert.deepEqual(machine.aptCalls(), []);
  assert.match((await clone.setUp(machine.env, [isRoot])).text, /They are installed\.\n$/);
});

/** What happens every few seconds happens at once. */
const hurry = "const { setInterval } = globalThis; globalThis.setInterval = (action) => setInterval(action, 20);";

test("a long download says that it goes on, and what it does [P1]", async (t) => {
  const clone = await preparedClone(t);
  const machine = clone.makeMachine(without("bubblewrap"), "waits");
  const running = clone.start(machine.env, [isRoot, hurry]);
  await running.says("  0 s: Get:1 bubblewrap\n");
  machine.aptMayEnd();
  assert.match((await running.ended).text, /They are installed\.\n$/);
});

test("Ctrl+C ends the installation and the start, and the next start tries again [P1]", async (t) => {
  const clone = await preparedClone(t);
  const machine = clone.makeMachine(without("bubblewrap"), "waits");
  const running = clone.start(machine.env, [isRoot, hurry]);
  await running.says("Get:1 bubblewrap");
  running.child.kill("SIGINT");
  const { code, text } = await running.ended;
  assert.equal(code, 130);
  assert.match(text, /Set-up was interrupted\. The same command starts it again\.\n$/);
  machine.aptMayEnd();
  assert.match((await clone.setUp(machine.env, [isRoot])).text, /They are installed\.\n$/);
});

/** All waiting is over at once, as with a network that swallows everything. */
const endOfPatience =
  "const { setTimeout } = globalThis; globalThis.setTimeout = (action, ms, ...more) => setTimeout(action, Math.min(ms, 300), ...more);";

test("a download that comes to nothing is given up, and AgentYard starts [P1]", async (t) => {
  const clone = await preparedClone(t);
  const machine = clone.makeMachine(without("bubblewrap"), "waits");
  const { code, text } = await clone.setUp(machine.env, [isRoot, endOfPatience]);
  assert.equal(code, 0);
  assert.match(text, /\nNot installed: bubblewrap\n[\s\S]*stopped: nothing came of it for \d+ s\n/);
});

test("the packages of the system are spoken of in Chinese too [P1][P4]", async (t) => {
  const clone = await preparedClone(t);
  const env = { ...clone.makeMachine(without("bubblewrap"), "installs").env, LANG: "zh_CN.UTF-8" };
  const text = `准备环境：AgentYard 可以用到这台机器上没有的系统软件包：
  bubblewrap: 把智能体运行的代码与这台机器隔离；没有它就不能运行代码
没有它们也能启动。要安装，请执行：
  sudo ${command(["bubblewrap"])}
`;
  assert.deepEqual(await clone.setUp(env, [isUser]), { ...quiet, text });
});
