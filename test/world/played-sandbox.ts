import type { TestContext } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { systemIds } from "../../src/base/ids.ts";
import { ok } from "../../src/base/result.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import type { ExecutionEvent, Lack, SandboxProvider } from "../../src/sandbox/provider.ts";
import { openSandbox } from "../../src/sandbox/sandbox.ts";
import type { ToolSandbox } from "../../src/tools/tools.ts";
import { wordsFor } from "../../src/words/words.ts";
import { openDatabase } from "./database.ts";
import { endlessClock, manualClock } from "./manual-clock.ts";
import { playedProvider } from "./played-provider.ts";
import { testSettings } from "./sandbox-settings.ts";
import { quietLogger, type TestWorkspace } from "./workspace.ts";

type Exited = Extract<ExecutionEvent, { kind: "exited" }>;
type Asked = readonly [language: string, code: string, timeoutMs: number] | "reset";

/** What a program does to the files of its workspace, what it says, and how it ends: well and at once unless said otherwise. */
export type PlayedProgram = {
  readonly does?: (folder: string) => void | Promise<void>;
  readonly says?: readonly ExecutionEvent[];
  readonly ends?: Partial<Omit<Exited, "kind" | "metrics">>;
  readonly isPythonNew?: true;
  readonly takesMs?: number;
  /** It goes on until somebody ends it. */
  readonly isEndless?: true;
  /** The machine lacks something. */
  readonly missing?: Lack;
};

/** The real service over guests that are played: every program does the same. `asked` is what came to the guests. */
export function playedSandbox(
  t: TestContext,
  { workspace }: Pick<TestWorkspace, "workspace">,
  program: PlayedProgram = {},
): { readonly sandbox: ToolSandbox; readonly asked: Asked[] } {
  const clock = { ...manualClock(), wait: endlessClock.wait };
  const asked: Asked[] = [];
  const provider = providerOf(program, asked, clock.move);
  const storage = openDatabase(t);
  const sandbox = openSandbox({
    ...{ provider, storage, clock, ids: systemIds, logger: quietLogger([]), words: wordsFor("en") },
    settings: { ...testSettings, executionTimeoutMsMax: 3_600_000 },
  });
  t.after(() => sandbox.close());
  const place = { owner: localOwner, conversation: undefined, workspace, agent: "root" };
  return {
    asked,
    sandbox: {
      run: (wanted) => sandbox.run(place, wanted),
      reset: () => sandbox.reset(place),
      probe: () => sandbox.probe(),
      checkSession: async () => undefined,
    },
  };
}

function providerOf(program: PlayedProgram, asked: Asked[], pass: (ms: number) => void): SandboxProvider {
  const { does, says = [], ends = {}, isPythonNew, takesMs = 120, isEndless, missing } = program;
  const played = playedProvider();
  const killed = new Set<string>();
  if (missing !== undefined) played.missing = [missing];
  const metrics = { durationMs: takesMs, cpuMs: 1, memoryPeakBytes: 1, readBytes: 0, writtenBytes: 0 };
  return {
    ...played,
    async open(wanted) {
      const opened = await played.open(wanted);
      if (!opened.ok) return opened;
      return ok({
        ...opened.value,
        async *run({ id, language, code, timeoutMs }) {
          asked.push([language, code, timeoutMs]);
          yield { kind: "started", isPythonNew };
          await does?.(wanted.workspace?.folder ?? "");
          yield* says;
          pass(takesMs);
          while (isEndless && !killed.has(id)) {
            pass(1_000);
            await nextLoop();
          }
          yield { kind: "exited", how: "done", code: 0, signal: undefined, ...ends, metrics };
        },
        kill: (id) => void killed.add(id),
        async reset() {
          asked.push("reset");
        },
      });
    },
  };
}
