import type { Words } from "./words.ts";
import { zhChat } from "./zh-chat.ts";
import { zhConversations } from "./zh-conversations.ts";
import { zhDecisions } from "./zh-decisions.ts";
import { zhFiles } from "./zh-files.ts";
import { zhFirstRun } from "./zh-first-run.ts";
import { zhMarkdown } from "./zh-markdown.ts";
import { zhPreview } from "./zh-preview.ts";
import { zhSettings } from "./zh-settings.ts";
import { zhShell } from "./zh-shell.ts";
import { zhTeam } from "./zh-team.ts";
import { zhTimeline } from "./zh-timeline.ts";

export const zh: Words = {
  language: "zh",
  shell: zhShell,
  conversations: zhConversations,
  chat: zhChat,
  decisions: zhDecisions,
  files: zhFiles,
  markdown: zhMarkdown,
  preview: zhPreview,
  firstRun: zhFirstRun,
  settings: zhSettings,
  team: zhTeam,
  timeline: zhTimeline,
};
