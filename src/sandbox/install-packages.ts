import { stripVTControlCharacters } from "node:util";
import { assert } from "../base/assert.ts";
import { inBackground } from "../base/background.ts";
import { systemCode } from "../base/fault.ts";
import { ok, type Result } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import { patternOf } from "../web/web.ts";
import { createCollected } from "./collected.ts";
import { startRefusal } from "./open-guest.ts";
import { isOver, type RoomLimits } from "./package-folders.ts";
import {
  type InstalledPackage,
  noInstaller,
  type Package,
  type PackageManager,
  type PackageProgram,
  packageProgram,
} from "./package-programs.ts";
import type { PackagesOptions } from "./packages.ts";
import type { ExecutionEvent, Guest } from "./provider.ts";
import type { NetworkSettings, PackagesFailure, PackagesWanted, Session } from "./sandbox.ts";

type Parts = Omit<PackagesOptions, "sessions" | "activities" | "words">;

type Order = {
  readonly owner: OwnerId;
  readonly session: Session;
  readonly wanted: PackagesWanted;
  /** All that are to be there after it. */
  readonly packages: readonly Package[];
  readonly signal: AbortSignal;
};
type Installed = Result<readonly InstalledPackage[], PackagesFailure>;

const gibibyte = 1024 ** 3;
const room: RoomLimits = { bytesMax: 4 * gibibyte, filesMax: 200_000, freeBytesMin: gibibyte / 2 };
const lookEveryMs = 1000;
/** To tell what was installed. */
const listMsMax = 30_000;
const saidBytesMax = 2000;
/** What it was kept from, which pip and npm do not always tell. */
const refusalsShownMax = 3;
const inside = "/workspace/packages";

/** Into a folder of its own, by a guest that sees nothing but that folder and reaches the index. */
export async function installInGuest(parts: Parts, order: Order): Promise<Installed> {
  const { folders, logger } = parts;
  const { owner } = order;
  assert(folders !== undefined, "packages are installed where they can be kept");
  try {
    const begun = await folders.begin(owner);
    const installed = await inGuest(parts, order, begun.folder);
    await (installed.ok ? folders.makeCurrent(owner, begun.name) : folders.drop(owner, begun.name));
    return installed;
  } catch (error) {
    // Whoever waits for the session must not wait for ever, also where the mistake is ours.
    logger.error("packages could not be kept", { error });
    // What the system says is a disk that is full or read-only.
    return failed(systemCode(error) === undefined ? "lost" : "room");
  }
}

async function inGuest(parts: Parts, order: Order, folder: string): Promise<Installed> {
  const { provider, network, rules, ids, logger } = parts;
  const { owner, session, packages, wanted, signal } = order;
  await parts.reaped;
  if (signal.aborted) return failed("cancelled");
  const id = ids.hex(16);
  const refusals = new Set<string>();
  // No more than is shown: what a package does while it is installed is its own, and it can ask for other hosts without an end.
  const onRefusal = (text: string) => void (refusals.size < refusalsShownMax && refusals.add(text));
  const opened = await provider.open({
    ...{ id, limits: session.limits, uid: undefined, env: {}, near: owner },
    workspace: { folder, inside, writable: "all" },
    network: network.wayOut(owner, { hosts: hostsOf(rules), onRefusal }),
  });
  if (!opened.ok) {
    const { why, said } = opened.failure;
    logger.warn("a sandbox for packages could not be started", { guest: id, why, said });
    return startRefusal(parts, opened.failure);
  }
  const guest = opened.value;
  const watch = watchRoom(parts, folder, () => void guest.close("disk_full"));
  try {
    const until = parts.clock.monotonic() + wanted.timeoutMs;
    const all: InstalledPackage[] = [];
    for (const manager of ["pip", "npm"] as const) {
      const own = packages.filter((one) => one.manager === manager);
      const timeoutMs = Math.max(until - parts.clock.monotonic(), 1);
      const done =
        own.length === 0 ? ok([]) : await installOne(parts, { ...order, guest, manager, own, timeoutMs, refusals });
      if (!done.ok) return watch.isOver() ? failed("room") : done;
      all.push(...done.value);
    }
    return (await isOver(folder, room)) ? failed("room") : ok(all);
  } finally {
    watch.stop();
    await guest.close("done");
  }
}

