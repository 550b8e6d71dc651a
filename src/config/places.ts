import { accessSync, constants, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve, sep } from "node:path";
import { systemCodeOrThrow } from "../base/fault.ts";
import { parsedObject } from "../base/json.ts";
import type { SkillPlace } from "../skills/skills.ts";
import type { ConfigFile } from "./files.ts";
import type { Environment } from "./sources.ts";

/** What a configuration depends on besides its files. */
export type Surroundings = {
  readonly env: Environment;
  readonly cwd: string;
  readonly homeDir: string;
  /** The folder that holds our package.json. */
  readonly programDir: string;
};

/** Where settings and data lie. */
export type Places = {
  /** This program runs from a clone that belongs to its user, so the clone's own files can be trusted as much as it. */
  readonly isClone: boolean;
  /** Holds `.env` and `config/`: the clone, the current folder, or what AGENTYARD_CONFIG names. */
  readonly projectDir: string;
  readonly envFile: ConfigFile;
  readonly projectFile: ConfigFile;
  readonly userFile: ConfigFile;
  /** The rules for decisions, in the same order. */
  readonly projectRules: ConfigFile;
  readonly userRules: ConfigFile;
  /** The agents there are, in the same order. */
  readonly projectAgents: ConfigFile;
  readonly userAgents: ConfigFile;
  /** Which tools there are, in the same order. */
  readonly projectTools: ConfigFile;
  readonly userTools: ConfigFile;
  /** What is said of single skills, in the same order, and where skills lie, the nearest folder first. */
  readonly projectSkills: ConfigFile;
  readonly userSkills: ConfigFile;
  readonly skillPlaces: readonly SkillPlace[];
  /** The MCP servers there are, in the same order. */
  readonly projectMcp: ConfigFile;
  readonly userMcp: ConfigFile;
  /** The user chose the project's folder: the program is their clone, or AGENTYARD_CONFIG names it. */
  readonly isTrusted: boolean;
  /** With the operator's own programs that look at calls: not the folder that the program was only started in. */
  readonly checkerFolders: readonly ConfigFile[];
  /** With the operator's own tools, one file each: of the same folders. */
  readonly toolFolders: readonly ConfigFile[];
  readonly dataDir: string;
};

/** What the process itself brings along; nobody else in the house reads its environment. */
export function processEnvironment(): Surroundings {
  return {
    env: { ...process.env },
    cwd: process.cwd(),
    homeDir: homedir(),
    programDir: join(import.meta.dirname, "..", ".."),
  };
}

export function findPlaces({ env, cwd, homeDir, programDir }: Surroundings): Places {
  const isClone = isOwnClone(programDir);
  const projectDir = env.AGENTYARD_CONFIG ? resolve(cwd, env.AGENTYARD_CONFIG) : isClone ? programDir : cwd;
  const isTrusted = isClone || Boolean(env.AGENTYARD_CONFIG);
  const userDir = join(xdgDir(env.XDG_CONFIG_HOME, homeDir, ".config"), "agentyard");
  const ofUser = (...names: string[]) => {
    const path = join(userDir, ...names);
    return { path, shown: underHome(path, homeDir) };
  };
  const programFolders = (name: string) => [
    ...(isTrusted ? [{ path: join(projectDir, name), shown: name }] : []),
    ofUser(name),
  ];
  return {
    isClone,
    projectDir,
    envFile: { path: join(projectDir, ".env"), shown: ".env" },
    projectFile: { path: join(projectDir, "config", "agentyard.yaml"), shown: "config/agentyard.yaml" },
    userFile: ofUser("agentyard.yaml"),
    projectRules: { path: join(projectDir, "config", "hitl_rules.yaml"), shown: "config/hitl_rules.yaml" },
    userRules: ofUser("hitl_rules.yaml"),
    projectAgents: { path: join(projectDir, "config", "agents.yaml"), shown: "config/agents.yaml" },
    userAgents: ofUser("agents.yaml"),
    projectTools: { path: join(projectDir, "config", "tools.yaml"), shown: "config/tools.yaml" },
    userTools: ofUser("tools.yaml"),
    projectSkills: { path: join(projectDir, "config", "skills.yaml"), shown: "config/skills.yaml" },
    userSkills: ofUser("skills.yaml"),
    skillPlaces: skillPlaces({ projectDir, programDir, userDir, homeDir, isTrusted }),
    projectMcp: { path: join(projectDir, "config", "mcp_servers.yaml"), shown: "config/mcp_servers.yaml" },
    userMcp: ofUser("mcp_servers.yaml"),
    isTrusted,
    checkerFolders: programFolders("checkers"),
    toolFolders: programFolders("tools"),
    dataDir: isClone
      ? join(programDir, "data")
      : join(xdgDir(env.XDG_DATA_HOME, homeDir, ".local", "share"), "agentyard"),
  };
}

type Roots = Pick<Places, "projectDir" | "isTrusted"> &
  Pick<Surroundings, "programDir" | "homeDir"> & { readonly userDir: string };

/** The folders in which other programs look for skills as well, then our own; what we ship comes last. */
function skillPlaces({ projectDir, programDir, userDir, homeDir, isTrusted }: Roots): SkillPlace[] {
  const ofProject = [join(".agents", "skills"), join(".claude", "skills"), "skills"]
    .map((shown) => ({ path: join(projectDir, shown), shown, kind: "project", isTrusted }) as const)
    // In a clone of ours this is what we ship.
    .filter(({ path }) => path !== join(programDir, "skills"));
  const ofUser = [join(userDir, "skills"), join(homeDir, ".agents", "skills"), join(homeDir, ".claude", "skills")]
    .map((path) => ({ path, shown: shownSkills(path, homeDir), kind: "user", isTrusted: true }) as const)
    // Started at home, the folder's own are the user's.
    .filter(({ path }) => !isTrusted || !ofProject.some((one) => one.path === path));
  const builtIn = { path: join(programDir, "skills"), shown: "skills", kind: "built_in", isTrusted: true } as const;
  const isUsers = (path: string) => ofUser.some((one) => one.path === path);
  return [...ofProject.filter(({ path }) => !isUsers(path)), ...ofUser, builtIn];
}

/** Users of a server read it: elsewhere than at home, the folder above is nobody's business. */
function shownSkills(path: string, homeDir: string): string {
  const shown = underHome(path, homeDir);
  return isAbsolute(shown) ? join("agentyard", "skills") : shown;
}

/** An installed package has the same package.json, but lies in node_modules or where its user may not write. */
function isOwnClone(dir: string): boolean {
  if (dir.split(sep).includes("node_modules")) return false;
  let text: string;
  try {
    accessSync(dir, constants.W_OK);
    text = readFileSync(join(dir, "package.json"), "utf8");
  } catch (error) {
    systemCodeOrThrow(error);
    return false;
  }
  return parsedObject(text)?.name === "agentyard";
}

/** The XDG specification wants relative paths ignored. */
function xdgDir(value: string | undefined, homeDir: string, ...otherwise: string[]): string {
  return value !== undefined && isAbsolute(value) ? value : join(homeDir, ...otherwise);
}

function underHome(path: string, homeDir: string): string {
  return path.startsWith(homeDir + sep) ? `~${path.slice(homeDir.length)}` : path;
}
