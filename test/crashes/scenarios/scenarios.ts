import { decisions, functionOfTheCaller, uploads } from "./callers.ts";
import { circles } from "./circles.ts";
import { company, smallCompany } from "./company.ts";
import { fullWindow } from "./full-window.ts";
import { branchAndDelete, roomAndUndo } from "./going-back.ts";
import { handOff } from "./hand-off.ts";
import { nobodyBack } from "./nobody-back.ts";
import { secondThoughts } from "./second-thoughts.ts";
import { deadlyTurn, threeTurns } from "./three-turns.ts";

/** By name, so that another process can be told which. */
export const scenarios = {
  threeTurns,
  nobodyBack,
  deadlyTurn,
  roomAndUndo,
  fullWindow,
  branchAndDelete,
  functionOfTheCaller,
  uploads,
  decisions,
  secondThoughts,
  handOff,
  circles,
  smallCompany,
  company,
};
