import { ok, type Result } from "../../base/result.ts";
import type { ListedSkill } from "../../loop/loop.ts";
import type { Failure } from "../../protocol/failure.ts";
import type { OwnerId } from "../../protocol/ids.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { type Language, type Words, wordsFor } from "../../words/words.ts";
import type { Handlers, Parts } from "../handler.ts";

type Names = "listSkills" | "explainSkill" | "installSkillPackages" | "listMentions";

/** What skills there are, why each is used or not, and what can be named with `@`. */
export function skillHandlers({ engine, log }: Parts): Pick<Handlers, Names> {
  const find = async (owner: OwnerId, id: string | undefined): Promise<Result<ConversationRow | undefined, Failure>> =>
    id === undefined ? ok(undefined) : log.find(owner, id);
  return {
    async listSkills({ owner, query, language }) {
      const row = await find(owner, query.conversation);
      if (!row.ok) return row;
      const { items, tokensMax } = await engine.skills(owner, row.value);
      return ok({ items: items.map((item) => infoOf(item, language)), tokensMax });
    },
    async explainSkill({ owner, params, query, language }) {
      const row = await find(owner, query.conversation);
      if (!row.ok) return row;
      const skill = await engine.explainSkill(owner, params.skill, row.value);
      if (!skill.ok) return skill;
      return ok({ ...infoOf(skill.value, language), reasons: reasonsOf(skill.value, wordsFor(language)) });
    },
    installSkillPackages: ({ owner, params }) => engine.installPackages(owner, params.skill),
    async listMentions({ owner, query }) {
      const row = await find(owner, query.conversation);
      return row.ok ? ok(await engine.mentions(owner, query, row.value)) : row;
    },
  };
}

function infoOf({ found, state, use }: ListedSkill, language: Language) {
  const { fault } = wordsFor(language).skills;
  const { id, skill, shown, place, fileTypes, problems } = found;
  return {
    ...{ id, state, place: shown, kind: place.kind },
    description: skill?.description ?? "",
    license: skill?.license ?? null,
    compatibility: skill?.compatibility ?? null,
    allowedTools: [...(skill?.allowedTools ?? [])],
    fileTypes: [...fileTypes],
    notes: problems.map((problem) => {
      const [what, instead] = fault(problem);
      return { grade: problem.grade, fault: problem.fault, line: problem.line ?? null, what, instead };
    }),
    use: use ?? null,
  };
}

/** Why it was offered and used, or why not: first what keeps it away, then what became of it here. */
function reasonsOf({ found, state, use, tokensMax }: ListedSkill & { tokensMax: number }, { skills }: Words): string[] {
  const { why } = skills;
  const isUsable = state === "offered" || state === "cut";
  return [stateOf(), ...(isUsable && use !== undefined ? useOf(use) : [])];

  function stateOf(): string {
    switch (state) {
      case "cut":
        return why.cut({ max: tokensMax });
      case "disabled":
        return why.disabled({ source: found.source ?? "skills.yaml" });
      case "shadowed":
        return why.shadowed({ by: found.by ?? "" });
      default:
        return why[state]();
    }
  }

  function useOf({ linked, isRead }: NonNullable<ListedSkill["use"]>): string[] {
    const read = isRead ? why.read() : why.notRead();
    if (linked === null) {
      const types = found.fileTypes.map((type) => `.${type}`).join(", ");
      return [why.notLinked(), types === "" ? why.noTrigger() : why.trigger({ types }), read];
    }
    const { turn, because, file } = linked;
    return [because === "mention" ? why.mention({ turn }) : why.file_type({ turn, file: file ?? "" }), read];
  }
}