/** Where PyPI keeps the files that its pages name. Files of another index on a host of their own need a setting. */
const filesOfPypi = "files.pythonhosted.org:443";

function hostsOf({ packageIndex, npmRegistry }: NetworkSettings): string[] {
  const hosts = [packageIndex, npmRegistry].filter((url) => url !== undefined).map(patternOf);
  return hosts.includes("pypi.org:443") ? [...hosts, filesOfPypi] : hosts;
}

function failed(why: "cancelled" | "room" | "lost" | "index" | "time", said = "") {
  return failure("packages_failed", { why, said });
}

function watchRoom({ clock, logger }: Parts, folder: string, onOver: () => void) {
  let [isTooMuch, isStopped, stopTimer] = [false, false, () => {}];
  const look = async () => {
    isTooMuch = await isOver(folder, room);
    // The installation may have come to its end meanwhile.
    if (isStopped) return;
    if (isTooMuch) onOver();
    else stopTimer = clock.after(lookEveryMs, lookInTheBackground);
  };
  const lookInTheBackground = () => void inBackground(logger, "a folder for packages could not be measured", look());
  stopTimer = clock.after(lookEveryMs, lookInTheBackground);
  return {
    isOver: () => isTooMuch,
    stop() {
      isStopped = true;
      stopTimer();
    },
  };
}

type One = Order & {
  readonly guest: Guest;
  readonly manager: PackageManager;
  readonly own: readonly Package[];
  readonly timeoutMs: number;
  /** What it was kept from, which pip and npm do not always tell. */
  readonly refusals: ReadonlySet<string>;
};

async function installOne(parts: Parts, one: One): Promise<Installed> {
  const { manager, own, wanted, timeoutMs } = one;
  const url = manager === "pip" ? parts.rules.packageIndex : parts.rules.npmRegistry;
  // It was there when this began; settings may change.
  if (url === undefined) return failed("cancelled");
  const program = packageProgram(manager, { packages: own, url, allowsConflicts: wanted.allowsConflicts });
  const ran = await run(parts, one, { code: program.install, program, timeoutMs });
  if (ran.how === "cancelled") return failed("cancelled");
  if (ran.how === "timeout") return failed("time");
  if (ran.how !== "done") return failed("lost");
  if (ran.code === noInstaller) return failure("installer_missing", { manager });
  if (ran.code !== 0) return failed("index", [ran.said, ...one.refusals].join("\n"));
  const listed = await run(parts, one, { code: program.list, program, timeoutMs: listMsMax });
  const installed = program.parse(listed.output);
  return installed === undefined ? failed("lost") : ok(installed);
}

type Exited = Extract<ExecutionEvent, { kind: "exited" }>;
type Ran = Pick<Exited, "code"> & { readonly how: Exited["how"]; readonly said: string; readonly output: string };

async function run(
  { ids }: Parts,
  { guest, signal }: One,
  { code, program, timeoutMs }: { code: string; program: PackageProgram; timeoutMs: number },
): Promise<Ran> {
  const [stdout, stderr] = [createCollected(), createCollected()];
  let exited: Exited | undefined;
  const wanted = { code, env: program.env, stdin: Buffer.from(program.wanted), timeoutMs, signal };
  for await (const event of guest.run({ ...wanted, id: ids.hex(32), language: "bash", agent: "packages" })) {
    if (event.kind === "output") (event.stream === "stdout" ? stdout : stderr).add(event.bytes);
    if (event.kind === "exited") exited = event;
  }
  const said = stderr.shown(saidBytesMax).text.trim() || stdout.shown(saidBytesMax).text.trim();
  return {
    how: exited?.how ?? "lost",
    code: exited?.code,
    said: stripVTControlCharacters(said),
    output: Buffer.from(stdout.all()).toString("utf8"),
  };
}
