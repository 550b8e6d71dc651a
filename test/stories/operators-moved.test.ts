import assert from "node:assert/strict";
import { test } from "node:test";
import { failure } from "../../src/protocol/failure.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { operatorRoutes } from "../../src/protocol/operator-routes.ts";
import { weatherService } from "../world/weather-service.ts";
import { must, startYard } from "../world/yard.ts";

const token = "wx-7f31c2aa90de4471";
const newToken = "wx-for-the-new-host-only";

test("the token for a new host, port or scheme never goes to the one before, also where the move could not be stored [T4][Q1]", async () => {
  await using service = await weatherService(token);
  let isFull = false;
  await using yard = await startYard({
    wrapStorage: (storage) => ({
      ...storage,
      putToolbox: async (box, tools) => (isFull ? failure("storage_full", {}) : storage.putToolbox(box, tools)),
    }),
  });
  const { call } = yard.client;
  const credential = { type: "bearer", token } as const;
  const { box_id, success_ids } = await must(
    call("createToolBox", { body: { metadata_type: "openapi", data: service.document, credential } }),
  );
  const tool = `http://local${operatorRoutes.createToolBox.path}/${box_id}/tool/${success_ids[0]}/debug`;
  const ask = async () => {
    const body = JSON.stringify({ path: { city: "Kiel" } });
    const answer = await yard.fetch(tool, { method: "POST", body, headers: { "content-type": "application/json" } });
    const { status_code, details } = JSON.parse(await answer.text());
    return status_code ?? details.code;
  };
  const seen = () => service.asked.map(({ headers }) => headers.authorization);
  assert.equal(await ask(), 200);

  const { host, port } = new URL(service.url);
  // Another host; another port of the same one, where anybody may listen; and with encryption, or without.
  for (const box_svc_url of ["https://new.example", `http://127.0.0.1:${Number(port) - 1}`, `https://${host}`]) {
    isFull = true;
    const moved = await call("changeToolBox", {
      params: { box_id },
      body: { box_svc_url, credential: { type: "bearer", token: newToken } },
    });
    assert.equal(!moved.ok && moved.failure.status, 507);
    isFull = false;
    assert.equal(await ask(), "toolbox_credential_missing", box_svc_url);
  }
  assert.deepEqual(seen(), [`Bearer ${token}`]);

  await must(call("changeToolBox", { params: { box_id }, body: { credential } }));
  assert.equal(await ask(), 200, "and entered anew for the host it has, it is sent again");
  await must(call("changeToolBox", { params: { box_id }, body: { box_svc_url: `${service.url}/` } }));
  assert.equal(await ask(), 200, "as after a move on the same host");
  // As credentials were sealed before they said whom they are for.
  await must(yard.secrets.put(localOwner, `toolbox/${box_id}`, JSON.stringify(credential)));
  assert.equal(await ask(), 200);
  assert.deepEqual(new Set(seen()), new Set([`Bearer ${token}`]));
});
