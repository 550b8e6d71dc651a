import { z } from "zod";

/** Something that a person can name with `@` in a message. */
export const MentionItem = z.object({
  kind: z.enum(["tool", "skill", "agent"]),
  name: z.string(),
  description: z.string(),
});
export type MentionItem = z.infer<typeof MentionItem>;

/** What a message named and is not there: the names that were probably meant; `state` where a skill cannot be used. */
export const UnknownMention = z.object({
  name: z.string(),
  near: z.array(z.string()),
  state: z.enum(["broken", "disabled", "shadowed", "untrusted"]).optional(),
});
export type UnknownMention = z.infer<typeof UnknownMention>;

/** A message is stored: its id, and its place in the log. */
export const MessageSent = z.object({
  message: z.string(),
  seq: z.number().int(),
  /** What it names with `@` and is not there: it was sent as text. */
  unknownMentions: z.array(UnknownMention).optional(),
});

/** What was found wrong with a skill, in words. With an error it cannot be used. */
const SkillNote = z.object({
  grade: z.enum(["error", "warning"]),
  /** A stable name of it. */
  fault: z.string(),
  /** Of its SKILL.md. */
  line: z.number().int().nullable(),
  what: z.string(),
  instead: z.string(),
});

export const SkillState = z.enum(["offered", "cut", "disabled", "broken", "shadowed", "untrusted"]);
export type SkillState = z.infer<typeof SkillState>;

export const SkillInfo = z.object({
  /** What it goes by; of one that cannot be read, the name of its folder. */
  id: z.string(),
  description: z.string(),
  /** Whether agents have it in their list, and why not. */
  state: SkillState,
  /** The folder it lies in, as people know it. */
  place: z.string(),
  kind: z.enum(["project", "user", "built_in"]),
  license: z.string().nullable(),
  compatibility: z.string().nullable(),
  /** What its author would have allowed; it allows nothing. */
  allowedTools: z.array(z.string()),
  /** Types of files that link it by themselves. */
  fileTypes: z.array(z.string()),
  notes: z.array(SkillNote),
});
export type SkillInfo = z.infer<typeof SkillInfo>;

/** What became of a skill in a conversation. */
export const SkillUse = z.object({
  /** Null: it was not linked. */
  linked: z
    .object({ turn: z.number().int(), because: z.enum(["mention", "file_type"]), file: z.string().nullable() })
    .nullable(),
  /** The agent has read its instructions. */
  isRead: z.boolean(),
});
export type SkillUse = z.infer<typeof SkillUse>;
