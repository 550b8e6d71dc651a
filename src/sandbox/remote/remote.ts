import type { Duplex } from "node:stream";
import { inBackground, whenOver } from "../../base/background.ts";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import type { Logger } from "../../observe/observe.ts";
import type { Words } from "../../words/words.ts";
import { sayLack } from "../guest/canary.ts";
import { keepGuests } from "../guest/kept-guests.ts";
import { namesBelow } from "../guest/names-below.ts";
import type { Guest, GuestWanted, Lack, LackName, Probe, SandboxFault, SandboxProvider } from "../provider.ts";
import { askHost, openStream } from "./ask-host.ts";
import { type Host, lackOf, lookAtAll, unusable } from "./hosts.ts";
import { openRemoteGuest } from "./remote-guest.ts";
import { type GuestOrder, type Likeness, paths, silenceMsMax, type ToldLack, wireVersion } from "./wire.ts";

export type RemoteSandboxOptions = {
  /** `https://host:9200`. */
  readonly hosts: readonly string[];
  /** What hosts and servers show each other. */
  readonly secret: string | undefined;
  /** Whom to believe besides those whom Node believes, PEM. */
  readonly authorities?: Buffer | undefined;
  /** The folder that this machine shares with the hosts: everything that is mounted lies below it. */
  readonly files: string;
  /** Workspaces are images of disks, which are mounted on one machine only. */
  readonly isImaged?: boolean | undefined;
  /** Of AgentYard, for people. */
  readonly release: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Pick<Logger, "error">;
  /** For what the hosts lack. */
  readonly words: Words["sandbox"];
  readonly startTimeoutMs: number;
};

/** How long what was seen of the hosts counts, while some are away and while all are well. */
const awayAgainMs = 5000;
const lookAgainMs = 30_000;
const connectMsMax = 5000;
/** More than a host takes by itself, so that it is the host who says why. */
const patienceMs = 5000;

/** Guests on other machines of AgentYard. Nothing is asked before the first question. */
export function openRemoteSandbox(options: RemoteSandboxOptions): SandboxProvider {
  const { secret = "", authorities, clock, ids } = options;
  const hosts = options.hosts.map((address): Host => {
    const door = { address, secret, authorities, clock, ids };
    return { door, address, seen: undefined, guests: 0, guestsMax: 1 };
  });
  const closing = new AbortController();
  const looks = rememberLooks(options, hosts);
  const homes = createHomes();
  const guests = keepGuests(async (wanted) => {
    await looks.look();
    if (guests.isClosed()) return failed({ why: "unavailable", said: "closed" });
    return openSomewhere(wanted, { ...options, hosts, homes, closing: closing.signal, forget: looks.forget });
  });
  return {
    probe: (wanted) => looks.look(wanted?.fresh),
    open: guests.open,
    // Guests whose server is gone are ended by their hosts, which see its streams break off.
    reap: async () => ({ processes: 0, groups: 0, mounts: 0 }),
    async close() {
      const closed = guests.close();
      closing.abort();
      await closed;
      await looks.settled();
    },
  };
}

/** One answer for all who ask at the same time; a newer one is got while the last still counts. */
function rememberLooks(options: RemoteSandboxOptions, hosts: readonly Host[]) {
  const { clock } = options;
  let looking: Promise<Probe> | undefined;
  let known: { readonly probe: Probe; readonly at: number } | undefined;
  const lookNow = async (isFresh: boolean) => {
    if (options.secret !== undefined && !options.isImaged) await lookAtAll({ ...options, hosts }, { isFresh });
    const probe = probeOf(options, hosts);
    known = { probe, at: clock.monotonic() };
    return probe;
  };
  const start = (isFresh: boolean) => {
    const now = lookNow(isFresh).finally(() => {
      if (looking === now) looking = undefined;
    });
    looking = now;
    return now;
  };
  return {
    look(isFresh = false): Promise<Probe> {
      if (isFresh) return start(true);
      if (known === undefined) return looking ?? start(false);
      const usable = hosts.filter(({ seen }) => seen?.isUsable).length;
      const isOld = clock.monotonic() - known.at > (usable === hosts.length ? lookAgainMs : awayAgainMs);
      // Nobody waits for a look around while there is a host to go to. One may be gone since the last look.
      if (isOld && usable === 0) return looking ?? start(false);
      if (isOld && looking === undefined)
        void inBackground(options.logger, "the sandbox hosts could not be looked at", start(false));
      return Promise.resolve(known.probe);
    },
    forget() {
      known = known && { ...known, at: Number.NEGATIVE_INFINITY };
    },
    async settled() {
      if (looking !== undefined) await whenOver(looking);
    },
  };
}

