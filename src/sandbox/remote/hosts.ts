import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { askHost, type HostDoor, type HostFault } from "./ask-host.ts";
import { makeToken, type Token } from "./files-folder.ts";
import { inodeOf } from "./host-folders.ts";
import {
  type Likeness,
  type LookAnswer,
  type LookQuestion,
  lookAnswer,
  paths,
  type ToldLack,
  wireVersion,
} from "./wire.ts";

/** One host as it was seen last. */
export type Host = {
  readonly door: HostDoor;
  readonly address: string;
  /** Undefined until somebody looked. */
  seen: SeenHost | undefined;
  guests: number;
  guestsMax: number;
};

export type HostLack = "host_away" | "host_secret" | "host_clock" | "host_version" | "host_files";

export type SeenHost =
  | { readonly isUsable: true; readonly likeness: Likeness; readonly degraded: readonly ToldLack[] }
  | {
      readonly isUsable: false;
      readonly lack: HostLack;
      readonly detail: string;
      readonly missing: readonly ToldLack[];
    };

export type Looking = {
  readonly hosts: readonly Host[];
  /** The folder that all share, as this machine has it. */
  readonly files: string;
  readonly release: string;
  readonly clock: Clock;
  readonly ids: Ids;
};

/** A probe on a host that was never asked before starts a guest there. */
const lookMsMax = 30_000;

/** Asks all hosts at once. Those that do not answer are told with the reason. */
export async function lookAtAll(looking: Looking, { isFresh }: { readonly isFresh: boolean }): Promise<void> {
  const { hosts, files, ids } = looking;
  const token = makeToken(files, ids);
  if (!token.ok) {
    for (const host of hosts) host.seen = unusable("host_files", token.failure);
    return;
  }
  try {
    await Promise.all(hosts.map((host) => lookAt(host, { ...looking, token: token.value, isFresh })));
  } finally {
    token.value.remove();
  }
}

type Look = Pick<Looking, "release"> & { readonly token: Token; readonly isFresh: boolean };

async function lookAt(host: Host, { token, isFresh, release }: Look): Promise<void> {
  const { path, text } = token;
  const question: LookQuestion = { version: wireVersion, isFresh, token: { path: [...path], text } };
  const told = await askHost(host.door, paths.look, question, { timeoutMs: lookMsMax });
  const read = told.ok ? readAnswer(told.value, release) : failed(lackOf(told.failure));
  if (!read.ok) {
    host.seen = unusable(read.failure.lack, read.failure.detail);
    return;
  }
  const { seen, missing, degraded, guests, guestsMax } = read.value;
  Object.assign(host, { guests, guestsMax });
  if ("why" in seen) host.seen = unusable("host_files", seen.why);
  else if (missing.length > 0) host.seen = unusable("host_away", missing.map(({ name }) => name).join(" "), missing);
  else host.seen = { isUsable: true, likeness: likenessOf(token.mark, seen.mark), degraded };
}

type Told = { readonly lack: HostLack; readonly detail: string };

const versionAnswer = z.object({ version: z.int(), release: z.string().max(64).optional() });

/** What another version says is not understood in full, but it names itself. */
function readAnswer(told: unknown, release: string): Result<LookAnswer, Told> {
  const version = versionAnswer.safeParse(told).data;
  if (version === undefined) return failed({ lack: "host_away", detail: "no sandbox host" });
  if (version.version !== wireVersion) {
    const [there, here] = [`${version.release ?? "?"} (${version.version})`, `${release} (${wireVersion})`];
    return failed({ lack: "host_version", detail: `${there} ≠ ${here}` });
  }
  const answer = lookAnswer.safeParse(told);
  return answer.success ? ok(answer.data) : failed({ lack: "host_away", detail: "no sandbox host" });
}

export function lackOf({ why, said }: HostFault): Told {
  switch (why) {
    case "secret":
      return { lack: "host_secret", detail: "" };
    case "clock":
      return { lack: "host_clock", detail: "" };
    case "not_a_host":
      return { lack: "host_away", detail: `no sandbox host ${said}`.trim() };
    case "refused":
    case "away":
      return { lack: "host_away", detail: said };
  }
}

export function unusable(lack: HostLack, detail: string, missing: readonly ToldLack[] = []): SeenHost {
  return { isUsable: false, lack, detail, missing };
}

/** What of a folder's numbers means the same on both machines. */
function likenessOf(here: string, there: string): Likeness {
  if (here === there) return "device";
  return inodeOf(here) === inodeOf(there) ? "inode" : "none";
}
