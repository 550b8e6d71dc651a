import type { Duplex } from "node:stream";
import type { Result } from "../base/result.ts";

/**
 * Where code runs that nobody trusts. Local (bubblewrap), Docker, Kubernetes, and other machines of AgentYard; one contract
 * suite for all. What comes out of a guest is untrusted: bounded and checked before it gets here.
 */
export interface SandboxProvider {
  /** What this machine can do, told by a guest that was really started and looked around; `fresh`: looks again. */
  probe(options?: { readonly fresh?: boolean | undefined }): Promise<Probe>;
  /** Starts a guest; it is ready for its first execution when this resolves. */
  open(wanted: GuestWanted): Promise<Result<Guest, SandboxFault>>;
  /** Ends what earlier processes left behind: processes, control groups, mounts. Guests of this one go on. */
  reap(): Promise<{ readonly processes: number; readonly groups: number; readonly mounts: number }>;
  /** Ends all guests; none is opened any more. */
  close(): Promise<void>;
}

/** What goes into a guest has limits, too: whoever asks for more has not looked, and that is a mistake of ours. */
export const executionLimits = {
  /** Longer code belongs in a file. */
  codeBytesMax: 4 * 1024 * 1024,
  eventBytesMax: 1024 * 1024,
  stdinBytesMax: 16 * 1024 * 1024,
  /** Names and values of an execution's variables, or of a guest's, as JSON has them. */
  envBytesMax: 32 * 1024,
  folderCharactersMax: 4096,
} as const;

/** Whether a guest can have these variables: as many bytes as go over its wire, and texts that a process can have. */
export function fitsGuest(env: Readonly<Record<string, string>>): boolean {
  if (Buffer.byteLength(JSON.stringify(env)) > executionLimits.envBytesMax) return false;
  return Object.entries(env).every(([name, value]) => /^[^=\0]+$/.test(name) && isText(name) && isText(value));
}

