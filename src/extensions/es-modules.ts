import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

const SYNTAX = /^\s*(?:import|export)\b(?!\s*[.(])/m;

/**
 * Takes an ES module for one also in a folder whose package.json says `"type": "commonjs"`, as `npm init -y` writes it.
 * Node would refuse its first `import` or `export`. Packages are what they say they are.
 */
export function takeModulesAnywhere(): void {
  registerHooks({
    load(url, context, next) {
      const { format } = context;
      const isMeant =
        format?.startsWith('commonjs') &&
        url.startsWith('file:') &&
        !url.includes('/node_modules/') &&
        SYNTAX.test(readFileSync(fileURLToPath(url), 'utf8'));
      if (!isMeant) return next(url, context);
      return next(url, { ...context, format: format?.replace('commonjs', 'module') });
    },
  });
}
