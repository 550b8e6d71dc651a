import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { ok, type Result } from "../base/result.ts";

/** What makes, mounts and copies file systems. Looked for in the folders of the system alone: they run as root. */
const folders = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];
const env = { PATH: folders.join(":"), LC_ALL: "C" };

/** A program that does not end by then does not end: a broken disk, for one. */
const programMsMax = 60_000;
const saidCharactersMax = 500;

export type Program = "mkfs.ext4" | "mount" | "umount" | "cp";

/** Runs one to its end. A failure is the beginning of what it said, which may hold host paths. */
export function runProgram(program: Program, args: readonly string[]): Promise<Result<void, string>> {
  const { promise, resolve } = Promise.withResolvers<Result<void, string>>();
  execFile(program, args, { env, timeout: programMsMax }, (error, _output, errors) => {
    const said = errors.trim() === "" ? `${program}: ${error?.message ?? ""}` : errors.trim();
    resolve(error === null ? ok(undefined) : { ok: false, failure: said.slice(0, saidCharactersMax) });
  });
  return promise;
}

export function hasProgram(program: Program): boolean {
  return folders.some((folder) => existsSync(`${folder}/${program}`));
}

/** Programs in it can be run; as another user, or with a device, they cannot. What is removed is given back to the disk. */
const mountOptions = "loop,nosuid,nodev,discard,noinit_itable,errors=remount-ro";

/** The same image is never two file systems: `mount` finds the loop device that a mount elsewhere still holds. */
export function mountImage(image: string, folder: string): Promise<Result<void, string>> {
  return runProgram("mount", ["-t", "ext4", "-o", mountOptions, "--", image, folder]);
}

/** What an image is to hold. */
export type ImageShape = { readonly bytesMax: number; readonly filesMax: number };

const mebibyte = 1024 ** 2;
const blockBytes = 4096;
const inodeBytes = 256;
/** The system's own, and what we lay out. */
const ownInodes = 18;
const groupBytes = 128 * mebibyte;
/** They come in whole blocks, in each group. */
const inodesPerBlock = blockBytes / inodeBytes;
const inodesPerGroupMax = 8 * blockBytes;
const bytesMin = 4 * mebibyte;
/** What files of the usual disks can have. */
const bytesTop = 8 * 1024 ** 4;

/** So large that files get nearly all of what they may have, and never more: what the system itself needs comes on top. */
export function sizesOf({ bytesMax, filesMax }: ImageShape) {
  const content = Math.min(Math.max(bytesMax, bytesMin), bytesTop);
  const journalBytes = (content < 256 * mebibyte ? 4 : 16) * mebibyte;
  // The system holds back a fiftieth, 4096 blocks at the most, so that no write is broken off that it took on.
  const heldBack = Math.min(Math.ceil(content / 49), 4096 * blockBytes);
  const sizeWith = (inodes: number) => content + inodes * inodeBytes + journalBytes + heldBack;
  const groups = Math.ceil(sizeWith(filesMax) / groupBytes);
  const wanted = Math.max(filesMax + ownInodes - groups * inodesPerBlock, 2 * ownInodes);
  const inodes = Math.min(wanted, groups * inodesPerGroupMax);
  return { bytes: Math.floor(sizeWith(inodes) / blockBytes) * blockBytes, inodes, journalBytes };
}

/** Makes a file system with these files in it: the image is a file of holes of the right length already. */
export function fillImage(
  image: string,
  from: string,
  sizes: ReturnType<typeof sizesOf>,
): Promise<Result<void, string>> {
  const { inodes, journalBytes } = sizes;
  return runProgram("mkfs.ext4", [
    ...["-q", "-F", "-b", `${blockBytes}`, "-I", `${inodeBytes}`, "-m", "0", "-N", `${inodes}`],
    ...["-J", `size=${journalBytes / mebibyte}`, "-O", "^resize_inode", "-E", "lazy_itable_init=1,lazy_journal_init=1"],
    ...["-d", from, "--", image],
  ]);
}
