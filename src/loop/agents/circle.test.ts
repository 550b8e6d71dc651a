import assert from "node:assert/strict";
import { test } from "node:test";
import { numbered } from "../../../test/world/any-log.ts";
import { applyToTree, emptyHistory, type History, type Tree } from "../../log/log.ts";
import type { NewEvent } from "../../protocol/events.ts";
import { closedCircle, letsOtherEnd, wordsOf } from "./circle.ts";

const begun: NewEvent[] = [
  { type: "message.user", id: "a", text: "go", mode: "queue" },
  { type: "turn.started", turn: 1, message: "a", epoch: 1 },
];
const made = (name: string, agent?: string): NewEvent => ({
  ...{ type: "agent.spawned", id: `task-${name}`, name, mode: "task", role: name, brief: `${name} it` },
  ...(agent === undefined ? {} : { agent }),
});
const circle = { code: "mail_in_circles", params: { from: "root", to: "ping", because: "same_mail", times: 3 } };

function treeOf(events: readonly NewEvent[]): Tree {
  const tree: Tree = { root: emptyHistory(), agents: new Map() };
  for (const event of numbered(events)) applyToTree(tree, event);
  return tree;
}

test("who ends because of a circle waits for the other one of it, and for nobody else [A1][A4]", () => {
  const refused: NewEvent[] = [
    { type: "call.finished", call: "x", outcome: "error", text: "", failure: circle },
    { type: "agent.mailed", to: "task-ping", id: "m", text: "", kind: "circle", failure: circle },
  ];
  const working = [...begun, made("ping"), made("quiet")];
  const ended: NewEvent = { type: "agent.ended", id: "task-ping", outcome: "limit" };
  const lets = (...events: readonly NewEvent[]) => letsOtherEnd(treeOf([...working, ...events]).root);
  assert.deepEqual(
    [lets(), lets(...refused), lets(...refused, ...refused), lets(...refused, ...refused, ended)],
    [false, false, true, false],
  );
});

/** What becomes of a mail of ping to pong, when so many went to and fro before, and in between these events came. */
function mailAfter(count: number, between: readonly NewEvent[] = [], at = 6) {
  const mails = Array.from({ length: count }, (_, index): NewEvent => {
    const [from, to] = index % 2 === 0 ? ["task-pong", "task-ping"] : ["task-ping", "task-pong"];
    return {
      type: "agent.mailed",
      agent: from,
      to,
      id: `m${index}`,
      text: `${index}`,
      words: wordsOf(`w${"x".repeat(index)}`),
    };
  });
  const { agents } = treeOf([
    ...begun,
    made("ping"),
    made("pong"),
    ...mails.slice(0, at),
    ...between,
    ...mails.slice(at),
  ]);
  const runs = new Map([...agents].map(([id, history]) => [id, { history }]));
  const history: History = agents.get("task-ping") ?? assert.fail();
  return closedCircle(
    { agent: "task-ping", history, tenure: { runs } },
    { id: "new", to: "task-pong", words: "other" },
  );
}

test("twelve mails of two agents are a circle, and each is told who the other one is; what either of them does in between makes it none [A1][A4]", () => {
  assert.equal(mailAfter(10), undefined);
  const params = { from: "ping", to: "pong", because: "only_mail", times: 12 } as const;
  const { text = "", ...closed } = mailAfter(11) ?? {};
  assert.match(text, /mail_in_circles: ping and pong only write to each other/);
  assert.deepEqual(closed, {
    isRefusal: true,
    reason: { code: "mail_in_circles", params, retryable: false },
    events: [
      {
        ...{ type: "agent.mailed", to: "task-pong", id: "new", kind: "circle" },
        text: "[You and the agent ping only write to each other. By a fixed rule that ends here: what it had to say was not delivered.]",
        failure: { code: "mail_in_circles", params },
      },
    ],
  });
  for (const worker of ["task-ping", "task-pong"]) {
    assert.equal(mailAfter(11, [made("below", worker)]), undefined, worker);
    assert.deepEqual(mailAfter(11, [made("below", worker)], 0)?.reason?.params, params, `${worker}, before all mail`);
  }
  assert.deepEqual(mailAfter(11, [made("beside")])?.reason?.params, params);
});
