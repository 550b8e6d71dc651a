import { type Call, report } from "./scene.ts";

/** What a package manager does with other machines and with what runs here; all other commands of it are local. */
const installers: readonly { readonly program: RegExp; readonly does: RegExp }[] = [
  {
    program: /^(pip|pip3|pip[\d.]+|pipenv|pipx)$/,
    does: /(^| )(install|download|uninstall|wheel|index|search|lock|sync|update|upgrade|inject|run|reinstall\S*)( |$)/,
  },
  { program: /^easy_install$/, does: /./ },
  {
    program: /^uv$/,
    does: /^(pip install|pip sync|pip uninstall|add|remove|sync|lock|tool (install|run|upgrade)|python install|x)/,
  },
  { program: /^(uvx|npx|bunx|pnpx|npm-check-updates)$/, does: /./ },
  {
    program: /^(conda|mamba|micromamba)$/,
    does: /^(install|create|update|upgrade|remove|uninstall|env (create|update|remove)|search)/,
  },
  {
    program: /^npm$/,
    does: /^(install|i|in|isntall|add|ci|clean-install|install-.*|it|update|up|upgrade|uninstall|un|rm|remove|r|exec|x|create|init .+|publish|unpublish|audit|outdated|view|info|search|login|adduser|link|dedupe|rebuild|deprecate|owner|dist-tag|whoami|ping)( |$)/,
  },
  {
    program: /^pnpm$/,
    does: /^(install|i|add|update|up|upgrade|remove|rm|dlx|create|publish|fetch|import|link|audit|outdated|self-update)( |$)/,
  },
  {
    program: /^yarn(pkg)?$/,
    does: /^$|^(install|add|up|upgrade|remove|dlx|create|global|import|publish|npm|set|link|outdated|audit)( |$)/,
  },
  { program: /^deno$/, does: /^(install|add|cache|upgrade)( |$)/ },
  { program: /^bun$/, does: /^(install|i|add|update|remove|x|create|upgrade|publish|link)( |$)/ },
  { program: /^(gem|bundle|bundler)$/, does: /^$|^(install|update|uninstall|add|fetch|push|outdated|cleanup)( |$)/ },
  { program: /^cargo$/, does: /^(install|uninstall|add|fetch|update|publish|search|login|vendor|binstall)( |$)/ },
  { program: /^go$/, does: /^(get|install|mod (download|tidy)|run \S+@)/ },
  {
    program: /^(apt|apt-get|aptitude)$/,
    does: /^(-\S+ )*(install|update|upgrade|full-upgrade|dist-upgrade|remove|purge|autoremove|download|source|build-dep|reinstall|clean)/,
  },
  { program: /^dpkg$/, does: /(^| )(-i|--install|-r|--remove|-P|--purge|--unpack)( |$)/ },
  { program: /^rpm$/, does: /(^| )(-[a-z]*[iUFe]|--install|--upgrade|--erase)/ },
  {
    program: /^(yum|dnf|microdnf|zypper|tdnf)$/,
    does: /(^| )(install|update|upgrade|remove|erase|in|up|makecache|localinstall|groupinstall|refresh)( |$)/,
  },
  { program: /^apk$/, does: /(^| )(add|del|update|upgrade|fetch)( |$)/ },
  { program: /^brew$/, does: /^(install|upgrade|update|uninstall|tap|reinstall|cask|fetch|bundle)( |$)/ },
  { program: /^(pacman|yay|paru)$/, does: /^-[SRU]/ },
  {
    program:
      /^(snap|flatpak|port|emerge|guix|choco|scoop|winget|pkg|asdf|sdk|nvm|pyenv|rbenv|rustup|volta|corepack|opam|luarocks|cpan|cpanm|mix|stack|cabal|nix-env|nix|nix-shell)$/,
    does: /^(install|add|remove|update|upgrade|uninstall|refresh|use|run|-i|get|deps|component|toolchain|target|default|prepare|enable|[A-Z]\w*(::|$| )|-p|build|shell|profile)/,
  },
  { program: /^(composer)$/, does: /^(install|require|update|remove|create-project|global)( |$)/ },
  { program: /^poetry$/, does: /^(add|install|update|remove|lock|publish|self|sync)( |$)/ },
  { program: /^(playwright|puppeteer|cypress)$/, does: /^install/ },
];

/** Installs and removes packages, or runs one that is fetched first. */
export function judgePackages(call: Call): void {
  const { program, args, scene, what } = call;
  const asked = moduleOf(program, args) ?? { program, words: wordsOf(program, args) };
  const text = asked.words.join(" ");
  const isOne = installers.some((one) => one.program.test(asked.program) && one.does.test(text));
  if (isOne && !isLocalOnly(asked.program, args)) report(scene, "packages", "medium", what, shapeOf(asked));
}

/** `python -m pip install`, `python setup.py install`. */
function moduleOf(program: string, args: readonly string[]) {
  if (!/^(python|pypy)[\d.]*$/.test(program)) return undefined;
  const words = args.flatMap((arg) => (/^-m./.test(arg) ? ["-m", arg.slice(2)] : [arg]));
  const at = words.indexOf("-m");
  const module = at === -1 ? undefined : words[at + 1];
  if (module === "ensurepip") return { program: "pip", words: ["install"] };
  if (module !== undefined) return { program: module, words: wordsOf(module, words.slice(at + 2)) };
  const isSetup = args[0] === "setup.py" && /^(install|develop|easy_install)$/.test(args[1] ?? "");
  return isSetup ? { program: "pip", words: ["install"] } : undefined;
}

/** Options before the command say nothing about it; for these they are the command. */
function wordsOf(program: string, args: readonly string[]): readonly string[] {
  if (/^(dpkg|rpm|pacman|yay|paru|nix-env|nix-shell|apt|apt-get)$/.test(program)) return args;
  const words = args.filter(
    (arg, at) => !arg.startsWith("-") && !/^(--prefix|-C|--cwd|--dir|-n|--name|--filter|-w)$/.test(args[at - 1] ?? ""),
  );
  // `yarn --version` installs nothing.
  return words.length === 0 && args.length > 0 ? ["(none)"] : words;
}

/** What is there already, or only looked at. Behind the name of a package `--help` is for that one, which is fetched first. */
function isLocalOnly(program: string, args: readonly string[]): boolean {
  if (/^(npx|pnpx|bunx|uvx)$/.test(program))
    return args.some((arg) => /^--(no-install|no)$/.test(arg)) || args.length === 0;
  return (
    (args.includes("--help") && (program !== "pipx" || args.length < 3)) ||
    (program.startsWith("apt") && args.some((arg) => /^(-s|--simulate|--dry-run)$/.test(arg)))
  );
}

function shapeOf({ program, words }: { readonly program: string; readonly words: readonly string[] }): string {
  const [first] = words.filter((word) => !word.startsWith("-"));
  const runs = /^(uvx|npx|bunx|pnpx)$/.test(program);
  const command =
    /^(pip|tool|env|python|mod)$/.test(first ?? "") && /^(uv|go|conda|mamba)$/.test(program)
      ? words.slice(0, 2)
      : [first];
  return first === undefined || first === "(none)"
    ? `${program} *`
    : runs
      ? `${program} ${first} *`
      : `${program} ${command.join(" ")} *`;
}
