export type Paging = {
  readonly page: number;
  readonly page_size: number;
  readonly all: boolean;
  readonly sort_order: "asc" | "desc";
};

/** One page of a list, as the operator platform numbers them. */
export function pageOf<T>(
  list: readonly T[],
  { page, page_size: size, all, sort_order: order }: Paging,
  by: (item: T) => string | number,
) {
  const sign = order === "asc" ? 1 : -1;
  const sorted = list.toSorted((a, b) => sign * compare(by(a), by(b)));
  const total = sorted.length;
  const page_size = all ? Math.max(total, 1) : size;
  const number = all ? 1 : page;
  const total_pages = Math.ceil(total / page_size);
  const items = sorted.slice((number - 1) * page_size, number * page_size);
  return { total, page: number, page_size, total_pages, has_next: number < total_pages, has_prev: number > 1, items };
}

function compare(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
