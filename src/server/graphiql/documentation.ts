import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface DocumentationPage {
  readonly title: string;
  readonly path: string;
}

// Only these are served, by name: the path of a request never becomes the path of a file.
const PAGES = new Map([
  ['catalog', 'Catalog: search, page, sync'],
  ['live', 'Live: positions, orders, the account'],
  ['orders', 'Orders'],
  ['errors', 'Errors'],
  ['limits', 'Limits'],
  ['sandbox', 'The sandbox gateway'],
]);

const FOLDER = join(import.meta.dirname, '..', '..', '..', 'docs');

/** The pages of `docs/` that front ends need, as far as they are there: the container image has none. */
export class Documentation {
  readonly #texts = new Map<string, Buffer>();

  static async load(): Promise<Documentation> {
    const documentation = new Documentation();
    for (const name of PAGES.keys()) {
      const text = await readFile(join(FOLDER, `${name}.md`)).catch(() => null);
      if (text !== null) documentation.#texts.set(`/graphiql/docs/${name}.md`, text);
    }
    return documentation;
  }

  get pages(): readonly DocumentationPage[] {
    return [...PAGES]
      .map(([name, title]) => ({ title, path: `/graphiql/docs/${name}.md` }))
      .filter(({ path }) => this.#texts.has(path));
  }

  text(path: string): Buffer | undefined {
    return this.#texts.get(path);
  }
}
