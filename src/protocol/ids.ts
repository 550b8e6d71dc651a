import { z } from "zod";

/** Ids are branded strings: a ConversationId cannot be handed where an OwnerId is wanted. */
export const OwnerId = z
  .string()
  .regex(/^[A-Za-z0-9._@-]{1,48}$/)
  .brand<"OwnerId">();
export type OwnerId = z.infer<typeof OwnerId>;

/** Ids that we make are UUIDv4; an id that a client chose is kept as it is. `..` is refused because ids become folder names. */
export const ConversationId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/)
  .refine((id) => !id.includes("..") && !["uploads", "outputs", "temp", "skills"].includes(id))
  .brand<"ConversationId">();
export type ConversationId = z.infer<typeof ConversationId>;

/** The owner of everything on an installation without users. */
export const localOwner: OwnerId = OwnerId.parse("local");

/** An id as failures show it: whoever made it up may have made it as long as a book. */
export const shownId = (id: string): string => id.slice(0, 80);
