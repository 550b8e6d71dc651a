import assert from "node:assert/strict";
import { test } from "node:test";
import { pageOf } from "./page.ts";

const list = [{ n: 3 }, { n: 1 }, { n: 5 }, { n: 2 }, { n: 4 }];
const page = (wanted: { page?: number; page_size?: number; all?: boolean; sort_order?: "asc" | "desc" }, of = list) => {
  const { items, ...told } = pageOf(
    of,
    { page: 1, page_size: 2, all: false, sort_order: "asc", ...wanted },
    ({ n }) => n,
  );
  return { ...told, items: items.map(({ n }) => n) };
};

test("a list is told in pages, each with what is before and behind it [T4]", () => {
  const told = { total: 5, page_size: 2, total_pages: 3 };
  assert.deepEqual(page({}), { ...told, page: 1, has_next: true, has_prev: false, items: [1, 2] });
  assert.deepEqual(page({ page: 2 }), { ...told, page: 2, has_next: true, has_prev: true, items: [3, 4] });
  assert.deepEqual(page({ page: 3 }), { ...told, page: 3, has_next: false, has_prev: true, items: [5] });
  assert.deepEqual(page({ page: 4 }).items, []);
  assert.deepEqual(page({ sort_order: "desc" }).items, [5, 4]);
  const all = { total: 5, page: 1, page_size: 5, total_pages: 1, has_next: false, has_prev: false };
  assert.deepEqual(page({ page: 3, all: true }), { ...all, items: [1, 2, 3, 4, 5] });
  const none = { total: 0, page: 1, page_size: 1, total_pages: 0, has_next: false, has_prev: false, items: [] };
  assert.deepEqual(page({ all: true }, []), none);
});
