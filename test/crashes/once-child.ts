import { systemClock } from "../../src/base/clock.ts";
import { listen } from "../../src/http/http.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { startYard } from "../world/yard.ts";

// A whole AgentYard that dies, as by a power cut, in the middle of the first call under the key `dies`.

type Wanted = { readonly data: string; readonly socketPath: string; readonly dies: "begun" | "done" | "never" };
const { data, socketPath, dies }: Wanted = JSON.parse(process.argv[2] ?? "{}");

function dying(storage: Storage): Storage {
  const die = (key: string) => key === "dies" && process.kill(process.pid, "SIGKILL");
  return {
    ...storage,
    async beginOnce(row) {
      const begun = await storage.beginOnce(row);
      if (dies === "begun") die(row.key);
      return begun;
    },
    async endOnce(owner, key, answer) {
      if (dies === "done") die(key);
      return storage.endOnce(owner, key, answer);
    },
  };
}

const yard = await startYard({ data, wrapStorage: dying });
const server = await listen(yard.app, { socketPath }, { clock: systemClock });
process.stdout.write(server.ok ? "ready\n" : "cannot listen\n");
