import { useWords } from "../words/words.ts";
import { FailureText } from "./failure-text.tsx";
import type { NoticeItem } from "./items.ts";

export function NoticeRow({ item }: { readonly item: NoticeItem }) {
  const words = useWords().chat;
  return (
    <p className="notice" data-what={item.what}>
      {item.failure !== undefined && (
        <>
          <FailureText failure={item.failure} />{" "}
        </>
      )}
      {words.notices[item.what]}
    </p>
  );
}
