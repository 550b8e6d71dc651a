// Runs alone: its server is started before all tests and closed after them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ExecutionFrame } from "../../src/protocol/sandbox-resources.ts";
import { cannotRunCode } from "../world/sandbox.ts";
import { type Door, openDoor } from "./sandbox-http.ts";

// Long outputs over HTTP: whoever reads them hears everything, or how much of it is missing.

let door: Door;
const options = { skip: cannotRunCode };
before(async () => {
  if (cannotRunCode === false) door = await openDoor({ env: { AGENTYARD_SANDBOX_OUTPUT_BYTES_MAX: "6000000" } });
});
after(() => door?.[Symbol.asyncDispose]());

/** Those in the last 64 KiB. */
const lastLines = 8192;
const linesOf = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `${String(from + index).padStart(7, "0")}\n`).join("");

test(
  "a reader that comes back after a long output hears the rest of it, and nothing twice [X1][X2]",
  options,
  async () => {
    const id = await ran("for i in range(500_000): print(f'{i:07}')");
    const whole = await stream(id);
    assert.equal(textOf(whole), linesOf(0, 500_000));
    const third = whole[2] ?? assert.fail("it comes in pieces");
    assert.deepEqual(await stream(id, third.id), whole.slice(3));
    assert.deepEqual(
      (await stream(id, whole.at(-2)?.id)).map(({ frame }) => frame.frame),
      ["result"],
    );
  },
);

test(
  "of what a program says beyond its limit the end comes, and what is missing is told to the byte [X1][X4]",
  options,
  async () => {
    const id = await ran("for i in range(1_000_000): print(f'{i:07}')");
    const frames = await stream(id);
    assert.equal(textOf(frames), linesOf(0, 750_000) + linesOf(1_000_000 - lastLines, 1_000_000));
    const bytes = 2_000_000 - 8 * lastLines;
    const cuts = frames.flatMap(({ frame }) => (frame.frame === "cut" ? [frame] : []));
    assert.deepEqual(cuts, [{ frame: "cut", stream: "stdout", bytes, at: { stdout: 6_000_000 + bytes, stderr: 0 } }]);
  },
);

type Told = { readonly id: string | undefined; readonly frame: ExecutionFrame };

async function ran(code: string): Promise<string> {
  const { id } = await door.run(code, { timeout: 60 });
  return id;
}

async function stream(id: string, after?: string): Promise<Told[]> {
  const headers = after === undefined ? {} : { "last-event-id": after };
  const response = await fetch(`${door.url}/api/v1/executions/${id}/stream`, { headers });
  const events = (await response.text()).split("\n\n").filter((text) => text !== "");
  const told: Told[] = [];
  let parts = "";
  for (const text of events) {
    const frame = ExecutionFrame.parse(JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? ""));
    const place = /^id: (.*)$/m.exec(text)?.[1];
    // A result may be longer than an event is.
    if (frame.frame === "part") parts += frame.text;
    if (frame.frame !== "part") told.push({ id: place, frame });
    else if (frame.index === frame.count - 1) told.push({ id: place, frame: ExecutionFrame.parse(JSON.parse(parts)) });
  }
  return told;
}

function textOf(told: readonly Told[]): string {
  return told.map(({ frame }) => (frame.frame === "output" ? frame.text : "")).join("");
}
