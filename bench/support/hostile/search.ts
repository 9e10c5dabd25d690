import { readFileSync } from 'node:fs';
import { buildSchema, type OperationTypeNode } from 'graphql';
import { createRandom } from '../../../src/sandbox/random.ts';
import { ArgumentValues } from './argument-values.ts';
import { DocumentMaker } from './document-maker.ts';
import { type Draft, writeDocument } from './draft.ts';
import { type Climb, climb } from './hill-climb.ts';
import { type Kind, PLANS } from './kinds.ts';
import type { TrialGround, Write } from './trial-ground.ts';

export interface SearchOptions {
  readonly ground: TrialGround;
  readonly seed: string;
  /** For each kind. */
  readonly searchMs: number;
  /** On a machine that is busy with something else the search takes longer, rather than finding nothing. */
  readonly leastTries: number;
}

const LESSON = `{
  catalog { version }
  instruments(first: 40) { edges { cursor node { id symbol name description } } }
  positions { id symbol }
  orders { id symbol }
}`;

const schema = buildSchema(
  readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8'),
);

/** Searches the worst document of one kind after the other, each from the findings before. */
export async function searchWorst(
  { ground, seed, searchMs, leastTries }: SearchOptions,
  kinds: readonly Kind[],
): Promise<{ readonly kind: Kind; readonly climb: Climb }[]> {
  const lesson = await ground.read(LESSON);
  const introspects = (await ground.read('{ __schema { queryType { name } } }')) !== null;
  const found = new Map<OperationTypeNode, Draft[]>();
  const results = [];
  for (const kind of kinds) {
    const { operation } = PLANS[kind];
    const random = createRandom(`${seed}/${kind}`);
    const values = new ArgumentValues(random, lesson);
    const maker = new DocumentMaker({ schema, operation, random, values, introspects });
    const startedAtMs = performance.now();
    let tries = 0;
    const seeds = found.get(operation) ?? [];
    const result = await climb({
      random,
      seeds,
      compose: () => maker.draft(),
      mutate: (draft) => maker.mutate(draft),
      shrink: (draft) => maker.shrink(draft),
      measure: (draft) => {
        tries += 1;
        return ground.try(kind, writerOf(kind, draft));
      },
      elapsed: () => Math.min((performance.now() - startedAtMs) / searchMs, tries / leastTries),
    });
    found.set(operation, [...seeds, ...result.worst.slice(0, 1).map(({ draft }) => draft)]);
    results.push({ kind, climb: result });
  }
  return results;
}

let written = 0;

/** Writes the document under another name each time, so that no cache serves it again. */
export function writerOf(kind: Kind, draft: Draft): Write {
  const { operation } = PLANS[kind];
  return () => {
    written += 1;
    return writeDocument(draft, { schema, operation, name: `Q${written}` });
  };
}
