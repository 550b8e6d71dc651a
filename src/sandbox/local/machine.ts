import { statSync } from "node:fs";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Words } from "../../words/words.ts";
import { rememberLooks } from "../guest/remembered-looks.ts";
import { architectureOf, seccompProgram } from "../guest/seccomp.ts";
import type { Probe } from "../provider.ts";
import { readBwrap } from "./bwrap.ts";
import { type Groups, openGroups } from "./groups.ts";
import { probeMachine } from "./probe.ts";
import type { LaunchSettings } from "./start.ts";

/** What is known about this machine, found out when it is first asked for. */
export type Machine = {
  /** The same answer until something changes or `isFresh` asks anew. No host: no code runs here. */
  look(isFresh?: boolean): Promise<Looked>;
  groups(): Groups;
  /** Resolves when nobody looks around. */
  settled(): Promise<void>;
  close(): Promise<void>;
};

export type Looked = { readonly probe: Probe; readonly host: LaunchSettings | undefined };

type Settings = {
  readonly installation: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly words: Words["sandbox"];
  readonly python: string;
  readonly bwrap: string;
  readonly startTimeoutMs: number;
};

export function openMachine(settings: Settings): Machine {
  const { installation, clock, python, bwrap } = settings;
  let groups: Groups | undefined;
  let seen = "";
  const groupsOnce = () => {
    groups ??= openGroups({ installation, clock });
    return groups;
  };
  const looks = rememberLooks(clock, () => lookAround(settings, groupsOnce()));
  return {
    look(isFresh) {
      const found = [bwrap, python].map(stampOf).join(" ");
      if (found !== seen) looks.forget();
      seen = found;
      return looks.look(isFresh);
    },
    groups: groupsOnce,
    settled: looks.settled,
    async close() {
      await looks.settled();
      groups?.close();
    },
  };
}

/** Changes when a program is installed, removed or replaced. */
function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? "" : `${stat.ino}.${stat.mtimeMs}.${stat.size}`;
}

async function lookAround(settings: Settings, groups: Groups): Promise<Looked> {
  const { installation, clock, startTimeoutMs } = settings;
  const bwrap = await readBwrap(settings.bwrap);
  const probe = await probeMachine({ ...settings, bwrap, groups });
  const architecture = architectureOf(process.arch);
  if (probe.missing.length > 0 || bwrap === undefined || architecture === undefined) return { probe, host: undefined };
  return { probe, host: { bwrap, seccomp: seccompProgram(architecture), groups, installation, clock, startTimeoutMs } };
}
