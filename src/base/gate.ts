import { whenOver } from "./background.ts";

/** Lets so many of one owner in at once. Answers what is to be called at the end; undefined for one too many. */
export type Gate = (owner: string) => (() => void) | undefined;

export function openGate(perOwnerMax: number): Gate {
  const inside = new Map<string, number>();
  return (owner) => {
    const others = inside.get(owner) ?? 0;
    if (others >= perOwnerMax) return undefined;
    inside.set(owner, others + 1);
    return () => {
      const left = (inside.get(owner) ?? 1) - 1;
      if (left === 0) inside.delete(owner);
      else inside.set(owner, left);
    };
  };
}

/** The answer; tells when all of it was taken, nobody wants the rest, or there is none, be it because it failed. */
export async function untilTaken(answering: Promise<Response>, onOver: () => void): Promise<Response> {
  const response = await answering.catch((error: unknown) => {
    onOver();
    throw error;
  });
  if (response.body !== null) return new Response(untilOver(response.body, onOver), response);
  onOver();
  return response;
}

/** The same bytes; says when the last of them was taken, or nobody wants them any more. */
export function untilOver(body: ReadableStream<Uint8Array>, onOver: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  void whenOver(reader.closed).then(onOver);
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
