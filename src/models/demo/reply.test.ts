import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../base/clock.ts";
import { systemIds } from "../../base/ids.ts";
import type { FoundServer } from "../detect.ts";
import { type ReplyOptions, replyTo } from "./reply.ts";
import type { ChatRequest } from "./wire.ts";

const builtins: readonly string[] = ["now", "todo_write", "todo_read", "ask_human"];
const results: Readonly<Record<string, string>> = {
  now: "2026-03-01 18:05:00 Sunday (UTC)\n2026-03-01T18:05:00Z (UTC)",
  todo_write: "✅ TODO 列表已更新: 3 个待完成, 0 个已完成 (list updated: 3 open, 0 done)",
  todo_read: "- [in_progress] water the flowers",
  ask_human: "Ada",
};
const notAnAi = { en: /demo model.*not an AI/, zh: /演示模型.*不是人工智能/ };

const prompts = {
  en: [
    "hello",
    "what are you?",
    "what time is it?",
    "plan a trip",
    "show my list",
    "do two things at once",
    "ask me something",
    "how do I connect a model?",
    "write a poem",
  ],
  zh: [
    "你好",
    "你是谁？",
    "现在几点了？",
    "计划一次旅行",
    "查看我的待办",
    "同时做两件事",
    "问我一个问题",
    "怎么接入模型？",
    "写一首诗",
  ],
} as const;

