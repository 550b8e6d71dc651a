import {
  eventBody,
  eventVersions,
  isEventType,
  type LogEvent,
  type NewEvent,
  storedEvent,
} from "../protocol/events.ts";
import type { EncodedEvent, StoredEvent } from "../storage/storage.ts";

/** An event as it is stored; checked in full first. */
export function encoded(event: NewEvent, now: number): EncodedEvent {
  // Of a decision the time is part of what its hash is about.
  const at = "time" in event ? (event.time ?? now) : now;
  return { type: event.type, version: eventVersions[event.type], at, body: JSON.stringify(eventBody(event)) };
}

/** One event, or why the record cannot be read. */
export function decoded(row: StoredEvent, options: { check: boolean }): LogEvent | { readonly broken: string } {
  const { type, version } = row;
  if (!isEventType(type) || version > eventVersions[type])
    return { broken: `unknown type ${type}, version ${version}` };
  try {
    return storedEvent({ ...row, type }, options);
  } catch (error) {
    return { broken: error instanceof Error ? error.message : String(error) };
  }
}
