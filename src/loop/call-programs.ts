import { inBackground } from "../base/background.ts";
import type { Logger } from "../observe/observe.ts";
import { makeFailure } from "../protocol/failure.ts";
import { shownId } from "../protocol/ids.ts";
import { isOwnSession } from "../protocol/session-names.ts";
import type { ProgramOutput, ProgramPlace, Sandbox } from "../sandbox/sandbox.ts";
import type { ToolSandbox } from "../tools/tools.ts";
import { type CallLedger, openCallLedger } from "./call-ledger.ts";

/** The programs that one call runs. */
export type CallPrograms = Pick<CallLedger, "settled" | "untold"> & {
  /** The sandbox as the call sees it: its programs end with the call. */
  at(place: ProgramPlace): ToolSandbox;
};

type Watch = {
  readonly call: string;
  readonly stop: AbortSignal;
  /** What programs say, as it comes. */
  readonly show: (output: ProgramOutput) => void;
  readonly logger: Pick<Logger, "error">;
};

/** Keeps the ledger whole whatever becomes of a call: what its programs did is told also where the call tells nothing. */
export function watchPrograms(sandbox: Sandbox, { call, stop, show, logger }: Watch): CallPrograms {
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
          const noted = watch(changed, (changes) => changes, workspace);
          void inBackground(logger, "what a program changed is not known", noted, { call });
          const run = await begun;
          if (run.ok)
            void inBackground(logger, "what a program said was not shown", showOutput(run.value.output, show), {
              call,
            });
          return run;
        },
        reset: () => sandbox.reset(place),
        probe: () => sandbox.probe(),
        async checkSession(id) {
          const { owner } = place;
          const isOwn = isOwnSession(owner, id, await sandbox.sessions.find(owner));
          return isOwn ? undefined : makeFailure("session_of_another", { id: shownId(id), user: owner });
        },
      };
    },
  };
}

async function showOutput(output: AsyncIterable<ProgramOutput>, show: (output: ProgramOutput) => void): Promise<void> {
  for await (const piece of output) show(piece);
}
