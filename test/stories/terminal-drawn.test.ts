import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { type Answer, type AskedRequest, calls, modelServer, says } from "../world/model-server.ts";
import { makeHome } from "../world/program.ts";
import { cannotRunCode } from "../world/sandbox.ts";
import { modelEnv } from "../world/served.ts";
import { cannotDraw, openTmux, type TmuxWindow } from "../world/tmux.ts";

const table =
  "# Title\n\nSome **bold** words.\n\n| 区域 | Amount |\n| --- | ---: |\n| 华东 | 12 |\n| North | 9 |\n\n- one\n- two";
const many = Array.from({ length: 60 }, (_, index) => `Line number ${index + 1} of a long answer.`).join("\n\n");

/** Answers by what was said last. */
function answer({ body }: AskedRequest): Answer {
  const last = body.messages.at(-1);
  const said = typeof last?.content === "string" ? last.content : JSON.stringify(last?.content);
  if (last?.role === "tool") return says("The tool has answered.");
  if (said.includes("table")) return { ...says(table), reasoning: "I think about tables first." };
  if (said.includes("write it")) return calls(["write_file", { path: "uploads/mine.txt", content: "new" }]);
  if (said.includes("long answer")) return says(many);
  if (said.includes("slowly")) return { ...says("word ".repeat(3_000)), paceMs: 40 };
  return says(`You said ${said.length} characters.`);
}

const idle = /^ready · .*test-model/m;

test("the drawn terminal: typing, menus, Markdown, a decision, stopping, a paste, other widths, and its end [U1][L6][L7][H2]", {
  skip: cannotDraw,
}, async (t) => {
  const folder = folderWith(t, { "data.csv": "a,b\n1,2\n", "notes.md": "hello" });
  await using model = await modelServer(answer);
  const data = join(folder, "yard");
  const window = await openTmux(t).open({ args: ["--data", data], cwd: folder, env: modelEnv(model) });
  await greets(window);
  await completes(window);
  await drawsMarkdown(window);
  await decides(window);
  await stopsAndTakesBack(window);
  await pastes(window);
  await keepsEachLineOnce(window);
  await remembers(window, data);
});

/** The greeting, the editor, the real cursor at the caret, also behind Chinese. */
async function greets(window: TmuxWindow): Promise<void> {
  await window.waitFor(idle);
  assert.match(
    await window.screen(),
    /before-the-program\nAgentYard \d.*\nConversation: [0-9a-f-]{36}\nLog file:[^:]*\nModel: /,
  );
  await window.type("你好，世界 hello");
  await window.waitFor(/你好，世界 hello/);
  await caretAt(window, 16);
  await window.press("Left", "Left", "BSpace");
  await window.waitFor(/你好，世界 heo|你好，世界 hllo|你好，世界 helo/);
  await caretAt(window, 13);
  await window.press("C-c");
  await window.waitFor(/Ctrl\+C again to leave/);
}

/** The cursor follows what was drawn, a moment later. */
async function caretAt(window: TmuxWindow, wanted: number): Promise<void> {
  await until(`the cursor is in column ${wanted}`, async () => {
    const { column, isShown, above } = await window.cursor();
    return column === wanted && isShown && above === 0;
  });
}

