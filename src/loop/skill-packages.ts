import { parsedJson } from "../base/json.ts";
import { ok, type Result } from "../base/result.ts";
import type { Failure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import { type FoundSkill, readRequirements } from "../skills/skills.ts";
import type { Engine } from "./loop.ts";
import type { Parts } from "./parts.ts";

const lookMsMax = 20_000;
const installMsMax = 600_000;

/** Tells what Python has here, by the names that packages go by. */
const listPackages = `python3 -c 'import importlib.metadata as m, json
print(json.dumps(sorted({d.metadata["Name"] for d in m.distributions() if d.metadata["Name"]})))'`;

/**
 * The packages that a skill wants and this user's programs do not have. Looked up inside the sandbox, which alone knows;
 * none where no program can run: then nothing of the skill can.
 */
export async function missingPackages(
  { sandbox }: Pick<Parts, "sandbox">,
  owner: OwnerId,
  { folder, hasRequirements }: FoundSkill,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const { packages } = hasRequirements ? await readRequirements(folder) : { packages: [] };
  if (packages.length === 0) return [];
  const place = { owner, conversation: undefined, workspace: undefined, agent: "packages" };
  const running = await sandbox.run(place, { language: "bash", code: listPackages, timeoutMs: lookMsMax, signal });
  if (!running.ok) return [];
  const { how, exitCode, stdout } = await running.value.report;
  const listed = how === "done" && exitCode === 0 ? parsedJson(stdout.text) : undefined;
  if (!Array.isArray(listed)) return [];
  const there = new Set(listed.map((name) => plainName(String(name))));
  return packages
    .filter(({ name }) => !there.has(plainName(name)))
    .map(({ name, version = "" }) => `${name}${version}`);
}

/** `Scikit_Learn` and `scikit-learn` are the same package. */
function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, "-");
}

/** What a person wants installed for a skill: the call itself is the decision. */
export function openSkillPackages(parts: Parts): Pick<Engine, "installPackages"> {
  return { installPackages: (owner, skill) => installFor(parts, owner, skill) };
}

/** Into the sandbox of this user, all of them or none. Whoever calls it has asked a person, or is one. */
export async function installFor(
  { skills, sandbox }: Pick<Parts, "skills" | "sandbox">,
  owner: OwnerId,
  name: string,
): Promise<Result<Installed, Failure>> {
  await skills.look();
  const found = skills.find(name);
  if (found === undefined) return skills.missing(name);
  const { packages, leftOut } = await readRequirements(found.folder);
  if (packages.length === 0) return ok({ installed: [], leftOut: [...leftOut] });
  const wanted = packages.map((one) => ({ manager: "pip" as const, ...one }));
  const order = { packages: wanted, timeoutMs: installMsMax, allowsConflicts: false };
  const session = await sandbox.packages.install(owner, order);
  if (!session.ok) return session;
  const names = new Set(packages.map((one) => plainName(one.name)));
  const all = session.value.packages?.installed ?? [];
  const installed = all.filter((one) => names.has(plainName(one.name)));
  return ok({ installed: installed.map(({ name: one, version }) => ({ name: one, version })), leftOut: [...leftOut] });
}

type Installed = { installed: { name: string; version: string }[]; leftOut: string[] };
