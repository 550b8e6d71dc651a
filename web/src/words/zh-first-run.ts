import type { enFirstRun } from "./en-first-run.ts";

export const zhFirstRun: typeof enFirstRun = {
  title: "设置这台服务器",
  about: "没有连接模型时，由演示模型回答。",
};
