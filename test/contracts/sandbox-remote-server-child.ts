// A server with a guest on a host, in which a program runs; it says when, and is then killed by the test.

import { openRemote } from "./sandbox-on-remote.ts";
import { triedGuest, wantedGuest } from "./sandbox-place.ts";

const [, , address = "", id = ""] = process.argv;
const opened = await openRemote([address]).open(wantedGuest({ id }));
if (!opened.ok) throw new Error(`${opened.failure.why}: ${opened.failure.said}`);
const { run } = triedGuest(opened.value);
void run("bash", "sleep 1000 & setsid sleep 1000 & wait");
await run("bash", "echo on");
console.log("on");
