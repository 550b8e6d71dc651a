import assert from "node:assert/strict";
import { test } from "node:test";
import { assert as ourAssert } from "../base/assert.ts";
import { faultOf } from "./faults.ts";
import { ownCode } from "./own-code.ts";

/** As the client hands on what the code that it calls has thrown, bare or as the cause of its own error. */
async function handedOn(run: () => unknown): Promise<unknown[]> {
  const error = await ownCode(async () => run())().catch((thrown: unknown) => thrown);
  return [error, new Error("Version negotiation probe failed", { cause: error })];
}

const mistakes: [what: string, run: () => unknown, told: RegExp][] = [
  ["a value that is not there", () => (undefined as unknown as { go(): void }).go(), /reading 'go'/],
  ["a number out of its range", () => (1).toFixed(-1), /toFixed/],
  ["a name that nobody gave", () => Function("return nowhere")(), /nowhere is not defined/],
  ["what cannot be written", () => JSON.stringify({ big: 1n }), /BigInt/],
  ["an assertion", () => ourAssert(false, "it runs"), /assertion failed: it runs/],
];
for (const [what, run, told] of mistakes)
  test(`a mistake of ours is never blamed on an MCP server: ${what} [G1]`, async () => {
    for (const error of await handedOn(run)) assert.throws(() => faultOf(error), told);
    // The same from the client itself is what it made of what the server said.
    const { why } = faultOf(await (async () => run())().catch((thrown: unknown) => thrown));
    assert.equal(why, "protocol");
  });

test("what the world does to our way to an MCP server stays a fault of the server [G1]", async () => {
  const ways: [run: () => unknown, why: string][] = [
    [() => fetch("http://127.0.0.1:1/"), "network"],
    [() => fetch("ftp://127.0.0.1/"), "network"],
    [() => new Request("http://user:word@host/"), "protocol"],
    [() => new URL("no address"), "protocol"],
    [() => new Headers({ name: "two\u0000parts" }), "protocol"],
    [() => JSON.parse("{"), "protocol"],
    [() => Promise.reject(new Error("the program has ended")), "protocol"],
    [() => Promise.reject("no error"), "protocol"],
  ];
  for (const [run, why] of ways) {
    const [error] = await handedOn(run);
    assert.equal(faultOf(error).why, why, String(run));
  }
});
