import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { architectureOf, seccompProgram } from "./seccomp.ts";
import { type Architecture, absent, auditNumbers, judged, refused, unassigned, unsupported } from "./syscalls.ts";

const allow = 0x7fff0000;
const notPermitted = 0x00050001;
const noSuchCall = 0x00050026;
const notSupported = 0x0005005f;
const noSuchFamily = 0x00050061;
const killProcess = 0x80000000;

for (const architecture of ["x64", "arm64"] as const) {
  const column = architecture === "x64" ? 0 : 1;

  test(`every number of a call gets the answer that its table says, on ${architecture} [X3]`, () => {
    const expected = new Map<number, number>();
    for (let number = 0; number <= 600; number += 1) expected.set(number, number <= 456 ? allow : noSuchCall);
    for (const [first, last] of unassigned[architecture])
      for (let number = first; number <= last; number += 1) expected.set(number, noSuchCall);
    for (const numbers of Object.values(refused)) expected.set(numbers[column] ?? -1, notPermitted);
    for (const numbers of Object.values(absent)) expected.set(numbers[column] ?? -1, noSuchCall);
    for (const numbers of Object.values(unsupported)) expected.set(numbers[column] ?? -1, notSupported);
    for (const name of ["socket", "socketpair"] as const) expected.set(judged[name][column], noSuchFamily);
    expected.delete(-1);
    assert.deepEqual(
      new Map(Array.from(expected.keys(), (number) => [number, run(architecture, { number })])),
      expected,
    );
  });

  test(`numbers of another calling convention do not exist or end the program, on ${architecture} [X3]`, () => {
    const foreign = auditNumbers[architecture === "x64" ? "arm64" : "x64"];
    assert.deepEqual(
      [run(architecture, { number: 0x40000000 + 1 }), run(architecture, { number: 1, audit: foreign })],
      [noSuchCall, killProcess],
    );
  });

  test(`calls are judged by what they ask for, on ${architecture} [X3][X5]`, () => {
    const { clone, ioctl, socket, socketpair } = judged;
    const asked: readonly (readonly [what: string, number: number, args: number[], answer: number])[] = [
      ["a thread", clone[column], [0x3d0f00], allow],
      ["a process", clone[column], [0x1200011], allow],
      ["a user namespace", clone[column], [0x10000011], notPermitted],
      ["a mount namespace", clone[column], [0x00020011], notPermitted],
      ["a network namespace", clone[column], [0x40000011], notPermitted],
      ["the size of a terminal", ioctl[column], [0, 0x5413], allow],
      ["typing into a terminal", ioctl[column], [0, 0x5412], notPermitted],
      ["the console", ioctl[column], [0, 0x541c], notPermitted],
      ["another kind of terminal", ioctl[column], [0, 0x5423], notPermitted],
      ["a local socket", socket[column], [1, 1, 0], allow],
      ["IPv4", socket[column], [2, 1, 0], allow],
      ["IPv6", socketpair[column], [10, 1, 0], allow],
      ["routes", socket[column], [16, 3, 0], allow],
      ["another netlink", socket[column], [16, 3, 9], noSuchFamily],
      ["the hypervisor", socket[column], [40, 1, 0], noSuchFamily],
      ["raw packets", socket[column], [17, 3, 0], noSuchFamily],
    ];
    assert.deepEqual(
      asked.map(([what, number, args]) => [what, run(architecture, { number, args })]),
      asked.map(([what, , , answer]) => [what, answer]),
    );
  });
}

test("a machine without a table of calls has no filter [X3]", () => {
  assert.deepEqual(["x64", "arm64", "riscv64"].map(architectureOf), ["x64", "arm64", undefined]);
});

const headers: readonly (readonly [Architecture, string])[] = [
  ["x64", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"],
  ["arm64", "/usr/include/asm-generic/unistd.h"],
];
for (const [architecture, path] of headers) {
  // CI has the headers; a machine without a compiler often has none.
  test(`the numbers are those of the kernel's headers, on ${architecture} [X3]`, {
    skip: !existsSync(path) && `${path} is not here`,
  }, () => {
    const text = readFileSync(path, "utf8");
    const given = new Map(
      Array.from(text.matchAll(/__NR_(\w+)\s+(\d+)\s*$/gm), ([, name = "", number]) => [name, Number(number)]),
    );
    const column = architecture === "x64" ? 0 : 1;
    const ours = Object.entries({ ...refused, ...absent, ...unsupported, ...judged }).map(([name, numbers]) => [
      name,
      numbers[column],
    ]);
    assert.deepEqual(
      ours,
      ours.map(([name]) => [name, given.get(`${name}`)]),
    );
  });
}

/** The kernel's reading of a program, as far as ours go. */
function run(architecture: Architecture, call: { number: number; args?: number[]; audit?: number }): number {
  const program = seccompProgram(architecture);
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.number, 0);
  data.writeUInt32LE(call.audit ?? auditNumbers[architecture], 4);
  for (const [index, argument] of (call.args ?? []).entries()) data.writeUInt32LE(argument, 16 + 8 * index);
  let loaded = 0;
  for (let at = 0; ; at += 8) {
    const [code, yes, no, value] = [
      program.readUInt16LE(at),
      program[at + 2],
      program[at + 3],
      program.readUInt32LE(at + 4),
    ];
    if (code === 0x06) return value;
    if (code === 0x20) loaded = data.readUInt32LE(value);
    else {
      const holds = code === 0x15 ? loaded === value : code === 0x35 ? loaded >= value : (loaded & value) !== 0;
      at += 8 * ((holds ? yes : no) ?? 0);
    }
  }
}
