import handbookEnglish from "./samples/handbook-en.txt?url";
import handbookChinese from "./samples/handbook-zh.txt?url";
import notes from "./samples/notes.txt?url";
import sales from "./samples/sales.csv?url";

export type ExampleName = "chart" | "search" | "approval";

/** What each example is done on: files that come with AgentYard, put into the conversation's uploads/ under these names. */
export const samples: Readonly<Record<ExampleName, readonly (readonly [url: string, name: string])[]>> = {
  chart: [[sales, "sales.csv"]],
  search: [
    [handbookEnglish, "handbook-en.txt"],
    [handbookChinese, "handbook-zh.txt"],
  ],
  approval: [[notes, "notes.txt"]],
};
