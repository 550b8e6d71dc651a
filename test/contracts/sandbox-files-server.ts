// A server of its own on a data directory, for tests that measure or kill it: prints its address and stays.
import { openFileDoor } from "./sandbox-files.ts";

const [, , data] = process.argv;
const { url } = await openFileDoor(data === undefined ? {} : { data });
console.log(url);
