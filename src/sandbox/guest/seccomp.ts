import { assert } from "../../base/assert.ts";
import {
  type Architecture,
  absent,
  auditNumbers,
  judged,
  refused,
  reviewedMax,
  unassigned,
  unsupported,
} from "./syscalls.ts";

/**
 * The filter of a guest's calls into the kernel, as `bwrap --seccomp` takes it: classic BPF, eight bytes an instruction.
 * Every jump goes forward by a known distance, so a branch is put together from its parts and nothing needs a label.
 */
export function seccompProgram(architecture: Architecture): Buffer {
  const program = [
    load(offsets.architecture),
    // A call of another architecture (`int 0x80` on x64) has other numbers: the tree below would misread it.
    ...whenEqual(auditNumbers[architecture], [], [answer(killProcess)]),
    load(offsets.number),
    ...tree(stretchesOf(verdicts(architecture))),
  ];
  return Buffer.concat(program.map(encode));
}

/** Undefined: there is no table for this machine, so there is no filter. */
export function architectureOf(name: string): Architecture | undefined {
  return name === "x64" || name === "arm64" ? name : undefined;
}

type Instruction = { readonly code: number; readonly yes: number; readonly no: number; readonly value: number };

/** Of `struct seccomp_data`. Arguments are compared by their low word: that is all the kernel looks at in those we judge. */
const offsets = { number: 0, architecture: 4, argument: (index: number) => 16 + 8 * index };

const allow = 0x7fff0000;
const killProcess = 0x80000000;
const error = (errno: number) => 0x00050000 | errno;
const notPermitted = error(1);
const noSuchCall = error(38);
const notSupported = error(95);
const noSuchFamily = error(97);

type Verdict = number | "clone" | "ioctl" | "prlimit" | "socket";

/** Index is the call's number; the last entry stands for all numbers above, those of x32 too. */
function verdicts(architecture: Architecture): Verdict[] {
  const column = architecture === "x64" ? 0 : 1;
  const table: Verdict[] = new Array<Verdict>(reviewedMax + 1).fill(allow);
  const put = (number: number | undefined, verdict: Verdict) => {
    if (number !== undefined) table[number] = verdict;
  };
  for (const [first, last] of unassigned[architecture]) table.fill(noSuchCall, first, last + 1);
  for (const numbers of Object.values(refused)) put(numbers[column], notPermitted);
  for (const numbers of Object.values(absent)) put(numbers[column], noSuchCall);
  for (const numbers of Object.values(unsupported)) put(numbers[column], notSupported);
  put(judged.clone[column], "clone");
  put(judged.ioctl[column], "ioctl");
  put(judged.prlimit64[column], "prlimit");
  put(judged.socket[column], "socket");
  put(judged.socketpair[column], "socket");
  return [...table, noSuchCall];
}

type Stretch = { readonly first: number; readonly verdict: Verdict };

function stretchesOf(table: readonly Verdict[]): Stretch[] {
  return table.flatMap((verdict, first) => (first > 0 && table[first - 1] === verdict ? [] : [{ first, verdict }]));
}

/** Balanced: some seven comparisons for any number. */
function tree(stretches: readonly Stretch[]): Instruction[] {
  const middle = stretches.length >> 1;
  const [stretch] = stretches;
  const right = stretches[middle];
  assert(stretch !== undefined && right !== undefined, "a tree has a stretch");
  if (stretches.length === 1) return judgement(stretch.verdict);
  return branch(jump.atLeast, right.first, tree(stretches.slice(middle)), tree(stretches.slice(0, middle)));
}

function judgement(verdict: Verdict): Instruction[] {
  switch (verdict) {
    case "clone":
      return [
        load(offsets.argument(0)),
        ...branch(jump.anyBit, newNamespaces, [answer(notPermitted)], [answer(allow)]),
      ];
    case "ioctl":
      return [load(offsets.argument(1)), ...whenAmong(terminalTricks, [answer(notPermitted)], [answer(allow)])];
    case "prlimit":
      // Zero is the caller itself; the supervisor, which is of the same user, must not be put on short rations.
      return [load(offsets.argument(0)), ...whenEqual(0, [answer(allow)], [answer(notPermitted)])];
    case "socket":
      return [load(offsets.argument(0)), ...whenAmong(families, [answer(allow)], routeSocket())];
    default:
      return [answer(verdict)];
  }
}

/** Every CLONE_NEW… that `clone` takes. */
const newNamespaces = 0x7e020000;
/** TIOCSTI and TIOCLINUX type for the user, TIOCSETD changes what a terminal is. */
const terminalTricks = [0x5412, 0x541c, 0x5423];
/** AF_UNIX, AF_INET, AF_INET6. AF_VSOCK above all is missing: no network namespace confines it. */
const families = [1, 2, 10];
const netlink = 16;
const routeProtocol = 0;

/** Node's `os.networkInterfaces()` asks by a netlink socket of the route protocol and throws when it gets none. */
function routeSocket(): Instruction[] {
  const asRoute = [load(offsets.argument(2)), ...whenEqual(routeProtocol, [answer(allow)], [answer(noSuchFamily)])];
  return whenEqual(netlink, asRoute, [answer(noSuchFamily)]);
}

function whenAmong(values: readonly number[], yes: Instruction[], no: Instruction[]): Instruction[] {
  return values.reduceRight((rest, value) => whenEqual(value, yes, rest), no);
}

function whenEqual(value: number, yes: Instruction[], no: Instruction[]): Instruction[] {
  return branch(jump.equal, value, yes, no);
}

const jump = { equal: 0x15, atLeast: 0x35, anyBit: 0x45 };

/** `yes` may be empty: then what follows the branch goes on there, and `no` must end with an answer. */
function branch(code: number, value: number, yes: Instruction[], no: Instruction[]): Instruction[] {
  assert(no.length <= jumpMax, "a conditional jump reaches 255 instructions");
  return [{ code, yes: no.length, no: 0, value }, ...no, ...yes];
}

const jumpMax = 255;

function load(offset: number): Instruction {
  return { code: 0x20, yes: 0, no: 0, value: offset };
}

function answer(value: number): Instruction {
  return { code: 0x06, yes: 0, no: 0, value };
}

function encode({ code, yes, no, value }: Instruction): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(yes, 2);
  bytes.writeUInt8(no, 3);
  bytes.writeUInt32LE(value >>> 0, 4);
  return bytes;
}
