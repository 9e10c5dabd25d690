import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

/** The folder of the package that a URL of its entry is in: a package may have one entry for each module system. */
const folderOf = (url: string) => url.slice(0, url.lastIndexOf('/node_modules/graphql/') + 22);

/**
 * Runs an import, and returns the first file that imports another copy of `graphql` than this program. What such a plugin
 * looks at is of other classes, so that it would do nothing, and say nothing.
 */
export async function importWithOwnGraphQL<Module>(
  load: () => Promise<Module>,
): Promise<{ readonly module: Module; readonly foreign: string | null }> {
  const own = folderOf(import.meta.resolve('graphql'));
  let foreign: string | null = null;
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const isForeign = specifier === 'graphql' && folderOf(found.url) !== own;
      if (isForeign && context.parentURL !== undefined)
        foreign ??= fileURLToPath(context.parentURL);
      return found;
    },
  });
  try {
    return { module: await load(), foreign };
  } finally {
    hooks.deregister();
  }
}
