import type { GuestLimits } from "../../src/sandbox/provider.ts";

/** A guest that lacks one layer, made from outside: the product has no way to leave one out. */
export type Weakness = {
  /** Of bwrap: what is replaced by what; words are parted by a space. */
  readonly arguments?: readonly (readonly [from: string, to: string])[];
  /** Python that runs before bwrap, when its arguments are edited. */
  readonly plant?: string;
  readonly hasNoFilter?: true;
  readonly hasNoGroups?: true;
  /** In the supervisor's files. */
  readonly supervisor?: readonly (readonly [file: string, from: string, to: string])[];
  readonly limits?: Partial<GuestLimits>;
  /** Handed to the guest as a whole, past what an execution may say. */
  readonly env?: Readonly<Record<string, string>>;
};

const noNesting: readonly (readonly [string, string])[] = [["--disable-userns", ""]];
const dumpable: readonly (readonly [string, string, string])[] = [
  ["processes.py", "libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)", "pass"],
];

/** By what a control takes away. */
export const weaknesses = {
  "the call filter": { hasNoFilter: true },
  "the call filter and the rule against nested users": { hasNoFilter: true, arguments: noNesting },
  "the call filter and the dropped capabilities": {
    hasNoFilter: true,
    arguments: [...noNesting, ["--cap-drop ALL", "--cap-add ALL"]],
  },
  "the dropped capabilities": { arguments: [...noNesting, ["--cap-drop ALL", "--cap-add ALL"]] },
  "the call filter and the supervisor's shield": { hasNoFilter: true, supervisor: dumpable },
  "the supervisor's shield": { supervisor: dumpable },
  "the network namespace": { arguments: [["--unshare-net", ""]] },
  "the process namespace": {
    arguments: [
      ["--unshare-pid", ""],
      ["--as-pid-1", ""],
      ["--proc /proc", "--ro-bind /proc /proc"],
    ],
  },
  "the IPC namespace": { arguments: [["--unshare-ipc", ""]] },
  "the name of its own": {
    arguments: [
      ["--unshare-uts", ""],
      ["--hostname sandbox", ""],
    ],
  },
  "the read-only root": { arguments: [["--remount-ro / ", ""]] },
  "the mounts of its own": {
    arguments: [["--ro-bind /usr /usr", "--ro-bind /usr /usr --ro-bind /etc /etc-of-the-host"]],
  },
  "control groups": { hasNoGroups: true },
  "the size of /tmp": { limits: { tmpBytesMax: 64 * 1024 * 1024 } },
  "the limit of a file": { limits: { fileBytesMax: 2 ** 42 } },
  "the limit of output": { limits: { outputBytesMax: 64 * 1024 * 1024 } },
  "the reset of signals": {
    supervisor: [
      ["processes.py", "    reset_signals()\n    signal.signal(signal.SIGPIPE", "    signal.signal(signal.SIGPIPE"],
    ],
  },
  "the limit of core dumps": { supervisor: [["processes.py", "    limit(resource.RLIMIT_CORE, CORE_BYTES_MAX)", ""]] },
  "the refusal of variables": { env: { BASH_ENV: "/workspace/c1/outputs/evil.sh" } },
  "the check of tokens": { supervisor: [["supervisor.py", "if token != execution.token:", "if False:"]] },
} satisfies Readonly<Record<string, Weakness>>;
