import assert from "node:assert/strict";
import { type BareSupervisor, guestSettings, type Outcome, outcomeOf } from "../../../test/world/bare-supervisor.ts";
import type { Execution } from "../provider.ts";
import { connectGuest, type GuestSettings } from "./connection.ts";

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
