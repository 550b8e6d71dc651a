import { statSync } from "node:fs";
import { whenOver } from "../../base/background.ts";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Words } from "../../words/words.ts";
import { architectureOf, seccompProgram } from "../guest/seccomp.ts";
import type { Probe } from "../provider.ts";
import { readBwrap } from "./bwrap.ts";
import { type Groups, openGroups } from "./groups.ts";
import { probeMachine } from "./probe.ts";
import type { LaunchHost } from "./start.ts";

/** What is known about this machine, found out when it is first asked for. */
export type Machine = {
  /** The same answer until something changes or `isFresh` asks anew. No host: no code runs here. */
  look(isFresh?: boolean): Promise<Looked>;
  groups(): Groups;
  /** Resolves when nobody looks around. */
  settled(): Promise<void>;
  close(): Promise<void>;
};

export type Looked = { readonly probe: Probe; readonly host: LaunchHost | undefined };

type Settings = {
  readonly mark: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly words: Words["sandbox"];
  readonly python: string;
  readonly bwrap: string;
  readonly startTimeoutMs: number;
};

/** Something that is missing may have been mended meanwhile, by a setting that no file tells of. */
const missingAgainMs = 10_000;

export function openMachine(settings: Settings): Machine {
  const { mark, clock, python, bwrap } = settings;
  let groups: Groups | undefined;
  let looking: Promise<Looked> | undefined;
  let seen = "";
  let staleAt = Number.POSITIVE_INFINITY;

  const groupsOnce = () => {
    groups ??= openGroups({ mark, clock });
    return groups;
  };
  const lookAgain = async () => {
    staleAt = Number.POSITIVE_INFINITY;
    let looked: Looked | undefined;
    try {
      looked = await lookAround(settings, groupsOnce());
    } finally {
      // Also where we could not even look: it is no answer for ever.
      if (looked?.host === undefined) staleAt = clock.monotonic() + missingAgainMs;
    }
    return looked;
  };
  const settled = async () => {
    if (looking !== undefined) await whenOver(looking);
  };
  return {
    look(isFresh = false) {
      const found = [bwrap, python].map(stampOf).join(" ");
      if (looking === undefined || isFresh || found !== seen || clock.monotonic() >= staleAt) looking = lookAgain();
      seen = found;
      return looking;
    },
    groups: groupsOnce,
    settled,
    async close() {
      await settled();
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
  const { mark, clock, startTimeoutMs } = settings;
  const bwrap = await readBwrap(settings.bwrap);
  const probe = await probeMachine({ ...settings, bwrap, groups });
  const architecture = architectureOf(process.arch);
  if (probe.missing.length > 0 || bwrap === undefined || architecture === undefined) return { probe, host: undefined };
  return { probe, host: { bwrap, seccomp: seccompProgram(architecture), groups, mark, clock, startTimeoutMs } };
}
