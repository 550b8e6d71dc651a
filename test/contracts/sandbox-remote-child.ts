// A sandbox host as a process of its own: it says where it listens, and is ended by the test.

import { systemClock } from "../../src/base/clock.ts";
import { openSandboxHost } from "../../src/sandbox/remote/sandbox-host.ts";
import { quietLogger } from "../world/workspace.ts";
import { openProvider } from "./sandbox-guests.ts";

const [, , installation = "", files = "", secret = "", guestsMax = "64"] = process.argv;
const provider = openProvider({ installation });
const host = openSandboxHost({
  ...{ provider, files, secret, guestsMax: Number(guestsMax), release: "0.0.0-test" },
  ...{ clock: systemClock, logger: quietLogger([]) },
});
const listening = await host.listen({ host: "127.0.0.1", port: 0 });
if (!listening.ok) throw new Error(listening.failure.code);
process.stdout.write(`${listening.value}\n`);
// A test that is killed itself leaves nothing behind.
process.stdin.resume().once("end", () => process.exit());
process.once("SIGTERM", () => void close());

async function close(): Promise<void> {
  await host.close();
  await provider.close();
  process.stdin.destroy();
}
