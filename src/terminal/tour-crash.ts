import { join } from "node:path";
import { parsedObject } from "../base/json.ts";
import type { Chat, Machine } from "./chat-state.ts";
import { formatDuration } from "./format.ts";
import { safeLine } from "./safe-text.ts";

type Parts = Pick<Chat, "console" | "clock" | "style" | "words"> & {
  readonly machine: Machine;
  /** With the table; gets the data of the second yard, too. */
  readonly folder: string;
};

/** A yard of its own is killed in the middle of a turn and started again: the turn goes on from the log. */
export async function killAndRecover({ console, clock, style, words, machine, folder }: Parts): Promise<void> {
  const { tour: texts } = words.terminal;
  const data = ["--data", join(folder, "yard")];
  const beganAt = clock.monotonic();
  let victim = "";
  /** By their places in the log: one that came twice would be seen. */
  const seqs: number[] = [];
  const names = new Map<string, string>();
  const first = machine.start(
    [...data, "run", "--stream-json", "--file", join(folder, "sales.csv"), "sales.csv"],
    (line) => {
      const frame = parsedObject(line);
      const event = frame?.event;
      if (frame?.frame !== "event" || !isRecord(event)) return;
      seqs.push(Number(event.seq));
      if (event.type === "message.assistant" && Array.isArray(event.calls))
        for (const call of event.calls) if (isRecord(call)) names.set(String(call.id), String(call.name));
      if (event.type !== "call.started" || victim !== "" || !isProgram(names.get(String(event.call)))) return;
      victim = names.get(String(event.call)) ?? "";
      first.kill();
    },
  );
  const code = await first.exited;
  if (code === 0) return console.say(texts.notKilled());
  if (victim === "") return console.say(style.attention(texts.notRecovered({ reason: String(code ?? "?") })));
  const seconds = formatDuration(clock.monotonic() - beganAt);
  console.say(style.bad(texts.killed({ seconds, tool: safeLine(victim, 64) })));
  console.say(style.dim(texts.recovering()));
  let last = "";
  const second = machine.start([...data, "run", "--stream-json", "--continue"], (line) => {
    last = line;
    const event = parsedObject(line)?.event;
    if (isRecord(event)) seqs.push(Number(event.seq));
  });
  await second.exited;
  const { finish, steps } = parsedObject(last) ?? {};
  const isDone = finish === "done" && typeof steps === "number" && new Set(seqs).size === seqs.length;
  if (isDone) console.say(style.good(texts.recovered({ steps, events: seqs.length })));
  else console.say(style.attention(texts.notRecovered({ reason: safeLine(String(finish ?? "?"), 40) })));
}

function isProgram(tool: string | undefined): boolean {
  return tool === "execute_code" || tool === "run_bash_command";
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
