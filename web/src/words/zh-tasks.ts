import type { enTasks } from "./en-tasks.ts";

export const zhTasks: typeof enTasks = {
  title: "任务",
  about: "执行任务的智能体会列在这里。",
};