function isText(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

/** `missing`: isolation that cannot be had, so no code runs. `degraded`: limits that cannot be had. */
export type Probe = { readonly missing: readonly Lack[]; readonly degraded: readonly Lack[] };

export type Lack = {
  readonly name: LackName;
  readonly reason: string;
  readonly fix: string;
  /** The facts from which another language makes the same two texts. */
  readonly about?: LackAbout | undefined;
};

/** `install`: the command that gets what is missing, empty when it is not known. `sudo`: before what only root may do. */
export type LackAbout = { readonly detail: string; readonly sudo: string; readonly install: string };

/** Stable names, as the API and `agentyard doctor` say them. */
export type LackName =
  | "no_bwrap"
  | "no_userns"
  | "apparmor_userns"
  | "no_seccomp"
  | "in_container"
  | "no_python"
  | "no_cgroup_memory"
  | "no_cgroup_pids"
  | "no_cgroup_cpu"
  | "no_cgroup_kill"
  | "shared_uid"
  | "no_bind_fd"
  | "old_bwrap"
  | "no_data_libraries"
  | "no_cjk_fonts"
  | "no_node"
  | "no_engine"
  | "no_image"
  | "image_volumes"
  | "no_runtime"
  | "rootless_engine"
  | "engine_start"
  | "engine_walls"
  | "no_hosts"
  | "host_away"
  | "host_secret"
  | "host_clock"
  | "host_version"
  | "host_files"
  | "host_images"
  | "no_cluster"
  | "cluster_rights"
  | "pod_image"
  | "pod_files"
  | "pod_start"
  | "pod_walls"
  | "pod_network"
  | "pod_memory"
  | "pod_processes";

export type GuestWanted = {
  /** Opaque and unique while it lives: names control groups and processes, tells nothing about users. */
  readonly id: string;
  readonly workspace: GuestWorkspace | undefined;
  readonly limits: GuestLimits;
  /** The user id of the conversation when this process is root: files made inside belong to it. */
  readonly uid: number | undefined;
  /** On top of what every guest has: `PATH`, `LANG`, `HOME` and `AGENT_WORKSPACE_PATH`. */
  readonly env: Readonly<Record<string, string>>;
  /** Takes the end of the one socket that leads out of the guest, see network/streams.ts. No network without it. */
  readonly network?: ((link: Duplex) => void) | undefined;
  /** Whose it is, for a provider that has several machines: guests of the same one are kept together. It leaves no provider. */
  readonly near?: string | undefined;
  /** A host folder with what was installed for its programs; they can only read it. */
  readonly packages?: string | undefined;
};

/** The one workspace that is mounted. `folder` is a host path and never leaves the provider. */
export type GuestWorkspace = {
  readonly folder: string;
  /** As programs inside see it: `/workspace/{id}`. */
  readonly inside: string;
  /** A conversation: only these folders can be written; a task: everything. */
  readonly writable: readonly string[] | "all";
  /** A host folder that programs inside can read at `{inside}/skills`. */
  readonly skills?: string | undefined;
  /** A host folder that programs inside can read at `/skills`: the links in `{inside}/skills` lead there. */
  readonly skillCopies?: string | undefined;
  /**
   * Device and inode of folders below it, by name, as those who write there know them. Programs inside see exactly these,
   * or there is no guest: one bound to an orphan would look well and see no upload.
   */
  readonly marks?: Readonly<Record<string, string>> | undefined;
};

export type GuestLimits = {
  readonly memoryBytes: number;
  readonly processesMax: number;
  readonly cpus: number;
  readonly fileBytesMax: number;
  readonly tmpBytesMax: number;
  readonly outputBytesMax: number;
};

/** One running sandbox. Executions of one guest trust each other; nothing else is shared. */
export interface Guest {
  readonly id: string;
  /** Events in order; `exited` or `lost` is the last one. */
  run(execution: Execution): AsyncIterable<ExecutionEvent>;
  /** Like Ctrl+C. */
  interrupt(execution: string): void;
  kill(execution: string): void;
  /** Forgets the state of an agent's Python, which is ended: its memory is free again. */
  reset(agent: string): Promise<void>;
  /** Starts an agent's Python before it is needed, with these modules imported. */
  warm(agent: string, modules: readonly string[]): void;
  /**
   * Ends every process inside but the agents' Pythons and what executions that still run have started; with `all` these,
   * too. How many it ended.
   */
  endTurn(options?: { readonly all?: boolean }): Promise<number>;
  usage(): Promise<GuestUsage>;
  /**
   * Inodes of files that its processes share with their memory: what they write there changes a file and may leave no
   * trace. Undefined: nobody can tell.
   */
  sharedFiles(): Promise<ReadonlySet<number> | undefined>;
  /** What files of its workspace take up that have no name any more and are still open. */
  unnamedBytes(): Promise<number>;
  close(why: string): Promise<void>;
  /** False as soon as nothing can be run in it any more, which is a moment before it is gone. */
  isOpen(): boolean;
  /** Resolves when it is gone with all its processes, for whatever reason; `why` is that of `close`, or a word of ours. */
  readonly ended: Promise<{ readonly why: string }>;
}

export type Execution = {
  /** Chosen by the host, 128 bits. */
  readonly id: string;
  readonly language: "python" | "bash" | "javascript";
  readonly code: string;
  /** Whose Python state it uses. */
  readonly agent: string;
  /** Below the workspace; its root unless said otherwise. */
  readonly folder?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly timeoutMs: number;
  /** JSON: if the code defines `handler(event)`, it is called with this, and its value comes back as a result. */
  readonly event?: string | undefined;
  /** What the program reads from its input; nothing unless said otherwise. */
  readonly stdin?: Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
};

export type ExecutionEvent =
  /** `isPythonNew`: the agent's Python was started for it, so there is nothing of earlier executions in it. */
  | { readonly kind: "started"; readonly isPythonNew?: true | undefined }
  | { readonly kind: "output"; readonly stream: "stdout" | "stderr"; readonly bytes: Buffer }
  /** More came than the limit; this many bytes were left out, the last of which are the tail. Once for each stream. */
  | { readonly kind: "cut"; readonly stream: "stdout" | "stderr"; readonly bytes: number; readonly tail: Buffer }
  /** A `png` is named, not sent: the bytes are its path below the workspace, `outputs/figure-1.png`. */
  | { readonly kind: "result"; readonly type: "text" | "json" | "png"; readonly bytes: Buffer }
  | {
      readonly kind: "exited";
      readonly how: "done" | "timeout" | "cancelled" | "killed" | "out_of_memory" | "lost";
      readonly code: number | undefined;
      readonly signal: string | undefined;
      /** The agent's Python ended with it, or the whole guest: variables are gone. */
      readonly isPythonLost?: true | undefined;
      readonly metrics: ExecutionMetrics;
    };

export type ExecutionMetrics = {
  readonly durationMs: number;
  readonly cpuMs: number;
  readonly memoryPeakBytes: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
};

export type GuestUsage = { readonly memoryBytes: number; readonly processes: number; readonly cpuMs: number };

export type SandboxFault = {
  readonly why: "unavailable" | "start_failed" | "start_timeout" | "full" | "wrong_workspace";
  /** What bubblewrap or the first process said: for the log only, for it may hold paths of the host. */
  readonly said: string;
};
