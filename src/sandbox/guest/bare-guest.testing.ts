import assert from "node:assert/strict";
import { type BareSupervisor, guestSettings, type Outcome, outcomeOf } from "../../../test/world/bare-supervisor.ts";
import type { Execution } from "../provider.ts";
import { connectGuest, type GuestSettings } from "./connection.ts";

/** Python that writes until nobody has taken anything for a while, then says into a file how much it was. */
export const writesUntilFull = (told: string) => `import os, select
os.set_blocking(1, False)
count = 0
while select.select([], [1], [], 0.5)[1]: count += os.write(1, b'x' * 4096)
open('${told}', 'w').write(str(count))`;

/** A guest of a supervisor that is a plain process, and a way to run Bash in it, or what a test says otherwise. */
export async function bareGuest(supervisor: BareSupervisor, settings: Partial<GuestSettings> = {}) {
  const { socket, workspace, said } = supervisor;
  const connected = await connectGuest(socket, { ...guestSettings(workspace), ...settings });
  assert(connected.ok, said());
  const guest = connected.value;
  let count = 0;
  const run = (code: string, wanted: Partial<Execution> = {}): Promise<Outcome> => {
    count += 1;
    return outcomeOf(guest.run({ id: `e${count}`, language: "bash", code, agent: "a", timeoutMs: 30_000, ...wanted }));
  };
  return { guest, run, workspace, socket };
}
