/**
 * Preloaded into the facade: leaves out the stage of a request that its parent names, until it names another. Then it answers
 * how often the stage was left out.
 */
import { registerHooks } from 'node:module';
import { STAGES } from '../support/ledger-stages.ts';

type Work = (this: unknown, ...args: unknown[]) => unknown;

let leftOut: string | null = null;
let substituted = 0;

Object.assign(globalThis, {
  off(stage: string, on: Work, substitute: Work): Work {
    return function (this: unknown) {
      const isOff = leftOut === stage;
      if (isOff) substituted += 1;
      // biome-ignore lint/complexity/noArguments: a rest parameter would make an array for each call that is measured
      return Reflect.apply(isOff ? substitute : on, this, arguments);
    };
  },
});

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const code = STAGES.filter(({ file }) => url.endsWith(`/${file}`)).map((each) => each.code);
    return code.length === 0
      ? loaded
      : { ...loaded, source: `${loaded.source}\n${code.join('\n')}` };
  },
});

process.on('message', (message: { readonly leaveOut?: string | null }) => {
  if (message.leaveOut === undefined) return;
  process.send?.({ answer: substituted });
  leftOut = message.leaveOut;
  substituted = 0;
});
