import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderWith } from "../world/folder.ts";
import { cannotRunCode } from "../world/sandbox.ts";
import { cannotDraw, openTmux, type TmuxWindow } from "../world/tmux.ts";

/** Types a line and looks until the screen fits. The line itself stands there as well, so a pattern names what follows it. */
function speaker(window: TmuxWindow) {
  return async (line: string, wanted: RegExp) => {
    await window.type(line);
    await window.press("Enter");
    return window.waitFor(wanted);
  };
}

test("every command in the drawn terminal, with the demo model: what each says stands on the screen [U1][M5]", {
  skip: cannotDraw,
}, async (t) => {
  const folder = folderWith(t, { "data.csv": "city,people\nA,10\nB,32\n" });
  const window = await openTmux(t).open({ args: ["--data", join(folder, "yard")], cwd: folder, rows: 60 });
  // Typed before there is anything to type into: Enter is Enter all the same.
  await window.type("hello");
  await window.press("Enter");
  await window.waitFor(/› hello[\s\S]*not an AI[\s\S]*Hello![\s\S]*^ready/m);
  const say = speaker(window);
  await looksAround(window, say);
  await worksWithFiles(say, folder);
  await keepsConversations(window, say);
  await sets(say);
  await hasWorkers(window, say);
  await queues(window, say);
  await say("/quit", /^To go on here: agentyard --continue$[\s\S]*ended with 0/m);
});

type Say = ReturnType<typeof speaker>;

async function looksAround(window: TmuxWindow, say: Say): Promise<void> {
  await say("/help", /\/quit +leave[\s\S]*^ready/m);
  await say("/current", /Current session: [0-9a-f-]{36}\n +at rest · demo/);
  await say("/model", / base +demo[\s\S]*\/model SLOT prefers/);
  await say("/connect", /Provider \(number, or an address\)>/);
  await window.press("Escape");
  await window.waitFor(/Nothing was changed\./);
  await say("/doctor", /✓ Node v/);
  await say("/tools quince", /No tool has “quince”/);
  await say("/tools load now", /✓ From the next message on the model is told of now/);
  await say("/skills", /@slides {2}offered/);
  await say("/mcp", /There are no MCP servers\./);
  await say("/rules", /Nothing is allowed always\./);
  await say("/inbox", /Nothing waits for a decision\./);
  await say("/lang zh", /✓ 终端现在使用中文。[\s\S]*^就绪/m);
  await say("/lang en", /✓ The terminal speaks English now\.[\s\S]*^ready/m);
  await say("/nonsense", /✗ There is no command \/nonsense\./);
  assert.match(await window.scrollback(), /\/help shows the commands/);
}

async function worksWithFiles(say: Say, folder: string): Promise<void> {
  await say("write a note: the word is quince", /I wrote it into outputs\/note\.txt\.[\s\S]*^ready/m);
  await say("/files outputs", /^ {2}outputs\/note\.txt {2}19 bytes/m);
  await say("/save outputs/note.txt copy.txt", /✓ outputs\/note\.txt → copy\.txt/);
  assert.equal(readFileSync(join(folder, "copy.txt"), "utf8"), "the word is quince\n");
  await say("/open outputs/note.txt", /✓ outputs\/note\.txt (opens|is copied to)/);
  await say("/export talk.md", /✓ Written to [^\n]*talk\.md/);
  assert.match(readFileSync(join(folder, "talk.md"), "utf8"), /the word is quince/);
  await say("/search quince", /1 {2}outputs\/note\.txt · line 1[\s\S]*2 found/);
  await say("/timeline", /Turn 2: [^\n]*done[\s\S]*✓ write_file/);
  await say("/undo", /✓ Turn 2 is undone\n {2}- outputs\/note\.txt/);
}

async function keepsConversations(window: TmuxWindow, say: Say): Promise<void> {
  const [, id = ""] = /^ready [^\n]*demo · ([0-9a-f]{8})/m.exec(await window.screen()) ?? [];
  await say("/branch", new RegExp(`✓ Branch [0-9a-f-]{36} of ${id}`));
  await say("/new", /✓ New conversation: /);
  await say("/sessions", new RegExp(`^ {2}${id} - 20\\d\\d-.* hello`, "m"));
  await say("/load", /Which one\?/);
  await say("/load zzzz", /✗ Session not found: zzzz/);
  await say(`/load ${id}`, new RegExp(`✓ Loaded session: ${id}`));
  await say("/reset", /✓ Session reset/);
  await say("/clean", /✓ Cleaned up 0 old workspaces/);
}

async function sets(say: Say): Promise<void> {
  await say("/budget tokens 2m", /of 2,000,000 tokens, [\d,]+ tokens left/);
  await say("/memory add I like tea", /✓ Remembered/);
  await say("/memory", /1\. I like tea/);
  await say("/memory forget 1", /✓ Forgotten: I like tea/);
  await say("/compact", /Nothing to do: /);
}

/** What others write has their names before it; the tree is told. */
async function hasWorkers(window: TmuxWindow, say: Say): Promise<void> {
  await say("have a worker do this: read #data.csv", /A worker did it in \d steps:[\s\S]*city,people[\s\S]*^ready/m);
  const drawn = await window.scrollback();
  assert.match(drawn, /\[subagent-[0-9a-f]{8}\] begins: read uploads\/data\.csv/);
  assert.match(drawn, /\[subagent-[0-9a-f]{8}\] ⚙ read_file /);
  await say("/agents", /\n {2}root · idle[^\n]*\n {4}worker-[0-9a-f]{12} · done · \d steps /);
}

/** A decision that waits: later; meanwhile a message waits, too, and is withdrawn; then from the inbox, by a key. */
async function queues(window: TmuxWindow, say: Say): Promise<void> {
  await say("write a note: one", /I wrote it into outputs\/note\.txt\.[\s\S]*^ready/m);
  await say("delete note.txt", /\? Approval needed: run_bash_command[\s\S]*\[l\] later/);
  await window.press("l");
  await window.waitFor(/Left open; \/inbox answers it later\./);
  await say("/queue afterwards", /↳ next turn: afterwards/);
  await say("/queue", /1\. afterwards \(next turn\)/);
  await say("/unqueue", /✓ Withdrawn: afterwards/);
  await say("/inbox", /1\. \? Approval needed: run_bash_command/);
  await say("/inbox 1", /› \/inbox 1[\s\S]*\[l\] later/);
  await window.press("n");
  await window.waitFor(/Reason \(Enter: none\)>/);
  await window.press("Enter");
  await window.waitFor(/You rejected run_bash_command[\s\S]*^ready/m);
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