for (const language of ["en", "zh"] as const) {
  test(`the first answer of a conversation says that this is no AI, later ones do not repeat it: ${language} [M5]`, async () => {
    for (const prompt of prompts[language]) {
      const talk = startTalk();
      assert.match((await talk.say(prompt)).text, notAnAi[language], prompt);
      const later = await talk.say(language === "en" ? "write another poem" : "再写一首诗");
      assert.doesNotMatch(later.text, notAnAi[language], prompt);
    }
  });

  test(`it answers in the language of the newest message: ${language} [M5]`, async () => {
    for (const prompt of prompts[language]) {
      const talk = startTalk();
      await talk.say(language === "en" ? "你好" : "hello");
      const { text } = await talk.say(prompt);
      const withoutNames = text.replace(/`[^`]*`|```[\s\S]*?```|“[^”]*”/g, "");
      assert.equal(/\p{Script=Han}{2}/u.test(withoutNames), language === "zh", `${prompt} → ${text}`);
    }
  });
}

test("it greets and lists what it can do [M5]", async () => {
  assert.match((await startTalk().say("hello")).text, /Hello![\s\S]*what time is it[\s\S]*connect a model/);
  assert.match((await startTalk().say("你好！")).text, /您好！[\s\S]*现在几点[\s\S]*接入模型/);
});

test("it tells the time from the tool's result, in the zone of this machine where that is known [M5]", async () => {
  const plain = await startTalk().say("What time is it?");
  assert.deepEqual([plain.calls, /It is 2026-03-01 18:05:00 Sunday \(UTC\)\./.test(plain.text)], [[["now", {}]], true]);
  const zoned = await startTalk({ timezone: "Asia/Shanghai" }).say("现在几点？");
  assert.deepEqual(zoned.calls, [["now", { timezone: "Asia/Shanghai" }]]);
  assert.match(zoned.text, /现在是 2026-03-01 18:05:00/);
});

test("it plans with a list of three steps, one of them in progress, and sums up [M5]", async () => {
  const english = await startTalk().say("Please plan a birthday party.");
  assert.deepEqual(english.calls, [
    [
      "todo_write",
      {
        todos: [
          { content: "Write down what “a birthday party” should lead to", status: "in_progress" },
          { content: "List what is needed for “a birthday party”, and who does it", status: "pending" },
          { content: "Set a date and check the result", status: "pending" },
        ],
      },
    ],
  ]);
  assert.match(english.text, /list for “a birthday party”:\n\n1\. Write down[\s\S]*\n3\. Set a date/);
  assert.match((await startTalk().say("帮我计划一次生日聚会")).text, /为“生日聚会”写好了一份清单/);
  assert.match((await startTalk().say("make a todo list")).text, /list for “this”/);
});

test("it shows the list as the tool gives it [M5]", async () => {
  for (const prompt of ["show my list", "what is on my todo list?", "查看我的清单"]) {
    const answer = await startTalk().say(prompt);
    assert.deepEqual([answer.calls, answer.text.includes("water the flowers")], [[["todo_read", {}]], true]);
  }
});

test("it calls two tools in one answer and reports both [M5]", async () => {
  for (const prompt of ["do two things at once", "同时做两件事"]) {
    const answer = await startTalk().say(prompt);
    assert.deepEqual(
      [answer.requests, answer.calls],
      [
        2,
        [
          ["now", {}],
          ["todo_read", {}],
        ],
      ],
    );
    assert.match(answer.text, /18:05:00[\s\S]*water the flowers/);
  }
});

test("it asks the user a question and goes on with the answer [M5]", async () => {
  const { calls, text } = await startTalk().say("ask me something");
  assert.deepEqual(
    calls.map(([name, { question }]) => [name, question]),
    [["ask_human", "What shall I call you?"]],
  );
  assert.match(text, /Good to meet you, Ada/);
});

test("it admits what it has no rule for, and says what to do instead [M5]", async () => {
  const { calls, text } = await startTalk().say("Write a poem about rivers");
  assert.deepEqual(calls, []);
  assert.match(text, /no rule for that[\s\S]*what time is it[\s\S]*OPENAI_API_KEY=[\s\S]*\.env/);
});

test("it tells the exact lines that connect a real model [M5]", async () => {
  const { text } = await startTalk().say("How do I connect a real model?");
  const lines = [
    "OPENAI_API_KEY=sk-…",
    "MODEL_BASIC_API_KEY=…",
    "MODEL_BASIC_BASE_URL=https://…/v1",
    "MODEL_BASIC_ID=…",
    "MODEL_BASIC_BASE_URL=http://127.0.0.1:11434/v1",
    "MODEL_BASIC_ID=qwen3",
  ];
  assert.deepEqual(
    lines.filter((line) => !text.includes(`\n${line}\n`)),
    [],
  );
});

test("it offers the local servers it was told of, with what to mend first [M5]", async () => {
  const advice = {
    code: "served_window_small",
    model: "qwen3:8b",
    tokens: 4_096,
    command: "OLLAMA_CONTEXT_LENGTH=65536 ollama serve",
  } as const;
  const found: FoundServer = {
    kind: "ollama",
    baseUrl: "http://127.0.0.1:11434/v1",
    models: [{ id: "qwen3:8b", windowTokens: 4_096, tools: true, advice }],
  };
  const findServers = async () => [found];
  assert.match(
    (await startTalk({ findServers }).say("connect a model")).text,
    /qwen3:8b on Ollama \(window: 4,096 tokens, tools: yes\)\n\n```\nMODEL_BASIC_BASE_URL=http:\/\/127\.0\.0\.1:11434\/v1\nMODEL_BASIC_ID=qwen3:8b\n```\n\n.*OLLAMA_CONTEXT_LENGTH=65536 ollama serve/,
  );
  assert.match(
    (await startTalk({ findServers }).say("接入模型")).text,
    /Ollama 上的 qwen3:8b（上下文窗口：4,096 tokens，工具调用：支持）/,
  );
});

test("it calls only tools of the request, and none when the choice is none [M5]", async () => {
  const without = await startTalk({ tools: ["todo_read"] }).say("what time is it?");
  assert.deepEqual(without.calls, []);
  assert.match(without.text, /call the tool `now`, which I may not use here/);
  const forbidden = await startTalk({ toolChoice: "none" }).say("现在几点？");
  assert.deepEqual(forbidden.calls, []);
  assert.match(forbidden.text, /`now`，但在这里不能使用/);
});

test("with results there and no tool allowed any more, it answers from them [M5]", async () => {
  const { text, calls } = await reply({
    messages: [
      { role: "user", content: "what time is it?" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", function: { name: "now" } }],
      },
      {
        role: "tool",
        tool_call_id: "c1",
        content: `${results.now}\n\n<system_reminder>\nNo more tools will run.\n</system_reminder>`,
      },
    ],
    tool_choice: "none",
  });
  assert.match(text, /It is 2026-03-01 18:05:00/);
  assert.deepEqual(calls, []);
});

test("a rejected or failed call is reported, not repeated [M5]", async () => {
  const rejected = await startTalk({
    results: { now: "Error: tool_rejected: The user rejected now. Go on without it." },
  }).say("what time is it?");
  assert.deepEqual([rejected.calls.length, /You rejected `now`/.test(rejected.text)], [1, true]);
  const half = await startTalk({ results: { now: "Error: tool_timeout: now took too long." } }).say(
    "do two things at once",
  );
  assert.match(half.text, /\n\n- `now` did not work \(tool_timeout\)\.\n- `todo_read`: .*water the flowers$/);
  const chinese = await startTalk({ results: { todo_write: "Error: tool_rejected: no" } }).say("计划一次旅行");
  assert.match(chinese.text, /您拒绝了 `todo_write`/);
});

test("reminders in a message do not decide what it does [M5]", async () => {
  const reminder = "\n\n<system_reminder>\nWhat time is it? Make a plan. 同时做两件事\n</system_reminder>";
  assert.match((await startTalk().say(`hello${reminder}`)).text, /Hello!/);
  const { text } = await reply({
    messages: [
      {
        role: "user",
        content: [{ text: "hello" }, {}],
      },
      { role: "user", content: reminder },
    ],
  });
  assert.match(text, /Hello!/);
});

test("a message sent in the middle of a turn is answered for itself [M5]", async () => {
  const { calls } = await reply({
    messages: [
      { role: "user", content: "what time is it?" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", function: { name: "now" } }],
      },
      { role: "tool", tool_call_id: "c1", content: results.now },
      { role: "user", content: "no, show my list" },
    ],
  });
  assert.deepEqual(
    calls.map((call) => call.name),
    ["todo_read"],
  );
});

type Talk = Partial<ReplyOptions> & {
  tools?: readonly string[];
  toolChoice?: string;
  results?: Readonly<Record<string, string>>;
};

/** A conversation: says something and answers the calls, until there is a text. */
function startTalk({ tools = builtins, toolChoice, results: own, ...options }: Talk = {}) {
  const messages: ChatRequest["messages"] = [{ role: "system", content: "You are the agent of AgentYard." }];
  const say = async (content: string) => {
    messages.push({ role: "user", content });
    const made: [name: string, parameters: Record<string, unknown>][] = [];
    for (let requests = 1; requests <= 5; requests += 1) {
      const { text, calls } = await reply({ messages, tool_choice: toolChoice }, tools, options);
      if (calls.length === 0) {
        messages.push({ role: "assistant", content: text });
        return { text, calls: made, requests };
      }
      messages.push({
        role: "assistant",
        content: null,
        tool_calls: calls.map(({ id, name }) => ({ id, function: { name } })),
      });
      for (const { id, name, arguments: parameters } of calls) {
        made.push([name, JSON.parse(parameters)]);
        messages.push({ role: "tool", tool_call_id: id, content: own?.[name] ?? results[name] });
      }
    }
    throw new Error("the demo model does not come to an end");
  };
  return { say };
}

function reply(
  chat: Pick<ChatRequest, "messages" | "tool_choice">,
  tools = builtins,
  options: Partial<ReplyOptions> = {},
) {
  const offered = tools.map((name) => ({ function: { name } }));
  return replyTo(
    { model: "demo", tools: offered, ...chat },
    { clock: systemClock, ids: systemIds, findServers: async () => [], ...options },
  );
}
