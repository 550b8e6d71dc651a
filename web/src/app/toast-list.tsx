import { Button } from "../parts/button.tsx";
import { useStore } from "./store.ts";
import { useYard } from "./yard.ts";

export function ToastList() {
  const { toasts } = useYard();
  const shown = useStore(toasts.shown);
  return (
    <div className="toasts" role="status">
      {shown.map(({ id, text, kind, action }) => (
        <div key={id} className="toast" data-kind={kind}>
          <span>{text}</span>
          {action !== undefined && <Button onClick={action.run}>{action.label}</Button>}
        </div>
      ))}
    </div>
  );
}
