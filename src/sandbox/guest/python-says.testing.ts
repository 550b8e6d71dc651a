import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { python } from "../../../test/world/bare-supervisor.ts";

const programTimeoutMs = 40_000;

/** What a plain Python says that has the supervisor's own modules at hand: it calls `say` once, with one value. */
export async function pythonSays(code: string): Promise<unknown> {
  const begin = `
import json, os, sys
sys.dont_write_bytecode = True
sys.path.insert(0, ${JSON.stringify(import.meta.dirname)})
heard_at = os.dup(1)
def say(value): os.write(heard_at, json.dumps(value).encode())
`;
  const options = { encoding: "utf8", timeout: programTimeoutMs, killSignal: "SIGKILL" } as const;
  const { stdout } = await promisify(execFile)(python, ["-I", "-S", "-c", begin + code], options);
  return JSON.parse(stdout);
}
