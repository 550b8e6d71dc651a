import { z } from "zod";
import { Empty, type Route } from "./route.ts";
import { packageFailures } from "./sandbox-routes.ts";
import { MentionItem, SkillInfo, SkillUse } from "./skill.ts";

const InConversation = z.object({
  /** What became of them there. */
  conversation: z.string().optional(),
});
const mentionsMax = 100;

/** What skills there are and why each is used or not; what can be named with `@`. */
export const skillRoutes = {
  listSkills: {
    method: "GET",
    path: "/api/v1/skills",
    scope: "any",
    summary: "The skills that were found, the nearest folder first, with what is wrong with each.",
    params: Empty,
    query: InConversation,
    body: Empty,
    status: 200,
    failures: ["conversation_not_found"],
    answer: z.object({
      items: z.array(SkillInfo.extend({ use: SkillUse.nullable() })),
      /** Tokens that the agent's list of skills may have in the window of the main model. */
      tokensMax: z.number().int(),
    }),
  },
  explainSkill: {
    method: "GET",
    path: "/api/v1/skills/{skill}",
    scope: "any",
    summary: "Why a skill was offered and used, or why not, in words.",
    params: z.object({ skill: z.string() }),
    query: InConversation,
    body: Empty,
    status: 200,
    failures: ["conversation_not_found", "skill_not_found"],
    answer: SkillInfo.extend({
      use: SkillUse.nullable(),
      /** One sentence each. */
      reasons: z.array(z.string()),
    }),
  },
  installSkillPackages: {
    method: "POST",
    path: "/api/v1/skills/{skill}/packages",
    scope: "chat",
    summary:
      "Install what a skill's requirements.txt names, inside the caller's sandbox only; calling it is the decision.",
    params: z.object({ skill: z.string() }),
    query: Empty,
    body: Empty,
    status: 200,
    failures: ["skill_not_found", ...packageFailures],
    answer: z.object({
      installed: z.array(z.object({ name: z.string(), version: z.string() })),
      /** Lines that say more than a name and a version, and are left to people. */
      leftOut: z.array(z.string()),
    }),
  },
  listMentions: {
    method: "GET",
    path: "/api/v1/mentions",
    scope: "any",
    summary: "What can be named with @ in a message: tools, skills, agents; by the beginning of the name.",
    params: Empty,
    query: InConversation.extend({
      prefix: z.string().max(64).default(""),
      limit: z.coerce.number().int().min(1).max(mentionsMax).default(20),
    }),
    body: Empty,
    status: 200,
    failures: ["conversation_not_found"],
    answer: z.object({ items: z.array(MentionItem), total: z.number().int() }),
  },
} as const satisfies Record<string, Route>;
