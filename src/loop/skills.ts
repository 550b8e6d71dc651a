import { ok, type Result } from "../base/result.ts";
import { emptyHistory, type History } from "../log/log.ts";
import type { Failure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { SkillState, SkillUse } from "../protocol/skill.ts";
import type { FoundSkill } from "../skills/skills.ts";
import type { ConversationRow } from "../storage/storage.ts";
import { skillsFor } from "./agent-tools.ts";
import type { Engine } from "./loop.ts";
import { itemsOf } from "./mentions.ts";
import type { Parts } from "./parts.ts";

/** A skill that was found, whether agents are offered it, and what became of it in a conversation. */
export type ListedSkill = {
  readonly found: FoundSkill;
  readonly state: SkillState;
  /** Undefined where no conversation was named. */
  readonly use: SkillUse | undefined;
};

/** What skills there are, and why each is used or not; what can be named. Looks at the folders as they are now. */
export function openSkillList(parts: Parts): Pick<Engine, "skills" | "explainSkill" | "mentions"> {
  async function list(owner: OwnerId, conversation: ConversationRow | undefined) {
    await parts.skills.look();
    const history = await historyOf(parts, conversation);
    const { cut = [], tokensMax = 0 } = skillsFor(history, parts, owner) ?? {};
    const items = parts.skills.found().map((found): ListedSkill => {
      const { state } = found;
      const isCut = state === "usable" && cut.includes(found.id);
      return {
        found,
        state: state === "usable" ? (isCut ? "cut" : "offered") : state,
        use: conversation === undefined ? undefined : useOf(found, history),
      };
    });
    return { items, tokensMax };
  }

  return {
    skills: list,
    async explainSkill(owner, name, conversation): Promise<Result<ListedSkill & { tokensMax: number }, Failure>> {
      const { items, tokensMax } = await list(owner, conversation);
      // Of several of one name the one that has it; a broken one is found by its folder.
      const own = items.filter(({ found }) => found.id === name || found.shown === name);
      const item = own.find(({ state }) => state === "offered" || state === "cut") ?? own[0];
      return item === undefined ? parts.skills.missing(name) : ok({ ...item, tokensMax });
    },
    async mentions(owner, { prefix, limit }, conversation) {
      await parts.skills.look();
      const history = await historyOf(parts, conversation);
      const begun = prefix.replace(/^@/, "").toLowerCase();
      const items = itemsOf({ history, owner }, parts).filter(({ name }) => name.toLowerCase().startsWith(begun));
      return { items: items.slice(0, limit), total: items.length };
    },
  };
}

function historyOf({ log }: Parts, conversation: ConversationRow | undefined): Promise<History> | History {
  return conversation === undefined ? emptyHistory() : log.history(conversation.number);
}

function useOf({ id }: FoundSkill, { skills, deeds }: History): SkillUse {
  const link = skills.get(id);
  return {
    linked: link === undefined ? null : { turn: link.turn, because: link.because, file: link.file ?? null },
    isRead: deeds.get(`skills/${id}/SKILL.md`)?.read !== undefined,
  };
}
