import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { folderWith } from "../world/folder.ts";
import { type AskedRequest, calls, type ModelServer, modelServer, says } from "../world/model-server.ts";
import { keys, openChat, openTestPipe, runInPipe, startChat } from "../world/pty.ts";
import { cannotDraw, openTmux } from "../world/tmux.ts";
import { must, startYard } from "../world/yard.ts";

// `/connect`: a model is chosen, tried and kept, as in the browser's settings; its key is seen nowhere.

const apiKey = "sk-typed-0123456789-secret";
const nobody = "http://127.0.0.1:9/v1";
let model: ModelServer;
before(async () => {
  model = await modelServer(answer);
});
after(() => model.close());

/** Calls the tool of the trial, unless it is a model that cannot. */
function answer({ body }: AskedRequest) {
  const isTrial = body.tools?.some((tool) => JSON.stringify(tool).includes("report_number")) === true;
  return isTrial && body.model !== "toolless"
    ? calls(["report_number", { number: 7 }])
    : says("the entered model here");
}

test("/connect asks for provider, address, key and model, refuses what is none, tries it and keeps it [U1][M1][M4]", async () => {
  await using yard = await startYard();
  await using chat = startChat({ client: yard.client });
  const type = (line: string) => chat.type(line + keys.enter);
  await chat.waitFor("You> ");
  type("/connect huge");
  await chat.waitFor("✗ There is no slot “huge”; there are: base,");
  type("/connect");
  await chat.waitFor(/A model for the slot base\.[\s\S]* 1 {2}OpenAI +https:\/\/api\.openai\.com\/v1\n/);
  await chat.waitFor("Provider (number, or an address)> ");
  for (const wrong of ["99", "0", "ftp://example.com", "http://", "/quit"]) {
    type(wrong);
    await chat.waitFor(`✗ “${wrong}” is no number from 1 to `);
  }
  type(nobody);
  await chat.waitFor(`Address (Enter takes it)> ${nobody}`);
  type(" and more");
  await chat.waitFor(`✗ “${nobody} and more” is no address`);
  await chat.waitFor(`Address (Enter takes it)> ${nobody} and more`);
  chat.type(keys.clear);
  type(nobody);
  await chat.waitFor("Key (not shown; Enter: none is needed)> ");
  type("with blanks in it");
  await chat.waitFor("✗ That is no key");
  type("");
  // Nobody answers there: why, and the address once more.
  await chat.waitFor(/✗ [^\n]*127\.0\.0\.1:9[\s\S]*Address \(Enter takes it\)> http:\/\/127\.0\.0\.1:9\/v1/);
  chat.type(keys.clear);
  type(model.url);
  await chat.waitFor("Key (not shown; Enter: none is needed)> ");
  chat.type("x");
  chat.type(keys.backspace);
  chat.type(keys.paste(`${apiKey}\n`));
  type("");
  await chat.waitFor(
    /✓ 127\.0\.0\.1:\d+ answers and offers one model:\n +1 {2}test-model\nModel \(number or name\)> test-model/,
  );
  chat.type(keys.clear);
  type("");
  await chat.waitFor("✗ A model has a name");
  type("entered-1");
  await chat.waitFor(/✓ answers\n {2}✓ streams\n {2}✓ calls tools\n {2}✓ reports usage\n/);
  await chat.waitFor(/✓ From the next message on entered-1 \(127\.0\.0\.1:\d+\) answers in the slot base\./);
  await chat.waitFor("You> ");
  type("hello");
  await chat.waitFor("the entered model here");
  assert.equal(model.asked.at(-1)?.headers.authorization, `Bearer ${apiKey}`);
  assert.ok(!chat.raw().includes("sk-typed"), "the key stands nowhere on the screen");
  const kept = await must(yard.client.call("getModel", { params: { slot: "base" } }));
  assert.deepEqual([kept.from, kept.id, kept.hasKey], ["entered", "entered-1", true]);
});

