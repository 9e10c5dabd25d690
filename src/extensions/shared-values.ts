import { LRUCache } from 'lru-cache';

const MOST_BYTES = 16 * 1024 * 1024;

/** The values of shared fields, each resolved once for everybody as long as it lives. */
export class SharedValues {
  readonly #values = new LRUCache<string, { readonly value: unknown }>({ maxSize: MOST_BYTES });
  readonly #underWay = new Map<string, Promise<unknown>>();
  readonly #numbers = new WeakMap<object, number>();
  #last = 0;

  /** `source`: the instrument of the viewer's own catalog, whose fields may differ between groups; else undefined. */
  get(
    field: string,
    source: unknown,
    args: unknown,
    seconds: number,
    resolve: () => unknown,
  ): unknown {
    const key = `${field} ${this.#numberOf(source)} ${JSON.stringify(args)}`;
    const known = this.#values.get(key);
    if (known !== undefined) return known.value;
    const underWay = this.#underWay.get(key) ?? this.#resolve(key, seconds, resolve);
    this.#underWay.set(key, underWay);
    return underWay;
  }

  async #resolve(key: string, seconds: number, resolve: () => unknown): Promise<unknown> {
    try {
      const value = await Promise.resolve().then(resolve);
      const size = key.length + (JSON.stringify(value)?.length ?? 1);
      this.#values.set(key, { value }, { size, ttl: seconds * 1000 });
      return value;
    } finally {
      this.#underWay.delete(key);
    }
  }

  #numberOf(source: unknown): number {
    if (typeof source !== 'object' || source === null) return 0;
    const known = this.#numbers.get(source);
    if (known !== undefined) return known;
    this.#last += 1;
    this.#numbers.set(source, this.#last);
    return this.#last;
  }
}
