import { sizeText } from "./sizes.ts";

/** What can go wrong with files: what happened, and what a person can do. A path is always relative to its workspace. */
export const enFileFailures = {
  workspace_not_assigned: (p: { agent: string }) => [
    `${p.agent} has no workspace.`,
    "Only agents that work on a task have one; ask the main agent for files.",
  ],
  path_traversal_blocked: (p: { path: string }) => [
    `The path ${p.path} leads out of the workspace.`,
    "Use a relative path without `..`, such as outputs/report.md.",
  ],
  path_invalid: (p: { path: string; why: PathFault }) => [
    `The path ${p.path} cannot be used: ${pathFaults[p.why]}.`,
    "Choose another name.",
  ],
  file_not_found: (p: { path: string; near: string }) => [
    `There is no file ${p.path}.`,
    p.near === "" ? "List the files that are there." : `Did you mean: ${p.near}?`,
  ],
  permission_denied: (p: { path: string; folder: string; why: AccessFault }) => [
    p.why === "not_writable"
      ? `Cannot write to ${p.folder}/. Only outputs, temp, uploads are writable.`
      : `${p.path} cannot be used: ${accessFaults[p.why]}.`,
    p.why === "not_writable" ? "Choose a place in one of these folders." : "Choose another file.",
  ],
  write_failed: (p: { path: string; why: DiskFault }) => [
    `${p.path} could not be written: ${diskFaults[p.why]}.`,
    `What was there before is unchanged. ${diskAdvice[p.why]}`,
  ],
  read_failed: (p: { path: string; why: DiskFault }) => [
    `${p.path} could not be read: ${diskFaults[p.why]}.`,
    diskAdvice[p.why],
  ],
  range_unfit: (p: { path: string; sizeBytes: number }) => [
    `${p.path} has only ${p.sizeBytes} bytes: the range lies behind its end.`,
    "Ask for a range inside it, or for the whole file.",
  ],
  content_not_kept: (p: { path: string }) => [
    `What ${p.path} held then is not kept any more.`,
    "Only the last contents of files up to some size are kept. Choose a later state, or ask the agent to make it anew.",
  ],
  not_a_file: (p: { path: string }) => [`${p.path} is not a file.`, "Name a file in it."],
  not_a_folder: (p: { path: string }) => [`${p.path} is not a folder.`, "Name the folder that holds it."],
  too_large: (p: { path: string; sizeBytes: number; limitBytes: number; setting: string }) => [
    `${p.path} has ${size(p.sizeBytes)} or more; the limit is ${size(p.limitBytes)}.`,
    p.setting === "" ? "Use a smaller file." : `Use a smaller file, or raise ${p.setting} in config/agentyard.yaml.`,
  ],
  quota_exceeded: (p: { path: string; what: "bytes" | "files"; limit: number; setting: string }) => [
    `There is no room ${p.path === "." ? "left in the workspace" : `for ${p.path}`}: the limit is ${p.what === "bytes" ? size(p.limit) : `${p.limit} files`}.`,
    `Delete files that are no longer needed, or raise ${p.setting} in config/agentyard.yaml.`,
  ],
  conflict: (p: { path: string }) => [
    `${p.path} is not as it was when it was last looked at.`,
    "Look at it again, then repeat what you wanted.",
  ],
  unsupported_type: (p: { path: string; type: string; allowed: string; setting: string }) => [
    `${p.path} is of a type that is not taken (${p.type}).`,
    `Taken are: ${p.allowed}.${p.setting === "" ? "" : ` ${p.setting} says which.`}`,
  ],
  images_unusable: (p: { why: ImageFault; said: string }) => [
    `sandbox_platform.disk is image, and ${imageFaults[p.why]}${p.said === "" ? "" : ` (${p.said})`}.`,
    `${imageAdvice[p.why]}, or set sandbox_platform.disk to folder.`,
  ],
  /** `max`: the limit it exceeds. `said`: the engine's words. A log of before there were causes has a sentence as `why`. */
  pattern_invalid: (p: { pattern: string; why: GlobFault; max?: number; said?: string }) => [
    `The pattern ${p.pattern} cannot be used: ${globFaults[p.why]?.(p.max, p.said) ?? p.why}.`,
    "Search for the plain text instead, or correct the pattern.",
  ],
  /** `said`: what SQLite or the system says of it. */
  index_unavailable: (p: { why: IndexFault; said?: string }) => [
    `The index of documents cannot be used: ${indexFaults[p.why]}${p.said === undefined ? "" : ` (${p.said})`}.`,
    indexAdvice[p.why],
  ],
  segmenter_missing: (p: { segmentation: string }) => [
    `documents.segmentation is ${p.segmentation}, which needs the package @node-rs/jieba, and it is not installed.`,
    "Install it with npm install @node-rs/jieba, or set documents.segmentation to bigram.",
  ],
  files_in_trash: () => [
    "The files of this conversation are in the trash.",
    "Bring them back with /clean restore first; /clean list shows their id.",
  ],
  nothing_to_undo: () => [
    "There is no turn to undo.",
    "Nothing was changed. Send a message first; its turn can then be undone.",
  ],
  trash_not_found: (p: { id: string }) => [`There is nothing under ${p.id} in the trash.`, "See /clean list."],
} satisfies Record<string, (params: never) => [what: string, next: string]>;

