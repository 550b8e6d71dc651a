import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../base/clock.ts";
import { createClient } from "./client.ts";
import type { FollowFrame } from "./follow.ts";

// A connection that breaks is tried again at once: only the waiting between is taken out.
const clock = { ...systemClock, wait: async () => "elapsed" as const };
const type = { "content-type": "text/event-stream" };

test("whoever follows a server that says what nobody can read is told so, and does not come back for ever [C3]", async () => {
  const unreadable = [
    'data: {"frame":"caught_up","head":"x"}\n\n',
    'data: {"frame":"part","of":"2","index":1,"count":2,"text":"b"}\n\n',
    "data: <html>\n\n",
  ];
  for (const said of unreadable) {
    const told = await follow([new Response(`data: {"frame":"ping"}\n\n${said}`, { headers: type })]);
    assert.deepEqual(
      told.map((frame) => [frame.frame, frame.frame === "failed" ? frame.failure.detail : undefined]),
      [
        [
          "failed",
          "The answer (status 200) cannot be read. Check that the address is that of an AgentYard of this version.",
        ],
      ],
    );
  }
});

test("a connection that breaks is made again, and nobody hears of it [C3]", async () => {
  const breaking = new ReadableStream({ pull: (controller) => controller.error(new Error("reset")) });
  const caughtUp = 'data: {"frame":"caught_up","head":0}\n\n';
  const told = await follow([new Response(breaking, { headers: type }), new Response(caughtUp, { headers: type })]);
  assert.deepEqual(told, [{ frame: "caught_up", head: 0 }]);
});

/** What is heard until the answers are used up. */
async function follow(answers: Response[]): Promise<FollowFrame[]> {
  const left = new AbortController();
  const fetch = async () => {
    const answer = answers.shift();
    if (answer === undefined) left.abort();
    return answer ?? new Response(null, { headers: type });
  };
  const told: FollowFrame[] = [];
  for await (const frame of createClient({ fetch, clock }).follow("c", { signal: left.signal })) told.push(frame);
  return told;
}
