// A server with a guest in which a program runs; it says when, and is then killed by the test. What it is told: the kind
// of its provider, and what that kind needs.
import type { SandboxProvider } from "../../src/sandbox/provider.ts";
import { openDocker } from "./sandbox-on-docker.ts";
import { openReal } from "./sandbox-on-kubernetes.ts";
import { openRemote } from "./sandbox-on-remote.ts";
import { triedGuest, wantedGuest } from "./sandbox-place.ts";

const [, , kind = "", id = "", one = "", two = ""] = process.argv;
const providers: Readonly<Record<string, () => SandboxProvider>> = {
  docker: () => openDocker({ installation: one, folder: two }),
  kubernetes: () => openReal({ installation: one, server: two }),
  remote: () => openRemote([one]),
};
const provider = providers[kind]?.();
if (provider === undefined) throw new Error(`no provider: ${kind}`);
const opened = await provider.open(wantedGuest({ id }));
if (!opened.ok) throw new Error(`${opened.failure.why}: ${opened.failure.said}`);
const { run } = triedGuest(opened.value);
void run("bash", "sleep 1000 & setsid sleep 1000 & wait");
await run("bash", "echo on");
console.log("on");
