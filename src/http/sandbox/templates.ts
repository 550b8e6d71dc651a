import { failure } from "../../protocol/failure.ts";
import { shownId } from "../../protocol/ids.ts";
import { defaultTemplate } from "./session-answer.ts";

/** Both stand for the same sandbox, which has all three languages; the public service's clients ask for one of them. */
export const templateNames = { [defaultTemplate]: "Python", "multi-language": "Python, JavaScript, Bash" } as const;
export function isTemplate(id: string): boolean {
  return Object.hasOwn(templateNames, id);
}

export function templateNotFound(id: string) {
  return failure("template_not_found", {
    id: shownId(id),
    known: Object.keys(templateNames).join(", "),
  });
}
