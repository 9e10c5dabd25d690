import { GraphQLError } from 'graphql';
import type { GraphPlugin } from '../admission/plugin.ts';
import { refused } from '../admission/refusal.ts';
import { tooComplex } from '../limits/structure.ts';
import { readParams } from './params.ts';

// No form nests deeper than this.
const MAX_DEPTH = 100;
// This counts the keys of all objects together, because messages print an unfit value repeatedly.
const MAX_KEYS = 10_000;

/** Checks the parameters that the transport `sent`, and fills `params`. */
export function useParams(): GraphPlugin {
  return {
    onAdmit({ operation }) {
      const params = readParams(operation.sent);
      if (params instanceof GraphQLError) return { ...refused([params]), isWellFormed: false };
      operation.params = params;
      const error = variablesError(params.variables);
      return error === null ? null : refused([error]);
    },
  };
}

/**
 * Bounds the variables before anything recurses into them. Coercion does, and a body of any size can nest
 * deeply enough to overflow the stack; this check is iterative.
 */
function variablesError(variables: Readonly<Record<string, unknown>>): GraphQLError | null {
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
