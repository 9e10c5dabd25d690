import type { GraphQLError } from 'graphql';
import { tooComplex } from './limits.ts';

// What nests deeper than this is nobody's form.
const MAX_DEPTH = 100;
// Of all objects together: an unfit value is printed for its message, over and over.
const MAX_KEYS = 10_000;

/**
 * Which limit a request's variables pass, or null. What handles values calls itself for each level,
 * and a value of any depth fits into a body of any size; this does not call itself.
 */
export function variablesError(variables: Readonly<Record<string, unknown>>): GraphQLError | null {
  let level: object[] = [variables];
  let keys = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return tooComplex('depth of variables', depth, MAX_DEPTH);
    const below: object[] = [];
    for (const one of level) {
      const values = Object.values(one);
      if (!Array.isArray(one)) keys += values.length;
      for (const value of values) {
        if (typeof value === 'object' && value !== null) below.push(value);
      }
    }
    if (keys > MAX_KEYS) return tooComplex('keys of variables', keys, MAX_KEYS);
    level = below;
  }
  return null;
}
