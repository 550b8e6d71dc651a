import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { systemIds } from "../../src/base/ids.ts";
import type {
  Execution,
  ExecutionEvent,
  Guest,
  GuestWanted,
  LackName,
  SandboxProvider,
} from "../../src/sandbox/provider.ts";
import { allOf, type Outcome, outcomeOf } from "../world/bare-supervisor.ts";

export { done } from "../world/bare-supervisor.ts";

/** How a suite gets at a provider, and what only its own kind can do. */
export type ProviderUnderTest = {
  readonly provider: SandboxProvider;
  /** A folder of the host that can be mounted. */
  workspace(t: TestContext): string;
  /** The user that the n-th conversation's files belong to. */
  uid(number: number): number | undefined;
  /** Ends a guest from outside, as an accident would. */
  accident(id: string): Promise<void>;
};

/** What a promise is tried with. */
export type Place = {
  readonly t: TestContext;
  readonly provider: SandboxProvider;
  /** Another provider, closed with the test. */
  another(): Promise<ProviderUnderTest>;
  workspace(): string;
  uid(number: number): number | undefined;
  accident(id: string): Promise<void>;
  /** A guest of a conversation, closed with the test. */
  guest(changes?: Partial<GuestWanted>): Promise<Tried>;
  /** Whether the machine cannot do this; it has to say so itself. */
  lacks(name: LackName): Promise<boolean>;
};

export type Promised = {
  readonly says: string;
  /** It depends on the provider; the others depend on the supervisor inside, which all of them have. */
  readonly everywhere?: true;
  holds(place: Place): Promise<void>;
};

/** A guest, and executions of it in one value. */
export type Tried = {
  readonly guest: Guest;
  readonly folder: string;
  run(language: Execution["language"], code: string, wanted?: Partial<Execution>): Promise<Outcome>;
  events(language: Execution["language"], code: string, wanted?: Partial<Execution>): Promise<ExecutionEvent[]>;
};

const mebibyte = 1024 * 1024;
export const limits = {
  memoryBytes: 400 * mebibyte,
  processesMax: 64,
  cpus: 1,
  fileBytesMax: 8 * mebibyte,
  tmpBytesMax: 32 * mebibyte,
  outputBytesMax: 100_000,
};

export function placeFor(t: TestContext, tried: ProviderUnderTest, open: () => Promise<ProviderUnderTest>): Place {
  const { provider, uid, accident } = tried;
  return {
    t,
    provider,
    uid,
    accident,
    workspace: () => tried.workspace(t),
    async another() {
      const other = await open();
      t.after(() => other.provider.close());
      return other;
    },
    async guest(changes = {}) {
      const folder = changes.workspace?.folder ?? tried.workspace(t);
      const opened = await provider.open(wantedGuest({ workspace: conversation(folder), uid: uid(1), ...changes }));
      assert.ok(opened.ok, opened.ok ? "" : `${opened.failure.why}: ${opened.failure.said}`);
      t.after(() => opened.value.close("the test is over"));
      return { folder, ...triedGuest(opened.value) };
    },
    lacks: async (name) => (await provider.probe()).degraded.some((lack) => lack.name === name),
  };
}

export function wantedGuest(changes: Partial<GuestWanted>): GuestWanted {
  return { id: systemIds.hex(16), workspace: undefined, limits, uid: undefined, env: {}, ...changes };
}

export function conversation(folder: string, id = "c1") {
  return { folder, inside: `/workspace/${id}`, writable: ["uploads", "outputs", "temp"] };
}

export function triedGuest(guest: Guest): Omit<Tried, "folder"> {
  const start = (language: Execution["language"], code: string, wanted: Partial<Execution> = {}) =>
    guest.run({ id: systemIds.hex(32), language, code, agent: "a", timeoutMs: 30_000, ...wanted });
  return {
    guest,
    run: (language, code, wanted) => outcomeOf(start(language, code, wanted)),
    events: (language, code, wanted) => allOf(start(language, code, wanted)),
  };
}

/** A folder of the host that everybody can read, gone after the test. */
export function hostFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-host-"));
  chmodSync(folder, 0o755);
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
