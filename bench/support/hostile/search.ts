import { readFileSync } from 'node:fs';
import { buildSchema, type OperationTypeNode } from 'graphql';
import { createRandom } from '../../../src/sandbox/random.ts';
import { ArgumentValues } from './argument-values.ts';
import { Composer } from './composer.ts';
import type { Draft } from './draft.ts';
import { type Climb, climb } from './hill-climb.ts';
import { type Kind, PLANS } from './kinds.ts';
import { Mutator } from './mutator.ts';
import type { TrialGround, Write } from './trial-ground.ts';
import { Vocabulary } from './vocabulary.ts';
import { writeDocument } from './write-document.ts';

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
export class Search {
  readonly #options: SearchOptions;
  readonly #vocabulary = new Vocabulary();
  readonly #introspects: boolean;
  readonly #found = new Map<OperationTypeNode, Draft[]>();

  private constructor(options: SearchOptions, lesson: unknown, introspects: boolean) {
    this.#options = options;
    this.#introspects = introspects;
    this.#vocabulary.learn(lesson);
  }

  static async begin(options: SearchOptions): Promise<Search> {
    const { ground } = options;
    const lesson = await ground.read(LESSON);
    const introspected = await ground.read('{ __schema { queryType { name } } }');
    return new Search(options, lesson, introspected !== null);
  }

  async worstOf(kind: Kind): Promise<Climb> {
    const { ground, seed, searchMs, leastTries } = this.#options;
    const { operation } = PLANS[kind];
    const random = createRandom(`${seed}/${kind}`);
    const values = new ArgumentValues(random, this.#vocabulary);
    const composer = new Composer({
      schema,
      operation,
      random,
      values,
      introspects: this.#introspects,
    });
    const mutator = new Mutator(composer, random, values);
    const startedAtMs = performance.now();
    let tries = 0;
    const seeds = this.#found.get(operation) ?? [];
    const result = await climb({
      random,
      seeds,
      compose: () => composer.draft(),
      mutate: (draft) => mutator.mutate(draft),
      shrink: (draft) => mutator.shrink(draft),
      measure: (draft) => {
        tries += 1;
        return ground.try(kind, writerOf(kind, draft));
      },
      elapsed: () => Math.min((performance.now() - startedAtMs) / searchMs, tries / leastTries),
    });
    const worst = result.worst.slice(0, 1).map(({ draft }) => draft);
    this.#found.set(operation, [...seeds, ...worst]);
    return result;
  }
}

let written = 0;

export function writerOf(kind: Kind, draft: Draft): Write {
  const { operation } = PLANS[kind];
  return () => {
    written += 1;
    return writeDocument(draft, { schema, operation, name: `Q${written}` });
  };
}
