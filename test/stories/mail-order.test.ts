import assert from "node:assert/strict";
import { test } from "node:test";
import { firstOf, isRoots, lastOf, textOf } from "../world/company.ts";
import { all } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { must, startYard } from "../world/yard.ts";

const senders = ["amber", "blue", "coral"];
const words = ["north", "east", "south", "west"];

test("what agents write at the same time is read once each, in the order of the log, also where a person speaks in between [A1][L7]", async () => {
  await using model = await modelServer((request) => {
    const [who = ""] = firstOf(request).split(" ");
    if (who !== "go")
      return lastOf(request).role === "tool"
        ? says(`${who} is done`)
        : calls(...words.map((word): [string, unknown] => ["send_message", { to: "parent", text: `${who} ${word}` }]));
    if (textOf(request).includes('"agent"')) return says("waiting");
    return calls(...senders.map((name): [string, unknown] => ["spawn_agent", { role: name, task: `${name} it` }]));
  });
  await using yard = await startYard({ model });
  await yard.start("c");
  const say = (text: string, mode: "queue" | "steer") =>
    must(yard.client.call("sendMessage", { params: { id: "c" }, body: { text, mode } }));
  await say("go", "queue");
  await Promise.all(["one", "two", "three"].map((text) => say(`by the way ${text}`, "steer")));
  const { outcome, events } = await yard.whenAtRest("c");
  assert.equal(outcome, "done");
  const sent = all(events, "agent.mailed").filter(({ to, kind }) => to === "root" && kind === undefined);
  assert.equal(sent.length, senders.length * words.length);
  for (const name of senders)
    assert.deepEqual(
      sent.flatMap(({ text }) => text.split("\n").slice(1)).filter((text) => text.startsWith(`${name} `)),
      words.map((word) => `${name} ${word}`),
    );
  // The main agent has read all of it, each once, in the order in which it is stored.
  const [last] = model.asked.filter((request) => firstOf(request).startsWith("go")).slice(-1);
  const read = (last?.body.messages ?? []).flatMap(({ role, content }) =>
    role === "user"
      ? [...String(content).matchAll(/^(amber|blue|coral) (north|east|south|west)$/gm)].map(([all]) => all)
      : [],
  );
  assert.deepEqual(
    read,
    sent.flatMap(({ text }) => text.split("\n").slice(1, 2)),
  );
  assert.deepEqual(all(events, "message.user").filter(isRoots).length, 4);
});
