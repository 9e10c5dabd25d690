import SchemaBuilder from '@pothos/core';
import type { Moment } from '../gateway/scalars.ts';
import type { Context } from './context.ts';

interface SchemaTypes {
  Context: Context;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: number; Output: Date | Moment };
    JSON: { Input: unknown; Output: unknown };
  };
}

/** The only builder: every file of this folder adds its types and the queries that return them. */
export const builder = new SchemaBuilder<SchemaTypes>({});

builder.queryType({
  description:
    'All reads. Each field is nullable, so that a failing field does not affect the other parts of a screen.',
});
builder.mutationType({
  description:
    'All writes. Fields run one after the other, in the order of the document. Each is nullable, so that one can have an outcome and another an error.',
});
