import assert from "node:assert/strict";
import { Duplex } from "node:stream";
import { test } from "node:test";
import { linksOver } from "./stdio.ts";

/** A stream whose other end the test is. */
function stream() {
  const written: Buffer[] = [];
  const own = new Duplex({
    read() {},
    write(chunk: Buffer, _, done) {
      written.push(chunk);
      done();
    },
  });
  return { own, written };
}

function piece(number: number, text: string, length = text.length): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(number, 0);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, Buffer.from(text)]);
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("two links share one stream, in pieces of any size [X1][X5]", async () => {
  const { own, written } = stream();
  const { control, network } = linksOver(own);
  const heard = { control: "", network: "" };
  control.on("data", (bytes) => (heard.control += bytes));
  network.on("data", (bytes) => (heard.network += bytes));
  for (const byte of Buffer.concat([piece(0, "one"), piece(1, "two"), piece(0, ""), piece(0, "three")]))
    own.push(Buffer.of(byte));
  await turn();
  assert.deepEqual(heard, { control: "onethree", network: "two" });
  control.write("a");
  network.write(Buffer.alloc(65_537, "b"));
  await turn();
  const expected = [piece(0, "a"), piece(1, "b".repeat(65_536)), piece(1, "b")];
  assert.deepEqual(Buffer.concat(written), Buffer.concat(expected));
});

for (const [name, bytes] of [
  ["a link that there is not", piece(2, "x")],
  ["a piece that is too long", piece(0, "x", 65_537)],
] as const) {
  test(`a guest that speaks of ${name} has no links any more [X1]`, async () => {
    const { own } = stream();
    const { control, network } = linksOver(own);
    const ended = Promise.all([control, network].map((link) => new Promise((resolve) => link.once("close", resolve))));
    own.push(bytes);
    await ended;
    assert.equal(own.destroyed, true);
  });
}

test("the end of the control link is the end of all; that of the network is not [X1][X5]", async () => {
  const { own } = stream();
  const { control, network } = linksOver(own);
  network.destroy();
  await turn();
  assert.equal(own.destroyed, false);
  own.push(piece(1, "for nobody"));
  await turn();
  control.destroy();
  await turn();
  assert.equal(own.destroyed, true);
});
