import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Storage, StoredEvent } from "../../src/storage/storage.ts";

/** An unsafe call that is started, and whose end is not in the log. `ran`: how often it had left its mark by then. */
export type CutCall = { readonly tool: string; readonly ran: number };

type Place = { readonly data: string; readonly numbers: readonly number[] };

export type CutCallsWatch = {
  /** Once it has looked: nobody may write before. */
  readonly hasLooked: Promise<unknown>;
  readonly check: () => Promise<readonly CutCall[]>;
};

/**
 * Looks, before anybody else does, which unsafe calls are cut off in these conversations. `check` is for the end: it
 * sees that each was told to the model as one of which nobody knows whether it ran, and that it was not run since: neither
 * one that had run, nor one that had not.
 */
export function watchCutCalls(storage: Storage, { data, numbers }: Place): CutCallsWatch {
  const read = (number: number) => storage.read(number, { after: 0, limit: eventsMax });
  const logs = numbers.map(read);
  const marks = keysOfMarks(data);
  const check = async () => {
    const cut: CutCall[] = [];
    for (const [index, number] of numbers.entries()) {
      const before = (await logs[index]) ?? [];
      const since = (await read(number)).slice(before.length);
      for (const [call, tool] of cutIn(before)) {
        const ran = countOf(call, marks);
        const told = since.flatMap((event) => (isOf(event, call) ? [`${event.type} ${outcomeOf(event) ?? ""}`] : []));
        assert.deepEqual(told, ["call.finished unknown"], `${tool} was started and cut off`);
        assert.equal(countOf(call, keysOfMarks(data)), ran, `${tool} had run ${ran} times when it was cut off`);
        cut.push({ tool, ran });
      }
    }
    return cut;
  };
  return { hasLooked: Promise.all(logs), check };
}

const eventsMax = 10_000;

/** With the tool of each. */
function cutIn(events: readonly StoredEvent[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const open = new Map<string, string>();
  for (const { type, body } of events) {
    const { call, calls = [], class: effect } = Body.parse(JSON.parse(body));
    for (const { id, name } of type === "message.assistant" ? calls : []) names.set(id, name);
    if (call === undefined) continue;
    if (type === "call.started" && effect === "unsafe") open.set(call, names.get(call) ?? call);
    if (type === "call.finished") open.delete(call);
  }
  return open;
}

function isOf({ type, body }: StoredEvent, call: string): boolean {
  return (type === "call.started" || type === "call.finished") && Body.parse(JSON.parse(body)).call === call;
}

const outcomeOf = ({ body }: StoredEvent) => Body.parse(JSON.parse(body)).outcome;

const Body = z.object({
  call: z.string().optional(),
  calls: z.array(z.object({ id: z.string(), name: z.string() })).optional(),
  class: z.string().optional(),
  outcome: z.string().optional(),
});

/** A tool that leaves marks says with each for which call it is. */
function keysOfMarks(data: string): string[] {
  const file = join(data, "marks.jsonl");
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  return lines.flatMap((line) => (line === "" ? [] : [Mark.parse(JSON.parse(line)).key]));
}

const Mark = z.object({ key: z.string() });

const countOf = (call: string, keys: readonly string[]) => keys.filter((key) => key.endsWith(`/${call}`)).length;
