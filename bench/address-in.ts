import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";

const saidCharactersMax = 2_000;

/** The address that a server prints, or its port. */
export async function addressIn(child: ChildProcess): Promise<string> {
  let said = "";
  child.stderr?.on("data", (chunk) => {
    said = (said + chunk).slice(-saidCharactersMax);
  });
  for await (const line of createInterface({ input: child.stdout ?? process.stdin })) {
    const found = /http:\/\/127\.0\.0\.1:\d+|^\d+$/.exec(line)?.[0];
    if (found !== undefined) return found;
  }
  throw new Error(`a server ended before it said where it is: ${said}`);
}
