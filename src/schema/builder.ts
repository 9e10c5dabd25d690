import SchemaBuilder from '@pothos/core';
import type { Moment } from '../gateway/wire/scalars.ts';
import type { Context } from './context.ts';

interface SchemaTypes {
  Context: Context;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: number; Output: Date | Moment };
    JSON: { Input: unknown; Output: unknown };
  };
}

/** The one builder: every file of this folder adds its types and the queries that return them. */
export const builder = new SchemaBuilder<SchemaTypes>({});

builder.queryType({
  description:
    'What can be read. Each field is nullable on its own, so that one failing part of a screen leaves the others standing.',
});
builder.mutationType({
  description:
    'What can be done. Fields run one after the other, in the order they are written; each is nullable on its own, so that one may have an outcome and another an error.',
});
