import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { callId, readCallId, readResponseId, responseId } from "./ids.ts";

const uuid = fc.uuid({ version: 4 });
const conversation = fc.oneof(uuid, fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/));
const decision = fc.stringMatching(/^[0-9a-f]{12}$/);

test("an id that we hand out names its place again, whatever conversation it is in [C5]", () => {
  fc.assert(
    fc.property(conversation, uuid, decision, fc.boolean(), (id, message, made, isLater) => {
      const place = { conversation: id, message, since: isLater ? made : undefined };
      assert.deepEqual(readResponseId(responseId(place)), place);
      const call = { conversation: id, decision: made };
      assert.deepEqual(readCallId(callId(call)), call);
    }),
  );
});

test("ids of others name nothing here [C5]", () => {
  for (const id of ["", "call_abc", "call_1_0", "toolu_01A", "call_00000000000fu", "call_0123456789abuAAAA"])
    assert.equal(readCallId(id), undefined, id);
  for (const id of ["", "resp_none", "resp_67cb71b351908190a308f3859487620d06981a8637e6bc44", "resp_a_cb"])
    assert.equal(readResponseId(id), undefined, id);
});