test("Esc gives up at every question, and nothing is changed; a model that cannot do all is asked about [U1][M4]", async () => {
  await using yard = await startYard();
  await using chat = startChat({ client: yard.client, language: "zh" });
  const type = (line: string) => chat.type(line + keys.enter);
  await chat.waitFor("You> ");
  const steps = [
    ["/connect", "提供方（编号，或地址）> "],
    [model.url, "地址（Enter 采用）> "],
    ["", "密钥（不显示；Enter：不需要）> "],
    ["", "模型（编号或名称）> "],
    [`${keys.clear}toolless`, /✗ .*\n[\s\S]*\[y\] 仍然使用 {2}\[n\] 换一个模型> /],
  ] as const;
  for (let count = 1; count <= steps.length; count += 1) {
    for (const [line, shown] of steps.slice(0, count)) {
      type(line);
      await chat.waitFor(shown);
    }
    chat.type(keys.escape);
    await chat.waitFor("没有任何改动。");
  }
  for (const [line, shown] of steps) {
    type(line);
    await chat.waitFor(shown);
  }
  chat.type("n");
  await chat.waitFor("模型（编号或名称）> ");
  chat.type(keys.end);
  assert.equal(await chat.ended, 0);
  const kept = await must(yard.client.call("getModel", { params: { slot: "base" } }));
  assert.equal(kept.from, "demo");
});

test("where a variable names the model, or nobody can type a key unseen, /connect tells how [U1][M1]", async () => {
  await using yard = await startYard({ model });
  await using chat = await openChat({ client: yard.client });
  await chat.say("/connect", /✗ The slot base is set by a variable[\s\S]*MODEL_BASIC_ID=…[\s\S]*agentyard model test/);
  chat.leave();
  await chat.ended;
  await using empty = await startYard();
  const pipe = openTestPipe("/connect\n");
  assert.equal(await runInPipe(pipe, { client: empty.client }), 0);
  assert.match(pipe.written.output, /write into \.env[\s\S]*MODEL_BASIC_API_KEY=…/);
});

test("in the drawn terminal of the key only dots are seen, and it is kept nowhere in the clear [U1][M1][Q1]", {
  skip: cannotDraw,
}, async (t) => {
  const folder = folderWith(t, {});
  const window = await openTmux(t).open({ args: ["--data", join(folder, "yard")], cwd: folder, rows: 60 });
  await window.waitFor(/^ready/m);
  const say = async (line: string, wanted: RegExp) => {
    await window.type(line);
    await window.press("Enter");
    return window.waitFor(wanted);
  };
  await say("/connect", /Provider \(number, or an address\)>\n─+\n/);
  await say(model.url, /Address \(Enter takes it\)>\n─+\nhttp:\/\/127/);
  await window.press("Enter");
  await window.waitFor(/Key \(not shown; Enter: none is needed\)>\n─+\n/);
  await window.type("sk-typed-");
  await window.waitFor(/Enter: none is needed\)>\n─+\n•{9}\n─/);
  await window.paste("0123456789-secret");
  await window.waitFor(/\n•{26}\n─/);
  await window.press("Enter");
  await window.waitFor(/✓ 127\.0\.0\.1:\d+ answers[\s\S]*Model \(number or name\)>\n─+\ntest-model\n/);
  await window.press("C-u");
  await say("entered-1", /✓ From the next message on entered-1 [\s\S]*kept sealed[\s\S]*^ready/m);
  await say("hello", /› hello\n\nthe entered model here[\s\S]*^ready · .*entered-1/m);
  assert.equal(model.asked.at(-1)?.headers.authorization, `Bearer ${apiKey}`);
  assert.doesNotMatch(await window.scrollback(), /sk-typed|0123456789-secret/);
  await say("/quit", /ended with 0/);
  assert.doesNotMatch(readFileSync(join(folder, "yard", "typed.jsonl"), "utf8"), /sk-typed|127\.0\.0\.1/);
});
