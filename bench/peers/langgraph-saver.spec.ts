/** Puts the saver through LangGraph's own conformance tests. Run by vitest, as that package asks. */
import { type CheckpointSaverTestInitializer, validate } from "@langchain/langgraph-checkpoint-validation";
import { NodeSqliteSaver } from "./langgraph-saver.ts";

const initializer: CheckpointSaverTestInitializer<NodeSqliteSaver> = {
  checkpointerName: "NodeSqliteSaver",
  createCheckpointer: () => new NodeSqliteSaver(":memory:"),
  destroyCheckpointer: (saver) => saver.close(),
};

validate(initializer);
