// A server with a guest in a container, in which a program runs; it says when, and is then killed by the test.

import { openDocker } from "../contracts/sandbox-on-docker.ts";
import { triedGuest, wantedGuest } from "../contracts/sandbox-place.ts";

const [, , installation = "", folder = ""] = process.argv;
const opened = await openDocker({ installation, folder }).open(wantedGuest({ id: "served" }));
if (!opened.ok) throw new Error(`${opened.failure.why}: ${opened.failure.said}`);
const { run } = triedGuest(opened.value);
void run("bash", "sleep 1000 & setsid sleep 1000 & wait");
await run("bash", "echo on");
console.log("on");
