/** Becomes an ordinary user, restores a backup and prints what is told: `node locked-restore.ts <backup> <data directory>`, started by root. */
// A restore loads it when it is needed; that user may have no access to it then.
import "tar-stream";
import { restore } from "./backups.ts";

const nobody = 65_534;
const [path = "", data = ""] = process.argv.slice(2);
// Only now: the sources may lie where that user has no access.
process.setgid?.(nobody);
process.setuid?.(nobody);
process.stdout.write(JSON.stringify(await restore(path, data)));