/** Guests of one user are kept together: what they have in common is read from one machine's memory. */
function createHomes() {
  const homes = new Map<string, { readonly host: Host; guests: number }>();
  return {
    of: (near: string | undefined) => (near === undefined ? undefined : homes.get(near)?.host),
    add(near: string | undefined, host: Host, guest: Guest) {
      if (near === undefined) return;
      const home = homes.get(near)?.host === host ? homes.get(near) : undefined;
      const kept = home ?? { host, guests: 0 };
      kept.guests += 1;
      homes.set(near, kept);
      void guest.ended.then(() => {
        kept.guests -= 1;
        if (kept.guests === 0 && homes.get(near) === kept) homes.delete(near);
      });
    },
  };
}

type Somewhere = Omit<RemoteSandboxOptions, "hosts"> & {
  readonly hosts: readonly Host[];
  readonly homes: ReturnType<typeof createHomes>;
  readonly closing: AbortSignal;
  readonly forget: () => void;
};

/** The least busy host that answers; where one is full or away, the next. */
async function openSomewhere(wanted: GuestWanted, place: Somewhere): Promise<Result<Guest, SandboxFault>> {
  const { hosts, homes, forget } = place;
  const home = homes.of(wanted.near);
  const busy = (host: Host) => (host === home ? -1 : host.guests / Math.max(host.guestsMax, 1));
  const usable = hosts.filter(({ seen }) => seen?.isUsable).toSorted((a, b) => busy(a) - busy(b));
  let last: SandboxFault = { why: "unavailable", said: "no host" };
  for (const host of usable) {
    const opened = await openAt(host, wanted, place);
    if (opened.ok) {
      homes.add(wanted.near, host, opened.value);
      return opened;
    }
    const { why } = opened.failure;
    if (why === "unavailable") forget();
    if (why !== "full" && why !== "unavailable") return opened;
    // That one is full says more than that another is away.
    if (last.why !== "full") last = opened.failure;
  }
  return failed(last);
}

async function openAt(host: Host, wanted: GuestWanted, place: Somewhere): Promise<Result<Guest, SandboxFault>> {
  const { seen } = host;
  if (!seen?.isUsable) return failed({ why: "unavailable", said: host.address });
  const order = orderOf(wanted, place.files, seen.likeness);
  if (!order.ok) return order;
  const stream = await openStream(host.door, { timeoutMs: connectMsMax });
  if (!stream.ok) {
    const { lack, detail } = lackOf(stream.failure);
    host.seen = unusable(lack, detail);
    return failed({ why: "unavailable", said: `${host.address} ${detail}` });
  }
  return openGuestOver(stream.value, host, wanted, { ...place, order: order.value });
}

async function openGuestOver(
  stream: Duplex,
  host: Host,
  { network, id }: GuestWanted,
  { clock, startTimeoutMs, closing, order }: Somewhere & { readonly order: GuestOrder },
): Promise<Result<Guest, SandboxFault>> {
  host.guests += 1;
  let isCounted = true;
  const uncount = () => (host.guests = Math.max(0, host.guests - 1));
  const opened = await openRemoteGuest(stream, {
    ...{ order, network, clock, openTimeoutMs: startTimeoutMs + patienceMs },
    onLoad({ guests, guestsMax }) {
      // One that it refuses is not among them.
      isCounted = false;
      Object.assign(host, { guests, guestsMax });
    },
    whenGone: () => whenGone(host, id, { clock, closing }),
  });
  if (opened.ok) {
    void opened.value.ended.then(uncount);
    return opened;
  }
  if (isCounted) uncount();
  const { why, said } = opened.failure;
  if (why !== "version" && why !== "broken_off") return failed({ why, said: `${said} (${host.address})` });
  host.seen = why === "version" ? unusable("host_version", said) : unusable("host_away", "");
  return failed({ why: "unavailable", said: `${host.address} ${why}` });
}

