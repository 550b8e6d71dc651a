import assert from "node:assert/strict";
import { test } from "node:test";
import { testWorkspace } from "../../test/world/workspace.ts";

test("whoever asks for a file that is not there is told of three at the most that were probably meant, the same name first [W7][F2]", async (t) => {
  const { workspace } = await testWorkspace(t);
  const near = async (path: string) => {
    const { failure } = (await workspace.read(path)) as { failure?: { code: string; params: { near?: string } } };
    return [failure?.code, failure?.params.near];
  };
  for (const path of ["outputs/reports/sales.csv", "uploads/sales.csv", "temp/.hidden/sales.csv", "outputs/sale.csv"])
    await workspace.write(path, "a");
  const [code, told = ""] = await near("temp/sales.csv");
  assert.deepEqual(
    [code, told.split(", ").slice(0, 2).sort(), told.includes(".hidden")],
    ["file_not_found", ["outputs/reports/sales.csv", "uploads/sales.csv"], false],
  );
  assert.deepEqual(await near("outputs/sales.csv"), await near("outputs/./sales.csv"));
  for (const folder of ["b", "c", "d"]) await workspace.write(`outputs/${folder}/sales.csv`, "a");
  assert.equal((await near("temp/sales.csv"))[1]?.split(", ").length, 3);
  assert.deepEqual(await near("temp/unlike-all-of-them"), ["file_not_found", ""]);
});
