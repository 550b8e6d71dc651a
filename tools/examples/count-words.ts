// A tool of your own: copy this file one folder up, or into ~/.config/agentyard/tools/, and it is there at the next turn.
import { defineTool } from "agentyard/extend";

const countWords = defineTool({
  name: "count_words",
  description:
    "Count the words and lines of a text file of the workspace. Use it when the user asks how long a text is. Not for tables. Returns one line.",
  // Looking at a file changes nothing: after a crash it is simply run again.
  class: "pure",
  parameters: {
    type: "object",
    properties: { path: { type: "string", description: "The file, such as uploads/report.md." } },
    required: ["path"],
  },
  async run({ path }, { read }) {
    const text = (await read(String(path))).toString("utf8");
    if (text.includes("\0")) throw new Error("this is no text");
    const segments = [...new Intl.Segmenter("zh", { granularity: "word" }).segment(text)];
    const words = segments.filter(({ isWordLike }) => isWordLike).length;
    return `${path}: ${words} words in ${text.split("\n").length} lines`;
  },
});

export { countWords as default };