/** Names below the shared folder, and never a path of this machine. */
function orderOf(
  { id, limits, uid, env, network, workspace, packages }: GuestWanted,
  files: string,
  likeness: Likeness,
): Result<GuestOrder, SandboxFault> {
  const outside: string[] = [];
  const names = (path: string): string[] => {
    const found = namesBelow(files, path);
    if (found === undefined) outside.push(path);
    return [...(found ?? [])];
  };
  const order: GuestOrder = {
    ...{ type: "open", version: wireVersion, id, limits, env, hasNetwork: network !== undefined, likeness },
    ...(uid !== undefined && { uid }),
    ...(packages !== undefined && { packages: names(packages) }),
    ...(workspace !== undefined && {
      workspace: {
        ...{ folder: names(workspace.folder), inside: workspace.inside, marks: { ...workspace.marks } },
        writable: workspace.writable === "all" ? "all" : [...workspace.writable],
        ...(workspace.skills !== undefined && { skills: names(workspace.skills) }),
        ...(workspace.skillCopies !== undefined && { skillCopies: names(workspace.skillCopies) }),
      },
    }),
  };
  if (outside.length === 0) return ok(order);
  return failed({ why: "start_failed", said: `not below ${files}: ${outside.join(", ")}` });
}

const goneAgainMs = 500;
const goneAskMs = 5000;

/**
 * The stream of a guest broke off. Its host ends it; that is asked until somebody answers, or until it must have noticed by
 * itself. One that nobody listens at any more is gone with its guests.
 */
async function whenGone(
  { door }: Host,
  id: string,
  { clock, closing }: { readonly clock: Clock; readonly closing: AbortSignal },
): Promise<void> {
  const until = clock.monotonic() + silenceMsMax + goneAskMs;
  while (clock.monotonic() < until && !closing.aborted) {
    const told = await askHost(door, paths.end, { id }, { timeoutMs: goneAskMs, signal: closing });
    if (told.ok || told.failure.why === "refused") return;
    if ((await clock.wait(goneAgainMs, closing)) === "aborted") return;
  }
}

/** What is missing where no host can be used; else what some of them lack, those included that are away. */
function probeOf({ words, hosts: addresses, secret, isImaged }: RemoteSandboxOptions, hosts: readonly Host[]): Probe {
  const say = (name: LackName, detail: string, about: ToldLack["about"] = undefined) =>
    sayLack(words, name, { sudo: "", install: "", ...about, detail });
  if (isImaged) return { missing: [say("host_images", "")], degraded: [] };
  if (addresses.length === 0) return { missing: [say("no_hosts", "sandbox.hosts")], degraded: [] };
  if (secret === undefined) return { missing: [say("no_hosts", "AGENTYARD_SANDBOX_SECRET")], degraded: [] };
  const lacksOf = ({ address, seen }: Host): Lack[] => {
    const at = (detail: string) => (detail === "" ? address : `${address}: ${detail}`);
    const toldLacks = (told: readonly ToldLack[]) =>
      told.flatMap(({ name, about }) => (isLackName(name, words) ? [say(name, at(about?.detail ?? ""), about)] : []));
    if (seen?.isUsable) return toldLacks(seen.degraded);
    const told = toldLacks(seen?.missing ?? []);
    return told.length > 0 ? told : [say(seen?.lack ?? "host_away", at(seen?.detail ?? ""))];
  };
  const isUsable = hosts.some(({ seen }) => seen?.isUsable);
  const all = hosts.flatMap(lacksOf);
  return isUsable ? { missing: [], degraded: all } : { missing: all, degraded: [] };
}

function isLackName(name: string, { lacks }: Words["sandbox"]): name is LackName {
  return Object.hasOwn(lacks, name);
}
