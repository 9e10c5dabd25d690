// Imported by a process before its program: prints each package that it loads.
import { registerHooks } from 'node:module';

const named = new Set<string>();

registerHooks({
  load(url, context, nextLoad) {
    const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];
    if (name !== undefined && !named.has(name)) {
      named.add(name);
      process.stdout.write(`loaded package ${name}\n`);
    }
    return nextLoad(url, context);
  },
});
