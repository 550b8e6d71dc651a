import { nearest } from "../base/nearest.ts";
import type { Logger } from "../observe/observe.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { SkillProblem } from "./front-matter.ts";
import { type Candidate, lookInPlace, type SkillPlace, stampOf } from "./look-in-place.ts";
import type { Skill } from "./read-skill.ts";
import { openShelf, type Shelf } from "./shelf.ts";

export { type Catalogue, catalogueOf } from "./catalogue.ts";
export type { SkillPlace } from "./look-in-place.ts";
export { readRequirements } from "./requirements.ts";

/** All skills that lie in the folders of this installation, and what became of each. */
export interface Skills {
  /** Looks again where something has changed since; the first call looks for the first time. */
  look(): Promise<void>;
  /** Everything that was found, nearest folder first. */
  found(): readonly FoundSkill[];
  /** Those that can be used, by name. */
  usable(): readonly FoundSkill[];
  find(id: string): FoundSkill | undefined;
  /** That there is no such skill, with the names that were probably meant. */
  missing(name: string): { readonly ok: false; readonly failure: Failure<"skill_not_found"> };
  /** What may be done with file types and which are switched off may change while it runs. */
  change(settings: SkillSettings): void;
  /** The copies that conversations and programs see. */
  readonly shelf: Shelf;
}

export type FoundSkill = Candidate & {
  readonly state: "usable" | "broken" | "disabled" | "shadowed" | "untrusted";
  /** The one of the same name that is nearer. */
  readonly by: string | undefined;
  /** A file of one of these types links it by itself. */
  readonly fileTypes: readonly string[];
  /** Where it is switched off: `config/skills.yaml:4`. */
  readonly source: string | undefined;
  readonly skill: Skill | undefined;
};

/** `skills.yaml`, over what holds anyway. */
export type SkillSettings = {
  readonly places: readonly SkillPlace[];
  readonly byId: Readonly<Record<string, OneSkill>>;
};
export type OneSkill = {
  readonly isEnabled: boolean;
  /** Where that is said: `config/skills.yaml:4`. */
  readonly source: string | undefined;
  readonly fileTypes: readonly string[];
};

export type SkillsOptions = {
  readonly settings: SkillSettings;
  /** Where copies are kept; programs in the sandbox see this folder. */
  readonly shelfDir: string;
  readonly logger: Logger;
};

const nearMax = 3;
const nameCharactersMax = 80;

/** Touches nothing until it is asked to look. */
export function openSkills({ settings: first, shelfDir, logger }: SkillsOptions): Skills {
  let settings = first;
  let stamp: string | undefined;
  let candidates: readonly Candidate[] = [];
  let found: readonly FoundSkill[] = [];
  let looking: Promise<void> | undefined;
  const told = new Set<string>();
  const find = (id: string) => found.find((one) => one.id === id && one.state === "usable");

  async function lookNow(): Promise<void> {
    const { places } = settings;
    const now = (await Promise.all(places.map(stampOf))).join("\n\n");
    if (now === stamp) return;
    candidates = await lookIn(places);
    stamp = now;
    found = judge(candidates, settings);
    for (const one of found) tellOnce(one);
  }

  /** In the log file once each, so that an operator finds it; people read it in `/skills` and `agentyard doctor`. */
  function tellOnce({ shown, state, problems }: FoundSkill): void {
    for (const { fault, line, grade } of problems) {
      const key = `${shown} ${fault} ${line}`;
      if (told.has(key) || grade === "warning" || state === "shadowed") continue;
      told.add(key);
      logger.warn("the skill {skill} cannot be used: {fault}", { skill: shown, fault, ...(line && { line }) });
    }
  }

  return {
    async look() {
      // Two turns that start at once share a look.
      looking ??= lookNow().finally(() => {
        looking = undefined;
      });
      await looking;
    },
    found: () => found,
    usable: () => found.filter(({ state }) => state === "usable").toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    find,
    missing(name) {
      const near = nearest(name, new Set(found.map(({ id }) => id)), nearMax, { onlyLikely: true });
      return failure("skill_not_found", { skill: name.slice(0, nameCharactersMax), near: near.join(", ") });
    },
    change(changed) {
      if (changed.places.map(({ path }) => path).join("\n") !== settings.places.map(({ path }) => path).join("\n"))
        stamp = undefined;
      settings = changed;
      found = judge(candidates, settings);
    },
    shelf: openShelf({ dir: shelfDir, logger, find }),
  };
}

/** All that was found, without anybody to keep it. */
export async function findSkills(settings: SkillSettings): Promise<FoundSkill[]> {
  return judge(await lookIn(settings.places), settings);
}

async function lookIn(places: readonly SkillPlace[]): Promise<Candidate[]> {
  return (await Promise.all(places.map(lookInPlace))).flat();
}

/** Nearer folders come first, and the first of a name that can be used at all has it. */
function judge(candidates: readonly Candidate[], { byId }: SkillSettings): FoundSkill[] {
  const taken = new Map<string, string>();
  return candidates.map((candidate) => {
    const { id, skill, place, shown, problems } = candidate;
    const own = Object.hasOwn(byId, id) ? byId[id] : undefined;
    const { isEnabled = true, fileTypes = [], source } = own ?? {};
    const about = { ...candidate, fileTypes, source, by: undefined };
    if (skill === undefined) return { ...about, state: "broken" };
    const untrusted: SkillProblem = { grade: "error", fault: "untrusted" };
    if (!place.isTrusted) return { ...about, state: "untrusted", problems: [...problems, untrusted] };
    const by = taken.get(id);
    if (by !== undefined)
      return { ...about, state: "shadowed", by, problems: [...problems, { grade: "warning", fault: "shadowed", by }] };
    taken.set(id, shown);
    return { ...about, state: isEnabled ? "usable" : "disabled" };
  });
}
