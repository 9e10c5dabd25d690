import { parsePairs } from '../../support/dockerfile.ts';

/** A template unit of systemd as one of its instances sees it; a key that repeats has several values. */
export class UnitFile {
  readonly #values = new Map<string, string[]>();

  constructor(text: string, instance: string) {
    let section = '';
    for (const line of text.replaceAll('%i', instance).split('\n')) {
      const [, name] = /^\[(\w+)\]$/.exec(line) ?? [];
      section = name ?? section;
      const [, key, value = ''] = /^(\w+)=(.*)$/.exec(line) ?? [];
      if (key === undefined) continue;
      const values = this.#values.get(`${section}.${key}`) ?? [];
      this.#values.set(`${section}.${key}`, [...values, value]);
    }
  }

  value(key: string): string | undefined {
    return this.#values.get(`Service.${key}`)?.at(-1);
  }

  get environment(): Record<string, string> {
    return parsePairs(this.#values.get('Service.Environment')?.join(' ') ?? '');
  }
}