function size(bytes: number): string {
  return sizeText(bytes, ({ count }) => `${count} bytes`);
}

export type PathFault = "control_character" | "too_long" | "too_deep" | "no_name" | "backslash" | "slash";
const pathFaults: Readonly<Record<PathFault, string>> = {
  control_character: "it has a control character or a line break",
  too_long: "a name in it is longer than 255 bytes, or all of it longer than 4096",
  too_deep: "it has too many folders inside each other",
  no_name: "it names no file",
  backslash: "it has a backslash",
  slash: "a name has no slash",
};

export type AccessFault = "not_writable" | "system" | "link" | "hard_link" | "special" | "elsewhere";
const accessFaults: Readonly<Record<Exclude<AccessFault, "not_writable">, string>> = {
  system: "the system does not permit it",
  link: "it is a link",
  hard_link: "it has several names (hard links)",
  special: "it is a pipe, a socket or a device",
  elsewhere: "it lies on another file system",
};

export type IndexFault = "busy" | "full" | "read_only" | "damaged" | "memory" | "stopped" | "closed" | "broken";
const indexFaults: Readonly<Record<IndexFault, string>> = {
  busy: "another program has it locked",
  full: "the disk is full",
  read_only: "it cannot be written",
  damaged: "it was damaged, and has been thrown away",
  memory: "the work needed more memory than it may have",
  stopped: "the work was stopped",
  closed: "AgentYard is closing",
  broken: "it cannot be read",
};
const again = "Try again.";
const indexAdvice: Readonly<Record<IndexFault, string>> = {
  busy: "Close the program that has search.db open, then try again.",
  full: "Free some space, then try again.",
  read_only: "Give this user write permission in the data directory.",
  damaged: "Nothing else is lost: documents are indexed again when they are next searched.",
  memory: "Search in fewer or smaller documents.",
  stopped: again,
  closed: "Try again when it runs.",
  broken: "Look at the disk; search.db may be deleted, it is made anew.",
};

/** What may be the matter with a pattern for names or for lines. */
export type GlobFault = "empty" | "nothing" | "too_long" | "too_many" | "syntax";
const globFaults: Readonly<Record<GlobFault, (max?: number, said?: string) => string>> = {
  empty: () => "it is empty",
  nothing: () => "it names nothing",
  too_long: (max) => `it has more than ${max} characters`,
  too_many: (max) => `its braces stand for more than ${max} patterns`,
  syntax: (_, said) => `it is no regular expression (${said})`,
};

export type ImageFault = "no_root" | "no_programs" | "no_disk" | "no_loop";
const imageFaults: Readonly<Record<ImageFault, string>> = {
  no_root: "only root can mount images of disks",
  no_programs: "programs are missing that make and mount them",
  no_disk: "nothing can be written to the data directory",
  no_loop: "this machine does not mount one",
};
const imageAdvice: Readonly<Record<ImageFault, string>> = {
  no_root: "Run the server as root",
  no_programs: "Install them (apt-get install -y e2fsprogs mount)",
  no_disk: "Make room or give permission",
  no_loop: "Give it loop devices (modprobe loop; a container needs --privileged) and a kernel with ext4",
};

export type DiskFault = "full" | "read_only" | "changed" | "broken_off" | "io" | "too_many_open";
const diskFaults: Readonly<Record<DiskFault, string>> = {
  full: "the disk is full",
  read_only: "the disk may only be read",
  changed: "it was changed in the meantime",
  broken_off: "the transfer broke off",
  io: "the disk reports an error",
  too_many_open: "too many files are open",
};
const diskAdvice: Readonly<Record<DiskFault, string>> = {
  full: "Free some space, then try again.",
  read_only: "Make it writable, then try again.",
  changed: "Look at it again, then repeat what you wanted.",
  broken_off: "Try again.",
  io: "Try again; if it stays so, the disk of this machine needs a look.",
  too_many_open: "Try again in a moment.",
};
