import { z } from "zod";
import { runProgram } from "../program-report.ts";
import { callTimeoutMsOf, otherTimeNames, otherTimeUnits, timeoutInput, timeoutMsOf } from "../program-time.ts";
import { defineTool } from "../tool.ts";
import { withoutFence } from "../without-fence.ts";

const timeoutSeconds = 30;

export const runBashCommand = defineTool({
  name: "run_bash_command",
  description:
    "Run a bash command in the sandbox, in the root of the workspace. Use it to move, copy, unpack, convert, count, run programs. Each command has a new shell and no network; what is left running ends with your answer. Not for reading or changing a text: use read_file, edit_file. Returns output, exit code and files made.",
  class: "unsafe",
  isOutside: true,
  input: z.object({
    command: z.string().min(1).describe("One line or a script."),
    timeout: timeoutInput.describe("Seconds; 30 if left out."),
  }),
  aliases: ["bash", "shell", "run_command", "execute_command", "run_shell_command"],
  otherNames: {
    ...{ cmd: "command", script: "command", code: "command", bash: "command", input: "command", shell: "command" },
    ...otherTimeNames,
  },
  otherUnits: otherTimeUnits,
  tidy: ({ command, ...rest }) => ({ ...rest, command: withoutFence(command) }),
  timeoutMsOf: ({ timeout = timeoutSeconds }) => callTimeoutMsOf(timeout),
  run: ({ command, timeout = timeoutSeconds }, context) =>
    runProgram("run_bash_command", { language: "bash", code: command, timeoutMs: timeoutMsOf(timeout) }, context),
});
