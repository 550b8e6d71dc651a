import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, numbered, step } from "../../test/world/any-log.ts";
import { applyToTree, emptyHistory, type History, type Tree } from "../log/log.ts";
import type { NewEvent } from "../protocol/events.ts";
import type { Message } from "../protocol/message.ts";
import { isNamedAddress, wasBroughtUp } from "./named-addresses.ts";

const said: History["said"] = [
  { seq: 1, text: "Look at https://a.example/x?y=1, and at b.example/docs. Mail me@mail.example." },
  { seq: 2, text: "", inputs: { place: "https://input.example/", more: ["input.example/docs", 4] } },
];
const messages: readonly Message[] = [
  { role: "user", text: "https://sent-as-user.example/" },
  {
    role: "assistant",
    text: "See https://made-up.example/",
    toolCalls: [
      { id: "1", name: "web_search", arguments: "{}" },
      { id: "2", name: "execute_code", arguments: "{}" },
    ],
  },
  {
    role: "tool",
    toolCallId: "1",
    text: 'Found for "https://repeated.example/?secret=1":\n<data source="web_search" mark="m">\n1. T\n   https://hit.example/p\n   [link](https://link.example/q_(r)) 见https://c.example/中文。\n</data mark="m">',
  },
  { role: "tool", toolCallId: "2", text: "https://printed.example/?secret=1" },
  { role: "assistant", text: "", toolCalls: [{ id: "1", name: "read_file", arguments: "{}" }] },
  {
    role: "tool",
    toolCallId: "1",
    text: '<data source="a.txt" mark="m">\nhttps://filed.example/?secret=1\n</data mark="m">',
  },
];
const named: readonly (readonly [url: string, isNamed: boolean])[] = [
  ["https://a.example/x?y=1", true],
  ["http://a.example/x?y=1#part", true],
  ["https://a.example/x?y=2", false],
  ["https://a.example/x", false],
  ["https://b.example/docs/", true],
  ["https://b.example/", false],
  ["https://mail.example/", false],
  ["https://input.example/", true],
  ["https://input.example/docs", true],
  ["https://sent-as-user.example/", false],
  ["https://made-up.example/", false],
  ["https://hit.example/p", true],
  ["https://hit.example/p?all=files", false],
  ["https://c.example/中文", true],
  ["https://printed.example/?secret=1", false],
  ["https://repeated.example/?secret=1", false],
  ["https://filed.example/?secret=1", false],
  ["http://[", false],
];

test("a message that is written to keep us busy is read at once [H1][Q1]", () => {
  const text = `https://a.example/${"!".repeat(200_000)}x https://b.example/${"!".repeat(200_000)}`;
  assert.equal(isNamedAddress({ said: [{ seq: 1, text }], messages: [] }, { url: "https://b.example/" }), true);
});

test("an address counts as named where the user wrote it or the web brought it up, and nowhere else [H1][T7]", () => {
  assert.deepEqual(
    named.map(([url]) => [url, isNamedAddress({ said, messages }, { url })]),
    named,
  );
});

test("what a page or a search brought up counts for every agent, also when it is not sent any more [H1][T7][A2]", () => {
  const finished = messages.flatMap((message): NewEvent[] => {
    if (message.role === "tool")
      return [{ type: "call.finished", agent: "w", call: message.toolCallId, outcome: "ok", text: message.text }];
    const calls = message.role === "assistant" ? [...(message.toolCalls ?? [])] : [];
    return message.role === "assistant" ? [replied({ agent: "w", calls })] : [];
  });
  // Another agent has a call of the same id.
  const others: NewEvent = { type: "call.finished", call: "1", outcome: "ok", text: block("https://other.example/") };
  const events = numbered([...finished.slice(0, 1), replied(), others, ...finished.slice(1)]);
  const found = ["https://hit.example/p", "https://c.example/中文"];
  for (const [url] of [...named, ["https://other.example/"]])
    assert.equal(wasBroughtUp(events, { url }), found.includes(url ?? ""), url);
});

// All that the fold sends to a model as the user's, each with the address that stands in it.

const url = "https://x.example/?d=1";
const spoken = (text: string, more: object = {}): NewEvent => ({
  ...{ type: "message.user", id: "a", text, mode: "queue" },
  ...more,
});
const begun: NewEvent = { type: "turn.started", turn: 1, message: "a", epoch: 1 };
const hello = [spoken("hello"), begun];
const made = (mode: "worker" | "task" | "handoff", brief: string): NewEvent => ({
  ...{ type: "agent.spawned", id: "w", mode, role: "helper", brief },
});
const itsTurn: NewEvent = { type: "turn.started", agent: "w", turn: 1, message: "w-brief", epoch: 1 };
const mail = (to: string, from: object = {}): NewEvent => ({
  ...{ type: "agent.mailed", to, id: "m", text: url },
  ...from,
});
const left = (upTo: number, summary: string, more: object = {}): NewEvent => ({
  ...{ type: "compacted", turn: 1, strategy: "compact", upTo, summary, messagesBefore: 2, messagesAfter: 1 },
  ...more,
});
const files = [{ path: "uploads/a.txt", name: "a.txt", type: "text/plain", bytes: 9 }];
const root = "/workspace/c/uploads/temparea/";
const selected = { root, session: "sess-me", files: [`${root}see x.example/docs`] };

