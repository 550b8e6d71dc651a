import assert from "node:assert/strict";
import { test } from "node:test";
import { SentFiles } from "./sent-files.ts";

test("a file is known under the name it got, in its own session, until another has that name [F3]", () => {
  const sent = new SentFiles();
  sent.add("one", "a.csv", "/x/a.csv");
  sent.add("one", "a (2).csv", "/y/a.csv");
  assert.deepEqual([sent.nameOf("one", "/x/a.csv"), sent.nameOf("one", "/y/a.csv")], ["a.csv", "a (2).csv"]);
  assert.equal(sent.nameOf("two", "/x/a.csv"), undefined);
  // Somebody had removed the first one, and its name was free.
  sent.add("one", "a.csv", "/z/a.csv");
  assert.deepEqual([sent.nameOf("one", "/x/a.csv"), sent.nameOf("one", "/z/a.csv")], [undefined, "a.csv"]);
  sent.forget("one", "a.csv");
  assert.equal(sent.nameOf("one", "/z/a.csv"), undefined);
});
