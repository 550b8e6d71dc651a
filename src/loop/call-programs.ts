import type { Place, RunOutput, Sandbox } from "../sandbox/sandbox.ts";
import type { ToolSandbox } from "../tools/tools.ts";
import { type CallLedger, openCallLedger } from "./call-ledger.ts";

/** The programs that one call runs. */
export type CallPrograms = Pick<CallLedger, "settled" | "untold"> & {
  /** The sandbox as the call sees it: its programs end with the call. */
  at(place: Place): ToolSandbox;
};

type Watch = {
  readonly call: string;
  readonly stop: AbortSignal;
  /** What programs say, as it comes. */
  readonly show: (output: RunOutput) => void;
};

/** Keeps the ledger whole whatever becomes of a call: what its programs did is told also where the call tells nothing. */
export function watchPrograms(sandbox: Sandbox, { call, stop, show }: Watch): CallPrograms {
  const { watch, settled, untold } = openCallLedger({ by: "tool", program: true, call });
  return {
    settled,
    untold,
    at(place) {
      const workspace = place.workspace?.kind === "task" ? place.workspace.id : undefined;
      return {
        async run(wanted) {
          const begun = sandbox.run(place, { ...wanted, signal: stop });
          // Told to stop while it waits for room, a call is over before its program begins.
          const changed = begun.then(async (run) => (run.ok ? (await run.value.report).changes : []));
          void watch(changed, (changes) => changes, workspace).catch(() => {});
          const run = await begun;
          if (run.ok) void showOutput(run.value.output, show);
          return run;
        },
        reset: () => sandbox.reset(place),
        probe: () => sandbox.probe(),
      };
    },
  };
}

async function showOutput(output: AsyncIterable<RunOutput>, show: (output: RunOutput) => void): Promise<void> {
  for await (const piece of output) show(piece);
}
