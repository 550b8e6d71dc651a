/** Becomes an ordinary user, makes a backup in the temporary folder and prints what is told: `node locked-backup.ts`, started by root. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
// A backup loads it when it is needed; that user may have no access to it then.
import "tar-stream";
import { makeBackup } from "../../src/backup.ts";
import { protocolVersion } from "../../src/protocol/routes.ts";
import { openGround } from "../contracts/workspaces-place.ts";

const nobody = 65_534;
// Only now: the sources may lie where that user has no access.
process.setgid?.(nobody);
process.setuid?.(nobody);
const ground = await openGround({ after() {} });
await ground.start("c");
const outputs = ground.path("workspace", "c", "outputs");
for (const name of ["locked", "named"]) {
  mkdirSync(join(outputs, name));
  writeFileSync(join(outputs, name, "f.txt"), "hidden");
}
writeFileSync(join(outputs, "locked.txt"), "hidden", { mode: 0o000 });
writeFileSync(join(outputs, "own.txt"), "mine");
chmodSync(join(outputs, "locked"), 0o000);
chmodSync(join(outputs, "named"), 0o400);

const wanted = { agentyard: "0.0.0-test", protocol: protocolVersion, withKey: false };
const fetch = async () => new Response(ReadableStream.from(ground.workspaces.archive(wanted)));
const made = await makeBackup({ fetch, path: join(tmpdir(), "b.tar"), includesKey: false });
process.stdout.write(JSON.stringify(made));
