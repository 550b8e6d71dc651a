import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { asRoot, installCommand } from "./install.ts";

test("what a machine with apt lacks is got by one command, which only root gives without asking [P1][P5]", {
  skip: !existsSync("/usr/bin/apt-get"),
}, () => {
  const sudo = process.geteuid?.() === 0 ? "" : "sudo ";
  assert.equal(asRoot(), sudo);
  assert.deepEqual((["bubblewrap", "python", "libraries", "fonts"] as const).map(installCommand), [
    `${sudo}apt-get install -y bubblewrap`,
    `${sudo}apt-get install -y python3`,
    `${sudo}apt-get install -y python3-numpy python3-pandas python3-matplotlib`,
    `${sudo}apt-get install -y fonts-wqy-microhei`,
  ]);
});