type Kind = readonly [
  what: string,
  isNamed: boolean,
  events: readonly NewEvent[],
  agent?: "w" | undefined,
  address?: string,
];

const kinds: readonly Kind[] = [
  ["a message", true, [spoken(url), begun]],
  ["one that steers", true, [...hello, spoken(url, { id: "b", mode: "steer" }), step(1, { joined: ["b"] })]],
  ["the words before a file", true, [spoken(`${url} is told more of in a.txt`, { own: 23, files }), begun]],
  ["the text of a file behind them", false, [spoken(`hello\n${url}`, { own: 5, files }), begun]],
  ["a prompt of an MCP server", false, [spoken(`/crm:tide\n\n${url}`, { own: 9, untrusted: true }), begun]],
  ["what was typed to have one", true, [spoken(`/crm:tide ${url}\n\nlook`, { own: 33, untrusted: true }), begun]],
  [
    "values that came along, in a reminder",
    true,
    [spoken("hello", { inputs: { url } }), begun, step(1, { reminder: `\n- url: "${url}"` })],
  ],
  ["the agent's list, in a reminder", false, [...hello, step(1, { reminder: `\n- [ ] ${url}` })]],
  ["names of selected files", false, [spoken("hello", { selected }), begun], undefined, "https://x.example/docs"],
  ["a message of a history that was given", true, [spoken("hello", { instead: [{ role: "user", text: url }] }), begun]],
  [
    "the text of a file in such a history",
    false,
    [spoken("hello", { instead: [{ role: "user", text: `look\n${url}`, own: 4 }] }), begun],
  ],
  ["the brief of a worker", false, [...hello, made("worker", url), itsTurn], "w"],
  ["the brief of a task", false, [...hello, made("task", url), itsTurn], "w"],
  ["the brief of a hand-off", false, [...hello, made("handoff", url), step(1)]],
  [
    "mail to an agent",
    false,
    [...hello, made("task", "go"), itsTurn, mail("w"), step(1, { agent: "w", joined: ["m"] })],
    "w",
  ],
  ["mail to the main agent", false, [...hello, mail("root", { agent: "w" }), step(1, { joined: ["m"] })]],
  ["a summary", false, [...hello, step(1), replied(), left(4, `The agent wants ${url}`)]],
  ["words of the user in a summary", true, [spoken(url), begun, step(1), replied(), left(4, `The user said ${url}`)]],
  [
    "a summary of what a worker did",
    false,
    [...hello, made("worker", "go"), itsTurn, left(4, url, { agent: "w" })],
    "w",
  ],
  [
    "a message that is shorter now",
    true,
    [spoken(`${url} ${"long ".repeat(9)}`), begun, left(0, "", { trims: [{ seq: 2, text: `${url} …` }] })],
  ],
];

for (const [what, isNamed, events, agent, address = url] of kinds)
  test(`${what}: ${isNamed ? "a person named the address" : "nobody named the address"} [H1][T7][R1]`, () => {
    const { root: main, agents } = treeOf(events);
    const { messages } = agent === undefined ? main : (agents.get(agent) ?? assert.fail("it was made"));
    const where = messages.filter(({ role, text }) => role === "user" && text.includes(address.slice(8)));
    assert.equal(where.length, 1, "the model reads it as the user's");
    assert.equal(isNamedAddress({ said: main.said, messages }, { url: address }), isNamed);
  });

test("what a person said counts for the agents that were made, and where it is not sent any more; withdrawn words do not [H1][T7][A2]", () => {
  const told = [spoken(url), begun, step(1), replied()];
  const withdrawn: NewEvent[] = [spoken(url, { id: "b" }), { type: "message.withdrawn", id: "b" }];
  const rows: readonly (readonly [events: readonly NewEvent[], isNamed: boolean])[] = [
    [[...told, made("worker", "go"), itsTurn], true],
    [[...told, left(4, "nothing of it"), made("worker", "go"), itsTurn], true],
    [[...told, left(0, "", { trims: [{ seq: 2, text: "…" }] }), made("task", "go"), itsTurn], true],
    [[...hello, ...withdrawn, made("worker", "go"), itsTurn], false],
  ];
  for (const [events, isNamed] of rows) {
    const { root: main, agents } = treeOf(events);
    for (const history of [main, agents.get("w")])
      assert.equal(isNamedAddress({ said: main.said, messages: history?.messages ?? [] }, { url }), isNamed);
  }
});

function replied(more: object = {}): NewEvent {
  return { ...answer(1, []), ...more };
}

function block(text: string): string {
  return `<data source="s" mark="m">\n${text}\n</data mark="m">`;
}

function treeOf(events: readonly NewEvent[]): Tree {
  const tree: Tree = { root: emptyHistory(), agents: new Map() };
  for (const event of numbered(events)) applyToTree(tree, event);
  return tree;
}
