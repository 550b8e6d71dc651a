import { inBackground } from "../base/background.ts";
import type { Clock } from "../base/clock.ts";
import { systemCodeOrThrow } from "../base/fault.ts";
import type { Ids } from "../base/ids.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { Logger } from "../observe/observe.ts";
import { failure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import { failureWords, type Words } from "../words/words.ts";
import type { Activities } from "./activities.ts";
import { installInGuest } from "./install-packages.ts";
import type { Network } from "./network/network.ts";
import type { PackageFolders } from "./package-folders.ts";
import type { InstalledPackage, Package } from "./package-programs.ts";
import type { SandboxProvider } from "./provider.ts";
import type {
  NetworkSettings,
  Packages,
  PackagesFailure,
  PackagesWanted,
  SandboxSettings,
  Session,
  SessionPackages,
} from "./sandbox.ts";
import type { OwnSessions } from "./sessions.ts";

/** The packages, and what only the sandbox itself may do with them. */
export interface OwnPackages extends Packages {
  /** What a guest of this user mounts; undefined where nothing can be installed. */
  folderOf(owner: OwnerId): Promise<string | undefined>;
  isInstalling(owner: OwnerId): boolean;
  /** They belonged to a session that is no more. */
  forget(owner: OwnerId): Promise<void>;
}

export type PackagesOptions = {
  readonly provider: SandboxProvider;
  /** Resolves when nothing of earlier processes is left. */
  readonly reaped: Promise<void>;
  readonly settings: Pick<SandboxSettings, "limits">;
  readonly network: Network;
  readonly rules: NetworkSettings;
  /** Undefined: there is no place to keep them. */
  readonly folders: PackageFolders | undefined;
  readonly sessions: () => Pick<OwnSessions, "use" | "find" | "notePackages">;
  readonly activities: Activities;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly words: Words;
};

/** Installations at the same time on this machine: they download and compile. */
const installsMax = 2;
const retryAfterSeconds = 30;

type State = PackagesOptions & { readonly installing: Set<OwnerId> };
type Refusal = { readonly ok: false; readonly failure: PackagesFailure };

export function openPackages(options: PackagesOptions): OwnPackages {
  const state: State = { ...options, installing: new Set() };
  const { folders, rules } = options;
  const isConfigured = () => rules.packageIndex !== undefined || rules.npmRegistry !== undefined;
  return {
    refusal: (wanted) => refusalOf(state, wanted),
    async install(owner, wanted) {
      const refused = refusalOf(state, wanted);
      if (refused !== undefined) return refused;
      if (state.installing.has(owner)) return failure("packages_installing", {});
      if (state.installing.size >= installsMax) return failure("sandbox_full", { retryAfterSeconds });
      state.installing.add(owner);
      try {
        return await install(state, owner, wanted);
      } finally {
        state.installing.delete(owner);
      }
    },
    async folderOf(owner) {
      if (!isConfigured()) return undefined;
      return folders?.of(owner).catch((error) => {
        options.logger.warn("there is no folder for packages", { code: systemCodeOrThrow(error) });
        return undefined;
      });
    },
    isInstalling: (owner) => state.installing.has(owner),
    async forget(owner) {
      if (folders !== undefined)
        await inBackground(options.logger, "packages could not be removed", folders.forget(owner));
    },
  };
}

const settingOf = { pip: "sandbox.package_index", npm: "sandbox.npm_registry" } as const;

function refusalOf({ rules, folders }: State, { packages, index }: PackagesWanted): Refusal | undefined {
  const urls = { pip: rules.packageIndex, npm: rules.npmRegistry };
  const missing = packages.find(({ manager }) => urls[manager] === undefined);
  if (missing !== undefined || folders === undefined)
    return failure("packages_not_configured", { setting: settingOf[missing?.manager ?? "pip"] });
  if (index === undefined || index.replace(/\/+$/, "") === rules.packageIndex) return undefined;
  return failure("package_index_refused", { setting: settingOf.pip });
}

async function install(
  state: State,
  owner: OwnerId,
  wanted: PackagesWanted,
): Promise<Result<Session, PackagesFailure>> {
  const activity = state.activities.begin({ owner, conversation: undefined });
  const begun = await begin(state, owner, wanted);
  if (!begun.ok) {
    activity.over();
    return begun;
  }
  activity.busy();
  const { session, packages } = begun.value;
  const order = { owner, session, wanted, packages: packages.requested, signal: activity.signal };
  const installed = await installInGuest(state, order);
  activity.over();
  return finish(state, begun.value, installed);
}

type Begun = { readonly session: Session; readonly packages: SessionPackages };

/** Not busy yet: whoever ends the session waits for those that are, and this waits for its turn behind them. */
async function begin(
  { sessions, clock }: State,
  owner: OwnerId,
  wanted: PackagesWanted,
): Promise<Result<Begun, PackagesFailure>> {
  const used = await sessions().use(owner);
  if (!used.ok) {
    if (used.failure.code === "session_exists") throw new Error("a session that is used is never refused");
    return failed(used.failure);
  }
  const { current = [], installed = [] } = used.value.packages ?? {};
  const times = { startedAt: clock.now(), endedAt: undefined };
  const requested = together(current, wanted.packages);
  const packages: SessionPackages = { ...times, status: "installing", requested, current, installed, error: undefined };
  const noted = await sessions().notePackages(used.value, packages);
  if (!noted.ok) return noted;
  return noted.value === undefined ? cancelled : ok({ session: noted.value, packages });
}

const cancelled = failure("packages_failed", { why: "cancelled", said: "" });

/** All of a session are installed anew each time, so that they fit each other; the last wish for one counts. */
function together(before: readonly Package[], now: readonly Package[]): readonly Package[] {
  const keyOf = ({ manager, name }: Package) => `${manager} ${name.toLowerCase().replace(/[-_.]+/g, "-")}`;
  return [...new Map([...before, ...now].map((wanted) => [keyOf(wanted), wanted])).values()];
}

async function finish(
  { sessions, clock, words }: State,
  { session, packages }: Begun,
  installed: Result<readonly InstalledPackage[], PackagesFailure>,
): Promise<Result<Session, PackagesFailure>> {
  const endedAt = clock.now();
  const ended: SessionPackages = installed.ok
    ? { ...packages, status: "completed", current: packages.requested, installed: installed.value, endedAt }
    : { ...packages, status: "failed", error: failureWords(words, installed.failure).join(" "), endedAt };
  const noted = await sessions().notePackages(session, ended);
  if (!installed.ok) return installed;
  if (!noted.ok) return noted;
  return noted.value === undefined ? cancelled : ok(noted.value);
}
