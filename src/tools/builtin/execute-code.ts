import { z } from "zod";
import { ok } from "../../base/result.ts";
import { forModels } from "../../words/words.ts";
import { runProgram } from "../program-report.ts";
import { callTimeoutMsOf, otherTimeNames, otherTimeUnits, timeoutInput, timeoutMsOf } from "../program-time.ts";
import { defineTool } from "../tool.ts";
import { withoutFence } from "../without-fence.ts";

const timeoutSeconds = 60;

export const executeCode = defineTool({
  name: "execute_code",
  description:
    "Run code in the sandbox, without network. Use it to compute, work on data, make files, draw. Python keeps its variables, and its figures are saved to outputs/. Not for reading or changing texts. Returns output, Python's last value, exit code and files made; in JavaScript use console.log.",
  class: "unsafe",
  isBasic: true,
  isOutside: true,
  input: z.object({
    code: z.string().describe("The program."),
    language: z.enum(["python", "bash", "javascript"]).optional().describe("python if left out."),
    timeout: timeoutInput.describe("Seconds; 60 if left out."),
    reset: z.boolean().optional().describe("Forget all variables first."),
  }),
  aliases: ["python", "execute_python", "run_python", "code_interpreter", "run_code"],
  otherNames: {
    ...{ source: "code", script: "code", program: "code", cmd: "code", command: "code", source_code: "code" },
    ...{ lang: "language", kernel: "language", runtime: "language", restart: "reset" },
    ...otherTimeNames,
  },
  otherUnits: otherTimeUnits,
  otherWords: {
    ...{ py: "python", python3: "python", ipython: "python", sh: "bash", shell: "bash", zsh: "bash" },
    ...{ js: "javascript", node: "javascript", nodejs: "javascript", ecmascript: "javascript" },
    ...{ ts: "javascript", typescript: "javascript" },
  },
  // One Python for all calls: they run in the order they were asked for.
  order: ({ language = "python" }) => (language === "python" ? "execute_code python" : undefined),
  // The seeds let the model copy it from its prompt: a name of one's own session passes, another's is told.
  unoffered: {
    session_id: (id, { sandbox }) => sandbox.checkSession(String(id)),
    sandbox_session_id: (id, { sandbox }) => sandbox.checkSession(String(id)),
  },
  tidy: ({ code, ...rest }) => ({ ...rest, code: withoutFence(code) }),
  timeoutMsOf: ({ timeout = timeoutSeconds }) => callTimeoutMsOf(timeout),
  async run({ code, language = "python", timeout = timeoutSeconds, reset = false }, context) {
    if (reset) await context.sandbox.reset();
    if (reset && code.trim() === "") return ok({ text: forModels.code.reset, outside: [] });
    return runProgram("execute_code", { language, code, timeoutMs: timeoutMsOf(timeout) }, context);
  },
});
