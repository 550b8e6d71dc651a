import { z } from "zod";
import { ok } from "../../base/result.ts";
import { forModels } from "../../words/words.ts";
import { defineTool } from "../tool.ts";

export const installPackages = defineTool({
  name: "install_packages",
  description:
    "Install the Python packages that a skill's requirements.txt names, for programs in the sandbox. Use it when a reminder says that they are missing and the work needs them; the user is asked first. Not for other packages: tell the user which ones you want. Returns what was installed.",
  class: "idempotent",
  isOnDemand: true,
  input: z.object({ skill: z.string().trim().min(1).max(64).describe("Name of the skill, as in skills/<name>.") }),
  otherNames: { name: "skill", skill_name: "skill", id: "skill" },
  tidy: ({ skill }) => ({ skill: skill.replace(/^@|^skills\//, "").replace(/\/.*$/, "") }),
  // Downloading and building take their time.
  timeoutMs: 600_000,
  // All of a user are installed together: two at once would be refused.
  order: () => "install_packages",
  async run({ skill }, context) {
    const done = await context.installPackages(skill);
    if (!done.ok) return done;
    const { installed, leftOut } = done.value;
    return ok({ text: forModels.skills.installed(installed, leftOut) });
  },
});
