import { inBackground } from "../base/background.ts";
import { type Homes, homesHere } from "../homes/homes.ts";
import type { OwnerId } from "../protocol/ids.ts";
import { type Activities, openActivities } from "./activities.ts";
import { openAdmission } from "./admission.ts";
import { openExecutions } from "./executions.ts";
import { type Guests, openGuests } from "./guests.ts";
import { openNetwork } from "./network/network.ts";
import { openPackageFolders } from "./package-folders.ts";
import { openPackages } from "./packages.ts";
import { openPrograms } from "./prepare-program.ts";
import type { Language, ProgramPlace, Sandbox, SandboxOptions } from "./sandbox.ts";
import { type OwnSessions, openSessions } from "./sessions.ts";

/** How long the end may take; what is left then ends with this process. */
const closeMsMax = 5000;

const noNetwork = { hosts: [], privateHosts: [], packageIndex: undefined, npmRegistry: undefined };

/** Ends what earlier processes left behind, and is ready at once. The provider is closed by whoever opened it. */
export function openSandbox(given: SandboxOptions): Sandbox {
  const options = { ...given, homes: given.homes ?? homesHere };
  const { provider } = options;
  const activities = openActivities();
  const admission = openAdmission(options);
  // Guests that are opened wait for it; a failure here does not keep them from it.
  const reaped = inBackground(options.logger, "sandboxes of an earlier run could not be ended", reap(options));
  const rules = options.network ?? noNetwork;
  const network = openNetwork({ ...options, rules });
  const folders = options.packagesDir === undefined ? undefined : openPackageFolders(options.packagesDir, options);
  const packages = openPackages({
    ...{ ...options, reaped, network, rules, folders, activities },
    sessions: () => sessions,
  });
  const guests = openGuests({
    ...{ ...options, reaped, network, folderOf: (owner) => packages.folderOf(owner) },
    onMounted: (owner, isRight) => sessions.noteMount(owner, isRight),
    onRoom: () => admission.look(),
  });
  const parts = { activities, guests };
  const sessions = openSessions({
    ...options,
    isActive: (owner) => activities.has((whose) => whose.owner === owner),
    isInstalling: packages.isInstalling,
    onReplaced: packages.forget,
    async onForgotten(owner) {
      executions.forget(owner);
      await packages.forget(owner);
    },
    endGuests: (owner, why) => guests.end((place) => place.owner === owner, why),
    async endAll(owner, why) {
      await endAll(parts, (whose) => whose.owner === owner, why);
      await executions.settled(owner);
    },
  });
  const onEnd = ({ owner }: ProgramPlace) => sessions.touch(owner);
  const programs = openPrograms({ ...options, guests, admission, activities, sessions, onEnd });
  const executions = openExecutions({ ...options, programs });
  const deaf = endWhatIsLost(options, parts);
  return {
    probe: provider.probe,
    sessions,
    executions,
    packages,
    prewarm: (place, language) => void prewarm({ ...options, ...parts, sessions }, place, language),
    async run(place, wanted) {
      const prepared = await programs.prepare(place, wanted);
      return prepared.ok ? prepared.value.start() : prepared;
    },
    ...{ reset: guests.reset, endTurn: guests.endTurn },
    leavePlace: (place) => guests.endAt(place, "left"),
    leave: (conversation) => endAll(parts, (whose) => whose.conversation === conversation, "left"),
    async sweep() {
      await sessions.sweep();
      return provider.reap();
    },
    load: () => ({ guests: guests.count(), ...admission.count() }),
    async close() {
      deaf();
      activities.close();
      executions.closing();
      await endInTime(
        options,
        endAll(parts, () => true, "closed").then(() => executions.settled()),
      );
      executions.close();
      await sessions.close();
    },
  };
}

async function reap({ provider, logger }: SandboxOptions): Promise<void> {
  const { processes, groups, mounts } = await provider.reap();
  if (processes + groups + mounts > 0) {
    logger.info("sandboxes of an earlier run were ended", { processes, groups, mounts });
  }
}

type Match = (whose: { readonly owner: OwnerId; readonly conversation: number | undefined }) => boolean;

type Parts = { readonly activities: Activities; readonly guests: Guests };

/** Both at once: a program that does not listen ends with its guest. */
async function endAll({ activities, guests }: Parts, match: Match, why: string): Promise<void> {
  await Promise.all([activities.end(match), guests.end(match, why)]);
}

/** Another server goes on with it: what runs here would write into the same files. */
function endWhatIsLost({ homes, logger }: SandboxOptions & { readonly homes: Homes }, parts: Parts): () => void {
  return homes.onLost((key) => {
    const isMeant: Match = ({ owner, conversation }) => key === `c:${conversation}` || key === `u:${owner}`;
    void inBackground(logger, "programs of what is at home elsewhere were not ended", endAll(parts, isMeant, "left"));
  });
}

async function endInTime({ clock }: SandboxOptions, end: Promise<void>): Promise<void> {
  const isDone = new AbortController();
  await Promise.race([end, clock.wait(closeMsMax, isDone.signal)]);
  isDone.abort();
}

type Warmer = SandboxOptions & Parts & { readonly sessions: OwnSessions };

function prewarm(warmer: Warmer, place: ProgramPlace, language: Language | undefined): Promise<void> {
  return inBackground(warmer.logger, "a sandbox could not be prewarmed", warmed(warmer, place, language));
}

async function warmed(warmer: Warmer, place: ProgramPlace, language: Language | undefined): Promise<void> {
  const { provider, guests, activities, sessions, settings } = warmer;
  if ((await provider.probe()).missing.length > 0) return;
  const activity = activities.begin(place);
  let held: ReturnType<Guests["take"]> | undefined;
  try {
    const session = await sessions.use(place.owner);
    if (!session.ok || activity.signal.aborted || !guests.isWorthwhile(place)) return;
    const python = language === "python" ? ({ agent: place.agent, isCell: false } as const) : undefined;
    held = guests.take({ place, session: session.value }, python);
    if (typeof held === "string") return;
    activity.busy();
    const opened = await held.opened;
    if (!opened.ok) return;
    if (python !== undefined) opened.value.warm(place.agent, settings.modules);
    // Who needs its room need not wait for the look.
    held.release();
    const { signal } = activity;
    const looked = await place.workspace?.lookAhead({ sharedFiles: () => opened.value.sharedFiles(), signal });
    if (looked?.ok === false) warmer.logger.warn("files could not be looked at ahead", { code: looked.failure.code });
  } finally {
    if (typeof held === "object") held.release();
    activity.over();
  }
}
