import { pick, type Random } from '../../../src/sandbox/random.ts';

/** Fields of answers under other names whose values fit an argument of this name. */
const ALIKE: Readonly<Record<string, readonly string[]>> = {
  since: ['version'],
  after: ['cursor'],
  before: ['cursor'],
  id: ['id', 'symbol'],
  ids: ['id', 'symbol'],
  search: ['name', 'description', 'id'],
};
const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789 é';
const LONGEST_NONSENSE = 400;

/** Texts from the server's own answers, by the name of the field: ids, cursors, versions, names. */
export class Vocabulary {
  readonly #texts = new Map<string, string[]>();
  readonly #all: string[] = [];

  learn(value: unknown, name = ''): void {
    if (typeof value === 'string') {
      const known = this.#texts.get(name) ?? [];
      this.#texts.set(name, known);
      known.push(value);
      this.#all.push(value);
    } else if (Array.isArray(value)) {
      for (const one of value) this.learn(one, name);
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, one] of Object.entries(value)) this.learn(one, key);
    }
  }

  text(name: string, random: Random): string {
    const alike = (ALIKE[name] ?? [name]).flatMap((one) => this.#texts.get(one) ?? []);
    const draw = random();
    if (draw < 0.7 && alike.length > 0) return pick(random, alike);
    if (draw < 0.85 && this.#all.length > 0) return pick(random, this.#all);
    return nonsense(random);
  }
}

function nonsense(random: Random): string {
  const length = Math.floor(random() ** 2 * LONGEST_NONSENSE);
  return Array.from({ length }, () => pick(random, [...LETTERS])).join('');
}
