// `node scripts/make-fixture.ts`: the database of today's version, kept for ever in test/data, so that every later
// version is tested to read it. Run once per released version; a fixture that exists is not written again.
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fixtureVersion, makeFixture } from "../test/contracts/fixture.ts";

const name = join(import.meta.dirname, `../test/data/sessions-v${fixtureVersion}`);
if (existsSync(`${name}.db`)) throw new Error(`${name}.db exists; remove it only when its version was never released`);
mkdirSync(join(name, ".."), { recursive: true });
const contents = await makeFixture(`${name}.db`);
rmSync(`${name}.db.reserve`);
writeFileSync(`${name}.json`, `${JSON.stringify(contents, null, 2)}\n`);
