import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { PipedConsole } from "./piped-console.ts";

test("input that is taken away, or whose terminal is gone, has ended, also in the middle of a line", async () => {
  const gone = Object.assign(new Error("read EIO"), { code: "EIO", syscall: "read" });
  const ends: ((input: PassThrough, console: PipedConsole) => void)[] = [
    (input) => void input.end(),
    (_, console) => console.close(),
    (input) => void input.destroy(gone),
  ];
  for (const end of ends) {
    const input = new PassThrough();
    const console = new PipedConsole({ input, output: new PassThrough(), errors: new PassThrough() });
    input.write("one\nhal");
    assert.deepEqual(await console.read({ want: "line", prompt: "" }), { kind: "line", text: "one" });
    const reading = console.read({ want: "line", prompt: "" });
    end(input, console);
    const expected = input.destroyed ? { kind: "end" } : { kind: "line", text: "hal" };
    assert.deepEqual(await reading, expected);
  }
});
