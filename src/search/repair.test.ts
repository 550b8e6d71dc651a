import assert from "node:assert/strict";
import { test } from "node:test";
import { file, putText, searchPlace } from "../../test/world/search.ts";

// What a typing error may cost, and what somebody sees where it would cost more.

test("of words that are equally near, as many are tried as may be; those that others use most come first [D3]", async () => {
  await using place = searchPlace();
  const letters = "bcdfghjklmnpqrtvwxz";
  const near = [1, 2, 3, 4, 5, 6].flatMap((at) =>
    Array.from(letters, (letter) => `kokoriko`.slice(0, at) + letter + `kokoriko`.slice(at + 1)),
  );
  const [own = "", ...others] = [...new Set(near)].filter((word) => word !== "kokoriko");
  const search = async () => {
    const found = await place.search.find("kokoriko", { owner: "ann" });
    assert.ok(found.ok, JSON.stringify(found));
    return [found.value.repaired.map(({ meant }) => meant), found.value.missing];
  };
  await putText(place.search, file("ann", "own.txt"), own);
  const twice = (words: readonly string[]) => `${words.join(" ")}\n\n# More\n\n${words.join(" ")}`;
  await putText(place.search, file("bob", "a.txt"), twice(others.slice(0, 99)));
  assert.deepEqual(await search(), [[own], []]);
  await putText(place.search, file("bob", "b.txt"), twice(others.slice(99, 100)));
  assert.deepEqual(await search(), [[], ["kokoriko"]]);
});
