import { handOff, smallCompany } from "./scenario-agents.ts";
import { branchAndDelete, decisions, functionOfTheCaller, roomAndUndo, uploads } from "./scenario-callers.ts";
import { fullWindow, nobodyBack, secondThoughts, threeTurns } from "./scenario-turns.ts";

/** By name, so that another process can be told which. */
export const scenarios = {
  threeTurns,
  nobodyBack,
  roomAndUndo,
  fullWindow,
  branchAndDelete,
  functionOfTheCaller,
  uploads,
  decisions,
  secondThoughts,
  handOff,
  smallCompany,
};
