import { enChat } from "./en-chat.ts";
import { enConversations } from "./en-conversations.ts";
import { enDecisions } from "./en-decisions.ts";
import { enFiles } from "./en-files.ts";
import { enFirstRun } from "./en-first-run.ts";
import { enMarkdown } from "./en-markdown.ts";
import { enPreview } from "./en-preview.ts";
import { enSettings } from "./en-settings.ts";
import { enShell } from "./en-shell.ts";
import { enTeam } from "./en-team.ts";
import { enTimeline } from "./en-timeline.ts";

export const en = {
  language: "en" as "en" | "zh",
  shell: enShell,
  conversations: enConversations,
  chat: enChat,
  decisions: enDecisions,
  files: enFiles,
  markdown: enMarkdown,
  preview: enPreview,
  firstRun: enFirstRun,
  settings: enSettings,
  team: enTeam,
  timeline: enTimeline,
};
