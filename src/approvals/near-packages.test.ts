import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, judgedFacts, linesOf, rowsOf } from "../../test/world/judged-commands.ts";
import { commandFindings } from "./commands.ts";

const nothingListed = { commands: [], onlySafe: false };
const managers =
  "pip uv conda npm pnpm yarn deno bun gem cargo go apt yum apk brew snap composer poetry playwright".split(" ");

test("a package manager that is told no more than what to do asks [H1]", () => {
  compare(
    commandFindings,
    linesOf(
      "packages",
      `npm ci
       pnpm install
       yarn install
       deno install
       bun install
       gem update
       cargo update
       dpkg --purge
       dnf upgrade
       apk upgrade
       brew update
       composer install
       poetry install
       pip install`,
    ),
  );
});

test("what a package manager does is found behind its options and between its words [H1]", () => {
  compare(commandFindings, [
    ...linesOf(
      "packages",
      `pipx runpip black install x
       dnf module install x
       apk -p root add x
       dpkg --force-all -i x.deb
       rpm -v -i x.rpm
       cpan JSON XML
       npm init vite
       go run example.com/x@latest
       apt-get --yes install x
       apt-get -y --no-install-recommends install x
       python -m pip install x -m y
       python -mpip install x
       npm install -s x
       npm --silent install x
       npm --prefix lib install
       pipx run black --help`,
    ),
    ...linesOf(
      "",
      `python build.py install
       pip install x --help
       yarn --version
       gem --version
       bundle --version
       npm --prefix install test
       go run ./x
       npm init`,
    ),
    ...managers.flatMap((manager) => rowsOf("", "% install x", `my-${manager} ${manager}-my`)),
    ...managers.flatMap((manager) => rowsOf("", `${manager} % x`, "my-install")),
  ]);
});

test("an option before the command is no part of what is allowed always [H2]", () => {
  assert.deepEqual(
    ["apt-get -y install x", "apt-get install x", "dnf -y install x", "pip install x", "npx tsx a"].map(
      (command) => commandFindings(command, judgedFacts, nothingListed)[0]?.shape,
    ),
    ["apt-get install *", "apt-get install *", "dnf install *", "pip install *", "npx tsx *"],
  );
});
