import { ok } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import { shownId } from "../protocol/ids.ts";
import { addTools, readNewTools } from "./new-tools.ts";
import type { Desk, Operators } from "./operators.ts";
import type { BoxTool } from "./records.ts";

/** The tools of a box: added, switched on and off, taken away. */
export function toolChanges({
  parts,
  boxes,
  inTurn,
  forChange,
}: Desk): Pick<Operators, "addTools" | "setToolStatus" | "removeTools"> {
  const { clock } = parts;
  return {
    addTools: (actor, id, newTools) =>
      inTurn(async () => {
        const found = forChange(actor, id);
        if (!found.ok) return found;
        const { box } = found.value;
        const read = await readNewTools(parts, newTools, box.server);
        if (!read.ok) return read;
        const userBytes = boxes.bytesOf(box.owner);
        const added = await addTools(parts, { ...found.value, userBytes }, read.value);
        const stored = await boxes.put({ ...box, updatedAt: clock.now() }, added.tools);
        return stored.ok ? ok(added) : stored;
      }),
    setToolStatus: (actor, id, wanted) =>
      inTurn(async () => {
        const found = forChange(actor, id);
        if (!found.ok) return found;
        const { box, tools } = found.value;
        const missing = unknownAmong(
          tools,
          wanted.map((one) => one.id),
        );
        if (missing !== undefined) return toolNotFound(missing);
        const changed = tools.flatMap((tool): BoxTool[] => {
          const status = wanted.findLast((one) => one.id === tool.id)?.status;
          return status === undefined ? [] : [{ ...tool, status, updatedAt: clock.now() }];
        });
        return boxes.put({ ...box, updatedAt: clock.now() }, changed);
      }),
    removeTools: (actor, id, ids) =>
      inTurn(async () => {
        const found = forChange(actor, id);
        if (!found.ok) return found;
        const missing = unknownAmong(found.value.tools, ids);
        return missing === undefined ? boxes.removeTools(found.value.box, ids) : toolNotFound(missing);
      }),
  };
}

export function toolNotFound(id: string) {
  return failure("toolbox_tool_not_found", { id: shownId(id) });
}

function unknownAmong(tools: readonly BoxTool[], ids: readonly string[]): string | undefined {
  return ids.find((id) => !tools.some((tool) => tool.id === id));
}
