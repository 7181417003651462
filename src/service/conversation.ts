import { type Static, Type } from "@sinclair/typebox";
import { invalidValue, ShortlistError } from "../errors.ts";

/** A turn in any provider's shape: text, or a list of content parts of which the texts are read. */
const Message = Type.Object(
  {
    role: Type.String({ minLength: 1, maxLength: 64 }),
    content: Type.Optional(
      Type.Union([
        Type.String(),
        Type.Array(Type.Object({ type: Type.String() }, { additionalProperties: true })),
        Type.Null(),
      ]),
    ),
  },
  { additionalProperties: true },
);
export const Messages = Type.Array(Message, {
  maxItems: 10_000,
  description:
    "In place of `query`: the last user turn leads, the three before it inform. Other roles are not read.",
});
type Messages = Static<typeof Messages>;

const CONTEXT_TURNS_MAX = 3;

/** What a request asks for, and what was said before. */
export interface Conversation {
  query: string;
  /** The earlier user turns as one text, where there are any. */
  context: string | undefined;
}

/** @throws ShortlistError `invalid_request` where neither or both are given, `invalid_query` where there is no text or too much */
export function conversationOf(
  request: { query?: string | undefined; messages?: Messages | undefined },
  charactersMax: number,
): Conversation {
  const { query, messages } = request;
  if ((query === undefined) === (messages === undefined)) {
    throw invalidValue("", "give either query or messages");
  }
  const turns = messages
    ? messages
        .flatMap((turn) => (turn.role === "user" ? [textOf(turn).trim()] : []))
        .filter(Boolean)
    : [query!];
  const pointer = messages ? "/messages" : "/query";
  const last = turns.at(-1) ?? "";
  const context = turns.slice(0, -1).slice(-CONTEXT_TURNS_MAX).join("\n");
  const refuse = (message: string) => {
    throw new ShortlistError("invalid_query", `The query ${message}.`, [{ pointer, message }]);
  };
  if (last.trim() === "") refuse(messages ? "has no user turn with text" : "is empty");
  const characters = last.length + context.length;
  if (characters > charactersMax)
    refuse(`has ${characters} characters, more than ${charactersMax}`);
  return { query: last, context: context === "" ? undefined : context };
}

function textOf({ content }: Messages[number]): string {
  if (typeof content === "string") return content;
  return (content ?? [])
    .flatMap((part) => ("text" in part && typeof part.text === "string" ? [part.text] : []))
    .join("\n");
}
