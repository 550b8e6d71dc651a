import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { createClient } from "../../src/client/client.ts";
import { socketFetch } from "../../src/client/socket-fetch.ts";

type Wanted = { readonly data: string; readonly name: string } & Readonly<Record<string, unknown>>;

/** The real thing in a process of its own, which a test kills; each start has a socket of its own, as another surface has. */
export async function startServer(t: TestContext, file: string, { data, name, ...more }: Wanted) {
  const socketPath = join(data, `${name}.sock`);
  const parameters = JSON.stringify({ data, socketPath, ...more });
  const child = spawn(process.execPath, [join(import.meta.dirname, file), parameters], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const dead = once(child, "close");
  t.after(() => child.kill("SIGKILL"));
  const [said] = await once(child.stdout, "data");
  assert.equal(String(said), "ready\n");
  const fetch = socketFetch(socketPath, systemClock);
  return {
    fetch,
    client: createClient({ fetch }),
    dead,
    async kill() {
      child.kill("SIGKILL");
      await dead;
    },
  };
}
