import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { createClient } from "../client/client.ts";
import type { DetailedHealth } from "../protocol/sandbox-resources.ts";
import { type Language, wordsFor } from "../words/words.ts";
import { serveSandbox } from "./sandbox-command.ts";

const cases: readonly (readonly [Language, string])[] = [
  ["en", "! Code runs here, but 2 things are missing that it could have. `agentyard doctor` tells more."],
  ["zh", "! 本机可以运行代码，但有 2 项可以具备的条件缺失。详情请运行 `agentyard doctor`。"],
];
for (const [language, wanted] of cases) {
  test(`what a machine lacks is told in whole sentences: ${language} [P2][P4]`, async () => {
    const output = new PassThrough();
    await serveSandbox({
      client: createClient({ fetch: async () => Response.json(health), language }),
      words: wordsFor(language),
      output,
      listening: { address: "http://127.0.0.1:9100", dataDir: "data" },
      leave: AbortSignal.abort(),
    });
    output.end();
    const said = await text(output);
    assert.equal(said.split("\n")[1], wanted);
  });
}

const lack = (name: string) => ({ name, reason: "", fix: "" });
const fine = { status: "healthy", error: null } as const;
const health: DetailedHealth = {
  ...{ status: "degraded", version: "1", uptime: 1 },
  dependencies: {
    ...{ database: fine, storage: fine },
    sandbox: {
      ...{ ...fine, missing: [], guests: 0, running: 0, waiting: 0 },
      degraded: [lack("no_disk_limit"), lack("shared_uid")],
    },
  },
};
