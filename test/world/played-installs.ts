import { closeSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { derivedHex, systemIds } from "../../src/base/ids.ts";
import type { OwnerId } from "../../src/protocol/ids.ts";
import { openSandbox, type PackagesWanted, type SandboxProvider } from "../../src/sandbox/sandbox.ts";
import { wordsFor } from "../../src/words/words.ts";
import { openDatabase } from "./database.ts";
import { folderWith } from "./folder.ts";
import { type Play, playedProvider } from "./played-provider.ts";
import { testSettings as settings } from "./sandbox-settings.ts";
import { quietLogger } from "./workspace.ts";

// A sandbox that packages are installed in, by guests whose part is played.

type Options = {
  readonly clock?: Clock;
  readonly npmRegistry?: string | undefined;
  readonly provider?: Partial<SandboxProvider>;
};

export function installing(t: TestContext, play: Play, options: Options = {}) {
  const { clock = systemClock, npmRegistry } = options;
  const [storage, packagesDir] = [openDatabase(t), folderWith(t, {})];
  /** May be changed, as settings are. */
  const network = { hosts: [], privateHosts: [], packageIndex: "https://pypi.org/simple", npmRegistry };
  const open = () => {
    const played = playedProvider(play);
    const sandbox = openSandbox({
      ...{ provider: { ...played, ...options.provider }, storage, clock, ids: systemIds, logger: quietLogger([]) },
      ...{ words: wordsFor("en"), settings, network, packagesDir },
    });
    t.after(() => sandbox.close());
    return { ...sandbox, guests: played.guests };
  };
  return { open, storage, network, folderOf: (owner: OwnerId) => join(packagesDir, derivedHex(32, owner)) };
}

export const pip = (name: string, version?: string) => ({ manager: "pip", name, version }) as const;
export const wanted = (...packages: PackagesWanted["packages"]) => ({
  ...{ packages, timeoutMs: 1000, allowsConflicts: false },
});

/** What pip would say; what it was asked for is heard. */
export function pipPlay(heard: string[] = [], isGood: (asked: string) => boolean = () => true): Play {
  return ({ code, stdin }) => {
    if (code.includes("pip list")) return { code: 0, says: JSON.stringify([{ name: "greeter", version: "1.0" }]) };
    const asked = Buffer.from(stdin ?? []).toString();
    heard.push(asked);
    return isGood(asked) ? { code: 0 } : { code: 1, says: "no such package" };
  };
}

/** More than can be measured, and so more than may be there: the last name is longer than a path may be. */
export function makeTooDeep(folder: string): void {
  let path = folder;
  for (; path.length < 3900; mkdirSync(path)) path = join(path, "d".repeat(100));
  const here = openSync(path, "r");
  writeFileSync(`/proc/self/fd/${here}/${"f".repeat(250)}`, "x");
  closeSync(here);
}
