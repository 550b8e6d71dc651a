import { existsSync } from "node:fs";
import { failed } from "../../src/base/result.ts";
import { makeFailure } from "../../src/protocol/failure.ts";
import type { Probe, Sandbox } from "../../src/sandbox/sandbox.ts";
import type { ToolSandbox } from "../../src/tools/tools.ts";

/** Why code cannot be run on this machine; false where it can. CI has all of it. */
export const cannotRunCode =
  !(existsSync("/usr/bin/bwrap") && existsSync("/usr/bin/python3")) && "bubblewrap or /usr/bin/python3 is not here";

// A machine on which no code can be run, for everything that is not about running code: no guest is started for it.

const lack = { name: "no_bwrap", reason: "There is no sandbox in this test.", fix: "Use a real one." } as const;
const lacking: Probe = { missing: [lack], degraded: [] };
const unavailable = () => failed(makeFailure("sandbox_unavailable", { reason: lack.reason, fix: lack.fix }));

export const noToolSandbox: ToolSandbox = {
  run: async () => unavailable(),
  reset: async () => {},
  probe: async () => lacking,
  checkSession: async () => undefined,
};

/** What it is asked for in vain is refused; all else has nothing to do. */
export function noSandbox(): Sandbox {
  const { run, reset, probe } = noToolSandbox;
  return {
    ...{ reset, probe },
    run: (_, wanted) => run(wanted),
    sessions: {
      create: async () => unavailable(),
      find: async () => undefined,
      list: async () => [],
      use: async () => unavailable(),
      count: async () => ({}),
      ensure: async () => failed(makeFailure("sandbox_session_create_failed", {})),
      stop: async () => ({ ok: true, value: undefined }),
    },
    packages: { refusal: () => undefined, install: async () => unavailable() },
    executions: {
      submit: async () => unavailable(),
      find: async () => undefined,
      list: async () => ({ items: [], total: 0 }),
      wait: async () => undefined,
      follow: () => undefined,
      quiet: async () => {},
      cancel: async () => false,
    },
    prewarm: () => {},
    endTurn: async () => [],
    leave: async () => {},
    leavePlace: async () => {},
    sweep: async () => ({ processes: 0, groups: 0, mounts: 0 }),
    load: () => ({ guests: 0, running: 0, waiting: 0 }),
    close: async () => {},
  };
}
