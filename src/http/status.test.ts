import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { storedFailure } from "../protocol/failure.ts";
import { wordsFor } from "../words/words.ts";
import { isFailureCode, statusesOf, statusOf } from "./status.ts";

test("the status follows the cause where a code has several: a full disk is 507, whoever went away 408 [P4]", () => {
  const status = (code: Parameters<typeof storedFailure>[0], why: string) => statusOf(storedFailure(code, { why }));
  const disk = ["full", "read_only", "changed", "broken_off", "io", "too_many_open"];
  for (const code of ["write_failed", "read_failed"] as const)
    assert.deepEqual(
      disk.map((why) => status(code, why)),
      [507, 503, 409, 408, 500, 503],
    );
  const packages = ["index", "time", "room", "lost", "cancelled"];
  assert.deepEqual(
    packages.map((why) => status("packages_failed", why)),
    [400, 408, 507, 503, 409],
  );
  const requests = ["headers", "slow", "syntax", "broken_off"];
  assert.deepEqual(
    requests.map((why) => status("request_unreadable", why)),
    [431, 408, 400, 400],
  );
  assert.equal(status("storage_full", ""), 507);
  assert.equal(status("write_failed", "what a later version wrote down"), 500);
  assert.deepEqual(statusesOf("packages_failed"), [400, 408, 507, 503, 409]);
});

test("the API page has every failure code under the status that it is answered with [P4]", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/api/README.md"), "utf8");
  const codes = Object.keys(wordsFor("en").failures).filter(isFailureCode);
  const rows = [...page.matchAll(/^\| `(\d{3})` \| (.+) \|$/gm)].map(([, status = "", listed = ""]) => [
    Number(status),
    [...listed.matchAll(/`(\w+)`/g)].map(([, code = ""]) => code),
  ]);
  const byStatus = Map.groupBy(
    codes.flatMap((code) => statusesOf(code).map((status) => ({ code, status }))),
    ({ status }) => status,
  );
  const answered = [...byStatus].map(([status, all]) => [status, all.map(({ code }) => code).sort()] as const);
  assert.deepEqual(
    rows,
    answered.sort(([a], [b]) => a - b),
  );
});