/** Menus with what each entry is; one that is taken, one that is left. */
async function completes(window: TmuxWindow): Promise<void> {
  await window.type("/ti");
  await window.waitFor(/→ \/timeline \[N\] +show what took how long/);
  await window.press("Tab");
  await window.waitFor(/^\/timeline *$/m);
  await window.press("Enter");
  await window.waitFor(/No turn has run here yet\./);
  await window.type("look at #da");
  await window.waitFor(/→ #data\.csv/);
  await window.press("Escape");
  await until("the menu is closed", async () => !/→ #data\.csv/.test(await window.screen()));
  await window.press("C-u");
  await window.type("@write_f");
  await window.waitFor(/→ @write_file +\S+/);
  await window.press("Tab");
  await window.waitFor(/^@write_file *$/m);
  await window.press("C-u");
}

/** Two lines, an answer as Markdown, a thought that opens. */
async function drawsMarkdown(window: TmuxWindow): Promise<void> {
  await window.type("a table");
  await window.press("C-j");
  await window.type("please");
  await window.press("Enter");
  const drawn = await window.waitFor(/• two|- two[\s\S]*ready/);
  assert.match(drawn, /› a table\n {2}please\n/);
  assert.match(drawn, /▸ thought \(5 words\)\n/);
  assert.match(drawn, /Some bold words\./);
  assert.match(drawn, /│ 区域 +│ Amount │/);
  await window.press("C-o");
  await window.waitFor(/▾ thought \(5 words\)\n {2}I think about tables first\./);
  await window.press("C-o");
}

/** A decision by a single key; what is typed meanwhile answers nothing. */
async function decides(window: TmuxWindow): Promise<void> {
  await window.waitFor(idle);
  await window.type("write it");
  await window.press("Enter");
  await window.waitFor(/\? Approval needed: write_file[\s\S]*\[y\] approve/);
  await window.waitFor(/^waiting for you · 1 decision waits/m);
  await window.press("y");
  await window.waitFor(/✓ Approved[\s\S]*✓ write_file uploads\/mine\.txt[\s\S]*The tool has answered\.[\s\S]*ready/);
}

/** A turn is steered, a message waits for the next one and comes back; Esc stops, and what nobody has read comes back, too. */
async function stopsAndTakesBack(window: TmuxWindow): Promise<void> {
  await window.type("slowly");
  await window.press("Enter");
  await window.waitFor(/word word[\s\S]*working/);
  await window.type("afterwards this");
  await window.press("Tab");
  await window.waitFor(/↳ next turn: afterwards this\n +Alt\+Up/);
  await window.press("M-Up");
  await window.waitFor(/^afterwards this *$/m);
  await window.press("Enter");
  await window.waitFor(/↳ next step: afterwards this\n/);
  await window.press("Escape");
  await window.waitFor(/■ Stopped/);
  await window.waitFor(/^afterwards this *$/m);
  await window.press("C-u");
}

/** 2,000 lines are one piece and one message. */
async function pastes(window: TmuxWindow): Promise<void> {
  const lines = Array.from({ length: 2_000 }, (_, index) => `pasted ${index + 1}`).join("\n");
  await window.paste(`${lines}\n`);
  await window.waitFor(/^\[paste #1 \+2000 lines\]/m);
  await window.press("Enter");
  await window.waitFor(new RegExp(`You said ${lines.length} characters\\.`));
}

/** A long answer stands once in the scrollback, what was there before us is there, and so after other widths. */
async function keepsEachLineOnce(window: TmuxWindow): Promise<void> {
  await window.type("a long answer");
  await window.press("Enter");
  await window.waitFor(/Line number 60 of a long answer\.[\s\S]*ready/);
  const everyLine = async () => {
    const text = await window.scrollback();
    return Array.from(
      { length: 60 },
      (_, index) => text.match(new RegExp(`Line number ${index + 1} of`, "g"))?.length ?? 0,
    );
  };
  assert.deepEqual(new Set(await everyLine()), new Set([1]));
  assert.equal((await window.scrollback()).match(/before-the-program/g)?.length, 1);
  await window.resize(40, 30);
  await window.waitFor(/^─{40}\n/m);
  await window.resize(100, 20);
  await window.waitFor(/^─{100}\n/m);
  assert.ok(
    (await everyLine()).every((count) => count >= 1),
    "nothing is lost",
  );
  assert.equal((await window.scrollback()).match(/before-the-program/g)?.length, 1);
  const screen = await window.screen();
  assert.equal(screen.match(/Line number 60 of/g)?.length, 1);
}

/** What was typed is found again, and kept for the next time. */
async function remembers(window: TmuxWindow, data: string): Promise<void> {
  await window.press("C-r");
  await window.waitFor(/What you typed here before/);
  await window.type("tab plea");
  await window.waitFor(/→ a table please/);
  await window.press("Enter");
  await window.waitFor(/^a table\nplease/m);
  await window.press("C-c");
  await window.waitFor(/Ctrl\+C again to leave/);
  await window.type("/quit");
  await window.press("Enter");
  await window.waitFor(/ended with 0/);
  assert.equal((await window.cursor()).isShown, true);
  const kept = readFileSync(join(data, "typed.jsonl"), "utf8").trimEnd().split("\n");
  assert.deepEqual(
    kept.map((line) => JSON.parse(line).text).filter((text) => text.length < 20),
    ["/timeline", "a table\nplease", "write it", "slowly", "afterwards this", "a long answer", "/quit"],
  );
}

test("two terminals and a browser on one conversation; 40 columns in Chinese [U1][L9][P4]", {
  skip: cannotDraw,
}, async (t) => {
  await using model = await modelServer(answer);
  const home = makeHome(t, { env: modelEnv(model) });
  const browser = browserOf(await home.serve());
  const tmux = openTmux(t);
  const opening = { cwd: home.folder };
  const data = ["--data", join(home.folder, "data")];
  const first = await tmux.open({ ...opening, args: data });
  await first.waitFor(/^ready · .*test-model/m);
  await first.type("hello");
  await first.press("Enter");
  await first.waitFor(/You said 5 characters\.[\s\S]*ready/);
  const id = /Conversation: ([0-9a-f-]{36})/.exec(await first.screen())?.[1] ?? "";

  const second = await tmux.open({
    ...opening,
    args: [...data, "--lang", "zh", "--resume", id.slice(0, 8)],
    columns: 40,
  });
  await second.waitFor(/› hello[\s\S]*You said 5 characters\.[\s\S]*^就绪/m);
  await second.type("write it");
  await second.press("Enter");
  await first.waitFor(/You \(elsewhere\)> write it[\s\S]*Approval needed[\s\S]*\[y\] approve/);
  await second.waitFor(/\[y\]/);
  await first.press("n");
  await first.waitFor(/Reason \(Enter: none\)>/);
  await first.type("not now");
  await first.press("Enter");
  await second.waitFor(/The tool has answered\./);
  for (const line of (await second.screen()).split("\n")) assert.ok(line.length <= 40, line);

  // What a browser sends, and decides, both see.
  await browser("POST", `conversations/${id}/messages`, { text: "write it, says the browser" });
  await first.waitFor(/You \(elsewhere\)> write it, says the browser[\s\S]*\[y\] approve/);
  const { items } = await browser("GET", "decisions");
  await browser("POST", `conversations/${id}/decisions/${items[0].id}`, { verdict: "approve" });
  await first.waitFor(/says the browser[\s\S]*✓ write_file uploads\/mine\.txt[\s\S]*^ready/m);
  await second.waitFor(/says the[\s\S]*✓ write_file[\s\S]*^就绪/m);

  await speaker(first)("/reset", /✓ Session reset/);
  await second.waitFor(/已在别处|对话已在别处重置|重置/);
  await first.press("C-d");
  await first.waitFor(/ended with 0/);
  await second.press("C-c");
  await second.press("C-c");
  await second.waitFor(/ended with 130/);
});

/** A client of the HTTP API at the address of a server, as the page in a browser is one. */
function browserOf(address: string) {
  return async (method: string, path: string, body?: object) => {
    const sent =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const response = await fetch(`${address}/api/v1/${path}`, { method, ...sent });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${text}`);
    return text === "" ? {} : JSON.parse(text);
  };
}

// The prompt stands there before anything is open. Settings that come through a pipe keep the rest waiting for as long as
// the test likes.

async function openHeld(t: TestContext, ...args: string[]) {
  const folder = folderWith(t, {});
  const file = join(folder, "config", "agents.yaml");
  mkdirSync(join(folder, "config"));
  execFileSync("mkfifo", [file]);
  const window = await openTmux(t).open({
    ...{ args: ["--data", join(folder, "yard"), ...args], cwd: folder, env: { AGENTYARD_CONFIG: folder } },
    rows: 60,
  });
  /** The settings are there: this is what they say. */
  const release = async (text: string) => {
    const pipe = await open(file, "w");
    await pipe.writeFile(text);
    // They are read again whenever they have changed.
    rmSync(file);
    writeFileSync(file, text);
    await pipe.close();
  };
  return { window, release };
}

test("who types before anything is open is heard when it is: lines in their order, and the one that is half typed [U1]", {
  skip: cannotDraw,
}, async (t) => {
  const { window, release } = await openHeld(t);
  await window.waitFor(/^opening · \/help/m);
  await window.type("hello");
  await window.press("Enter");
  await window.waitFor(/↳ as soon as it is open: hello\n +Alt\+Up withdraws the last one/);
  await window.type("/tools");
  await window.press("Enter");
  await window.waitFor(/open: hello\n↳ as soon as it is open: \/tools\n/);
  await window.press("M-Up");
  await window.waitFor(/open: hello\n +Alt\+Up[^\n]*\n─+\n\/tools\n/);
  // What is typed is cleared, and nothing else happens.
  await window.press("C-c");
  await window.waitFor(/open: hello\n +Alt\+Up[^\n]*\n─+\n\n─+\nopening/);
  await window.type("/current");
  await window.press("Enter");
  await window.waitFor(/open: hello\n↳ as soon as it is open: \/current\n/);
  await window.type("and then");
  await window.waitFor(/^and then$/m);
  await release("");
  const drawn = await window.waitFor(/Current session: [\s\S]*Hello![\s\S]*^and then$[\s\S]*^ready/m);
  assert.match(drawn, /^before-the-program\nAgentYard \d[\s\S]*not an AI[\s\S]*\n› hello\n[\s\S]*\n› \/current\n/);
  assert.doesNotMatch(drawn, /as soon as it is open/);
});

test("what cannot be opened after the prompt was drawn is said beside it, and leaves the terminal as it was [U1][P2]", {
  skip: cannotDraw,
}, async (t) => {
  const { window, release } = await openHeld(t);
  await window.waitFor(/^opening · /m);
  await window.type("hello");
  await window.press("Enter");
  await window.waitFor(/↳ as soon as it is open: hello/);
  await release("agents: 7\n");
  const drawn = await window.waitFor(/ended with 3/);
  assert.match(drawn, /^before-the-program\n+✗ [^\n]*config\/agents\.yaml:1[\s\S]*\nended with 3\n/);
  assert.doesNotMatch(drawn, /opening|───|hello/);
  await window.type("echoed");
  await window.waitFor(/^echoed/m);
});

/** Types a line and looks until the screen fits. The line itself stands there as well, so a pattern names what follows it. */
function speaker(window: TmuxWindow) {
  return async (line: string, wanted: RegExp) => {
    await window.type(line);
    await window.press("Enter");
    return window.waitFor(wanted);
  };
}

test("/demo: a table with charts, a worker, a decision, a kill and a recovery, all of it real [U1][M5][L2]", {
  skip: cannotDraw || cannotRunCode,
}, async (t) => {
  const folder = folderWith(t, {});
  const window = await openTmux(t).open({ args: ["--data", join(folder, "yard")], cwd: folder, rows: 60 });
  await window.waitFor(/^ready/m);
  await speaker(window)("/demo", /1 of 4 · A table goes along/);
  await window.waitFor(/3 of 4 · [\s\S]*\? Approval needed: run_bash_command[\s\S]*\[y\] approve/);
  const drawn = await window.scrollback();
  assert.match(drawn, /Made in the sandbox: outputs\/sales-report-1\.png/);
  assert.match(
    drawn,
    /2 of 4 · [\s\S]*\[subagent-[0-9a-f]{8}\] begins: read sales\.csv[\s\S]*A worker did it in \d steps/,
  );
  await window.press("y");
  const end = await window.waitFor(/That was it\./);
  assert.match(end, /✗ kill -9 after [^\n]*\n[\s\S]*✓ The turn went on by itself to its end: \d+ steps/);
});
