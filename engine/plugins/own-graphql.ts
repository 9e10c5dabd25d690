import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { GraphQLError } from 'graphql';

/**
 * Runs an import, and returns the first file that imports another copy of `graphql` than this program's. What such a
 * plugin looks at is of other classes, so that it would do nothing, and say nothing.
 */
export async function importWithOwnGraphQL<Module>(
  load: () => Promise<Module>,
): Promise<{ readonly module: Module; readonly foreign: string | null }> {
  /** The copies that are imported, each with the first file that does. */
  const copies = new Map<string, string>();
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const { parentURL } = context;
      if (specifier === 'graphql' && parentURL && !copies.has(found.url))
        copies.set(found.url, parentURL);
      return found;
    },
  });
  try {
    const module = await load();
    for (const [url, parentURL] of copies) {
      const copy: { readonly GraphQLError?: unknown } = await import(url);
      if (copy.GraphQLError !== GraphQLError) return { module, foreign: fileURLToPath(parentURL) };
    }
    return { module, foreign: null };
  } finally {
    hooks.deregister();
  }
}
