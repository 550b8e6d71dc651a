import assert from "node:assert/strict";
import { test } from "node:test";
import { BrokenOff } from "../../workspace/workspace.ts";
import { fingerprintOf, hashed, hashOf } from "./fingerprint.ts";

const form = (boundary: string) => `multipart/form-data; boundary=${boundary}`;

test("the same form under another boundary is the same call, in whatever pieces it comes [Q2]", async () => {
  const one = await hashOf(hashed(sent(["--ab\r\nfile\r\n--", "a", "b--"]), form("ab")));
  assert.equal(await hashOf(hashed(sent(["--xyz\r\nfile\r\n--xyz--"]), form('"xyz"'))), one);
  assert.notEqual(await hashOf(hashed(sent(["--xyz\r\nfilE\r\n--xyz--"]), form("xyz"))), one);
});

test("the same form is the same call where its pieces come in one buffer that is filled again and again [Q2]", async () => {
  const pieces = ["--ab\r\nfile\r\n--a", "b--\r\nand the rest."];
  const buffer = Buffer.alloc(100);
  async function* chunks() {
    for (const piece of pieces) yield buffer.subarray(0, buffer.write(piece));
  }
  const reused = await hashOf(hashed({ chunks: chunks(), announced: undefined }, form("ab")));
  assert.equal(reused, await hashOf(hashed(sent(pieces), form("ab"))));
});

test("a repeat that breaks off is not the same call, and a mistake of ours is not taken for that [Q2]", async () => {
  const gone = hashed(sent(["half"], new BrokenOff("the caller broke off")), "application/pdf");
  assert.equal(await hashOf(gone), undefined);
  const mistake = new TypeError("of ours");
  await assert.rejects(hashOf(hashed(sent(["half"], mistake), "application/pdf")), mistake);
});

test("another method, address, body or header that tells what to do is another call, and no other header is [C6]", () => {
  const url = "http://localhost/api/v1/sessions?if_exists=fail";
  const asked = (headers: Record<string, string> = {}, method = "POST", at = url) =>
    fingerprintOf(new Request(at, { method, headers }), { a: 1 });
  const telling = ["conversation_id", "x-conversation-id", "x-business-domain", "upload-length", "upload-metadata"];
  const prints = [
    asked(),
    ...telling.map((name) => asked({ [name]: "1" })),
    asked({}, "PUT"),
    asked({}, "POST", url.replace("sessions", "users")),
    asked({}, "POST", url.replace("fail", "return")),
    fingerprintOf(new Request(url, { method: "POST" }), { a: 2 }),
  ];
  assert.equal(new Set(prints).size, prints.length);
  assert.equal(
    asked({ "x-request-id": "2", "accept-language": "zh" }, "POST", url.replace("localhost", "yard")),
    asked(),
  );
});

function sent(pieces: readonly string[], end?: Error) {
  async function* chunks() {
    for (const piece of pieces) yield Buffer.from(piece);
    if (end !== undefined) throw end;
  }
  return { chunks: chunks(), announced: undefined };
}
