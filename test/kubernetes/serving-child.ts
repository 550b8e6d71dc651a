// A server with a guest in a pod, in which a program runs; it says when, and is then killed by the test.

import { openReal } from "../contracts/sandbox-on-kubernetes.ts";
import { triedGuest, wantedGuest } from "../contracts/sandbox-place.ts";

const [, , installation = "", server = "", id = ""] = process.argv;
const opened = await openReal({ installation, server }).open(wantedGuest({ id }));
if (!opened.ok) throw new Error(`${opened.failure.why}: ${opened.failure.said}`);
const { run } = triedGuest(opened.value);
void run("bash", "sleep 1000 & setsid sleep 1000 & wait");
await run("bash", "echo on");
console.log("on");
