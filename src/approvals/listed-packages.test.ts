import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, judgedFacts, linesOf, rowsOf } from "../../test/world/judged-commands.ts";
import { commandFindings } from "./commands.ts";

function judged(title: string, rows: readonly (readonly [command: string, kinds: string])[]): void {
  test(title, () => compare(commandFindings, rows));
}

const nothingListed = { commands: [], onlySafe: false };

const does = (program: string, words: string) => rowsOf("packages", `${program} % x`, words);

judged("each command of each package manager that fetches, installs or removes asks [H1]", [
  ...does(
    "pip",
    "install download uninstall wheel index search lock sync update upgrade inject run reinstall reinstall-all",
  ),
  ...rowsOf("packages", "% install x", "pip pip3 pip3.12 pipenv pipx mamba micromamba"),
  ...rowsOf("packages", "% x", "easy_install uvx npx bunx pnpx npm-check-updates"),
  ...linesOf(
    "packages",
    `uv pip install x
       uv pip sync x
       uv pip uninstall x
       uv tool install x
       uv tool run x
       uv tool upgrade x
       uv python install 3
       conda env create
       conda env update
       conda env remove
       npm init x
       go mod download
       go mod tidy
       go run x@latest
       apt-get -y install x
       apt-get -q -y install x
       pacman -Syu
       pacman -Rs x
       pacman -U x
       yay -S x
       paru -S x
       rpm -i x
       rpm -ivh x
       rpm -U x
       rpm -F x
       rpm -e x
       rpm --install x
       rpm --upgrade x
       rpm --erase x
       python -m ensurepip
       pypy -m pip install x
       python3.12 -m pip install x
       python setup.py install
       python setup.py develop
       python setup.py easy_install
       yarn
       bundle
       gem
       cpan JSON::XS
       cpan JSON
       nix-env -i x
       nix-shell -p x`,
  ),
  ...does("uv", "add remove sync lock x"),
  ...does("conda", "install create update upgrade remove uninstall search"),
  ...does(
    "npm",
    `install i in isntall add ci clean-install install-test install-ci-test it update up upgrade uninstall un rm remove r exec x
       create publish unpublish audit outdated view info search login adduser link dedupe rebuild deprecate owner dist-tag
       whoami ping`,
  ),
  ...does(
    "pnpm",
    "install i add update up upgrade remove rm dlx create publish fetch import link audit outdated self-update",
  ),
  ...does("yarn", "install add up upgrade remove dlx create global import publish npm set link outdated audit"),
  ...does("deno", "install add cache upgrade"),
  ...does("bun", "install i add update remove x create upgrade publish link"),
  ...does("gem", "install update uninstall add fetch push outdated cleanup"),
  ...does("cargo", "install uninstall add fetch update publish search login vendor binstall"),
  ...does("go", "get install"),
  ...does(
    "apt",
    `install update upgrade full-upgrade dist-upgrade remove purge autoremove download source build-dep reinstall clean`,
  ),
  ...does("dpkg", "-i --install -r --remove -P --purge --unpack"),
  ...does("dnf", "install update upgrade remove erase in up makecache localinstall groupinstall refresh"),
  ...does("apk", "add del update upgrade fetch"),
  ...does("brew", "install upgrade update uninstall tap reinstall cask fetch bundle"),
  ...does(
    "snap",
    `install add remove update upgrade uninstall refresh use run get deps component toolchain target default prepare enable
       build shell profile`,
  ),
  ...does("composer", "install require update remove create-project global"),
  ...does("poetry", "add install update remove lock publish self sync"),
  ...rowsOf(
    "packages",
    "% install x",
    `yarnpkg bundle bundler apt-get aptitude yum microdnf zypper tdnf flatpak port emerge guix choco scoop winget pkg asdf sdk
       nvm pyenv rbenv rustup volta corepack opam luarocks cpan cpanm mix stack cabal nix-env nix nix-shell playwright
       puppeteer cypress`,
  ),
  ...rowsOf("packages", "npm % lib install", "--prefix -C --cwd --dir -n --name --filter -w"),
]);

test("what a package manager only looks at, builds or runs from here does not ask [H1]", () => {
  compare(
    commandFindings,
    linesOf(
      "",
      `pip list
       pip check
       uv venv
       uv tool list
       conda list
       conda env list
       npm run install
       npm test
       npm ls x
       npm init
       npm installx
       pnpm run build
       yarn run build
       deno fmt
       bun run build
       gem list
       cargo test
       go vet
       go mod graph
       go run x.go
       apt list
       apt -s install x
       apt-get --simulate install x
       apt-get --dry-run install x
       dpkg -l
       rpm -qa
       dnf list
       apk info
       brew list
       pacman -Q
       snap list
       composer show
       poetry show
       playwright test
       npx
       npx --no-install x
       npx --no x
       pnpx --no-install x
       python -m venv temp/v
       python setup.py test`,
    ),
  );
});

test("what is allowed always of a package manager is its command, or the package that is run [H2]", () => {
  const shapes = linesOf(
    "",
    `uv pip install x
     uv tool install x
     uv python install 3
     uv add x
     go mod tidy
     conda env create
     mamba env create
     npx -y tsx a
     uvx ruff a
     bunx tsx a
     pnpx tsx a
     yarn
     npm -s ci
     pip --quiet install x`,
  ).map(([command]) => commandFindings(command, judgedFacts, nothingListed)[0]?.shape);
  assert.deepEqual(shapes, [
    ...[
      "uv pip install *",
      "uv tool install *",
      "uv python install *",
      "uv add *",
      "go mod tidy *",
      "conda env create *",
    ],
    ...["mamba env create *", "npx tsx *", "uvx ruff *", "bunx tsx *", "pnpx tsx *", "yarn *", "npm ci *"],
    "pip install *",
  ]);
});
