import { existsSync } from "node:fs";
import { systemIds } from "../../src/base/ids.ts";
import { ok, type Result } from "../../src/base/result.ts";
import type {
  Execution,
  ExecutionEvent,
  Guest,
  GuestWanted,
  Lack,
  Probe,
  SandboxFault,
  SandboxProvider,
} from "../../src/sandbox/provider.ts";
import { openSandbox } from "../../src/sandbox/sandbox.ts";
import { wordsFor } from "../../src/words/words.ts";
import type { TestYardOptions } from "./yard.ts";

// A provider whose part the test plays: for who waits for whom, and for what a real machine does once in a blue moon.

export type PlayedProvider = SandboxProvider & {
  readonly guests: PlayedGuest[];
  /** Those that live, by the workspace they see. */
  living(): string[];
  missing: Lack[];
  /** The next guest does not start. */
  fault: SandboxFault | undefined;
};

export type PlayedGuest = Guest & {
  readonly wanted: GuestWanted;
  readonly running: Map<string, PlayedExecution>;
  /** What it was told, in order. */
  readonly told: string[];
  /** As an accident would. */
  crash(): void;
};

type How = "done" | "lost" | "cancelled" | "killed" | "timeout" | "out_of_memory";
export type PlayedExecution = Execution & { finish(how?: How): void };
/** What a program says and its exit code; then it ends by itself. */
export type Play = (execution: Execution) => Played | Promise<Played>;
type Played = {
  readonly code: number;
  readonly says?: string;
  /** Where it says so: what fails says it as an error, unless said otherwise. */
  readonly on?: "stdout" | "stderr";
  readonly how?: How;
};

/** Programs end when the test says so, or as they are played; the code `at once` by itself. */
export function playedProvider(play?: Play): PlayedProvider {
  const guests: PlayedGuest[] = [];
  const ended = new Set<Guest>();
  let isClosed = false;
  let probed: Probe | undefined;
  const provider: PlayedProvider = {
    guests,
    missing: [],
    fault: undefined,
    living: () => guests.filter((guest) => !ended.has(guest)).map(({ wanted }) => wanted.workspace?.inside ?? ""),
    async probe({ fresh = false } = {}) {
      if (fresh || probed?.missing !== provider.missing) probed = { missing: provider.missing, degraded: [] };
      return probed;
    },
    async open(wanted): Promise<Result<Guest, SandboxFault>> {
      const { fault } = provider;
      provider.fault = undefined;
      if (isClosed) return { ok: false, failure: { why: "unavailable", said: "" } };
      if (fault !== undefined) return { ok: false, failure: fault };
      if (wanted.workspace !== undefined && !existsSync(wanted.workspace.folder))
        return { ok: false, failure: { why: "start_failed", said: "" } };
      const guest = playedGuest(wanted, play);
      guests.push(guest);
      void guest.ended.then(() => ended.add(guest));
      return ok(guest);
    },
    reap: async () => ({ processes: 0, groups: 0, mounts: 0 }),
    async close() {
      isClosed = true;
      for (const guest of guests) await guest.close("closed");
    },
  };
  return provider;
}

/** The sandbox of a yard, with guests of this provider. */
export function sandboxOver(provider: SandboxProvider): Required<Pick<TestYardOptions, "openSandbox">> {
  return {
    openSandbox: ({ config, ...parts }) =>
      openSandbox({ ...parts, provider, ids: systemIds, words: wordsFor("en"), settings: config.sandbox }),
  };
}

function playedGuest(wanted: GuestWanted, play: Play | undefined): PlayedGuest {
  const running = new Map<string, PlayedExecution>();
  const told: string[] = [];
  const { promise: ended, resolve } = Promise.withResolvers<{ readonly why: string }>();
  let isOpen = true;
  const end = (why: string) => {
    isOpen = false;
    for (const execution of [...running.values()]) execution.finish(execution.signal?.aborted ? "cancelled" : "lost");
    resolve({ why });
  };
  return {
    ...{ id: wanted.id, wanted, running, told, ended },
    async *run(execution) {
      if (!isOpen) return yield exited("lost");
      const over = Promise.withResolvers<How>();
      running.set(execution.id, { ...execution, finish: (how = "done") => over.resolve(how) });
      if (execution.signal?.aborted) over.resolve("cancelled");
      execution.signal?.addEventListener("abort", () => over.resolve("cancelled"), { once: true });
      if (execution.code === "at once" || play !== undefined) over.resolve("done");
      yield { kind: "started" };
      const played = execution.signal?.aborted ? undefined : await play?.(execution);
      const stream = played?.on ?? (played?.code === 0 ? "stdout" : "stderr");
      if (played?.says) yield { kind: "output", stream, bytes: Buffer.from(played.says) };
      const how = played?.how ?? (await over.promise);
      running.delete(execution.id);
      yield exited(how, played?.code);
    },
    interrupt: (id) => running.get(id)?.finish("cancelled"),
    kill: (id) => running.get(id)?.finish("killed"),
    async reset(agent) {
      told.push(`reset ${agent}`);
    },
    warm: (agent, modules) => void told.push(`warm ${agent} ${modules.join(" ")}`),
    async endTurn({ all = false } = {}) {
      told.push(all ? "end all" : "end turn");
      return 0;
    },
    usage: async () => ({ memoryBytes: 0, processes: isOpen ? 1 : 0, cpuMs: 0 }),
    sharedFiles: async () => new Set(),
    unnamedBytes: async () => 0,
    async close(why) {
      told.push(`close ${why}`);
      end(why);
    },
    crash: () => end("ended"),
    isOpen: () => isOpen,
  };
}

function exited(how: How, code = 0): ExecutionEvent {
  const metrics = { durationMs: 1, cpuMs: 1, memoryPeakBytes: 1, readBytes: 0, writtenBytes: 0 };
  return { kind: "exited", how, code: how === "done" ? code : undefined, signal: undefined, metrics };
}
