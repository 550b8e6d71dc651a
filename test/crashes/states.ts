import {
  copyFileSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { join } from "node:path";
import type { Append, Storage } from "../../src/storage/storage.ts";
import { isRefused, isWrite } from "../world/killing-storage.ts";
import type { Heads } from "./killed.ts";
import { eventsIn, writtenBy } from "./scenario.ts";

/** What a process leaves that is killed when this write was its last. */
export type State = {
  readonly data: string;
  readonly write: string;
  readonly events: readonly string[];
  readonly acknowledged: Heads;
};

type Options = {
  readonly data: string;
  /** Each state is a folder of its own in it; within that it has the name that it had. */
  readonly into: string;
  readonly isWanted: (write: string) => boolean;
};

/**
 * Copies the data directory after each write, so that one run gives what a kill at any of its writes leaves: whoever is
 * killed leaves what is there in that moment. A copy is made when the next write is asked for, with all that was done in
 * between; where one is on its way already, at once.
 */
export function keepStates(storage: Storage, { data, into, isWanted }: Options) {
  const states: State[] = [];
  const heads = new Map<number, number>();
  let due: Pick<State, "write" | "events"> | undefined;
  let [copies, asked, isOver] = [0, 0, false];
  const keep = () => {
    if (due === undefined) return;
    copies += 1;
    const folder = join(into, String(copies));
    mkdirSync(folder, { recursive: true });
    copyTree(data, join(folder, yardName));
    states.push({ data: join(folder, yardName), ...due, acknowledged: new Map(heads) });
    due = undefined;
  };
  const written = (name: string, given: readonly unknown[], answer: unknown) => {
    keep(); // Of another one that was stored in the same moment.
    if (name === "append") noteHead(heads, given, answer);
    const write = writtenBy(name, given);
    if (!isOver && isWanted(write)) due = { write, events: eventsIn(given) };
    if (asked > 0) keep();
  };
  const wrapped = new Proxy(storage, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function" || !isWrite(String(name))) return method;
      return async (...given: unknown[]) => {
        keep();
        asked += 1;
        const answer: unknown = await Reflect.apply(method, target, given).finally(() => {
          asked -= 1;
        });
        if (!isRefused(answer)) written(String(name), given, answer);
        return answer;
      };
    },
  });
  const end = () => {
    keep();
    isOver = true;
  };
  return { states, storage: wrapped, end };
}

/** All yards have this one: what they say may name it. */
export const yardName = "yard";

/**
 * With owners and times, which `cpSync` does not keep; a process for each copy would take longer than the rest. What somebody
 * takes away meanwhile is not there.
 */
function copyTree(from: string, to: string): void {
  try {
    copyOne(from, to);
  } catch (error) {
    if (existsSync(from)) throw error;
  }
}

function copyOne(from: string, to: string): void {
  const found = lstatSync(from);
  if (found.isSymbolicLink()) return symlinkSync(readlinkSync(from), to);
  if (found.isDirectory()) {
    mkdirSync(to, { mode: found.mode });
    for (const name of readdirSync(from)) copyTree(join(from, name), join(to, name));
  } else if (found.isFile()) copyFileSync(from, to);
  else return;
  if (found.uid !== process.getuid?.()) lchownSync(to, found.uid, found.gid);
  utimesSync(to, found.atime, found.mtime);
}

function noteHead(heads: Map<number, number>, [batch]: readonly unknown[], answer: unknown): void {
  const { number }: Pick<Append, "number"> = Object(batch);
  const { lastSeq }: { readonly lastSeq: number } = Object(answer).value;
  heads.set(number, Math.max(lastSeq, heads.get(number) ?? 0));
}
